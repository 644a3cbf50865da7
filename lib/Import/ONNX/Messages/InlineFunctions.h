// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_IMPORT_ONNX_MESSAGES_INLINEFUNCTIONS_H
#define ATTN_LIB_IMPORT_ONNX_MESSAGES_INLINEFUNCTIONS_H

#include "Model.h"

namespace attn::onnx {

/// Puts the bodies of the model's functions in the place of the nodes that call
/// them. Failure has been reported at `loc`.
mlir::LogicalResult inlineFunctions(::onnx::ModelProto &model,
                                    mlir::Location loc);

} // namespace attn::onnx

#endif
