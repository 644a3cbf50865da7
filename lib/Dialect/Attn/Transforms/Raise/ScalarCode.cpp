// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScalarCode.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Utils/VectorOps.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

/// Code of more steps is no score function that anybody wrote.
static constexpr size_t mostSteps = 512;

ScalarCode::ScalarCode(MLIRContext *context, Location loc,
                       ArrayRef<int64_t> sizes, Type score)
    : loc(loc), code(std::make_unique<Block>()), b(context), sizes(sizes) {
  Type index = IndexType::get(context);
  code->addArguments({score, index, index, index, index},
                     SmallVector<Location>(FirstCapture, loc));
  b.setInsertionPointToStart(code.get());
}

Value ScalarCode::fail(const Twine &why) {
  if (reason.empty())
    reason = why.str();
  return {};
}

Value ScalarCode::tensorOf(tensor::ExtractOp read) const {
  auto argument = cast<BlockArgument>(read.getTensor());
  return captured[argument.getArgNumber() - FirstCapture];
}

const TensorView *ScalarCode::viewOf(Value number) const {
  for (const Known &one : known)
    if (one.number == number)
      return &one.view;
  return nullptr;
}

/// Scores of fewer dimensions lack the outer ones.
int64_t ScalarCode::loopOf(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != code.get() ||
      argument.getArgNumber() < Batch || argument.getArgNumber() > Key)
    return -1;
  int64_t lacking = Key - Batch + 1 - static_cast<int64_t>(sizes.size());
  return static_cast<int64_t>(argument.getArgNumber()) - Batch - lacking;
}

Value ScalarCode::capture(Value value) {
  TypedAttr constant;
  if (matchPattern(value, m_Constant(&constant)) &&
      value.getType().isIntOrIndexOrFloat())
    return arith::ConstantOp::create(b, loc, constant);
  auto found = llvm::find(captured, value);
  if (found == captured.end()) {
    captured.push_back(value);
    return code->addArgument(value.getType(), loc);
  }
  return code->getArgument(FirstCapture + (found - captured.begin()));
}

/// The number that the digits are together.
Value ScalarCode::indexOf(const LoopIndex &digits) {
  Value sum;
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value).getResult();
  };
  for (const Digit &digit : digits) {
    int64_t lacking = Key - Batch + 1 - static_cast<int64_t>(sizes.size());
    if (digit.loop >= sizes.size())
      return fail("it depends on a feature");
    Value part = code->getArgument(Batch + lacking + digit.loop);
    if (digit.div != 1)
      part = arith::DivUIOp::create(b, loc, part, constant(digit.div));
    if (!ShapedType::isDynamic(digit.size) &&
        digit.div * digit.size != sizes[digit.loop])
      part = arith::RemUIOp::create(b, loc, part, constant(digit.size));
    if (sum && ShapedType::isDynamic(digit.size))
      return fail("it joins dimensions of unknown sizes");
    if (sum)
      part = arith::AddIOp::create(
          b, loc, arith::MulIOp::create(b, loc, sum, constant(digit.size)),
          part);
    sum = part;
  }
  return sum ? sum : constant(0);
}

/// The one number that all elements are: an attribute or a value.
static OpFoldResult splatOf(Value tensor) {
  DenseElementsAttr dense;
  if (matchPattern(tensor, m_Constant(&dense)) && dense.isSplat())
    return dense.getSplatValue<Attribute>();
  if (auto splat = tensor.getDefiningOp<tensor::SplatOp>())
    return splat.getInput();
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return fill.value();
  return {};
}

Value ScalarCode::emit(const TensorView &view) {
  for (const Known &one : known)
    if (one.view.tensor == view.tensor && one.view.dims == view.dims)
      return one.number;
  if (bound && bound->tensor == view.tensor && bound->dims == view.dims)
    return score();
  if (++depth > mostSteps || known.size() > mostSteps)
    return fail("it has more than " + Twine(mostSteps) + " steps");
  Value number;
  if (OpFoldResult splat = splatOf(view.tensor)) {
    auto attr = dyn_cast<Attribute>(splat);
    number = attr ? arith::ConstantOp::create(b, loc, cast<TypedAttr>(attr))
                  : capture(cast<Value>(splat));
  } else if (std::optional<TensorView> below = peel(view)) {
    number = emit(*below);
  } else if (Operation *op = view.tensor.getDefiningOp()) {
    number = emitOp(view, op);
  } else {
    number = emitRead(view);
  }
  --depth;
  if (number)
    known.push_back({view, number});
  return number;
}

Value ScalarCode::emitOp(const TensorView &view, Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return emitGeneric(view, generic);
  if (auto scale = dyn_cast<ScaleOp>(op)) {
    Value number = emit({scale.getInput(), view.dims});
    auto factor = b.getFloatAttr(view.type().getElementType(),
                                 scale.getFactor().convertToDouble());
    return number
               ? arith::MulFOp::create(
                     b, loc, number, arith::ConstantOp::create(b, loc, factor))
               : Value();
  }
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
      isa<arith::ConstantOp>(op) || op->getNumResults() != 1)
    return emitRead(view);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Value number = isa<RankedTensorType>(operand.getType())
                       ? emit({operand, view.dims})
                       : capture(operand);
    if (!number)
      return {};
    operands.push_back(number);
  }
  OperationState state(loc, op->getName(), operands,
                       {view.type().getElementType()}, {});
  state.propertiesAttr = op->getPropertiesAsAttribute();
  return checked(b.create(state));
}

/// The number that `op` gives; null where no kernel has code for it.
Value ScalarCode::checked(Operation *op) {
  bool divides =
      isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
          arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op);
  APInt divisor;
  bool isKnown = divides &&
                 matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) &&
                 !divisor.isZero() && !divisor.isAllOnes();
  if (!hasVectorCode(op) || (divides && !isKnown))
    return fail("kernels have no code for its '" +
                op->getName().getStringRef() + "'");
  return op->getResult(0);
}

/// A lookup: its body reads tensors by itself. Its result is computed once and
/// read, as a bias of buckets is for all batch entries.
static bool looksUp(linalg::GenericOp op) {
  return op.getDpsInputs().empty() &&
         !op.getBody()->getOps<tensor::ExtractOp>().empty();
}

/// A body without sums, of which each result element needs one element of
/// each input.
Value ScalarCode::emitGeneric(const TensorView &view, linalg::GenericOp op) {
  AffineMap out = op.getIndexingMapsArray().back();
  if (op.getNumResults() != 1 || op.getNumParallelLoops() != op.getNumLoops() ||
      !out.isPermutation() || looksUp(op) ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)))
    return emitRead(view);
  SmallVector<LoopIndex> loops(op.getNumLoops());
  readLoops(view, out, loops);
  IRMapping mapping;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return emitRead(view);
    if (!op.payloadUsesValueFromOperand(input))
      continue;
    Value number = isa<RankedTensorType>(input->get().getType())
                       ? emit(attn::viewOf(*input, map, loops))
                       : capture(input->get());
    if (!number)
      return {};
    mapping.map(op.getMatchingBlockArgument(input), number);
  }
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      Value number = indexOf(loops[index.getDim()]);
      if (!number)
        return {};
      mapping.map(index.getResult(), number);
      continue;
    }
    if (!isa<arith::ArithDialect, math::MathDialect>(inner.getDialect()))
      return fail("its code has '" + inner.getName().getStringRef() + "'");
    for (Value operand : inner.getOperands())
      if (!mapping.contains(operand)) // from above
        mapping.map(operand, capture(operand));
    if (!checked(b.clone(inner, mapping)))
      return {};
  }
  return mapping.lookup(op.getBody()->getTerminator()->getOperand(0));
}

Value ScalarCode::emitRead(const TensorView &view) {
  Type element = view.type().getElementType();
  if (!element.isIntOrIndexOrFloat())
    return fail("its elements are no numbers");
  SmallVector<Value> indices;
  for (const LoopIndex &digits : view.dims) {
    Value index = indexOf(digits);
    if (!index)
      return {};
    indices.push_back(index);
  }
  auto read = tensor::ExtractOp::create(b, loc, capture(view.tensor), indices);
  read->setAttr(AttnDialect::rowForRowAttr, b.getUnitAttr());
  return read;
}

bool ScalarCode::comparesResultsOf(Operation *source) const {
  if (code->getOps<arith::CmpFOp>().empty())
    return false;
  BackwardSliceOptions behind;
  behind.omitBlockArguments = true;
  behind.filter = [&](Operation *op) {
    Operation *in = source->getBlock()->findAncestorOpInBlock(*op);
    return in && !in->isBeforeInBlock(source);
  };
  return llvm::any_of(captured, [&](Value value) {
    SetVector<Operation *> before;
    return succeeded(getBackwardSlice(value, &before, behind)) &&
           before.contains(source);
  });
}
