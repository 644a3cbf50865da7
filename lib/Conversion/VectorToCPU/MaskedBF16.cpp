// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masked loads and stores of bf16 move integers of as many bits.
//
// Before:  llvm.intr.masked.store %v, %p, %m : vector<8xbf16>, ..
// After:   %i = llvm.bitcast %v : vector<8xbf16> to vector<8xi16>
//          llvm.intr.masked.store %i, %p, %m : vector<8xi16>, ..
//
// Where a processor has no masks, LLVM takes vectors apart, and numbers of bf16
// that it takes out of one go through f32 and back by a function of the
// compiler's own library, which a kernel must do without.
//
// Before: only the LLVM dialect. After: the same.
#include "attn/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace attn {
#define GEN_PASS_DEF_MASKEDBF16
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;

/// A vector of as many integers; null for other types.
static VectorType integersFor(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || !vector.getElementType().isBF16())
    return {};
  return vector.clone(IntegerType::get(type.getContext(), 16));
}

static void store(LLVM::MaskedStoreOp op) {
  VectorType integers = integersFor(op.getValue().getType());
  if (!integers)
    return;
  OpBuilder b(op);
  op.getValueMutable().assign(
      LLVM::BitcastOp::create(b, op.getLoc(), integers, op.getValue()));
}

static void load(LLVM::MaskedLoadOp op) {
  Value loaded = op->getResult(0);
  Type type = loaded.getType();
  VectorType integers = integersFor(type);
  if (!integers)
    return;
  OpBuilder b(op);
  for (OpOperand &passed : op.getPassThruMutable())
    passed.set(LLVM::BitcastOp::create(b, op.getLoc(), integers, passed.get()));
  loaded.setType(integers);
  b.setInsertionPointAfter(op);
  auto back = LLVM::BitcastOp::create(b, op.getLoc(), type, loaded);
  loaded.replaceAllUsesExcept(back, back);
}

namespace {
struct MaskedBF16 : attn::impl::MaskedBF16Base<MaskedBF16> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (auto masked = dyn_cast<LLVM::MaskedStoreOp>(op))
        store(masked);
      else if (auto masked = dyn_cast<LLVM::MaskedLoadOp>(op))
        load(masked);
    });
  }
};
} // namespace
