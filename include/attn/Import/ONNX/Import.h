// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads ONNX models.
#ifndef ATTN_IMPORT_ONNX_IMPORT_H
#define ATTN_IMPORT_ONNX_IMPORT_H

#include "attn/Import/ONNX/OnnxOptions.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace attn {

/// The model in the file `path` as a module with one public function, whose
/// arguments are the graph's inputs without an initializer, in order, and whose
/// results are its outputs. Ports carry the tensors' names (`attn.name`) and
/// those of their sizes (`attn.sizes`). Initializers become constants.
///
/// Null: the model cannot be compiled, and every reason has been reported at a
/// location that names file and node. Nothing else than the file and the
/// external data beside it is read.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(llvm::StringRef path,
                                             mlir::MLIRContext &context,
                                             const OnnxOptions &options);

} // namespace attn

#endif
