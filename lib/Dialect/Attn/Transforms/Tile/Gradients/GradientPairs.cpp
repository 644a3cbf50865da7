// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GradientPairs.h"
#include "Gradient/Loop.h"
#include "Gradient/RowCotangents.h"
#include "Gradient/ScoreTangents.h"
#include "GradientTile.h"
#include "Tile/NumberDocuments.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "attn/Dialect/Attn/Utils/Philox.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include <limits>

using namespace mlir;
using namespace attn;
using Sums = GradientPairs::Sums;

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// sum_d d_out * out of each row, without what the cotangents of lse and
/// weights take away.
static Value deltasOf(OpBuilder &b, SdpaGradOp op) {
  Value products = sumOfProducts(b, op, op.getOut(), rowDims(op));
  Value dLse = cotangentOfLse(b, op);
  if (!dLse)
    return products;
  return arith::SubFOp::create(b, op.getLoc(), products, dLse);
}

GradientPairs::GradientPairs(SdpaGradOp op, RewriterBase &rewriter)
    : element(statisticsOf(op)), op(op), b(rewriter), loc(op.getLoc()),
      attention(op.attention(rewriter)) {
  IRMapping mapping;
  op.getScoreFunction().cloneInto(&attention.getScoreFunction(), mapping);
  numberDocuments(attention, rewriter);
  b.setInsertionPoint(op);
  HeadDims q = op.queryDims(), k = op.keyDims();
  batches = sizeOf(b, loc, op.getQuery(), q.batch);
  heads = sizeOf(b, loc, op.getQuery(), q.head);
  queries = sizeOf(b, loc, op.getQuery(), q.sequence);
  keyHeads = sizeOf(b, loc, op.getKey(), k.head);
  keys = sizeOf(b, loc, op.getKey(), k.sequence);
  group = headGroup(b, loc, attention);
  if (!group)
    group = index(1);
  if (!op.isSigmoid())
    deltas = deltasOf(b, op);
  Region *function = scoreFunctionOf(attention);
  if (!function)
    return;
  auto isLearned = [&](unsigned capture) {
    return op.gradientBy("capture_" + std::to_string(capture)) != nullptr;
  };
  for (Operation &inner : function->front())
    if (readsLearned(&inner, isLearned)) {
      auto capture = cast<BlockArgument>(inner.getOperand(0));
      captureOfRead.push_back(capture.getArgNumber() - FirstCapture);
      reads.push_back(&inner);
    }
  addTangents(*function, isLearned);
}

Value GradientPairs::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value GradientPairs::number(double value) {
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(element, value));
}

Value GradientPairs::isEqual(Value x, double value) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x,
                               number(value));
}

Value GradientPairs::select(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}

Sums GradientPairs::loop(Value begin, Value end, ValueRange sums,
                         function_ref<Sums(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(b, loc, begin, end, index(1), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Sums next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!sums.empty())
    scf::YieldOp::create(b, loc, next);
  return Sums(loop.getResults());
}

Value GradientPairs::load(Value tensor, ValueRange at) {
  Value x = tensor::ExtractOp::create(b, loc, tensor, at);
  return x.getType() == element
             ? x
             : arith::ExtFOp::create(b, loc, element, x).getResult();
}

Value GradientPairs::load(Value tensor, HeadDims dims, Value batch, Value head,
                          Value row, Value feature) {
  SmallVector<Value> at(cast<RankedTensorType>(tensor.getType()).getRank());
  if (dims.batch >= 0)
    at[dims.batch] = batch;
  if (dims.head >= 0)
    at[dims.head] = head;
  at[dims.sequence] = row;
  at[dims.feature] = feature;
  return load(tensor, at);
}

GradientPairs::Row GradientPairs::row(Value batch, Value head, Value query) {
  Row row{batch, head, arith::DivUIOp::create(b, loc, head, group),
          query, {},   {},
          {},    {},   {},
          {}};
  if (!op.isSigmoid()) {
    SmallVector<Value> at;
    HeadDims dims = op.outDims();
    if (dims.batch >= 0)
      at.push_back(batch);
    if (dims.head >= 0)
      at.push_back(head);
    at.push_back(query);
    row.lse = load(op.getLse(), at);
    row.delta = load(deltas, at);
  }
  if (!attention.getMask())
    return row;
  ItemPlace place{attention, batch, head, {}, {}, {}};
  if (hasNumberedDocuments(*attention.getMask())) {
    place.begin = query;
    place.end = arith::AddIOp::create(b, loc, query, index(1));
    place.keyLength = keys;
  }
  row.mask = maskOfItem(b, loc, place, [](Value tensor) { return tensor; });
  row.formula = maskFormula(row.context, row.mask.mask);
  row.symbols = SymbolValues(row.context, queries, keys, row.mask.operands);
  row.symbols.set(Variable::Query, query);
  return row;
}

Value GradientPairs::sees(const Row &row, Value key) {
  SymbolValues symbols = row.symbols;
  symbols.set(Variable::Key, key);
  PairPlace place{row.mask.operands, row.batch, row.head, /*leading=*/{}};
  return emitPredicate(b, loc, row.context, row.formula, symbols,
                       [&](const FormulaNode &literal, ValueRange arguments) {
                         auto term =
                             Attribute::getFromOpaquePointer(literal.term);
                         return cast<MaskTermInterface>(term).emitOpaque(
                             b, loc, place, arguments);
                       });
}

Value GradientPairs::dot(Value x, HeadDims ofX, Value y, HeadDims ofY,
                         const Row &row, Value key) {
  Value features =
      tensor::DimOp::create(b, loc, x, static_cast<int64_t>(ofX.feature));
  return loop(index(0), features, number(0),
              [&](Value d, ValueRange sum) -> Sums {
                Value a = load(x, ofX, row.batch, row.head, row.query, d);
                Value c = load(y, ofY, row.batch, row.keyHead, key, d);
                return {math::FmaOp::create(b, loc, a, c, sum[0])};
              })
      .front();
}

/// The element of a tensor that broadcasts to the scores.
Value GradientPairs::ofPair(Value tensor, const Row &row, Value key) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value of[] = {row.batch, row.head, row.query, key};
  auto at = llvm::to_vector(ArrayRef(of).take_back(type.getRank()));
  for (auto [dim, place] : llvm::enumerate(at))
    if (type.getDimSize(dim) == 1)
      place = index(0);
  return load(tensor, at);
}

/// An index outside reads the nearest element: the place that is read.
SmallVector<Value> GradientPairs::clampPlace(tensor::ExtractOp read) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(read);
  SmallVector<Value> place;
  for (auto [dim, at] : llvm::enumerate(read.getIndicesMutable())) {
    Value size = tensor::DimOp::create(b, loc, read.getTensor(), dim);
    Value last = arith::SubIOp::create(b, loc, size, index(1));
    Value most = arith::MinSIOp::create(b, loc, at.get(), last);
    place.push_back(arith::MaxSIOp::create(b, loc, most, index(0)));
    at.set(place.back());
  }
  return place;
}

Value GradientPairs::score(const Row &row, Value key, Value &tangent,
                           SmallVectorImpl<Terms::Read> &found) {
  Value product =
      dot(op.getQuery(), op.queryDims(), op.getKey(), op.keyDims(), row, key);
  double scale = op.getScale().convertToDouble();
  Value score = arith::MulFOp::create(b, loc, product, number(scale));
  if (Region *function = scoreFunctionOf(attention)) {
    Block &block = function->front();
    IRMapping mapping;
    mapping.map(block.getArguments().take_front(FirstCapture),
                ValueRange{score, row.batch, row.head, row.query, key});
    mapping.map(block.getArguments().drop_front(FirstCapture),
                op.getCaptures());
    llvm::DenseMap<Operation *, SmallVector<Value>> placeOf;
    for (Operation &inner : block.without_terminator()) {
      Operation *copy = b.clone(inner, mapping);
      if (readsCapture(&inner))
        placeOf[&inner] = clampPlace(cast<tensor::ExtractOp>(copy));
    }
    auto yielded = llvm::map_to_vector(
        block.getTerminator()->getOperands(),
        [&](Value value) { return mapping.lookupOrDefault(value); });
    score = yielded[0];
    tangent = yielded[1];
    for (auto [read, slope] : llvm::zip(reads, ArrayRef(yielded).drop_front(2)))
      found.push_back({placeOf[read], slope});
  }
  if (!op.getBias())
    return score;
  Value bias = ofPair(op.getBias(), row, key);
  Value sum = arith::AddFOp::create(b, loc, score, bias);
  return select(isEqual(bias, -infinity), number(-infinity), sum);
}

/// p, and for sigmoid 1 - p without cancellation.
static std::pair<Value, Value> sigmoid(OpBuilder &b, Location loc, Value score,
                                       Value one) {
  auto of = [&](Value x) -> Value {
    Value e = math::ExpOp::create(b, loc, x);
    return arith::DivFOp::create(b, loc, one,
                                 arith::AddFOp::create(b, loc, e, one));
  };
  return {of(arith::NegFOp::create(b, loc, score)), of(score)};
}

/// u behind the op's dropout, and the weight that met the value.
Value GradientPairs::drop(const Row &row, Value key, Value u, Terms &terms) {
  Value seed = tensor::ExtractOp::create(b, loc, op.getSeed(), ValueRange());
  Value last = arith::AndIOp::create(b, loc, key, index(1));
  Value isOdd =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, last, index(0));
  Value even = arith::SubIOp::create(b, loc, key, last);
  Value factor =
      dropoutFactor(b, loc, op.getDropout()->convertToDouble(), seed,
                    {row.batch, row.head, row.query, even, isOdd}, element);
  Value zero = number(0), isDropped = isEqual(factor, 0);
  auto behind = [&](Value x) {
    return select(isDropped, zero,
                  arith::MulFOp::create(b, loc, x, factor).getResult());
  };
  terms.used = behind(terms.weight);
  return behind(u);
}

Sums GradientPairs::addSeen(const Row &row, Value key, ValueRange sums,
                            Body body) {
  Terms terms;
  Value tangent, rest;
  Value s = score(row, key, tangent, terms.reads);
  Value zero = number(0);
  if (op.isSigmoid()) {
    std::tie(terms.weight, rest) = sigmoid(b, loc, s, number(1));
  } else {
    Value power =
        math::ExpOp::create(b, loc, arith::SubFOp::create(b, loc, s, row.lse));
    terms.weight = select(isEqual(row.lse, -infinity), zero, power);
  }
  // lse may be NaN.
  terms.weight = select(isEqual(s, -infinity), zero, terms.weight);
  Value weighs = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE,
                                       terms.weight, zero);
  auto choice = scf::IfOp::create(b, loc, sums.getTypes(), weighs,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, loc, sums);
  b.setInsertionPointToStart(choice.thenBlock());
  terms.used = terms.weight;
  Value u =
      dot(op.getDOut(), op.outDims(), op.getValue(), op.valueDims(), row, key);
  if (op.getDropout())
    u = drop(row, key, u, terms);
  if (op.getDWeights())
    u = arith::AddFOp::create(b, loc, u, ofPair(op.getDWeights(), row, key));
  Value factor = op.isSigmoid()
                     ? arith::MulFOp::create(b, loc, rest, u).getResult()
                     : arith::SubFOp::create(b, loc, u, row.delta).getResult();
  terms.slope = arith::MulFOp::create(b, loc, terms.weight, factor);
  terms.change = terms.slope;
  if (tangent)
    terms.change = arith::MulFOp::create(b, loc, terms.slope, tangent);
  double scale = op.getScale().convertToDouble();
  terms.change = arith::MulFOp::create(b, loc, terms.change, number(scale));
  for (Terms::Read &read : terms.reads)
    read.slope = arith::MulFOp::create(b, loc, terms.slope, read.slope);
  scf::YieldOp::create(b, loc, body(terms, sums));
  return Sums(choice.getResults());
}

Sums GradientPairs::add(const Row &row, Value key, ValueRange sums, Body body) {
  if (!row.formula)
    return addSeen(row, key, sums, body);
  auto choice = scf::IfOp::create(b, loc, sums.getTypes(), sees(row, key),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, loc, sums);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, loc, addSeen(row, key, sums, body));
  return Sums(choice.getResults());
}
