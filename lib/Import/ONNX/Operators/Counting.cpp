// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Counting.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn::onnx;

/// Constants of more elements are not looked at.
static constexpr int64_t mostContents = 1 << 20;
/// Nor are more ops on the way to them: both operands of sums are read.
static constexpr unsigned mostOps = 16;

static std::optional<Counting> ofConstant(DenseIntElementsAttr contents) {
  ArrayRef<int64_t> shape = contents.getType().getShape();
  int64_t count = contents.getNumElements();
  if (count == 0 || count > mostContents ||
      contents.getElementType().getIntOrFloatBitWidth() > 64)
    return std::nullopt;
  auto values = contents.getValues<APInt>();
  Counting counting{values[0].getSExtValue(), std::nullopt};
  if (contents.isSplat())
    return counting;
  SmallVector<int64_t> strides = computeStrides(shape);
  for (auto [dim, size, stride] : llvm::enumerate(shape, strides))
    if (size > 1 && values[stride] != values[0])
      counting.dim = dim;
  if (!counting.dim)
    return std::nullopt;
  int64_t size = shape[*counting.dim], stride = strides[*counting.dim];
  for (auto [i, value] : llvm::enumerate(values))
    if (value.getSExtValue() !=
        counting.first + static_cast<int64_t>(i) / stride % size)
      return std::nullopt;
  return counting;
}

static std::optional<int64_t> constantInteger(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number))
             ? std::optional(number.getSExtValue())
             : std::nullopt;
}

/// first + 1 * i, as Range is imported.
static std::optional<Counting> ofLoops(linalg::GenericOp op) {
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  if (op.getNumLoops() != 1 || op.getNumDpsInputs() != 0 ||
      yield.getNumOperands() != 1)
    return std::nullopt;
  auto sum = yield.getOperand(0).getDefiningOp<arith::AddIOp>();
  auto steps = sum ? sum.getRhs().getDefiningOp<arith::MulIOp>() : nullptr;
  std::optional<int64_t> first =
      sum ? constantInteger(sum.getLhs()) : std::nullopt;
  if (!first || !steps || constantInteger(steps.getRhs()) != 1)
    return std::nullopt;
  Operation *place = steps.getLhs().getDefiningOp();
  while (isa_and_nonnull<arith::IndexCastOp, arith::TruncIOp>(place))
    place = place->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<linalg::IndexOp>(place))
    return std::nullopt;
  return Counting{*first, 0};
}

/// The dimension of `group` that has several elements, if the others have one.
static std::optional<int64_t> onlyOf(ArrayRef<int64_t> group,
                                     ArrayRef<int64_t> shape) {
  std::optional<int64_t> only;
  for (int64_t dim : group) {
    if (shape[dim] == 1)
      continue;
    if (only)
      return std::nullopt;
    only = dim;
  }
  return only ? only : group.front();
}

/// Through a reshape of tensors whose larger shape is `shape`: to it where
/// `expands`, else from it.
static std::optional<Counting>
throughReshape(Counting counting, ArrayRef<ReassociationIndices> groups,
               ArrayRef<int64_t> shape, bool expands) {
  if (!counting.dim)
    return counting;
  for (auto [i, group] : llvm::enumerate(groups)) {
    std::optional<int64_t> only = onlyOf(group, shape);
    if (expands && static_cast<int64_t>(i) == *counting.dim)
      return only ? std::optional(Counting{counting.first, only})
                  : std::nullopt;
    if (!expands && llvm::is_contained(group, *counting.dim))
      return only == counting.dim ? std::optional(Counting{counting.first, i})
                                  : std::nullopt;
  }
  return std::nullopt;
}

static Counting throughBroadcast(Counting counting, linalg::BroadcastOp op) {
  if (!counting.dim)
    return counting;
  SmallVector<int64_t> kept;
  for (int64_t dim = 0; dim < op.getInit().getType().getRank(); ++dim)
    if (!llvm::is_contained(op.getDimensions(), dim))
      kept.push_back(dim);
  return {counting.first, kept[*counting.dim]};
}

/// Through at most `depth` ops.
static std::optional<Counting> readWithin(Value integers, unsigned depth);

static std::optional<Counting> ofSum(arith::AddIOp op, unsigned depth) {
  std::optional<Counting> left = readWithin(op.getLhs(), depth),
                          right = left ? readWithin(op.getRhs(), depth) : left;
  int64_t first;
  if (!right || (left->dim && right->dim) ||
      llvm::AddOverflow(left->first, right->first, first))
    return std::nullopt;
  return Counting{first, left->dim ? left->dim : right->dim};
}

static std::optional<Counting> readWithin(Value integers, unsigned depth) {
  DenseIntElementsAttr contents;
  if (matchPattern(integers, m_Constant(&contents)))
    return ofConstant(contents);
  Operation *op = integers.getDefiningOp();
  if (!op || depth == 0)
    return std::nullopt;
  auto below = [&] { return readWithin(op->getOperand(0), depth - 1); };
  return llvm::TypeSwitch<Operation *, std::optional<Counting>>(op)
      .Case([&](linalg::GenericOp loops) { return ofLoops(loops); })
      .Case([&](arith::AddIOp sum) { return ofSum(sum, depth - 1); })
      .Case([&](tensor::SplatOp splat) -> std::optional<Counting> {
        std::optional<int64_t> number = constantInteger(splat.getInput());
        if (!number)
          return std::nullopt;
        return Counting{*number, std::nullopt};
      })
      .Case<tensor::CastOp, arith::ExtSIOp>([&](auto) { return below(); })
      .Case([&](tensor::ExpandShapeOp expand) -> std::optional<Counting> {
        std::optional<Counting> from = below();
        return from ? throughReshape(*from, expand.getReassociationIndices(),
                                     expand.getResultType().getShape(),
                                     /*expands=*/true)
                    : from;
      })
      .Case([&](tensor::CollapseShapeOp collapse) -> std::optional<Counting> {
        std::optional<Counting> from = below();
        return from ? throughReshape(*from, collapse.getReassociationIndices(),
                                     collapse.getSrcType().getShape(),
                                     /*expands=*/false)
                    : from;
      })
      .Case([&](linalg::BroadcastOp broadcast) -> std::optional<Counting> {
        std::optional<Counting> from = below();
        return from ? std::optional(throughBroadcast(*from, broadcast)) : from;
      })
      .Default(std::nullopt);
}

std::optional<Counting> attn::onnx::readCounting(Value integers) {
  return readWithin(integers, mostOps);
}
