// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From an object file to an executable or a shared library.
#ifndef ATTN_TARGET_LINK_H
#define ATTN_TARGET_LINK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace attn::target {

/// The runtime's archive, in ../lib of the tool's folder, in a build as in an
/// installation. `mainAddress` is any address in the tool.
llvm::Expected<std::string> findRuntime(const char *argv0, void *mainAddress);

enum class Linked { Executable, SharedLibrary };
/// Links with the C compiler of this machine. An error is one line.
llvm::Error link(Linked kind, llvm::StringRef object, llvm::StringRef runtime,
                 llvm::StringRef output);

} // namespace attn::target

#endif
