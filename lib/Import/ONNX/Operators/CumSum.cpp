// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CumSum: the sum of all elements in front.
//
// A long axis is summed in blocks, and so are the sums of the blocks:
//   sums[j, i] = sum of x[j, 0 .. i] + sum of all x[0 .. j - 1]
// so that an element costs a block's size and not the axis'. The first half and
// short axes add up anew for each element, which has no order of steps.
#include "OperatorTable.h"
#include "Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn::onnx;

/// Elements of a block: what is added up anew.
static constexpr int64_t block = 32;

/// How often blocks are summed in blocks where the axis has an unknown size.
static constexpr unsigned mostLevels = 2;

namespace {
struct Sums {
  TensorBuilder &t;
  bool isReverse;

  /// Each element as the sum of those in front of it, and itself unless it
  /// `excludes` that.
  Tensor anew(Tensor &x, int64_t axis, bool excludes);
  Tensor inBlocks(Tensor &x, int64_t axis, bool excludes, unsigned level = 0);
};
} // namespace

Tensor Sums::anew(Tensor &x, int64_t axis, bool excludes) {
  auto how =
      isReverse
          ? (excludes ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::uge)
          : (excludes ? arith::CmpIPredicate::ult : arith::CmpIPredicate::ule);
  unsigned rank = x.shape.size();
  auto loop = [&](unsigned i) { return t.b.getAffineDimExpr(i); };
  SmallVector<AffineExpr> from, to;
  for (unsigned i = 0; i < rank; ++i) {
    from.push_back(loop(i == axis ? rank : i));
    to.push_back(loop(i));
  }
  MLIRContext *context = t.b.getContext();
  AffineMap maps[] = {AffineMap::get(rank + 1, 0, from, context),
                      AffineMap::get(rank + 1, 0, to, context)};
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  loops.push_back(utils::IteratorType::reduction);
  TypedAttr none = t.number(x.element, 0);
  Value zero = arith::ConstantOp::create(t.b, t.loc, none);
  Value start =
      linalg::FillOp::create(t.b, t.loc, zero, t.empty(x.shape, x.element))
          .getResult(0);
  auto body = [&](OpBuilder &b, Location loc, ValueRange in) {
    Value place = linalg::IndexOp::create(b, loc, axis),
          other = linalg::IndexOp::create(b, loc, rank);
    Value counts = arith::CmpIOp::create(b, loc, how, other, place);
    Value part = arith::SelectOp::create(b, loc, counts, in[0], zero);
    Value sum = x.isFloat() ? Value(arith::AddFOp::create(b, loc, in[1], part))
                            : Value(arith::AddIOp::create(b, loc, in[1], part));
    linalg::YieldOp::create(b, loc, sum);
  };
  Value sums = linalg::GenericOp::create(t.b, t.loc, t.type(x), t.value(x),
                                         start, maps, loops, body)
                   .getResult(0);
  return {x.element, x.shape, sums, {}, {}};
}

Tensor Sums::inBlocks(Tensor &x, int64_t axis, bool excludes, unsigned level) {
  Size size = x.shape[axis];
  std::optional<int64_t> known = size.constant();
  if (known ? *known <= 2 * block : level == mostLevels)
    return anew(x, axis, excludes);

  Size blocks = t.quotient(size + (block - 1), block);
  Shape padded = x.shape;
  padded[axis] = blocks * block;
  Shape after(x.rank(), 0);
  after[axis] = padded[axis] - size;
  Value none = arith::ConstantOp::create(t.b, t.loc, t.number(x.element, 0));
  Value whole = tensor::PadOp::create(t.b, t.loc, t.type(padded, x.element),
                                      t.value(x), t.folded(Shape(x.rank(), 0)),
                                      t.folded(after), none);

  Shape divided = padded;
  divided[axis] = blocks;
  divided.insert(divided.begin() + axis + 1, block);
  Tensor parts{x.element, divided, t.reshape(whole, padded, divided), {}, {}};
  Tensor within = anew(parts, axis + 1, excludes);
  Tensor ofBlocks = sumOf(t, parts, axis + 1);
  Tensor inFront = inBlocks(ofBlocks, axis, /*excludes=*/true, level + 1);
  Tensor both = parts.isFloat() ? combine<arith::AddFOp>(t, within, inFront)
                                : combine<arith::AddIOp>(t, within, inFront);
  Tensor sums{
      x.element, padded, t.reshape(both.value, divided, padded), {}, {}};
  return t.slice(sums, axis, 0, size);
}

static LogicalResult importCumSum(Node &node) {
  TensorBuilder &t = node.build();
  Tensor &given = node.input(0);
  auto axes = node.integers(1);
  if (failed(axes))
    return failure();
  if (axes->size() != 1 || given.element.isInteger(1))
    return node.fail("expects numbers and one axis, but got " +
                     describe(given));
  FailureOr<int64_t> axis = node.axis(axes->front(), given.rank());
  if (failed(axis))
    return failure();
  Tensor x = wide(t, given);
  Sums all{t, node.getInt("reverse", 0) != 0};
  Tensor sums = all.inBlocks(x, *axis, node.getInt("exclusive", 0) != 0);
  return node.give(t.cast(sums, given.element));
}

ArrayRef<Operator> attn::onnx::cumSumOperators() {
  static const Operator all[] = {{"", "CumSum", importCumSum, 2, 2}};
  return all;
}
