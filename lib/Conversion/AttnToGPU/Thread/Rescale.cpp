// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Rescale.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;
using namespace attn::gpucode;

/// Whether a factor of a thread of the warp is not 1.
static Value anyOfWarp(ThreadBuilder &t, ValueRange factors) {
  Value one = arith::ConstantOp::create(t.b, t.loc, t.b.getF32FloatAttr(1.0f));
  Value own;
  for (Value factor : factors) {
    Value scales = arith::CmpFOp::create(t.b, t.loc, arith::CmpFPredicate::UNE,
                                         factor, one);
    own = own ? Value(arith::OrIOp::create(t.b, t.loc, own, scales)) : scales;
  }
  return NVVM::VoteSyncOp::create(t.b, t.loc, t.b.getI1Type(), t.i32(-1), own,
                                  NVVM::VoteSyncKind::any);
}

SmallVector<Value> gpucode::emitRescale(ThreadBuilder &t,
                                        tile::FragmentType fragment,
                                        ValueRange numbers,
                                        ValueRange factors) {
  FragmentShape shape(fragment);
  auto scaled = scf::IfOp::create(
      t.b, t.loc, anyOfWarp(t, factors),
      [&](OpBuilder &b, Location loc) {
        SmallVector<Value> products;
        for (auto [reg, number] : llvm::enumerate(numbers)) {
          Value factor = factors[shape.row(static_cast<int64_t>(reg))];
          products.push_back(arith::MulFOp::create(b, loc, number, factor));
        }
        scf::YieldOp::create(b, loc, products);
      },
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(b, loc, numbers);
      });
  return SmallVector<Value>(scaled.getResults());
}
