// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RowThreads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn::cpu;

static Value constant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, /*width=*/32);
}

void RowThreads::storeOnce(OpBuilder &b, Location loc,
                           function_ref<void()> store) const {
  if (!number)
    return store();
  auto meet = [&] { NVVM::SyncWarpOp::create(b, loc, constant(b, loc, -1)); };
  meet();
  Value first =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, number,
                            arith::ConstantIndexOp::create(b, loc, 0));
  auto guarded = scf::IfOp::create(b, loc, first);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(guarded.thenBlock());
    store();
  }
  meet();
}

Value RowThreads::join(OpBuilder &b, Location loc, Value own,
                       function_ref<Value(Value, Value)> combine) const {
  if (!number)
    return own;
  Type type = own.getType();
  bool isNarrow = type.isF16() || type.isBF16();
  for (int64_t distance = count / 2; distance > 0; distance /= 2) {
    Value sent = own;
    if (isNarrow)
      sent = arith::ExtFOp::create(b, loc, b.getF32Type(), own);
    Value other = NVVM::ShflOp::create(
        b, loc, sent.getType(), constant(b, loc, -1), sent,
        constant(b, loc, distance), constant(b, loc, count - 1),
        NVVM::ShflKind::bfly, UnitAttr());
    if (isNarrow)
      other = arith::TruncFOp::create(b, loc, type, other);
    own = combine(own, other);
  }
  return own;
}

void RowThreads::storeLast(OpBuilder &b) const {
  if (!number)
    return;
  Block *block = b.getInsertionBlock();
  SmallVector<Operation *> stores(block->getOps<memref::StoreOp>());
  for (Operation *store : stores)
    store->moveBefore(block, b.getInsertionPoint());
}
