// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RowEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn::cpu;

/// Partial results of a reduction, and vectors of columns at a time: as many as
/// hide the latency of an addition, and, in a thread of several, that of
/// memory.
int64_t RowEmitter::abreast(std::optional<int64_t> numbers) const {
  if (!threads)
    return 4;
  constexpr int64_t most = 16;
  if (!numbers)
    return most / 2;
  return std::clamp<int64_t>(llvm::bit_floor<uint64_t>(*numbers), 1, most);
}

RowEmitter::RowEmitter(OpBuilder &b, const RowGroup &group, VectorUnit unit)
    : b(b), group(group), unit(unit), loc(group.nests.back()->op.getLoc()) {
  memory.outer = group.outer();
  for (auto [buffer, needsRow] : group.locals)
    if (!needsRow)
      memory.registers.insert(buffer);
}

Value RowEmitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value RowEmitter::add(Value x, Value y) {
  return b.createOrFold<arith::AddIOp>(loc, x, y);
}

LaneRange RowEmitter::rangeOf(const LoopNest &nest) {
  Value size = sizeOf(nest, nest.lane);
  std::optional<int64_t> known = getConstantIntValue(size);
  if (!threads)
    return {index(0), size, known};
  if (known)
    known = *known / threads.count;
  return {b.createOrFold<arith::MinUIOp>(loc, threads.number, size), size,
          known};
}

void RowEmitter::makeRows() {
  for (LoopNest *nest : group.nests)
    for (const Access &access : nest->accesses) {
      auto local = group.locals.find(access.buffer);
      if (!access.buffer || local == group.locals.end() || !local->second ||
          memory.rows.contains(access.buffer))
        continue;
      // The dimensions that are no index of a row.
      auto type = cast<MemRefType>(access.buffer.getType());
      auto alloc = access.buffer.getDefiningOp<memref::AllocOp>();
      AffineMap map = inGroup(*nest, access, group.outer());
      SmallVector<int64_t> shape;
      SmallVector<Value> sizes;
      for (auto [i, result] : llvm::enumerate(map.getResults())) {
        bool isRow = false;
        for (unsigned dim = 0; dim < group.outer(); ++dim)
          isRow |= result.isFunctionOfDim(dim);
        if (isRow)
          continue;
        shape.push_back(type.getDimSize(i));
        if (type.isDynamicDim(i))
          sizes.push_back(alloc.getDynamicSizes()[type.getDynamicDimIndex(i)]);
      }
      auto rowType = MemRefType::get(shape, type.getElementType());
      memory.rows[access.buffer] =
          memref::AllocOp::create(b, loc, rowType, sizes);
    }
}

SmallVector<Value> RowEmitter::pointOf(const LoopNest &nest, Value lane) const {
  SmallVector<Value> point(nest.op.getNumLoops());
  for (auto [i, value] : llvm::enumerate(row))
    point[nest.parallel[i]] = value;
  for (auto [loop, value] : around)
    point[loop] = value;
  if (lane)
    point[nest.lane] = lane;
  return point;
}

void RowEmitter::emit(ArrayRef<Value> indices, const LaneRange *part) {
  row.assign(indices.begin(), indices.end());
  memory.numbers.clear();
  for (const Step &step : group.steps) {
    LoopNest &first = *step.nests.front();
    memory.vectors.clear();
    if (first.kind == NestKind::Scalar)
      emitScalar(first);
    else if (first.kind == NestKind::ColumnReduction)
      emitColumns(first, part);
    else if (step.hasLanes)
      emitLanes(step, part);
    else
      emitNumbers(first);
  }
}

// --- numbers ---

/// An elementwise op that has one element in the row.
void RowEmitter::emitNumbers(LoopNest &nest) {
  BodyEmitter body(nest, memory, /*usesLanes=*/false);
  SmallVector<Value> point = pointOf(nest);
  Place place{b, loc, point};
  body.prepare(place);
  SmallVector<Value> values = body.emit(place);
  threads.storeOnce(b, loc, [&] {
    for (auto [i, value] : llvm::enumerate(values))
      body.store(place, nest.output(i), value);
  });
}

/// Loops over everything that is not a row, with results in memory.
void RowEmitter::emitScalar(LoopNest &nest) {
  BodyEmitter body(nest, memory, /*usesLanes=*/false);
  SmallVector<Value> point = pointOf(nest);
  OpBuilder::InsertionGuard guard(b);
  Place place{b, loc, point};
  for (unsigned loop : nest.reduced) {
    auto turns =
        scf::ForOp::create(b, loc, index(0), sizeOf(nest, loop), index(1));
    b.setInsertionPointToStart(turns.getBody());
    point[loop] = turns.getInductionVar();
  }
  body.prepare(place);
  for (auto [i, value] : llvm::enumerate(body.emit(place)))
    body.store(place, nest.output(i), value);
  if (!nest.reduced.empty())
    for (const Access &access : nest.accesses)
      memory.numbers.erase(access.buffer);
}

// --- loops ---

RowEmitter::Running
RowEmitter::loop(Value from, Value to, int64_t step, Running running,
                 function_ref<void(Value, Running &)> body) {
  auto turns = scf::ForOp::create(b, loc, from, to, index(step), running);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(turns.getBody());
  Running inside(turns.getRegionIterArgs());
  body(turns.getInductionVar(), inside);
  if (!running.empty())
    scf::YieldOp::create(b, loc, inside);
  return Running(turns.getResults());
}

Value RowEmitter::maskFor(Value left, int64_t lanes) {
  return vector::CreateMaskOp::create(
      b, loc, VectorType::get(lanes, b.getI1Type()), left);
}

int64_t RowEmitter::lanesOf() const {
  if (threads)
    return 1;
  int64_t bytes = 1;
  for (const BodyEmitter &body : bodies)
    bytes = std::max(bytes, body.laneBytes());
  return std::max<int64_t>(unit.lanes * 4 / bytes, 1);
}

bool RowEmitter::canMask() const {
  return llvm::all_of(bodies, [&](const BodyEmitter &body) {
    return body.canMask(unit.maskedBits);
  });
}

Value RowEmitter::combine(LoopNest &nest, Value x, Value y) {
  Operation *op = nest.reduction->combiner;
  OperationState state(loc, op->getName(), {x, y}, {x.getType()},
                       op->getAttrs());
  return b.create(state)->getResult(0);
}

/// Halves until one is left: always in the same order.
Value RowEmitter::acrossLanes(LoopNest &nest, Value vector) {
  auto type = dyn_cast<VectorType>(vector.getType());
  if (!type)
    return vector;
  for (int64_t half = type.getNumElements() / 2; half > 0; half /= 2) {
    auto part = [&](int64_t from) -> Value {
      return vector::ExtractStridedSliceOp::create(
          b, loc, vector, ArrayRef<int64_t>{from}, ArrayRef<int64_t>{half},
          ArrayRef<int64_t>{1});
    };
    Value low = part(0), high = part(half);
    vector = combine(nest, low, high);
  }
  return vector::ExtractOp::create(b, loc, vector, ArrayRef<int64_t>{0});
}

/// Puts the sum of a row to what was there.
void RowEmitter::finish(LoopNest &nest, BodyEmitter &body, Value sum) {
  SmallVector<Value> point = pointOf(nest);
  Place place{b, loc, point};
  Value before = body.load(place, nest.output(0), Level::Row);
  sum = combine(nest, body.widen(place, before), sum);
  sum = body.narrow(place, sum);
  threads.storeOnce(b, loc, [&] { body.store(place, nest.output(0), sum); });
}

/// Whether a nest behind that with this number writes the same element in the
/// same turn: those between have the value in a register.
bool RowEmitter::isOverwritten(size_t number, const Access &access) const {
  AffineMap map = inGroup(*nests[number], access, group.outer());
  return map.isFunctionOfDim(group.outer()) &&
         llvm::any_of(
             ArrayRef(nests).drop_front(number + 1),
             [&](const LoopNest *later) {
               return llvm::any_of(later->accesses, [&](const Access &other) {
                 return other.isWritten && other.buffer == access.buffer &&
                        inGroup(*later, other, group.outer()) == map;
               });
             });
}

void RowEmitter::emitTurn(Value lane, int64_t lanes, Value mask,
                          MutableArrayRef<Value> running) {
  memory.vectors.clear();
  unsigned next = 0;
  for (auto [number, nest] : llvm::enumerate(nests)) {
    BodyEmitter &body = bodies[number];
    SmallVector<Value> point = pointOf(*nest, lane);
    Place place{b, loc, point, lanes, mask};
    if (nest->kind == NestKind::Elementwise) {
      for (auto [i, value] : llvm::enumerate(body.emit(place))) {
        const Access &output = nest->output(i);
        body.store(place, output, value, isOverwritten(number, output));
      }
      continue;
    }
    Value &value = running[next++];
    Value sum = combine(*nest, value, body.emitAddend(place));
    value = mask ? arith::SelectOp::create(b, loc, mask, sum, value) : sum;
  }
}

/// What each reduction of the loop starts with: `lanes` of what changes
/// nothing.
RowEmitter::Running RowEmitter::neutral(int64_t lanes) {
  Running values;
  for (LoopNest *nest : nests) {
    if (nest->kind != NestKind::RowReduction)
      continue;
    TypedAttr zero = *arith::getNeutralElement(nest->reduction->combiner);
    Value value = arith::ConstantOp::create(b, loc, zero);
    if (lanes > 1)
      value = vector::BroadcastOp::create(
          b, loc, VectorType::get(lanes, value.getType()), value);
    values.push_back(value);
  }
  return values;
}

RowEmitter::Running RowEmitter::combineAll(ArrayRef<Value> x,
                                           ArrayRef<Value> y) {
  Running values;
  for (LoopNest *nest : nests)
    if (nest->kind == NestKind::RowReduction)
      values.push_back(combine(*nest, x[values.size()], y[values.size()]));
  return values;
}

/// The index in `range` up to which there are whole steps.
Value RowEmitter::wholeSteps(const LaneRange &range, int64_t step) {
  Value count = b.createOrFold<arith::SubIOp>(loc, range.end, range.begin);
  Value steps = b.createOrFold<arith::DivUIOp>(loc, count, index(step));
  return add(range.begin,
             b.createOrFold<arith::MulIOp>(loc, steps, index(step)));
}

/// Vectors: several abreast where something is added up, then single ones, then
/// what is left, under a mask or number by number. A thread of several has
/// every so many numbers.
void RowEmitter::emitRange(const LaneRange &range, int64_t lanes,
                           Running &vectors, Running &numbers) {
  size_t sums = vectors.size();
  Value begin = range.begin;
  int64_t step = lanes * threads.count;
  int64_t turns = abreast(range.size);
  if ((sums || threads) && (!range.size || *range.size >= turns * lanes)) {
    Running all = vectors;
    for (int64_t i = 1; i < turns; ++i)
      all.append(neutral(lanes));
    Value end = wholeSteps(range, turns * step);
    all = loop(begin, end, turns * step, all, [&](Value at, Running &now) {
      for (int64_t i = 0; i < turns; ++i)
        emitTurn(add(at, index(i * step)), lanes, {},
                 MutableArrayRef(now).slice(i * sums, sums));
      threads.storeLast(b);
    });
    for (; turns > 1; turns /= 2) {
      ArrayRef<Value> parts(all);
      Running pairs;
      for (int64_t i = 0; i < turns; i += 2)
        pairs.append(combineAll(parts.slice(i * sums, sums),
                                parts.slice((i + 1) * sums, sums)));
      all = pairs;
    }
    vectors = all;
    begin = end;
  }
  Value end = threads ? range.end : wholeSteps(range, lanes);
  vectors = loop(begin, end, step, vectors,
                 [&](Value at, Running &now) { emitTurn(at, lanes, {}, now); });
  if (lanes == 1 || (range.size && *range.size % lanes == 0))
    return;
  if (canMask()) {
    Value left = b.createOrFold<arith::SubIOp>(loc, range.end, end);
    vectors = loop(end, range.end, lanes, vectors, [&](Value at, Running &now) {
      emitTurn(at, lanes, maskFor(left, lanes), now);
    });
  } else {
    numbers = loop(end, range.end, 1, numbers,
                   [&](Value at, Running &now) { emitTurn(at, 1, {}, now); });
  }
}

/// Runs `body` in loops over `loops`, which `around` then has.
void RowEmitter::emitAround(ArrayRef<unsigned> loops, const LoopNest &nest,
                            Running &running,
                            function_ref<void(Running &)> body) {
  if (loops.empty())
    return body(running);
  Value size = sizeOf(nest, loops.front());
  running = loop(index(0), size, 1, running, [&](Value at, Running &now) {
    around.push_back({loops.front(), at});
    emitAround(loops.drop_front(), nest, now, body);
    around.pop_back();
  });
}

void RowEmitter::emitLanes(const Step &step, const LaneRange *part) {
  nests = step.nests;
  bodies.clear();
  for (LoopNest *nest : nests)
    bodies.emplace_back(*nest, memory, /*usesLanes=*/true);
  int64_t lanes = lanesOf();
  for (auto [nest, body] : llvm::zip_equal(nests, bodies)) {
    SmallVector<Value> point = pointOf(*nest);
    body.prepare({b, loc, point, lanes});
  }
  const LoopNest &first = *nests.front();
  LaneRange range = part ? *part : rangeOf(first);
  Running running = neutral(lanes);
  size_t sums = running.size();
  running.append(neutral(1));
  // What adds up over several loops shares none; lanes lie along the last.
  ArrayRef<unsigned> outside = first.reduced;
  outside = outside.drop_back(!outside.empty());
  emitAround(outside, first, running, [&](Running &now) {
    Running vectors(now.begin(), now.begin() + sums),
        numbers(now.begin() + sums, now.end());
    emitRange(range, lanes, vectors, numbers);
    now = vectors;
    now.append(numbers);
  });
  memory.vectors.clear();
  unsigned next = 0;
  for (auto [nest, body] : llvm::zip_equal(nests, bodies)) {
    if (nest->kind != NestKind::RowReduction)
      continue;
    Value sum = threads.join(
        b, loc, acrossLanes(*nest, running[next]),
        [&, of = nest](Value x, Value y) { return combine(*of, x, y); });
    Value number = running[sums + next++];
    if (!matchPattern(number, m_Constant()))
      sum = combine(*nest, sum, number);
    finish(*nest, body, sum);
  }
}

/// `count` vectors of columns, which are added up over the reduced loops.
void RowEmitter::emitColumnTurn(LoopNest &nest, Value first, int64_t count,
                                int64_t lanes, Value mask) {
  BodyEmitter &body = bodies.front();
  unsigned results = nest.op.getNumDpsInits();
  SmallVector<Value> columns;
  Running running;
  for (int64_t i = 0; i < count; ++i) {
    columns.push_back(add(first, index(i * lanes)));
    SmallVector<Value> point = pointOf(nest, columns.back());
    Place place{b, loc, point, lanes, mask};
    memory.vectors.clear();
    for (unsigned r = 0; r < results; ++r)
      running.push_back(
          body.widen(place, body.load(place, nest.output(r), Level::Lanes)));
  }
  emitAround(nest.reduced, nest, running, [&](Running &now) {
    for (auto [i, column] : llvm::enumerate(columns)) {
      SmallVector<Value> point = pointOf(nest, column);
      Place place{b, loc, point, lanes, mask};
      memory.vectors.clear();
      MutableArrayRef<Value> own =
          MutableArrayRef(now).slice(i * results, results);
      if (nest.reduction) {
        own[0] = combine(nest, own[0], body.emitAddend(place));
        continue;
      }
      for (auto [value, next] : llvm::zip_equal(own, body.emit(place, own)))
        value = next;
    }
  });
  for (auto [i, column] : llvm::enumerate(columns)) {
    SmallVector<Value> point = pointOf(nest, column);
    Place place{b, loc, point, lanes, mask};
    for (unsigned r = 0; r < results; ++r)
      body.store(place, nest.output(r),
                 body.narrow(place, running[i * results + r]));
  }
  memory.vectors.clear();
}

void RowEmitter::emitColumns(LoopNest &nest, const LaneRange *part) {
  nests = {&nest};
  bodies.clear();
  bodies.emplace_back(nest, memory, /*usesLanes=*/true);
  int64_t lanes = lanesOf();
  SmallVector<Value> point = pointOf(nest);
  bodies.front().prepare({b, loc, point, lanes});
  LaneRange range = part ? *part : rangeOf(nest);
  Value begin = range.begin;
  auto turns = [&](Value end, int64_t count, int64_t width, Value mask) {
    loop(begin, end, count * width, {}, [&](Value at, Running &) {
      emitColumnTurn(nest, at, count, width, mask);
    });
    begin = end;
  };
  int64_t many = abreast(range.size);
  if (!range.size || *range.size >= many * lanes)
    turns(wholeSteps(range, many * lanes), many, lanes, {});
  turns(wholeSteps(range, lanes), 1, lanes, {});
  if (lanes == 1 || (range.size && *range.size % lanes == 0))
    return;
  if (!canMask())
    return turns(range.end, 1, 1, {});
  Value left = b.createOrFold<arith::SubIOp>(loc, range.end, begin);
  turns(range.end, 1, lanes, maskFor(left, lanes));
}
