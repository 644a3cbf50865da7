// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScoreFunction.h"
#include "Build/Apart.h"
#include "attn/Conversion/VectorToCPU/Arithmetic.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

Values cpu::ScoreFunction::apply(Value scores, Value query, Value key,
                                 ArrayRef<Value> others) {
  return apply(scores, Lanes{query, 1}, Lanes{key}, others);
}

Value cpu::ScoreFunction::applyToKeys(Value scores, Value query, Value key) {
  return apply(scores, Lanes{query}, Lanes{key, 1}, {})[0];
}

/// Instructions, roughly.
static int64_t lengthOf(mlir::Block &block) {
  constexpr int64_t approximation = 16;
  int64_t length = 0;
  for (Operation &op : block)
    length += isa<math::MathDialect>(op.getDialect()) ? approximation : 1;
  return length;
}

bool cpu::ScoreFunction::isApart() const {
  return lengthOf(block) > mostInline;
}

Values cpu::ScoreFunction::apply(Value scores, Lanes query, Lanes key,
                                 ArrayRef<Value> others) {
  return isApart() ? applyApart(scores, query, key, others)
                   : applyHere(scores, query, key, others);
}

Values cpu::ScoreFunction::applyApart(Value scores, Lanes query, Lanes key,
                                      ArrayRef<Value> others) {
  Values arguments{scores, query.scalar, key.scalar};
  llvm::append_range(arguments, captures);
  ValueRange outside = captures;
  SmallVector<Type> types(1 + others.size(), scores.getType());
  Values results =
      callApart(k, "score_function", arguments, types, [&](ValueRange inside) {
        captures = inside.drop_front(3);
        return applyHere(inside[0], {inside[1], query.stride},
                         {inside[2], key.stride}, others);
      });
  captures = outside;
  return results;
}

void cpu::ScoreFunction::bindIndices(Lanes query, Lanes key) {
  values.clear();
  values[block.getArgument(Batch)] = {captures[0]};
  values[block.getArgument(Head)] = {captures[1]};
  values[block.getArgument(Query)] = query;
  values[block.getArgument(Key)] = key;
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments().drop_front(FirstCapture),
                       captures.drop_front(2)))
    values[argument] = {value};
}

Values cpu::ScoreFunction::applyHere(Value scores, Lanes query, Lanes key,
                                     ArrayRef<Value> others) {
  bindIndices(query, key);
  values[block.getArgument(Score)] = {Value(), 0, scores};
  for (Operation &op : block.without_terminator())
    values[op.getResult(0)] = clone(op);
  Values results{
      memory.vectorOf(values.lookup(block.getTerminator()->getOperand(0)))};
  for (Value other : others)
    results.push_back(memory.vectorOf(values.lookup(other)));
  return results;
}

SmallVector<Lanes>
cpu::ScoreFunction::evaluate(ArrayRef<Value> answers,
                             const llvm::DenseMap<Value, Value> &known,
                             Value query, Value key) {
  bindIndices({query, 1}, {key});
  llvm::DenseSet<Value> needed(answers.begin(), answers.end());
  SmallVector<Operation *> ops;
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (needed.contains(op.getResult(0)) && !known.contains(op.getResult(0))) {
      needed.insert_range(op.getOperands());
      ops.push_back(&op);
    }
  for (auto [value, vector] : known)
    values[value] = {Value(), 0, vector};
  for (Operation *op : llvm::reverse(ops))
    values[op->getResult(0)] = clone(*op);
  SmallVector<Lanes> results;
  for (Value answer : answers)
    results.push_back(values.lookup(answer));
  return results;
}

Value cpu::ScoreFunction::evaluate(ArrayRef<Lanes> arguments, Value answer) {
  values.clear();
  for (auto [argument, lanes] :
       llvm::zip_equal(block.getArguments(), arguments))
    values[argument] = lanes;
  for (Operation &op : block)
    values[op.getResult(0)] = clone(op);
  return memory.vectorOf(values.lookup(answer));
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

Value cpu::scaledBy(KernelBuilder &k, Value x, double factor) {
  auto constantOf = [](Value value) -> std::optional<double> {
    if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>())
      value = broadcast.getSource();
    APFloat number(0.0);
    if (!matchPattern(value, m_ConstantFloat(&number)))
      return std::nullopt;
    return number.convertToDouble();
  };
  if (auto product = x.getDefiningOp<arith::MulFOp>())
    for (unsigned i : {0, 1})
      if (std::optional<double> own = constantOf(product.getOperand(i)))
        return k.mulf(product.getOperand(1 - i), k.splat(*own * factor));
  return k.mulf(x, k.splat(factor));
}

cpu::Lanes cpu::ScoreFunction::clone(Operation &op) {
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
  if (isa<arith::MulFOp>(op))
    for (unsigned i : {0, 1}) {
      // Scores have just been multiplied, to come out of units of log2.
      APFloat factor(0.0);
      if (op.getOperand(i) == block.getArgument(Score) &&
          matchPattern(op.getOperand(1 - i), m_ConstantFloat(&factor)))
        return {Value(), 0,
                scaledBy(k, memory.vectorOf(values.lookup(op.getOperand(i))),
                         factor.convertToDouble())};
    }
  if (isa<math::Exp2Op>(op))
    return {Value(), 0,
            exp2Anywhere(k, memory.vectorOf(values.lookup(op.getOperand(0))))};
  if (std::optional<Lanes> linear = cloneLinear(op))
    return *linear;
  Values operands;
  for (Value operand : op.getOperands())
    operands.push_back(memory.vectorOf(values.lookup(operand)));
  Type type = VectorType::get(k.lanes, op.getResult(0).getType());
  OperationState state(op.getLoc(), op.getName(), operands, type,
                       op.getAttrs());
  return {Value(), 0, k.builder.create(state)->getResult(0)};
}

namespace {
/// A number plus a constant.
struct Split {
  Value base; // null: 0
  int64_t offset;
};
} // namespace

/// Constants come out of sums, so that vectors of neighbouring pairs share what
/// is left.
static Split split(OpBuilder &b, Value x) {
  if (std::optional<int64_t> constant = getConstantIntValue(x))
    return {Value(), *constant};
  Operation *op = x.getDefiningOp();
  if (auto cast = dyn_cast_or_null<arith::IndexCastOp>(op)) {
    auto [base, offset] = split(b, cast.getIn());
    if (!offset || !base)
      return {base ? x : Value(), offset};
    return {arith::IndexCastOp::create(b, x.getLoc(), x.getType(), base),
            offset};
  }
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op))
    return {x, 0};
  auto [left, leftOffset] = split(b, op->getOperand(0));
  auto [right, rightOffset] = split(b, op->getOperand(1));
  bool minus = isa<arith::SubIOp>(op);
  int64_t offset = minus ? leftOffset - rightOffset : leftOffset + rightOffset;
  if (offset == 0)
    return {x, 0};
  if (!right)
    return {left, offset};
  if (!left)
    return minus ? Split{x, 0} : Split{right, offset};
  Value base = minus ? Value(arith::SubIOp::create(b, x.getLoc(), left, right))
                     : Value(arith::AddIOp::create(b, x.getLoc(), left, right));
  return {base, offset};
}

/// Ops of which the result rises by a constant from lane to lane if the
/// operands do. (Overflow flags are dropped: lane 0 may lie far from the
/// others.)
std::optional<cpu::Lanes> cpu::ScoreFunction::cloneLinear(Operation &op) {
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
    auto [base, offset] = split(b, x[0].scalar);
    if (!base)
      std::tie(base, offset) = std::pair(x[0].scalar, int64_t(0));
    Value first =
        arith::SIToFPOp::create(b, loc, op.getResult(0).getType(), base);
    Value steps = memory.constant(first.getType(), offset, x[0].stride);
    return Lanes{Value(), 0, k.addf(k.broadcast(first), steps)};
  }
  return std::nullopt;
}

// --- captured tensors ---

cpu::Lanes cpu::ScoreFunction::loadCapture(Operation &op) {
  SmallVector<Lanes> at;
  for (Value index : llvm::drop_begin(op.getOperands()))
    at.push_back(values.lookup(index));
  return memory.load(values.lookup(op.getOperand(0)).scalar, at);
}
