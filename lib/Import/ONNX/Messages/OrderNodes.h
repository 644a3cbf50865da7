// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_IMPORT_ONNX_MESSAGES_ORDERNODES_H
#define ATTN_LIB_IMPORT_ONNX_MESSAGES_ORDERNODES_H

#include "Model.h"

namespace attn::onnx {

/// Leaves what the graph's outputs need, each node behind those that it reads.
void orderNodes(::onnx::GraphProto &graph);

} // namespace attn::onnx

#endif
