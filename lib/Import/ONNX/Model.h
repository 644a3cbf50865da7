// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The messages of a model, and the contents of its tensors.
#ifndef ATTN_LIB_IMPORT_ONNX_MODEL_H
#define ATTN_LIB_IMPORT_ONNX_MODEL_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "onnx.pb.h"

namespace attn::onnx {

/// Reads the file `path`. Failure has been reported at `loc`.
mlir::FailureOr<std::unique_ptr<::onnx::ModelProto>>
readModel(llvm::StringRef path, mlir::Location loc);

/// The element type that ONNX gives the number `type`, or null. Signs are in
/// the operators.
mlir::Type elementType(mlir::MLIRContext *context, int32_t type);
/// "FLOAT8E5M2", or the number where it is new.
std::string elementTypeName(int32_t type);

/// Turns tensors of the model into attributes.
class TensorReader {
public:
  /// External data lies beside the model in `path`; `filesRead`, which may be
  /// null, gets its files.
  TensorReader(llvm::StringRef path, std::vector<std::string> *filesRead);
  /// What the tensor holds. `fail` is told why there is nothing.
  mlir::ElementsAttr read(mlir::MLIRContext *context,
                          const ::onnx::TensorProto &tensor,
                          llvm::function_ref<void(const llvm::Twine &)> fail);
  /// Hands its elements, of so many bits, to `take` as bytes in the order of a
  /// little-endian machine. False: `fail` was told why not.
  bool withBytes(const ::onnx::TensorProto &tensor, unsigned bits,
                 llvm::function_ref<void(const llvm::Twine &)> fail,
                 llvm::function_ref<void(llvm::StringRef)> take);

private:
  std::string folder;
  std::vector<std::string> *filesRead;
};

} // namespace attn::onnx

#endif
