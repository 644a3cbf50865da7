// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-lower-gradients: gradients of attention are loops over what they are by.
//
// Before:  %dq, %dk, %dv = attn.sdpa_grad %q, %k, %v scale 0.125
//              where causal(top_left) out %out .. lse %lse .. cotangents %d_out
//              wrt ["query", "key", "value"]
// After:   %delta = linalg.generic // sum_d d_out * out, per row
//          %dq = scf.forall (%b, %h, %i) in (%B, 8, %S) shared_outs(%dq0) {
//            %sum = scf.for %j = 0 to %keys iter_args(%s = zeros of a row) {
//              // where %i sees %j: p = exp(scale * q k - lse),
//              // %s + scale * p * (d_out v - delta) * k
//            }
//            // rounded once, and inserted as row (%b, %h, %i)
//          }
//          %dk, %dv = scf.forall (%b, %g, %j) in (%B, 2, %T) ..
//            // over the query heads of %g and their rows, in their order
//
// For a GPU: a row is a thread's, which computes the scores of its pairs again,
// so that nothing has an element per pair but what was given so. Each sum is
// one thread's and has one order, whatever runs beside it. This is the simple
// way, in which no tile is kept near.
//
// The gradient by a bias has a thread per element of the bias. Where the pair
// of an element of a captured tensor is known only when its index is computed,
// `copies` threads per head add to copies of their own, and the copies are
// added in their order.
//
// Before: attn-expand-gradients, attn-clamp-lookups. After: no attn.sdpa_grad
// is left.
#include "Gradient/Loop.h"
#include "GradientPairs.h"
#include "GradientTile.h"
#include "Tile/HeadSlices.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"

namespace attn {
#define GEN_PASS_DEF_LOWERGRADIENTS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using Sums = GradientPairs::Sums;
using Terms = GradientPairs::Terms;
using Row = GradientPairs::Row;

/// Parts of a head's rows that add to a captured tensor in one copy each.
static constexpr int64_t copies = 16;

namespace {
/// Writes the loops of one op.
class GradientLoops {
public:
  GradientLoops(SdpaGradOp op, IRRewriter &rewriter)
      : op(op), b(rewriter), loc(op.getLoc()), pairs(op, rewriter) {}

  SmallVector<Value> lower();

private:
  /// What an item writes of a result.
  struct Part {
    HeadSlice slice;
    Value written;
  };
  using Indices = SmallVector<Value>;
  /// A parallel loop over items; `body` returns the part of each of `outs`.
  SmallVector<Value> items(
      ArrayRef<Value> bounds, ArrayRef<Value> outs,
      function_ref<std::vector<Part>(const Indices &at, ValueRange outs)> body);
  Value zeros(Value like, int dim);
  Part rowOf(Value out, HeadDims dims, ArrayRef<Value> at, Value sum);
  Value addRow(Value sum, Value factor, Value tensor, HeadDims dims,
               ArrayRef<Value> at);
  void byQuery();
  void byKeyAndValue();
  Value biasOf(ArrayRef<Value> at);
  void byBias();
  Sums addReads(const Row &row, Value key, ArrayRef<unsigned> numbers,
                ValueRange sums);
  Part copyOf(Value out, ArrayRef<Value> at);
  void byCaptures();

  SdpaGradOp op;
  OpBuilder &b;
  Location loc;
  GradientPairs pairs;
  llvm::MapVector<StringRef, Value> gradients;
};
} // namespace

SmallVector<Value> GradientLoops::items(
    ArrayRef<Value> bounds, ArrayRef<Value> outs,
    function_ref<std::vector<Part>(const Indices &, ValueRange)> body) {
  SmallVector<OpFoldResult> mixed = getAsOpFoldResult(bounds);
  // A loop of one item that says nothing is inlined by its canonical form.
  SmallVector<Attribute> threads;
  for (size_t dim = 0; dim < bounds.size(); ++dim)
    threads.push_back(gpu::GPUThreadMappingAttr::get(
        b.getContext(),
        static_cast<gpu::MappingId>(
            dim + static_cast<size_t>(gpu::MappingId::LinearDim0))));
  auto loop =
      scf::ForallOp::create(b, loc, mixed, outs, b.getArrayAttr(threads));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  std::vector<Part> parts =
      body(loop.getInductionVars(), loop.getRegionIterArgs());
  b.setInsertionPointToEnd(loop.getTerminator().getBody());
  for (auto [part, out] : llvm::zip(parts, loop.getRegionIterArgs()))
    tensor::ParallelInsertSliceOp::create(b, loc, part.written, out,
                                          part.slice.offsets, part.slice.sizes,
                                          part.slice.strides);
  return SmallVector<Value>(loop.getResults());
}

/// A row of an item's own, of the type of sums, as long as `dim` of `like`.
Value GradientLoops::zeros(Value like, int dim) {
  auto type = cast<RankedTensorType>(like.getType());
  SmallVector<Value> sizes;
  if (type.isDynamicDim(dim))
    sizes.push_back(tensor::DimOp::create(b, loc, like, dim));
  // Not tensor.empty: those of several rows would become one.
  Value row = bufferization::AllocTensorOp::create(
      b, loc, RankedTensorType::get({type.getDimSize(dim)}, pairs.element),
      sizes);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(pairs.element));
  auto clear = [&](Value d, ValueRange s) -> Sums {
    return {tensor::InsertOp::create(b, loc, zero, s[0], d)};
  };
  Value features = tensor::DimOp::create(b, loc, row, 0);
  return pairs.loop(pairs.index(0), features, row, clear).front();
}

/// `sum` as the row at (batch, head, row) of `out`.
GradientLoops::Part GradientLoops::rowOf(Value out, HeadDims dims,
                                         ArrayRef<Value> at, Value sum) {
  Part part;
  OpFoldResult one = b.getIndexAttr(1);
  part.slice = headSliceOf(b, out, SliceDims(dims), at[0], at[1], one);
  part.slice.offsets[dims.sequence] = at[2];
  part.slice.sizes[dims.sequence] = one;
  Type element = getElementTypeOrSelf(out);
  auto type = cast<RankedTensorType>(sum.getType()).clone(element);
  Value row = tensor::ExtractSliceOp::create(
      b, loc, cast<RankedTensorType>(type), out, part.slice.offsets,
      part.slice.sizes, part.slice.strides);
  Value features = tensor::DimOp::create(b, loc, sum, 0);
  auto store = [&](Value d, ValueRange into) -> Sums {
    Value x = tensor::ExtractOp::create(b, loc, sum, d);
    if (x.getType() != element)
      x = arith::TruncFOp::create(b, loc, element, x);
    return {tensor::InsertOp::create(b, loc, x, into[0], d)};
  };
  part.written = pairs.loop(pairs.index(0), features, row, store).front();
  return part;
}

/// `sum` + factor * the row at (batch, head, row) of a tensor.
Value GradientLoops::addRow(Value sum, Value factor, Value tensor,
                            HeadDims dims, ArrayRef<Value> at) {
  Value features = tensor::DimOp::create(b, loc, sum, 0);
  auto add = [&](Value d, ValueRange s) -> Sums {
    Value old = tensor::ExtractOp::create(b, loc, s[0], d);
    Value x = pairs.load(tensor, dims, at[0], at[1], at[2], d);
    Value next = math::FmaOp::create(b, loc, factor, x, old);
    return {tensor::InsertOp::create(b, loc, next, s[0], d)};
  };
  return pairs.loop(pairs.index(0), features, sum, add).front();
}

void GradientLoops::byQuery() {
  HeadDims dims = op.queryDims();
  Value out = emptyLike(b, op.getQuery());
  gradients["query"] =
      items({pairs.batches, pairs.heads, pairs.queries}, out,
            [&](const Indices &at, ValueRange outs) -> std::vector<Part> {
              Value zero = zeros(op.getQuery(), dims.feature);
              Row row = pairs.row(at[0], at[1], at[2]);
              auto ofKey = [&](Value key, ValueRange sums) {
                return pairs.add(row, key, sums,
                                 [&](const Terms &terms, ValueRange s) -> Sums {
                                   return {
                                       addRow(s[0], terms.change, op.getKey(),
                                              op.keyDims(),
                                              {row.batch, row.keyHead, key})};
                                 });
              };
              Value sum =
                  pairs.loop(pairs.index(0), pairs.keys, zero, ofKey).front();
              return {rowOf(outs[0], dims, at, sum)};
            })
          .front();
}

void GradientLoops::byKeyAndValue() {
  bool ofKey = op.gradientBy("key") != nullptr,
       ofValue = op.gradientBy("value") != nullptr;
  SmallVector<Value> outs;
  if (ofKey)
    outs.push_back(emptyLike(b, op.getKey()));
  if (ofValue)
    outs.push_back(emptyLike(b, op.getValue()));
  auto add = [&](const Row &row, const Terms &terms, ValueRange s) -> Sums {
    Sums next;
    Value at[] = {row.batch, row.head, row.query};
    if (ofKey)
      next.push_back(
          addRow(s[0], terms.change, op.getQuery(), op.queryDims(), at));
    if (ofValue)
      next.push_back(
          addRow(s.back(), terms.used, op.getDOut(), op.outDims(), at));
    return next;
  };
  auto item = [&](const Indices &at, ValueRange into) {
    Sums zero;
    if (ofKey)
      zero.push_back(zeros(op.getKey(), op.keyDims().feature));
    if (ofValue)
      zero.push_back(zeros(op.getValue(), op.valueDims().feature));
    Value first = arith::MulIOp::create(b, loc, at[1], pairs.group);
    Value end = arith::AddIOp::create(b, loc, first, pairs.group);
    Sums sums = pairs.loop(first, end, zero, [&](Value head, ValueRange s) {
      return pairs.loop(
          pairs.index(0), pairs.queries, s, [&](Value query, ValueRange t) {
            Row row = pairs.row(at[0], head, query);
            return pairs.add(row, at[2], t,
                             [&](const Terms &terms, ValueRange u) {
                               return add(row, terms, u);
                             });
          });
    });
    std::vector<Part> parts;
    if (ofKey)
      parts.push_back(rowOf(into[0], op.keyDims(), at, sums[0]));
    if (ofValue)
      parts.push_back(rowOf(into.back(), op.valueDims(), at, sums.back()));
    return parts;
  };
  SmallVector<Value> results =
      items({pairs.batches, pairs.keyHeads, pairs.keys}, outs, item);
  if (ofKey)
    gradients["key"] = results.front();
  if (ofValue)
    gradients["value"] = results.back();
}

/// The sum of the pairs that read the element `at` of the bias.
Value GradientLoops::biasOf(ArrayRef<Value> at) {
  auto type = cast<RankedTensorType>(op.getBias().getType());
  Value ends[] = {pairs.batches, pairs.heads, pairs.queries, pairs.keys};
  SmallVector<Value> place(4);
  int64_t padded = 4 - type.getRank();
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.getDimSize(dim) != 1)
      place[padded + dim] = at[dim];
  Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(pairs.element));
  auto sumFrom = [&](auto &&self, size_t dim, ValueRange sums,
                     const Row *row) -> Sums {
    auto inside = [&](Value i, ValueRange s) -> Sums {
      place[dim] = i;
      if (dim == 2) {
        Row own = pairs.row(place[0], place[1], place[2]);
        return self(self, 3, s, &own);
      }
      if (dim < 3)
        return self(self, dim + 1, s, row);
      return pairs.add(*row, i, s, [&](const Terms &terms, ValueRange t) {
        return Sums{arith::AddFOp::create(b, loc, t[0], terms.slope)};
      });
    };
    if (place[dim])
      return inside(place[dim], sums);
    Sums all = pairs.loop(pairs.index(0), ends[dim], sums, inside);
    place[dim] = Value();
    return all;
  };
  return sumFrom(sumFrom, 0, none, nullptr).front();
}

void GradientLoops::byBias() {
  auto type = cast<RankedTensorType>(op.getBias().getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, op.getBias());
  Value out = tensor::EmptyOp::create(b, loc, sizes, pairs.element);
  SmallVector<Value> bounds;
  for (OpFoldResult size : sizes)
    bounds.push_back(getValueOrCreateConstantIndexOp(b, loc, size));
  if (bounds.empty()) // one number
    bounds.push_back(pairs.index(1));
  gradients["bias"] =
      items(bounds, out,
            [&](const Indices &at, ValueRange outs) -> std::vector<Part> {
              auto place = ArrayRef(at).take_front(type.getRank());
              Value sum = biasOf(place);
              Part part;
              part.slice.offsets = getAsOpFoldResult(place);
              part.slice.sizes.assign(type.getRank(), b.getIndexAttr(1));
              part.slice.strides = part.slice.sizes;
              Value cell = tensor::ExtractSliceOp::create(
                  b, loc, outs[0], part.slice.offsets, part.slice.sizes,
                  part.slice.strides);
              SmallVector<Value> first(type.getRank(), pairs.index(0));
              part.written = tensor::InsertOp::create(b, loc, sum, cell, first);
              return {part};
            })
          .front();
}

/// Adds what a pair's reads of the captures `numbers` get.
Sums GradientLoops::addReads(const Row &row, Value key,
                             ArrayRef<unsigned> numbers, ValueRange sums) {
  return pairs.add(row, key, sums, [&](const Terms &terms, ValueRange s) {
    Sums next(s);
    for (auto [number, read] : llvm::zip(pairs.learnedReads(), terms.reads)) {
      Value &sum = next[llvm::find(numbers, number) - numbers.begin()];
      Value old = tensor::ExtractOp::create(b, loc, sum, read.at);
      Value more = arith::AddFOp::create(b, loc, old, read.slope);
      sum = tensor::InsertOp::create(b, loc, more, sum, read.at);
    }
    return next;
  });
}

/// An item's own copy of a captured tensor's gradient.
GradientLoops::Part GradientLoops::copyOf(Value out, ArrayRef<Value> at) {
  auto type = cast<RankedTensorType>(out.getType());
  Part part;
  part.slice.sizes = tensor::getMixedSizes(b, loc, out);
  part.slice.offsets.assign(part.slice.sizes.size(), b.getIndexAttr(0));
  part.slice.strides.assign(part.slice.sizes.size(), b.getIndexAttr(1));
  for (size_t dim = 0; dim < at.size(); ++dim) {
    part.slice.offsets[dim] = at[dim];
    part.slice.sizes[dim] = b.getIndexAttr(1);
  }
  part.written = tensor::ExtractSliceOp::create(
      b, loc,
      RankedTensorType::get(type.getShape().drop_front(at.size()),
                            pairs.element),
      out, part.slice.offsets, part.slice.sizes, part.slice.strides);
  return part;
}

void GradientLoops::byCaptures() {
  SmallVector<unsigned> numbers;
  SmallVector<Value> outs;
  for (auto [number, capture] : llvm::enumerate(op.getCaptures())) {
    if (!op.gradientBy("capture_" + std::to_string(number)))
      continue;
    SmallVector<OpFoldResult> sizes{getAsOpFoldResult(pairs.batches),
                                    getAsOpFoldResult(pairs.heads),
                                    b.getIndexAttr(copies)};
    llvm::append_range(sizes, tensor::getMixedSizes(b, loc, capture));
    numbers.push_back(static_cast<unsigned>(number));
    outs.push_back(tensor::EmptyOp::create(b, loc, sizes, pairs.element));
  }
  if (numbers.empty())
    return;
  Value count = pairs.index(copies);
  Value rows = arith::CeilDivUIOp::create(b, loc, pairs.queries, count);
  auto item = [&](const Indices &at, ValueRange into) {
    std::vector<Part> parts;
    Sums zero;
    for (Value out : into) {
      parts.push_back(copyOf(out, at));
      zero.push_back(zerosIn(b, parts.back().written));
    }
    Value first = arith::MinUIOp::create(
        b, loc, arith::MulIOp::create(b, loc, at[2], rows), pairs.queries);
    Value end = arith::MinUIOp::create(
        b, loc, arith::AddIOp::create(b, loc, first, rows), pairs.queries);
    Sums sums = pairs.loop(first, end, zero, [&](Value query, ValueRange s) {
      Row row = pairs.row(at[0], at[1], query);
      return pairs.loop(pairs.index(0), pairs.keys, s,
                        [&](Value key, ValueRange t) {
                          return addReads(row, key, numbers, t);
                        });
    });
    for (auto [part, sum] : llvm::zip(parts, sums))
      part.written = sum;
    return parts;
  };
  SmallVector<Value> written =
      items({pairs.batches, pairs.heads, count}, outs, item);
  for (auto [number, all] : llvm::zip(numbers, written)) {
    int64_t rank = cast<RankedTensorType>(all.getType()).getRank();
    SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(3, rank));
    std::string name = "capture_" + std::to_string(number);
    for (StringAttr asked : op.getWrt().getAsRange<StringAttr>())
      if (asked == name)
        gradients[asked] = Loop(b, all).elements(all).sumAt(
            dims, [](OpBuilder &, ValueRange element) { return element[0]; });
  }
}

SmallVector<Value> GradientLoops::lower() {
  if (op.gradientBy("query"))
    byQuery();
  if (op.gradientBy("key") || op.gradientBy("value"))
    byKeyAndValue();
  if (op.gradientBy("bias"))
    byBias();
  byCaptures();
  SmallVector<Value> results;
  for (auto [name, of] :
       llvm::zip(op.getWrt().getAsRange<StringAttr>(), op.getGradients())) {
    Value gradient = gradients.lookup(name);
    results.push_back(
        gradient.getType() == of.getType()
            ? gradient
            : tensor::CastOp::create(b, loc, of.getType(), gradient)
                  .getResult());
  }
  return results;
}

namespace {
struct LowerGradients : attn::impl::LowerGradientsBase<LowerGradients> {
  void runOnOperation() override {
    SmallVector<SdpaGradOp> ops;
    getOperation()->walk([&](SdpaGradOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (SdpaGradOp op : ops) {
      rewriter.setInsertionPoint(op);
      SmallVector<Value> gradients = isStaticallyEmpty(op)
                                         ? zeroGradients(rewriter, op)
                                         : GradientLoops(op, rewriter).lower();
      rewriter.replaceOp(op, gradients);
    }
  }
};
} // namespace
