// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Output files that are there whole or not at all.
#ifndef ATTN_TARGET_ATOMICOUTPUT_H
#define ATTN_TARGET_ATOMICOUTPUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace attn::target {

/// Whether both paths are one regular file, or would be once it is made.
bool isSameFile(llvm::StringRef a, llvm::StringRef b);

/// Writes beside the destination and renames at the end; without `keep` nothing
/// is left. Pipes, devices and "-" (the standard output) are written directly.
class AtomicOutput {
public:
  static llvm::Expected<AtomicOutput> open(llvm::StringRef destination);
  AtomicOutput(AtomicOutput &&other);
  ~AtomicOutput();

  /// Not so for pipes, devices and "-".
  bool isReplaced() const { return !temporary.empty(); }
  /// Where a program that we call shall write if it is.
  llvm::StringRef path() const { return temporary; }
  llvm::Error write(llvm::StringRef data) {
    return write(llvm::ArrayRef<llvm::StringRef>(data));
  }
  /// All parts, one behind the other.
  llvm::Error write(llvm::ArrayRef<llvm::StringRef> parts);
  /// The outputs are complete: each takes its place, or, if one cannot, all
  /// places are as before.
  static llvm::Error keep(llvm::ArrayRef<AtomicOutput *> outputs);

private:
  explicit AtomicOutput(llvm::StringRef destination)
      : destination(destination) {}
  llvm::Error failure(std::error_code error) const;
  std::error_code backUp();
  void restore();

  std::string destination;
  /// Of a file that is replaced: its path without links, the new contents, and
  /// during `keep` the old ones.
  std::string target, temporary, backup;
};

} // namespace attn::target

#endif
