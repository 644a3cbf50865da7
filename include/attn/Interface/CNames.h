// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which names a specification can give to what C code calls: its functions, and
// the tensors in their argument structs. The one list of both.
#ifndef ATTN_INTERFACE_CNAMES_H
#define ATTN_INTERFACE_CNAMES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace attn {

/// Why C cannot call a function `name`, as the end of a sentence ("a keyword of
/// C or C++"); empty if it can. The functions that come with it count, too.
std::string whyNotEntryName(llvm::StringRef name);

/// Whether code outside of the specification has the name, so that not even a
/// private function can.
bool isLinkedName(llvm::StringRef name);

/// The same as whyNotEntryName for a member of the argument struct.
std::string whyNotPortName(llvm::StringRef name);

/// The nearest name to `text` that a member can have.
std::string toPortName(llvm::StringRef text);

/// What C code sees of an entry: its functions, and their argument struct.
enum class CName {
  Run,
  WorkspaceSize,
  Strerror,
  Info,
  Flops,
  Args,
  LoadWeights ///< where weights have a file
};
constexpr CName cNames[] = {
    CName::Run,   CName::WorkspaceSize, CName::Strerror,   CName::Info,
    CName::Flops, CName::Args,          CName::LoadWeights};
/// "NAME", "NAME_workspace_size" and so on.
std::string cName(llvm::StringRef entry, CName which);

} // namespace attn

#endif
