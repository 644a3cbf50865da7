// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention is written as its textbook steps, which attn-fuse makes one op of;
// scores and weights that a model asks for are values between two steps.
#include "AttentionSteps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace attn;
using namespace attn::onnx;

Tensor attn::onnx::splitHeads(TensorBuilder &t, Tensor &joined, int64_t heads) {
  int64_t features = *joined.shape[2].constant() / heads;
  Shape shape = {joined.shape[0], heads, joined.shape[1], features};
  Value split = SplitHeadsOp::create(t.b, t.loc, t.type(shape, joined.element),
                                     t.value(joined), heads);
  return {joined.element, shape, split, {}, {}};
}

Tensor attn::onnx::mergeHeads(TensorBuilder &t, Tensor &split) {
  Shape shape = {split.shape[0], split.shape[2],
                 split.shape[1] * split.shape[3]};
  Value joined = MergeHeadsOp::create(t.b, t.loc, t.type(shape, split.element),
                                      t.value(split));
  return {split.element, shape, joined, {}, {}};
}

AttentionSteps::AttentionSteps(Node &node, Tensor query, Tensor key,
                               Tensor value)
    : query(std::move(query)), key(std::move(key)), value(std::move(value)),
      node(node), t(node.build()) {}

/// Known to be different.
static bool differ(const Size &a, const Size &b) {
  return a.constant() && b.constant() && a != b;
}

LogicalResult AttentionSteps::check() {
  for (auto [name, tensor] :
       {std::pair("Q", &query), std::pair("K", &key), std::pair("V", &value)}) {
    if (tensor->rank() != 4)
      return node.fail(Twine("expects ") + name +
                       " of rank 4 (or 3 with numbers of heads), but got " +
                       describe(*tensor));
    if (!tensor->shape[1].constant() || !tensor->shape[3].constant())
      return node.fail(Twine("expects ") + name +
                       " with known numbers of heads and features, but got " +
                       describe(*tensor));
  }
  if (differ(query.shape[0], key.shape[0]) ||
      differ(query.shape[0], value.shape[0]) ||
      query.shape[3] != key.shape[3] || key.shape[1] != value.shape[1] ||
      differ(key.shape[2], value.shape[2]))
    return node.fail("expects Q, K and V that fit each other, but got " +
                     describe(query) + ", " + describe(key) + " and " +
                     describe(value));
  int64_t heads = *query.shape[1].constant(), groups = *key.shape[1].constant();
  if (groups == 0 || heads % groups)
    return node.fail("expects a number of query heads that is a multiple of "
                     "that of key heads, but got " +
                     Twine(heads) + " and " + Twine(groups));
  return success();
}

void AttentionSteps::multiply() {
  Shape shape = {query.shape[0], query.shape[1], queries(), keys()};
  Type element = query.element.isF64() ? query.element : Type(t.b.getF32Type());
  Value product = ScoresOp::create(t.b, t.loc, t.type(shape, element),
                                   t.value(query), t.value(key));
  scores = {element, shape, product, {}, {}};
}

void AttentionSteps::scoreMod(
    llvm::function_ref<Value(OpBuilder &, Value)> function) {
  auto modified = ScoreModOp::create(t.b, t.loc, scores.value.getType(),
                                     scores.value, ValueRange());
  Type index = t.b.getIndexType();
  Block &body = modified.getScoreFunction().emplaceBlock();
  body.addArguments({scores.element, index, index, index, index},
                    SmallVector<Location>(5, t.loc));
  OpBuilder inner = OpBuilder::atBlockBegin(&body);
  Value result = function(inner, body.getArgument(0));
  YieldOp::create(inner, t.loc, result);
  scores.value = modified.getResult();
}

LogicalResult AttentionSteps::scale(double factor) {
  if (std::isinf(factor))
    return node.fail("expects a finite scale, but got " +
                     Twine(std::to_string(factor)));
  if (std::isfinite(factor) && factor != 0) {
    scores.value = ScaleOp::create(t.b, t.loc, scores.value.getType(),
                                   scores.value, t.b.getF64FloatAttr(factor));
    return success();
  }
  scoreMod([&](OpBuilder &b, Value score) -> Value {
    Value constant = arith::ConstantOp::create(
        b, t.loc, b.getFloatAttr(scores.element, factor));
    return arith::MulFOp::create(b, t.loc, score, constant);
  });
  return success();
}

void AttentionSteps::softcap(double cap) {
  scores.value = SoftcapOp::create(t.b, t.loc, scores.value.getType(),
                                   scores.value, t.b.getF64FloatAttr(cap));
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// The mask with a column for every key.
FailureOr<Tensor> AttentionSteps::extended(Tensor mask) {
  Size columns = mask.shape.back();
  if (columns == keys())
    return mask;
  std::optional<int64_t> has = columns.constant(), wanted = keys().constant();
  if (has && wanted && *has > *wanted)
    return node.fail("expects a mask of at most " + Twine(*wanted) +
                     " columns, one per key, but got " + describe(mask));
  if (columns.is(1))
    node.remark("MaskOfOneColumn",
                "a mask with one column is padded, not repeated: only key 0 "
                "stays visible");
  TypedAttr hidden =
      mask.isFloat()
          ? t.number(mask.element, -std::numeric_limits<double>::infinity())
          : t.number(mask.element, 0);
  Shape shape = mask.shape;
  shape.back() = keys();
  if (has && wanted) {
    SmallVector<OpFoldResult> low(mask.rank(), t.b.getIndexAttr(0)), high = low;
    high.back() = t.b.getIndexAttr(*wanted - *has);
    Value pad = arith::ConstantOp::create(t.b, t.loc, hidden);
    Value padded = tensor::PadOp::create(
        t.b, t.loc, t.type(shape, mask.element), t.value(mask), low, high, pad);
    return Tensor{mask.element, shape, padded, {}, {}};
  }
  Value source = t.value(mask), width = t.index(columns);
  return t.generate(shape, mask.element, [&](OpBuilder &b, ValueRange at) {
    // A place behind the last column is not read: the last one is instead.
    Value one = arith::ConstantIndexOp::create(b, t.loc, 1),
          zero = arith::ConstantIndexOp::create(b, t.loc, 0);
    Value inside = arith::CmpIOp::create(b, t.loc, arith::CmpIPredicate::slt,
                                         at.back(), width);
    Value last = arith::SubIOp::create(b, t.loc, width, one);
    Value near = arith::MaxSIOp::create(
        b, t.loc, arith::MinSIOp::create(b, t.loc, at.back(), last), zero);
    SmallVector<Value> place(at.drop_back());
    place.push_back(near);
    Value element = tensor::ExtractOp::create(b, t.loc, source, place);
    Value none = arith::ConstantOp::create(b, t.loc, hidden);
    return arith::SelectOp::create(b, t.loc, inside, element, none).getResult();
  });
}

int64_t AttentionSteps::addOperand(Value operand) {
  operands.push_back(operand);
  return static_cast<int64_t>(operands.size()) - 1;
}

LogicalResult AttentionSteps::addMask(Tensor mask) {
  bool isBool = mask.element.isInteger(1);
  if (!isBool && !mask.isFloat())
    return node.fail(
        "expects a mask of booleans or floating-point numbers, but "
        "got " +
        describe(mask));
  if (mask.rank() < 1 || mask.rank() > 4)
    return node.fail("expects a mask of rank 1 to 4, but got " +
                     describe(mask));
  FailureOr<Tensor> whole = extended(std::move(mask));
  if (failed(whole))
    return failure();
  for (int64_t i = 0; i < whole->rank(); ++i) {
    const Size &own = whole->shape[i],
               &other = scores.shape[4 - whole->rank() + i];
    if (!own.is(1) && differ(own, other))
      return node.fail("expects a mask that broadcasts to " + describe(scores) +
                       ", but got " + describe(*whole));
  }
  if (isBool) {
    terms.push_back(
        AllowedAttr::get(t.b.getContext(), addOperand(t.value(*whole))));
    return success();
  }
  Tensor added = t.cast(*whole, scores.element);
  Value biased = BiasOp::create(t.b, t.loc, scores.value.getType(),
                                scores.value, t.value(added));
  scores.value = biased;
  return success();
}

void AttentionSteps::addKeyLength(Tensor lengths, bool movesQueries) {
  hasLengths = true;
  standAtLengths |= movesQueries;
  terms.push_back(
      KeyLengthAttr::get(t.b.getContext(), addOperand(t.value(lengths))));
}

std::pair<Alignment, Attribute> AttentionSteps::position(const Size &past) {
  // Beside a length this alignment counts from it.
  if (standAtLengths ||
      (!hasLengths && !past.constant() && keys() - queries() == past))
    return {Alignment::BottomRight, {}};
  if (past.is(0))
    return {Alignment::TopLeft, {}};
  if (std::optional<int64_t> known = past.constant())
    return {Alignment::Offset, t.b.getI64IntegerAttr(*known)};
  Tensor number = t.numbers({}, past, t.b.getI64Type());
  return {Alignment::Offset,
          OperandAttr::get(t.b.getContext(), addOperand(t.value(number)))};
}

void AttentionSteps::addWindow(int64_t left, int64_t right, const Size &past) {
  MLIRContext *context = t.b.getContext();
  auto [alignment, offset] = position(past);
  auto width = [&](int64_t n) {
    return n < 0 ? Attribute() : t.b.getI64IntegerAttr(n);
  };
  terms.push_back(
      WindowAttr::get(context, width(left), width(right),
                      PositionAttr::get(context, alignment, offset)));
}

void AttentionSteps::addCausal(const Size &past) {
  auto [alignment, offset] = position(past);
  int64_t number = 0, operand = -1;
  if (auto known = dyn_cast_or_null<IntegerAttr>(offset))
    number = known.getInt();
  else if (auto given = dyn_cast_or_null<OperandAttr>(offset))
    operand = given.getPosition();
  terms.push_back(
      CausalAttr::get(t.b.getContext(), alignment, number, operand));
}

void AttentionSteps::exclude() {
  if (terms.empty())
    return;
  Attribute mask = terms.size() == 1 ? terms.front()
                                     : AllOfAttr::get(t.b.getContext(), terms);
  scores.value = MaskOp::create(t.b, t.loc, scores.value.getType(),
                                scores.value, mask, operands);
}

void AttentionSteps::softmax(Value sinks) {
  scores.value = SoftmaxOp::create(t.b, t.loc, scores.value.getType(),
                                   scores.value, sinks);
}

Tensor AttentionSteps::context() {
  Shape shape = {query.shape[0], query.shape[1], queries(), value.shape[3]};
  Value out = ContextOp::create(t.b, t.loc, t.type(shape, value.element),
                                scores.value, t.value(value));
  return {value.element, shape, out, {}, {}};
}
