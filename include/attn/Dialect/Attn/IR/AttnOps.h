// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The attn dialect: its attributes, types and ops.
#ifndef ATTN_DIALECT_ATTN_IR_ATTNOPS_H
#define ATTN_DIALECT_ATTN_IR_ATTNOPS_H

#include "attn/Dialect/Attn/IR/AttnAttributes.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace attn {
/// Dimension numbers of a tensor with heads; -1 where its rank has none.
struct HeadDims {
  int batch, head, sequence, feature;
  /// Of a tensor of this rank and layout.
  static HeadDims of(int64_t rank, Layout layout);
};
} // namespace attn

#define GET_OP_CLASSES
#include "attn/Dialect/Attn/IR/AttnOps.h.inc"

#endif
