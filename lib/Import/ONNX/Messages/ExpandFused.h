// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_LIB_IMPORT_ONNX_MESSAGES_EXPANDFUSED_H
#define ATTN_LIB_IMPORT_ONNX_MESSAGES_EXPANDFUSED_H

#include "Model.h"

namespace attn::onnx {

/// Puts the nodes that ONNX Runtime's optimizer joined to one in its place.
void expandFused(::onnx::GraphProto &graph);

} // namespace attn::onnx

#endif
