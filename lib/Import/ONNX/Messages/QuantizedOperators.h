// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_IMPORT_ONNX_MESSAGES_QUANTIZEDOPERATORS_H
#define ATTN_LIB_IMPORT_ONNX_MESSAGES_QUANTIZEDOPERATORS_H

#include "QuantizedWriter.h"

namespace attn::onnx {

/// Writes to `into` what `node` becomes, if it is a quantized operator. False:
/// it is none. Failure has been reported at the node, whose model is `loc`.
mlir::FailureOr<bool> expandQuantizedNode(const ::onnx::NodeProto &node,
                                          Nodes &into, QuantizedScope &scope,
                                          TensorReader &reader,
                                          mlir::Location loc);

} // namespace attn::onnx

#endif
