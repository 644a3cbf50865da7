// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_IMPORT_ONNX_MESSAGES_EXPANDQUANTIZED_H
#define ATTN_LIB_IMPORT_ONNX_MESSAGES_EXPANDQUANTIZED_H

#include "Model.h"

namespace attn::onnx {

/// Puts floating-point operators in the place of quantized ones. `model` is
/// that of the file `loc`, its nodes are in order. Failure has been reported at
/// the node.
mlir::LogicalResult expandQuantized(::onnx::ModelProto &model,
                                    TensorReader &reader, mlir::Location loc);

} // namespace attn::onnx

#endif
