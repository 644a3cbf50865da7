// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file of the safetensors format: 8 bytes that say how long the header is, a
// JSON object with a name, an element type, a shape and a place for each
// tensor, and then their bytes.
#ifndef ATTN_IMPORT_SAFETENSORS_FILE_H
#define ATTN_IMPORT_SAFETENSORS_FILE_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

namespace attn::safetensors {

class File {
public:
  /// The error says why the file is none.
  static llvm::Expected<File> open(llvm::StringRef path);

  /// The bytes of a tensor that must have this type.
  llvm::Expected<llvm::ArrayRef<char>> find(llvm::StringRef name,
                                            mlir::RankedTensorType type) const;

private:
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  llvm::StringRef data; ///< behind the header
  llvm::json::Object header;
};

} // namespace attn::safetensors

#endif
