// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BodyEmitter.h"
#include "RowGroup.h"
#include "VectorMemory.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attn::cpu;

BodyEmitter::BodyEmitter(const LoopNest &nest, RowMemory &memory,
                         bool usesLanes)
    : nest(nest), memory(memory), usesLanes(usesLanes) {
  findLevels();
}

// --- what varies ---

Level BodyEmitter::levelOf(const Access &access) const {
  if (usesLanes && access.uses(nest.lane))
    return Level::Lanes;
  for (auto [i, dim] : llvm::enumerate(nest.parallel))
    if (i >= memory.outer && access.uses(dim))
      return Level::Turn;
  for (unsigned dim : nest.reduced)
    if (access.uses(dim))
      return Level::Turn;
  return Level::Row;
}

Level BodyEmitter::levelOf(Value value) const {
  auto found = levels.find(value);
  return found == levels.end() ? Level::Row : found->second;
}

void BodyEmitter::findLevels() {
  for (auto [i, access] : llvm::enumerate(nest.accesses)) {
    Level level = levelOf(access);
    if (access.isWritten && level == Level::Row)
      level = Level::Turn; // the value so far
    levels[nest.argument(i)] = level;
  }
  for (Operation &op : nest.op.getBody()->without_terminator()) {
    Level level = Level::Row;
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      unsigned dim = index.getDim();
      const auto *outer = llvm::find(nest.parallel, dim);
      if (usesLanes && dim == nest.lane)
        level = Level::Lanes;
      else if (outer - nest.parallel.begin() >= memory.outer)
        level = Level::Turn;
    } else {
      // What only some turns do, such as a look-up, is not done without one.
      if (!isPure(&op))
        level = Level::Turn;
      for (Value operand : op.getOperands())
        level = std::max(level, levelOf(operand));
    }
    for (Value result : op.getResults())
      levels[result] = level;
  }
}

/// Whether lane i has `index` + i: the lanes' own index, plus or minus what is
/// the same for all.
bool BodyEmitter::isLinear(Value index) const {
  Operation *op = index.getDefiningOp();
  if (auto own = dyn_cast_or_null<linalg::IndexOp>(op))
    return own.getDim() == nest.lane;
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op))
    return false;
  Value left = op->getOperand(0), right = op->getOperand(1);
  if (levelOf(right) != Level::Lanes)
    return isLinear(left);
  return isa<arith::AddIOp>(op) && levelOf(left) != Level::Lanes &&
         isLinear(right);
}

static bool isLookUpInRow(memref::LoadOp load) {
  return load.getIndices().size() > 0 &&
         load.getMemRefType().areTrailingDimsContiguous(1);
}

bool BodyEmitter::canMask(unsigned leastBits) const {
  auto fits = [&](Type element) {
    return leastBits > 0 && element.isIntOrIndexOrFloat() &&
           (element.isIndex() || element.getIntOrFloatBitWidth() >= leastBits);
  };
  for (const Access &access : nest.accesses)
    if (access.uses(nest.lane) &&
        (!access.isContiguous(nest.lane) ||
         !fits(getElementTypeOrSelf(access.buffer.getType()))))
      return false;
  for (Operation &op : nest.op.getBody()->without_terminator()) {
    if (op.getNumResults() != 1 || levelOf(op.getResult(0)) != Level::Lanes)
      continue;
    // Lanes that do not count would divide by 0, or read anything.
    if (!isPure(&op) && !isa<memref::LoadOp>(op))
      return false;
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      for (Value index : load.getIndices().drop_back())
        if (levelOf(index) == Level::Lanes)
          return false;
      if (!isLookUpInRow(load) || !isLinear(load.getIndices().back()) ||
          !fits(load.getMemRefType().getElementType()))
        return false;
    }
    if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
            arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
      return false;
  }
  return true;
}

int64_t BodyEmitter::laneBytes() const {
  int64_t most = 1;
  auto take = [&](Value value) {
    Type type = getElementTypeOrSelf(value.getType());
    if (levelOf(value) != Level::Lanes || isa<IndexType>(type))
      return;
    most = std::max<int64_t>(most,
                             llvm::divideCeil(type.getIntOrFloatBitWidth(), 8));
  };
  for (Value argument : nest.op.getBody()->getArguments())
    take(argument);
  for (Operation &op : nest.op.getBody()->without_terminator())
    for (Value result : op.getResults())
      take(result);
  if (nest.reduction)
    most = std::max<int64_t>(
        most,
        llvm::divideCeil(nest.reduction->type.getIntOrFloatBitWidth(), 8));
  return most;
}

// --- memory ---

/// The element of the buffer; with `inRow`, that of its row.
SmallVector<Value> BodyEmitter::indices(const Place &place,
                                        const Access &access, bool inRow) {
  SmallVector<Value> values;
  for (AffineExpr result : access.map.getResults()) {
    bool isOfRow = false;
    for (unsigned dim : ArrayRef(nest.parallel).take_front(memory.outer))
      isOfRow |= result.isFunctionOfDim(dim);
    if (inRow && isOfRow)
      continue;
    values.push_back(
        affine::expandAffineExpr(place.b, place.loc, result, place.point, {}));
  }
  return values;
}

Value BodyEmitter::load(const Place &place, const Access &access, Level level) {
  std::pair<Value, AffineMap> key{access.buffer,
                                  inGroup(nest, access, memory.outer)};
  if (level == Level::Lanes) {
    if (Value vector = memory.vectors.lookup(key))
      return vector;
  } else if (auto number = memory.numbers.find(access.buffer);
             number != memory.numbers.end() &&
             number->second.first == key.second) {
    return number->second.second;
  }
  Value row = memory.rows.lookup(access.buffer);
  VectorMemory at{place.b, place.loc, row ? row : access.buffer,
                  indices(place, access, bool(row))};
  if (level != Level::Lanes || place.lanes == 1)
    return at.loadNumber();
  Value vector;
  if (access.isContiguous(nest.lane)) {
    vector = at.load(place.lanes, place.mask);
  } else {
    vector = gatherLanes(place.b, place.loc, place.lanes, [&](int64_t lane) {
      SmallVector<Value> point(place.point);
      Value offset = arith::ConstantIndexOp::create(place.b, place.loc, lane);
      point[nest.lane] =
          arith::AddIOp::create(place.b, place.loc, point[nest.lane], offset);
      Place ofLane{place.b, place.loc, point};
      VectorMemory element{place.b, place.loc, at.buffer,
                           indices(ofLane, access, bool(row))};
      return element.loadNumber();
    });
  }
  memory.vectors[key] = vector;
  return vector;
}

void BodyEmitter::store(const Place &place, const Access &access, Value value,
                        bool inRegister) {
  bool lanes = levelOf(access) == Level::Lanes;
  AffineMap map = inGroup(nest, access, memory.outer);
  memory.numbers.erase(access.buffer);
  if (lanes) {
    value = asLanes(place, value);
    memory.vectors[{access.buffer, map}] = value;
  } else if (usesLanes && nest.kind == NestKind::Elementwise) {
    // The one turn of a loop along lanes, of a dimension that the buffer's view
    // lacks: nothing behind the loop knows the value.
    if (isa<VectorType>(value.getType()))
      value = vector::ExtractOp::create(place.b, place.loc, value,
                                        ArrayRef<int64_t>{0});
  } else if (levelOf(access) == Level::Row) {
    memory.numbers[access.buffer] = {map, value};
  }
  if (inRegister || memory.registers.contains(access.buffer))
    return;
  Value row = memory.rows.lookup(access.buffer);
  VectorMemory at{place.b, place.loc, row ? row : access.buffer,
                  indices(place, access, bool(row))};
  if (!lanes || place.lanes == 1)
    return at.storeNumber(value);
  if (access.isContiguous(nest.lane))
    return at.store(value, place.mask);
  for (int64_t lane = 0; lane < place.lanes; ++lane) {
    SmallVector<Value> point(place.point);
    Value offset = arith::ConstantIndexOp::create(place.b, place.loc, lane);
    point[nest.lane] =
        arith::AddIOp::create(place.b, place.loc, point[nest.lane], offset);
    Place ofLane{place.b, place.loc, point};
    VectorMemory element{place.b, place.loc, at.buffer,
                         indices(ofLane, access, bool(row))};
    element.storeNumber(vector::ExtractOp::create(place.b, place.loc, value,
                                                  ArrayRef<int64_t>{lane}));
  }
}

// --- values ---

Value BodyEmitter::asLanes(const Place &place, Value value) const {
  if (place.lanes == 1 || isa<VectorType>(value.getType()))
    return value;
  auto type = VectorType::get(place.lanes, value.getType());
  return vector::BroadcastOp::create(place.b, place.loc, type, value);
}

Value BodyEmitter::emitIndex(const Place &place, unsigned dim) {
  Value first = place.point[dim];
  if (!usesLanes || dim != nest.lane || place.lanes == 1)
    return first;
  auto type = VectorType::get(place.lanes, place.b.getIndexType());
  Value steps = vector::StepOp::create(place.b, place.loc, type);
  return arith::AddIOp::create(place.b, place.loc, asLanes(place, first),
                               steps);
}

/// The first lane's index, where lanes count up from there.
Value BodyEmitter::indexOf(const Place &place, const IRMapping &mapping,
                           Value value) const {
  if (levelOf(value) != Level::Lanes)
    return mapping.lookupOrDefault(value);
  Operation *op = value.getDefiningOp();
  if (isa<linalg::IndexOp>(op))
    return place.point[nest.lane];
  Value left = indexOf(place, mapping, op->getOperand(0)),
        right = indexOf(place, mapping, op->getOperand(1));
  if (isa<arith::AddIOp>(op))
    return arith::AddIOp::create(place.b, place.loc, left, right);
  return arith::SubIOp::create(place.b, place.loc, left, right);
}

/// A look-up of the body itself.
Value BodyEmitter::emitCapture(const Place &place, Operation &op,
                               const IRMapping &mapping) {
  auto load = cast<memref::LoadOp>(op);
  Value buffer = load.getMemRef();
  if (levelOf(load.getResult()) != Level::Lanes || place.lanes == 1) {
    SmallVector<Value> at;
    for (Value index : load.getIndices())
      at.push_back(mapping.lookupOrDefault(index));
    return VectorMemory{place.b, place.loc, buffer, at}.loadNumber();
  }
  bool uniform = llvm::all_of(load.getIndices().drop_back(), [&](Value index) {
    return levelOf(index) != Level::Lanes;
  });
  if (uniform && isLookUpInRow(load) && isLinear(load.getIndices().back())) {
    SmallVector<Value> at;
    for (Value index : load.getIndices())
      at.push_back(indexOf(place, mapping, index));
    return VectorMemory{place.b, place.loc, buffer, at}.load(place.lanes,
                                                             place.mask);
  }
  return gatherLanes(place.b, place.loc, place.lanes, [&](int64_t lane) {
    SmallVector<Value> at;
    for (Value index : load.getIndices()) {
      Value value = mapping.lookupOrDefault(index);
      if (isa<VectorType>(value.getType()))
        value = vector::ExtractOp::create(place.b, place.loc, value,
                                          ArrayRef<int64_t>{lane});
      at.push_back(value);
    }
    return VectorMemory{place.b, place.loc, buffer, at}.loadNumber();
  });
}

void BodyEmitter::emitOp(const Place &place, Operation &op,
                         IRMapping &mapping) {
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return mapping.map(index.getResult(), emitIndex(place, index.getDim()));
  if (isa<memref::LoadOp>(op))
    return mapping.map(op.getResult(0), emitCapture(place, op, mapping));
  bool lanes = place.lanes > 1 && op.getNumResults() == 1 &&
               levelOf(op.getResult(0)) == Level::Lanes;
  if (!lanes) {
    Operation *copy = place.b.clone(op, mapping);
    copy->walk([&](linalg::IndexOp index) { // in a region
      index.replaceAllUsesWith(place.point[index.getDim()]);
      index.erase();
    });
    return;
  }
  SmallVector<Value> operands;
  for (Value operand : op.getOperands()) {
    Value given = mapping.lookupOrDefault(operand);
    if (!isa<VectorType>(given.getType())) {
      Value wide = levelOf(operand) == Level::Row
                       ? broadcasts.lookupOrNull(operand)
                       : Value();
      given = wide ? wide : asLanes(place, given);
    }
    operands.push_back(given);
  }
  OperationState state(op.getLoc(), op.getName(), operands,
                       VectorType::get(place.lanes, op.getResult(0).getType()),
                       op.getAttrs());
  mapping.map(op.getResult(0), place.b.create(state)->getResult(0));
}

void BodyEmitter::prepare(const Place &place) {
  ofRow.clear();
  broadcasts.clear();
  for (auto [i, access] : llvm::enumerate(nest.accesses)) {
    BlockArgument argument = nest.argument(i);
    if (access.isWritten || levelOf(argument) != Level::Row ||
        argument.use_empty())
      continue;
    ofRow.map(argument, access.buffer ? load(place, access, Level::Row)
                                      : nest.op->getOperand(i));
  }
  for (Operation &op : nest.op.getBody()->without_terminator())
    if (op.getNumResults() > 0 && levelOf(op.getResult(0)) == Level::Row)
      emitOp(place, op, ofRow);
  if (place.lanes == 1)
    return;
  auto broadcast = [&](Value value) {
    Value scalar = ofRow.lookupOrNull(value);
    auto readByLanes = [&](Operation *user) {
      return user->getNumResults() == 1 &&
             levelOf(user->getResult(0)) == Level::Lanes &&
             !isa<memref::LoadOp>(user);
    };
    if (scalar && llvm::any_of(value.getUsers(), readByLanes))
      broadcasts.map(value, asLanes(place, scalar));
  };
  for (Value argument : nest.op.getBody()->getArguments())
    broadcast(argument);
  for (Operation &op : nest.op.getBody()->without_terminator())
    for (Value result : op.getResults())
      broadcast(result);
}

/// The ops that vary within the row.
void BodyEmitter::emitOps(const Place &place, IRMapping &mapping) {
  for (Operation &op : nest.op.getBody()->without_terminator()) {
    if (op.getNumResults() > 0 && levelOf(op.getResult(0)) == Level::Row)
      continue;
    // What only a reduction's end needs is made there.
    if (nest.reduction &&
        (&op == nest.reduction->combiner || &op == nest.reduction->post ||
         llvm::any_of(op.getOperands(), [&](Value operand) {
           return operand == nest.argument(nest.op.getNumDpsInputs());
         })))
      continue;
    emitOp(place, op, mapping);
  }
}

SmallVector<Value> BodyEmitter::emit(const Place &place,
                                     ArrayRef<Value> running) {
  IRMapping mapping = ofRow;
  unsigned inputs = nest.op.getNumDpsInputs();
  for (auto [i, access] : llvm::enumerate(nest.accesses)) {
    BlockArgument argument = nest.argument(i);
    if (mapping.contains(argument) || argument.use_empty())
      continue;
    bool given = i >= inputs && !running.empty();
    mapping.map(argument, given ? running[i - inputs]
                                : load(place, access, levelOf(argument)));
  }
  emitOps(place, mapping);
  SmallVector<Value> yielded;
  for (Value value : nest.op.getBody()->getTerminator()->getOperands())
    yielded.push_back(mapping.lookupOrDefault(value));
  return yielded;
}

Value BodyEmitter::emitAddend(const Place &place) {
  IRMapping mapping = ofRow;
  for (auto [i, access] : llvm::enumerate(nest.accesses)) {
    BlockArgument argument = nest.argument(i);
    if (!mapping.contains(argument) && !argument.use_empty() &&
        !access.isWritten)
      mapping.map(argument, load(place, access, levelOf(argument)));
  }
  emitOps(place, mapping);
  return asLanes(place, mapping.lookupOrDefault(nest.reduction->addend));
}

Value BodyEmitter::widen(const Place &place, Value value) const {
  if (!nest.reduction || !nest.reduction->post)
    return value;
  Type type = nest.reduction->type;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(type);
  return arith::ExtFOp::create(place.b, place.loc, type, value);
}

Value BodyEmitter::narrow(const Place &place, Value value) const {
  if (!nest.reduction || !nest.reduction->post)
    return value;
  Type type = nest.reduction->post->getResult(0).getType();
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(type);
  return arith::TruncFOp::create(place.b, place.loc, type, value);
}
