// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a bitmap of blocks, known at run time, allows anything in a tile.
//
// The analysis knows nothing of its bits, so every tile that the other terms
// see is visited; this looks at the bits of the blocks that the tile touches,
// which costs as many loads as there are, before the tile is computed.
#include "BlockSparsity.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

namespace {
struct BlockTest {
  OpBuilder &b;
  Location loc;
  Value bitmap;

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  /// Ors `body(i)` over the blocks of `size` that [begin, end) touches.
  Value any(int64_t dim, Value begin, Value end, int64_t size, Value init,
            function_ref<Value(Value i, Value found)> body) {
    Value first = arith::DivUIOp::create(b, loc, begin, index(size));
    Value last = arith::CeilDivUIOp::create(b, loc, end, index(size));
    Value known = tensor::DimOp::create(b, loc, bitmap, dim);
    auto loop = scf::ForOp::create(
        b, loc, first, arith::MinUIOp::create(b, loc, last, known), index(1),
        init, [&](OpBuilder &, Location, Value i, ValueRange found) {
          scf::YieldOp::create(b, loc, body(i, found.front()));
        });
    return loop.getResult(0);
  }
};
} // namespace

static Value emitSeen(OpBuilder &b, Location loc, OnlineOp op, BlockAttr term,
                      Value first, Value count) {
  BlockTest test{b, loc, op.getMaskOperands()[term.getOperand().getPosition()]};
  Value end = arith::AddIOp::create(b, loc, first, count);
  Value none = arith::ConstantIntOp::create(b, loc, false, 1);
  return test.any(0, op.getQueryBegin(), op.getQueryEnd(), term.getQueries(),
                  none, [&](Value row, Value found) {
                    return test.any(
                        1, first, end, term.getKeys(), found,
                        [&](Value column, Value inner) -> Value {
                          Value bit = tensor::ExtractOp::create(
                              b, loc, test.bitmap, ValueRange{row, column});
                          return arith::OrIOp::create(b, loc, inner, bit);
                        });
                  });
}

Value attn::emitSeesAnyBlock(OpBuilder &b, Location loc, OnlineOp op,
                             Value first, Value count) {
  Attribute mask = op.getMaskAttr();
  SmallVector<Attribute> terms{mask};
  if (auto all = dyn_cast_or_null<AllOfAttr>(mask))
    terms.assign(all.getTerms().begin(), all.getTerms().end());
  Value seen;
  for (Attribute term : terms) {
    auto block = dyn_cast_or_null<BlockAttr>(term);
    if (!block || !block.getOperand())
      continue;
    Value here = emitSeen(b, loc, op, block, first, count);
    seen = seen ? arith::AndIOp::create(b, loc, seen, here).getResult() : here;
  }
  return seen;
}
