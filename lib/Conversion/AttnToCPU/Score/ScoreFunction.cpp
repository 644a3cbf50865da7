// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScoreFunction.h"
#include "Build/Apart.h"
#include "attn/Conversion/VectorToCPU/Arithmetic.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

Value cpu::ScoreFunction::apply(Value scores, Value query, Value key) {
  return apply(scores, Lanes{query, 1}, Lanes{key});
}

Value cpu::ScoreFunction::applyToKeys(Value scores, Value query, Value key) {
  return apply(scores, Lanes{query}, Lanes{key, 1});
}

/// Instructions, roughly.
static int64_t lengthOf(mlir::Block &block) {
  constexpr int64_t approximation = 16;
  int64_t length = 0;
  for (Operation &op : block)
    length += isa<math::MathDialect>(op.getDialect()) ? approximation : 1;
  return length;
}

Value cpu::ScoreFunction::apply(Value scores, Lanes query, Lanes key) {
  return lengthOf(block) > mostInline ? applyApart(scores, query, key)
                                      : applyHere(scores, query, key);
}

Value cpu::ScoreFunction::applyApart(Value scores, Lanes query, Lanes key) {
  Values arguments{scores, query.scalar, key.scalar};
  llvm::append_range(arguments, captures);
  ValueRange outside = captures;
  Value result = callApart(
      k, "score_function", arguments, scores.getType(), [&](ValueRange inside) {
        captures = inside.drop_front(3);
        return applyHere(inside[0], {inside[1], query.stride},
                         {inside[2], key.stride});
      });
  captures = outside;
  return result;
}

Value cpu::ScoreFunction::applyHere(Value scores, Lanes query, Lanes key) {
  values.clear();
  values[block.getArgument(Score)] = {Value(), 0, scores};
  values[block.getArgument(Batch)] = {captures[0]};
  values[block.getArgument(Head)] = {captures[1]};
  values[block.getArgument(Query)] = query;
  values[block.getArgument(Key)] = key;
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments().drop_front(FirstCapture),
                       captures.drop_front(2)))
    values[argument] = {value};
  for (Operation &op : block.without_terminator())
    values[op.getResult(0)] = clone(op);
  return vectorOf(values.lookup(block.getTerminator()->getOperand(0)));
}

Value cpu::ScoreFunction::evaluate(ArrayRef<Lanes> arguments, Value answer) {
  values.clear();
  for (auto [argument, lanes] :
       llvm::zip_equal(block.getArguments(), arguments))
    values[argument] = lanes;
  for (Operation &op : block)
    values[op.getResult(0)] = clone(op);
  return vectorOf(values.lookup(answer));
}

/// The kernel's own exp2 is for exponents of normal numbers, and takes three
/// quarters of them here: the square is 0 or infinite behind.
static Value exp2Anywhere(KernelBuilder &k, Value x) {
  Arithmetic a{k.builder, k.loc, x.getType()};
  double limit = 0.75 * static_cast<double>(a.bias());
  Value half = a.clamp(a.mul(x, a.real(0.5)), -limit, limit);
  Value root = math::Exp2Op::create(k.builder, k.loc, half);
  return a.mul(root, root);
}

cpu::ScoreFunction::Lanes cpu::ScoreFunction::clone(Operation &op) {
  if (readsCapture(&op))
    return loadCapture(op);
  bool uniform = llvm::all_of(op.getOperands(), [&](Value operand) {
    return values.lookup(operand).isUniform();
  });
  if (uniform && !isa<math::Exp2Op>(op)) {
    IRMapping mapping;
    for (Value operand : op.getOperands())
      mapping.map(operand, values.lookup(operand).scalar);
    return {k.builder.clone(op, mapping)->getResult(0)};
  }
  if (isa<math::Exp2Op>(op))
    return {Value(), 0,
            exp2Anywhere(k, vectorOf(values.lookup(op.getOperand(0))))};
  if (std::optional<Lanes> linear = cloneLinear(op))
    return *linear;
  Values operands;
  for (Value operand : op.getOperands())
    operands.push_back(vectorOf(values.lookup(operand)));
  Type type = VectorType::get(k.lanes, op.getResult(0).getType());
  OperationState state(op.getLoc(), op.getName(), operands, type,
                       op.getAttrs());
  return {Value(), 0, k.builder.create(state)->getResult(0)};
}

/// Ops of which the result rises by a constant from lane to lane if the
/// operands do. (Overflow flags are dropped: lane 0 may lie far from the
/// others.)
std::optional<cpu::ScoreFunction::Lanes>
cpu::ScoreFunction::cloneLinear(Operation &op) {
  SmallVector<Lanes> x;
  for (Value operand : op.getOperands())
    x.push_back(values.lookup(operand));
  if (llvm::any_of(x, [](const Lanes &lanes) { return lanes.vector; }))
    return std::nullopt;
  OpBuilder &b = k.builder;
  Location loc = op.getLoc();
  if (isa<arith::AddIOp>(op))
    return Lanes{arith::AddIOp::create(b, loc, x[0].scalar, x[1].scalar),
                 x[0].stride + x[1].stride};
  if (isa<arith::SubIOp>(op))
    return Lanes{arith::SubIOp::create(b, loc, x[0].scalar, x[1].scalar),
                 x[0].stride - x[1].stride};
  if (isa<arith::MulIOp>(op)) {
    if (x[0].isUniform())
      std::swap(x[0], x[1]);
    std::optional<int64_t> factor = getConstantIntValue(x[1].scalar);
    if (!factor || !x[1].isUniform())
      return std::nullopt;
    return Lanes{arith::MulIOp::create(b, loc, x[0].scalar, x[1].scalar),
                 x[0].stride * *factor};
  }
  if (isa<arith::IndexCastOp>(op))
    return Lanes{arith::IndexCastOp::create(b, loc, op.getResult(0).getType(),
                                            x[0].scalar),
                 x[0].stride};
  if (isa<arith::SIToFPOp>(op)) {
    Value first =
        arith::SIToFPOp::create(b, loc, op.getResult(0).getType(), x[0].scalar);
    return Lanes{
        Value(), 0,
        k.addf(k.broadcast(first), constant(first.getType(), 0, x[0].stride))};
  }
  return std::nullopt;
}

/// start, start + stride, ...
Value cpu::ScoreFunction::constant(Type element, int64_t start,
                                   int64_t stride) {
  SmallVector<Attribute> numbers;
  for (int64_t lane = 0; lane < k.lanes; ++lane) {
    // Integers wrap around.
    auto number = static_cast<int64_t>(static_cast<uint64_t>(start) +
                                       static_cast<uint64_t>(stride) * lane);
    numbers.push_back(
        isa<FloatType>(element)
            ? Attribute(k.builder.getFloatAttr(element, number))
            : Attribute(k.builder.getIntegerAttr(element, number)));
  }
  auto type = VectorType::get(k.lanes, element);
  return arith::ConstantOp::create(k.builder, k.loc,
                                   DenseElementsAttr::get(type, numbers));
}

Value cpu::ScoreFunction::vectorOf(const Lanes &lanes) {
  if (lanes.vector)
    return lanes.vector;
  Value vector = k.broadcast(lanes.scalar);
  if (lanes.stride == 0)
    return vector;
  return arith::AddIOp::create(
      k.builder, k.loc, vector,
      constant(lanes.scalar.getType(), 0, lanes.stride));
}

// --- captured tensors ---

Value cpu::ScoreFunction::size(Value memref, int64_t dim) {
  int64_t size = cast<MemRefType>(memref.getType()).getDimSize(dim);
  return ShapedType::isDynamic(size)
             ? memref::DimOp::create(k.builder, k.loc, memref, dim).getResult()
             : k.index(size);
}

Value cpu::ScoreFunction::clampIndex(Value index, Value size) {
  Value last = k.sub(size, k.index(1)), zero = k.index(0);
  if (isa<VectorType>(index.getType())) {
    last = k.broadcast(last);
    zero = k.broadcast(zero);
  }
  return k.max(k.min(index, last), zero);
}

cpu::ScoreFunction::Lanes cpu::ScoreFunction::loadCapture(Operation &op) {
  Value memref = values.lookup(op.getOperand(0)).scalar;
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<Lanes> at;
  for (Value index : llvm::drop_begin(op.getOperands()))
    at.push_back(values.lookup(index));
  if (llvm::all_of(at, [](const Lanes &i) { return i.isUniform(); })) {
    Values indices;
    for (auto [dim, index] : llvm::enumerate(at))
      indices.push_back(clampIndex(index.scalar, size(memref, dim)));
    return {memref::LoadOp::create(k.builder, k.loc, memref, indices)};
  }
  Type element = type.getElementType();
  if (!element.isF32() && !element.isF64() && !element.isInteger(32) &&
      !element.isInteger(64))
    return {Value(), 0, loadEach(memref, at)};
  bool onlyLast = llvm::all_of(ArrayRef(at).drop_back(),
                               [](const Lanes &i) { return i.isUniform(); });
  if (onlyLast && !at.back().vector && at.back().stride == 1)
    return {Value(), 0, loadNeighbours(memref, at)};
  return {Value(), 0, gather(memref, at)};
}

/// One load where all lanes read inside of the dimension, or outside on the
/// same side.
Value cpu::ScoreFunction::loadNeighbours(Value memref, ArrayRef<Lanes> at) {
  OpBuilder &b = k.builder;
  auto element = cast<MemRefType>(memref.getType()).getElementType();
  auto type = VectorType::get(k.lanes, element);
  Value first = at.back().scalar, width = size(memref, at.size() - 1);
  Value last = k.add(first, k.lanes - 1);
  Values indices;
  for (auto [dim, index] : llvm::enumerate(at.drop_back()))
    indices.push_back(clampIndex(index.scalar, size(memref, dim)));
  auto choose = [&](Value condition, function_ref<Value()> then,
                    function_ref<Value()> otherwise) -> Value {
    return scf::IfOp::create(
               b, k.loc, condition,
               [&](OpBuilder &, Location loc) {
                 scf::YieldOp::create(b, loc, then());
               },
               [&](OpBuilder &, Location loc) {
                 scf::YieldOp::create(b, loc, otherwise());
               })
        .getResult(0);
  };
  auto withLast = [&](Value index) {
    Values all = indices;
    all.push_back(index);
    return all;
  };
  Value begins = k.less(k.index(-1), first), ends = k.less(last, width);
  Value inside = arith::AndIOp::create(b, k.loc, begins, ends);
  return choose(
      inside,
      [&]() -> Value {
        return vector::LoadOp::create(b, k.loc, type, memref, withLast(first));
      },
      [&] {
        Value beside =
            arith::OrIOp::create(b, k.loc, k.less(last, k.index(1)),
                                 k.less(k.sub(width, k.index(2)), first));
        return choose(
            beside,
            [&] {
              Value nearest = clampIndex(first, width);
              return k.broadcast(
                  memref::LoadOp::create(b, k.loc, memref, withLast(nearest)));
            },
            [&] { return gather(memref, at); });
      });
}

Value cpu::ScoreFunction::gather(Value memref, ArrayRef<Lanes> at) {
  OpBuilder &b = k.builder;
  auto element = cast<MemRefType>(memref.getType()).getElementType();
  auto whole = memref::ExtractStridedMetadataOp::create(b, k.loc, memref);
  Value offsets = k.broadcast(k.index(0)), elements = k.index(1);
  for (auto [dim, index] : llvm::enumerate(at)) {
    Value stride = whole.getStrides()[dim], length = size(memref, dim);
    Value inside = clampIndex(vectorOf(index), length);
    Value scaled = arith::MulIOp::create(b, k.loc, inside, k.broadcast(stride));
    offsets = k.add(offsets, scaled);
    Value last = k.sub(length, k.index(1));
    elements = k.add(elements, arith::MulIOp::create(b, k.loc, last, stride));
  }
  auto flatType = MemRefType::get(
      {ShapedType::kDynamic}, element,
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1}));
  Value flat = memref::ReinterpretCastOp::create(
      b, k.loc, flatType, whole.getBaseBuffer(),
      OpFoldResult(whole.getOffset()), {OpFoldResult(elements)},
      {b.getIndexAttr(1)});
  auto type = VectorType::get(k.lanes, element);
  Value all = arith::ConstantOp::create(
      b, k.loc, DenseElementsAttr::get(k.boolVectorType, true));
  Value nothing =
      arith::ConstantOp::create(b, k.loc, type, b.getZeroAttr(type));
  return vector::GatherOp::create(b, k.loc, type, flat, k.index(0), offsets,
                                  all, nothing);
}

/// For elements that no vector instruction loads (booleans, halves).
Value cpu::ScoreFunction::loadEach(Value memref, ArrayRef<Lanes> at) {
  OpBuilder &b = k.builder;
  auto element = cast<MemRefType>(memref.getType()).getElementType();
  auto type = VectorType::get(k.lanes, element);
  Value result = arith::ConstantOp::create(b, k.loc, type, b.getZeroAttr(type));
  Values vectors;
  for (auto [dim, index] : llvm::enumerate(at))
    vectors.push_back(clampIndex(vectorOf(index), size(memref, dim)));
  for (int64_t lane = 0; lane < k.lanes; ++lane) {
    Values indices;
    for (Value vector : vectors)
      indices.push_back(vector::ExtractOp::create(b, k.loc, vector, lane));
    Value one = memref::LoadOp::create(b, k.loc, memref, indices);
    result = vector::InsertOp::create(b, k.loc, one, result,
                                      ArrayRef<int64_t>{lane});
  }
  return result;
}
