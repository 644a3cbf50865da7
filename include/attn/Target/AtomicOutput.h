// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Output files that are there whole or not at all.
#ifndef ATTN_TARGET_ATOMICOUTPUT_H
#define ATTN_TARGET_ATOMICOUTPUT_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include <optional>
#include <string>

namespace attn::target {

/// Writes beside the destination and renames at the end; without `keep` nothing
/// is left. Pipes, devices and "-" (the standard output) are written directly.
class AtomicOutput {
public:
  static llvm::Expected<AtomicOutput> open(llvm::StringRef destination);
  AtomicOutput(AtomicOutput &&other);
  ~AtomicOutput();

  /// Where a program that we call shall write.
  llvm::StringRef path() const;
  llvm::Error write(llvm::StringRef data);
  /// The output is complete.
  llvm::Error keep();

private:
  explicit AtomicOutput(llvm::StringRef destination)
      : destination(destination) {}
  llvm::Error failure(std::error_code error) const;

  std::string destination;
  std::optional<llvm::sys::fs::TempFile> temporary;
};

} // namespace attn::target

#endif
