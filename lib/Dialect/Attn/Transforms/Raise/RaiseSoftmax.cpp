// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-raise-softmax: softmax that is written out becomes linalg.softmax, which
// attn-raise-attention reads.
//
//   %m = linalg.reduce { arith.maximumf } ins(%x) outs(%low) dimensions = [1]
//   %a = linalg.broadcast ins(%m) dimensions = [1]
//   %d = arith.subf %x, %a
//   %e = math.exp %d
//   %t = linalg.reduce { arith.addf } ins(%e) outs(%zero) dimensions = [1]
//   %s = linalg.broadcast ins(%t) dimensions = [1]
//   %y = arith.divf %e, %s
// becomes
//   %y = linalg.softmax dimension(1) ins(%x)
//
// So does a power of its logarithm, exp(x - log(sums of exp x)). Without the
// maximum it is the same softmax, which then no longer overflows.
// The quotient may be a product with a reciprocal, of the sums or of what they
// are broadcast to. Powers and sums that others read stay for them.
//
// Where 1 is added to the sums, or with a number m that is subtracted from all,
// exp(-m), rows have one more score, of 0: each head has a sink there.
//
// Before: any specification on tensors. After: the same, with linalg.softmax. A
// quotient of other sums stays, without a remark: it is no softmax.
#include "Sinks.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace attn {
#define GEN_PASS_DEF_RAISESOFTMAX
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using attn::belowReshapes;

namespace {
/// What has one number for all of a dimension.
struct Spread {
  Value source; ///< without the dimension
  int64_t dim;
};
} // namespace

/// The source of reshapes that together change nothing.
static Value withoutReshapes(Value value) {
  auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>();
  auto expand = collapse
                    ? collapse.getSrc().getDefiningOp<tensor::ExpandShapeOp>()
                    : tensor::ExpandShapeOp();
  return expand && expand.getSrcType() == collapse.getResultType()
             ? expand.getSrc()
             : value;
}

/// Sums of 16 bits are kept in f32: what `value` rounds, through a size of 1
/// that this alone has.
static Value beforeRounding(Value value) {
  auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>();
  auto round =
      (collapse ? collapse.getSrc() : value).getDefiningOp<arith::TruncFOp>();
  if (!round || !collapse)
    return round ? round.getIn() : value;
  auto expand = round.getIn().getDefiningOp<tensor::ExpandShapeOp>();
  bool isSame = expand && expand.getSrcType().getShape() ==
                              cast<ShapedType>(value.getType()).getShape();
  return isSame ? expand.getSrc() : value;
}

static std::optional<Spread> spreadOf(Value value) {
  auto broadcast = value.getDefiningOp<linalg::BroadcastOp>();
  if (!broadcast || broadcast.getDimensions().size() != 1)
    return std::nullopt;
  return Spread{beforeRounding(withoutReshapes(broadcast.getInput())),
                broadcast.getDimensions().front()};
}

static bool isOne(Value value) {
  return matchPattern(value, m_OneFloat()) ||
         (value.getDefiningOp<tensor::SplatOp>() &&
          matchPattern(value.getDefiningOp<tensor::SplatOp>().getInput(),
                       m_OneFloat()));
}

static Value reciprocalOf(Value value) {
  auto quotient = value.getDefiningOp<arith::DivFOp>();
  return quotient && isOne(quotient.getLhs()) ? quotient.getRhs() : Value();
}

/// The same through a size of 1 that the quotient alone has.
static Value reciprocalBelow(Value value) {
  auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>();
  if (!collapse)
    return reciprocalOf(value);
  Value sums = reciprocalOf(collapse.getSrc());
  auto expand = sums ? sums.getDefiningOp<tensor::ExpandShapeOp>() : nullptr;
  return expand && expand.getSrcType() == value.getType() ? expand.getSrc()
                                                          : Value();
}

/// What `value` is the logarithm of, the same way.
static Value powersBelow(Value value) {
  auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>();
  Value number = collapse ? collapse.getSrc() : value;
  auto log = number.getDefiningOp<math::LogOp>();
  if (!log || !collapse)
    return log ? log.getOperand() : Value();
  auto expand = log.getOperand().getDefiningOp<tensor::ExpandShapeOp>();
  return expand && expand.getSrcType() == value.getType() ? expand.getSrc()
                                                          : Value();
}

/// The number that a reduction begins with.
static std::optional<APFloat> firstNumber(Value init) {
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    init = fill.value();
  APFloat number(0.0);
  if (matchPattern(init, m_ConstantFloat(&number)))
    return number;
  DenseElementsAttr all;
  if (matchPattern(init, m_Constant(&all)) && all.isSplat() &&
      isa<FloatType>(all.getElementType()))
    return all.getSplatValue<APFloat>();
  return std::nullopt;
}

/// What `value` is the sum or the maximum of along `dim` alone; null: it is
/// none.
static Value reducedBy(Value value, int64_t dim, bool isSum) {
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  if (!op || !op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 1)
    return {};
  AffineMap from = op.getMatchingIndexingMap(op.getDpsInputOperand(0)),
            to = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  Block *body = op.getBlock();
  if (!from.isIdentity() || dim >= from.getNumResults() ||
      op.getIteratorTypesArray()[dim] != utils::IteratorType::reduction ||
      to != from.dropResult(dim))
    return {};
  Value a = body->getArgument(0), b = body->getArgument(1);
  auto wide = dyn_cast<arith::ExtFOp>(body->front());
  bool isWide = isSum && wide && wide.getIn() == a;
  if (!llvm::hasNItems(body->begin(), body->end(), isWide ? 3 : 2))
    return {};
  if (isWide)
    a = wide.getResult();
  Operation &combine = *std::next(body->begin(), isWide);
  bool isRight = isSum ? isa<arith::AddFOp>(combine)
                       : isa<arith::MaximumFOp, arith::MaxNumFOp>(combine);
  if (!isRight || body->back().getOperand(0) != combine.getResult(0) ||
      !((combine.getOperand(0) == a && combine.getOperand(1) == b) ||
        (combine.getOperand(0) == b && combine.getOperand(1) == a)))
    return {};
  std::optional<APFloat> start = firstNumber(op.getDpsInits()[0]);
  if (!start)
    return {};
  bool begins = isSum ? start->isZero()
                      : start->isNegative() &&
                            (start->isInfinity() || start->isLargest());
  return begins ? op.getDpsInputs()[0] : Value();
}

namespace {
struct WrittenOut {
  Value input;
  int64_t dim;
  bool hasSink = false; ///< one more score of 0 in each row
};

/// Sums of powers with one power more.
struct OneMore {
  Value sums;
  Value moved; ///< what the scores are reduced by; null: by nothing
};
} // namespace

/// The number of which `value` is the opposite.
static Value negated(Value value) {
  if (auto negative = value.getDefiningOp<arith::NegFOp>())
    return negative.getOperand();
  return {};
}

/// Reads 1 + sums, or exp(-m) + sums, which is spread over each row.
static std::optional<OneMore> oneMore(const Spread &spread) {
  Value all = spread.source;
  if (auto collapse = all.getDefiningOp<tensor::CollapseShapeOp>())
    all = collapse.getSrc();
  auto sum = all.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return std::nullopt;
  for (auto [sums, more] : {std::pair(sum.getLhs(), sum.getRhs()),
                            std::pair(sum.getRhs(), sum.getLhs())}) {
    OneMore found{belowReshapes(sums), {}};
    if (found.sums.getType() != spread.source.getType())
      continue;
    if (isOne(more))
      return found;
    auto power = more.getDefiningOp<math::ExpOp>();
    Value moved = power ? negated(power.getOperand()) : Value();
    if (!moved)
      continue;
    found.moved = belowReshapes(moved);
    return found;
  }
  return std::nullopt;
}

/// `powers` over one more than their sums. Heads that a sink belongs to are of
/// known number.
static std::optional<WrittenOut> readOneMore(Value powers, const Spread &sums) {
  auto type = cast<RankedTensorType>(powers.getType());
  auto exp = powers.getDefiningOp<math::ExpOp>();
  std::optional<OneMore> more = oneMore(sums);
  int64_t last = type.getRank() - 1;
  if (!exp || !more || sums.dim != last || last < 2 || last > 3 ||
      type.isDynamicDim(last - 2) ||
      reducedBy(more->sums, sums.dim, true) != powers)
    return std::nullopt;
  if (!more->moved)
    return WrittenOut{exp.getOperand(), last, true};
  auto moved = exp.getOperand().getDefiningOp<arith::SubFOp>();
  std::optional<Spread> by =
      moved ? spreadOf(moved.getRhs()) : std::optional<Spread>();
  if (!by || by->dim != last || belowReshapes(by->source) != more->moved)
    return std::nullopt;
  return WrittenOut{moved.getLhs(), last, true};
}

/// `powers` over the sums that `sums` or its reciprocal has everywhere.
static std::optional<WrittenOut> read(Value powers,
                                      std::optional<Spread> sums) {
  auto exp = powers.getDefiningOp<math::ExpOp>();
  if (!exp || !sums)
    return std::nullopt;
  if (reducedBy(sums->source, sums->dim, true) != powers)
    return readOneMore(powers, *sums);
  Value input = exp.getOperand();
  if (auto moved = input.getDefiningOp<arith::SubFOp>()) {
    std::optional<Spread> most = spreadOf(moved.getRhs());
    if (most && most->dim == sums->dim &&
        reducedBy(most->source, most->dim, false) == moved.getLhs())
      input = moved.getLhs();
  }
  return WrittenOut{input, sums->dim};
}

/// exp(x - log(sums)), where `sums` are those of exp(x).
static std::optional<WrittenOut> readPower(math::ExpOp op) {
  auto moved = op.getOperand().getDefiningOp<arith::SubFOp>();
  std::optional<Spread> logs =
      moved ? spreadOf(moved.getRhs()) : std::optional<Spread>();
  Value sums = logs ? powersBelow(logs->source) : Value();
  Value powers = sums ? reducedBy(sums, logs->dim, true) : Value();
  auto exp = powers ? powers.getDefiningOp<math::ExpOp>() : math::ExpOp();
  if (!exp || exp.getOperand() != moved.getLhs())
    return std::nullopt;
  return read(powers, Spread{sums, logs->dim});
}

static std::optional<WrittenOut> read(Operation *op) {
  if (auto power = dyn_cast<math::ExpOp>(op))
    return readPower(power);
  if (auto quotient = dyn_cast<arith::DivFOp>(op))
    return read(quotient.getLhs(), spreadOf(quotient.getRhs()));
  auto product = cast<arith::MulFOp>(op);
  for (auto [powers, factor] :
       {std::pair(product.getLhs(), product.getRhs()),
        std::pair(product.getRhs(), product.getLhs())}) {
    if (Value sums = reciprocalOf(factor))
      return read(powers, spreadOf(sums));
    std::optional<Spread> spread = spreadOf(factor);
    Value sums = spread ? reciprocalBelow(spread->source) : Value();
    if (sums)
      return read(powers, Spread{sums, spread->dim});
  }
  return std::nullopt;
}

/// A column of one 0 per row, the same for each head.
static Value zeroColumn(RewriterBase &rewriter, Location loc, Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  int64_t heads = type.getRank() - 3;
  auto perHead =
      RankedTensorType::get(type.getDimSize(heads), type.getElementType());
  Value zeros =
      arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(perHead));
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, like);
  sizes.back() = rewriter.getIndexAttr(1);
  SmallVector<int64_t> others = llvm::to_vector(llvm::seq(type.getRank()));
  llvm::erase(others, heads);
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
  return linalg::BroadcastOp::create(rewriter, loc, zeros, empty, others)
      ->getResult(0);
}

static Value softmaxOf(RewriterBase &rewriter, Location loc, Value input,
                       int64_t dim) {
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, input),
      getElementTypeOrSelf(input));
  return linalg::SoftmaxOp::create(rewriter, loc, TypeRange(input.getType()),
                                   input, empty, dim)
      ->getResult(0);
}

/// What `op` computes. A sink is a column of scores that goes again.
static void replace(Operation *op, const WrittenOut &softmax,
                    RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  Location loc = op->getLoc();
  Value input = softmax.input;
  if (!softmax.hasSink)
    return rewriter.replaceOp(op, softmaxOf(rewriter, loc, input, softmax.dim));
  Value joined = tensor::ConcatOp::create(
      rewriter, loc, softmax.dim,
      ValueRange{input, zeroColumn(rewriter, loc, input)});
  Value all = softmaxOf(rewriter, loc, joined, softmax.dim);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, input);
  SmallVector<OpFoldResult> zeros(sizes.size(), rewriter.getIndexAttr(0)),
      ones(sizes.size(), rewriter.getIndexAttr(1));
  rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
      op, cast<RankedTensorType>(input.getType()), all, zeros, sizes, ones);
}

namespace {
struct RaiseSoftmax : attn::impl::RaiseSoftmaxBase<RaiseSoftmax> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::DivFOp, arith::MulFOp, math::ExpOp>(op) &&
          isa<RankedTensorType>(op->getResult(0).getType()))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops)
      if (std::optional<WrittenOut> softmax = read(op))
        replace(op, *softmax, rewriter);
  }
};
} // namespace
