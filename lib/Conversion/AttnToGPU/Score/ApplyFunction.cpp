// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ApplyFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace attn;
using namespace attn::gpucode;

/// So much may a tanh be multiplied by where only its absolute error, 5e-7, is
/// small: 3.2e-5 of a score change a weight by a fifteenth of what rounding it
/// to f16 does.
static constexpr double mostOfTanh = 64;

namespace {
/// How much of an integer is the pair's query and key: both numbers are
/// constants, and the rest is the same for all pairs of a thread.
struct Steps {
  int64_t query = 0, key = 0;
  bool any() const { return query != 0 || key != 0; }
};

class FunctionWriter {
public:
  FunctionWriter(OpBuilder &b, const PairOperands &pairs, const Pair &pair)
      : b(b), pairs(pairs), pair(pair), loc(pairs.loc) {}
  Value write(Value score);

private:
  template <typename Op, typename... Operands>
  Value make(Operands &&...operands) {
    return Op::create(b, loc, std::forward<Operands>(operands)...);
  }
  Value real(double value) {
    return make<arith::ConstantOp>(
        b.getF32FloatAttr(static_cast<float>(value)));
  }
  Value approximate(StringRef intrinsic, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, loc, b.getF32Type(),
                                         b.getStringAttr(intrinsic), operands)
        .getResult(0);
  }
  void mapArguments(Value score);
  Value writeSpecial(Operation &op);
  Value times(Value x, double factor);
  Value divide(arith::DivFOp op);
  Value boundedTanh(math::TanhOp op);
  Value position(arith::SIToFPOp op);
  void noteSteps(Operation &op);
  std::optional<Steps> stepsOf(Operation &op);
  void clampPlaces(memref::LoadOp load);

  OpBuilder &b;
  const PairOperands &pairs;
  const Pair &pair;
  Location loc;
  IRMapping values, first; ///< of this pair, and of the thread's first one
  DenseMap<Value, Steps> steps;
};
} // namespace

void FunctionWriter::mapArguments(Value score) {
  Block &block = pairs.function->front();
  values.map(block.getArgument(Score), score);
  values.map(block.getArgument(Batch), pairs.captures[0]);
  Value head = pairs.captures[1];
  if (pair.head)
    head = make<arith::AddIOp>(head, pair.head);
  values.map(block.getArgument(Head), head);
  for (auto [argument, capture] :
       llvm::zip_equal(block.getArguments().drop_front(FirstCapture),
                       pairs.captures.drop_front(2)))
    values.map(argument, capture);
  first = values;
  values.map(block.getArgument(Query), pair.query);
  values.map(block.getArgument(Key), pair.key);
  if (pair.head) // distances of queries are not constants
    return;
  first.map(block.getArgument(Query), pair.firstQuery);
  first.map(block.getArgument(Key), pair.firstKey);
  steps[block.getArgument(Query)] = {1, 0};
  steps[block.getArgument(Key)] = {0, 1};
}

static std::optional<double> constantOf(Value value) {
  FloatAttr constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  return constant.getValueAsDouble();
}

static bool isNormal(double value) {
  return std::isnormal(static_cast<float>(value));
}

/// The product with a constant; that of a product with another one is one.
Value FunctionWriter::times(Value x, double factor) {
  auto product = x.getDefiningOp<arith::MulFOp>();
  std::optional<double> other =
      product ? constantOf(product.getRhs()) : std::nullopt;
  if (other && isNormal(*other * factor)) {
    x = product.getLhs();
    factor *= *other;
  }
  return make<arith::MulFOp>(x, real(factor));
}

/// By a constant: the product with its reciprocal, if that is a normal number.
Value FunctionWriter::divide(arith::DivFOp op) {
  Value x = values.lookup(op.getLhs());
  std::optional<double> divisor = constantOf(op.getRhs());
  if (divisor && isNormal(1 / *divisor))
    return times(x, 1 / *divisor);
  return approximate("llvm.nvvm.div.full", {x, values.lookup(op.getRhs())});
}

/// Whether all that becomes of the value is the end of the function, or part of
/// a sum that is.
static bool isAddedToEnd(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    if (user->hasTrait<OpTrait::IsTerminator>())
      return true;
    return isa<arith::AddFOp, arith::SubFOp, arith::SelectOp>(user) &&
           isAddedToEnd(user->getResult(0));
  });
}

/// Whether the error of a score of 16-bit elements may be that of a product
/// with a tanh of which small values have large relative errors.
static bool isCap(math::TanhOp op, const PairOperands &pairs) {
  Type element = cast<MemRefType>(pairs.key.getType()).getElementType();
  if (!op.getType().isF32() || element.isF32())
    return false;
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    if (!isa<arith::MulFOp>(user))
      return false;
    std::optional<double> factor = constantOf(user->getOperand(1));
    if (!factor)
      factor = constantOf(user->getOperand(0));
    return factor && std::fabs(*factor) <= mostOfTanh &&
           isAddedToEnd(user->getResult(0));
  });
}

/// 1 - 2 / (1 + 2^(2 x log2(e))), to 5e-7: what the hardware's exponential and
/// reciprocal leave.
Value FunctionWriter::boundedTanh(math::TanhOp op) {
  Value power = make<math::Exp2Op>(
      times(values.lookup(op.getOperand()), 2 * std::log2(std::exp(1.0))),
      arith::FastMathFlags::afn);
  Value reciprocal = approximate("llvm.nvvm.rcp.approx.ftz.f",
                                 make<arith::AddFOp>(power, real(1)));
  return make<math::FmaOp>(reciprocal, real(-2), real(1));
}

std::optional<Steps> FunctionWriter::stepsOf(Operation &op) {
  auto of = [&](unsigned operand) {
    return steps.lookup(op.getOperand(operand));
  };
  Type type = op.getResult(0).getType();
  if (type.isInteger() && type.getIntOrFloatBitWidth() < 32)
    return std::nullopt; // positions are cut off
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return of(0);
  if (isa<arith::AddIOp>(op))
    return Steps{of(0).query + of(1).query, of(0).key + of(1).key};
  if (isa<arith::SubIOp>(op))
    return Steps{of(0).query - of(1).query, of(0).key - of(1).key};
  if (llvm::none_of(op.getOperands(),
                    [&](Value operand) { return steps.lookup(operand).any(); }))
    return Steps{};
  return std::nullopt;
}

/// An integer is also computed for the thread's first pair, from which this one
/// is a constant away. What is not needed is removed by the cleanup.
void FunctionWriter::noteSteps(Operation &op) {
  if (op.getNumResults() != 1 || !op.getResult(0).getType().isIntOrIndex() ||
      !isMemoryEffectFree(&op))
    return;
  auto isKnown = [&](Value operand) { return first.contains(operand); };
  std::optional<Steps> known = stepsOf(op);
  if (!known || !llvm::all_of(op.getOperands(), isKnown))
    return;
  b.clone(op, first);
  steps[op.getResult(0)] = *known;
}

/// The thread's first position as a float, and the distance to it, which is a
/// constant: a thread converts one position of a tile.
Value FunctionWriter::position(arith::SIToFPOp op) {
  Steps known = steps.lookup(op.getIn());
  auto distance = [&](Value from, int64_t factor) {
    return make<arith::MulIOp>(from, make<arith::ConstantIndexOp>(factor));
  };
  Value away = make<arith::AddIOp>(distance(pair.queryDistance, known.query),
                                   distance(pair.keyDistance, known.key));
  away = make<arith::IndexCastOp>(b.getI32Type(), away);
  Value begin = make<arith::SIToFPOp>(op.getType(), first.lookup(op.getIn()));
  return make<arith::AddFOp>(begin, make<arith::SIToFPOp>(op.getType(), away));
}

/// What an op becomes that is not copied; null for others.
Value FunctionWriter::writeSpecial(Operation &op) {
  if (op.getNumResults() != 1 || !op.getResult(0).getType().isF32())
    return {};
  if (auto division = dyn_cast<arith::DivFOp>(op))
    return divide(division);
  if (auto tanh = dyn_cast<math::TanhOp>(op); tanh && isCap(tanh, pairs))
    return boundedTanh(tanh);
  if (auto conversion = dyn_cast<arith::SIToFPOp>(op);
      conversion && steps.lookup(conversion.getIn()).any())
    return position(conversion);
  return {};
}

void FunctionWriter::clampPlaces(memref::LoadOp load) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(load);
  for (auto [dim, index] : llvm::enumerate(load.getIndicesMutable()))
    index.set(clampIndex(b, loc, load.getMemRef(), static_cast<int64_t>(dim),
                         index.get()));
}

Value FunctionWriter::write(Value score) {
  mapArguments(score);
  Block &block = pairs.function->front();
  for (Operation &op : block.without_terminator()) {
    noteSteps(op);
    if (Value special = writeSpecial(op)) {
      values.map(op.getResult(0), special);
      continue;
    }
    Operation *copy = b.clone(op, values);
    if (auto exp2 = dyn_cast<math::Exp2Op>(copy))
      exp2.setFastmath(arith::FastMathFlags::afn);
    if (auto tanh = dyn_cast<math::TanhOp>(copy))
      tanh.setFastmath(arith::FastMathFlags::afn);
    if (auto load = dyn_cast<memref::LoadOp>(copy))
      clampPlaces(load);
  }
  return values.lookupOrDefault(block.getTerminator()->getOperand(0));
}

Value gpucode::applyFunction(OpBuilder &b, const PairOperands &pairs,
                             Value score, const Pair &pair) {
  return FunctionWriter(b, pairs, pair).write(score);
}
