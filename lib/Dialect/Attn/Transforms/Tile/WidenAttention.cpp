// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-widen-attention: queries, keys and values of a GPU's kernel are of one
// type.
//
// Before:  %out = attn.sdpa %q, %k, %v : (f16, f16, f32) -> f32
// After:   %wq = arith.extf %q
//          %wk = arith.extf %k
//          %out = attn.sdpa %wq, %wk, %v : (f32, f32, f32) -> f32
//
// Before:  %out = attn.sdpa %q, %k, %v : (f32, f32, bf16) -> bf16
// After:   %wv = arith.extf %v
//          %wide = attn.sdpa %q, %k, %wv : (f32, f32, f32) -> f32
//          %out = arith.truncf %wide
//
// Every number of 16 bits is one of f32, so that nothing is rounded that was
// not. A remark says so: products of f32 take about five times as long.
//
// Before: fused attentions with one map. After: none has operands of two types
// of up to 32 bits.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

namespace attn {
#define GEN_PASS_DEF_WIDENATTENTION
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static RankedTensorType asF32(RankedTensorType type) {
  return type.clone(Float32Type::get(type.getContext()));
}

/// Whether it has two types, of which the larger is f32.
static bool mixes(SdpaOp op) {
  Type query = op.getQuery().getType().getElementType(),
       value = op.getValue().getType().getElementType();
  return query != value && !query.isF64() && !value.isF64();
}

static void widen(SdpaOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  remark::missed(
      loc,
      remark::RemarkOpts::name("MixedTypes").category("attn-widen-attention"))
      << llvm::formatv("queries, keys and values are multiplied as f32, which "
                       "takes longer than 16 bits: queries are {0}, values {1}",
                       op.getQuery().getType().getElementType(),
                       op.getValue().getType().getElementType())
             .str();
  for (OpOperand *operand :
       {&op.getQueryMutable(), &op.getKeyMutable(), &op.getValueMutable()}) {
    auto type = cast<RankedTensorType>(operand->get().getType());
    if (!type.getElementType().isF32())
      operand->set(arith::ExtFOp::create(b, loc, asF32(type), operand->get()));
  }
  RankedTensorType out = op.getOut().getType();
  if (out.getElementType().isF32())
    return;
  op.getOut().setType(asF32(out));
  b.setInsertionPointAfter(op);
  auto narrow = arith::TruncFOp::create(b, loc, out, op.getOut());
  op.getOut().replaceAllUsesExcept(narrow.getResult(), narrow);
}

namespace {
struct WidenAttention : attn::impl::WidenAttentionBase<WidenAttention> {
  void runOnOperation() override {
    getOperation()->walk([](SdpaOp op) {
      if (mixes(op))
        widen(op);
    });
  }
};
} // namespace
