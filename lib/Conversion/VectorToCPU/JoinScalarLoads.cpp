// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Neighbours in memory that are broadcast one by one are loaded together, for
// processors that multiply by one lane of a register.
//
// Before:  %a = memref.load %k[%row, %d] : memref<?x64xf32, ..>
//          %x = vector.broadcast %a : f32 to vector<4xf32>
//          %b = memref.load %k[%row, %d1]      // %d1 = %d + 1, and so on
//          ..
// After:   %run = vector.load %k[%row, %d] : .., vector<4xf32>
//          %a = vector.extract %run[0] : f32 from vector<4xf32>
//          %x = vector.broadcast %a : f32 to vector<4xf32>
//          %b = vector.extract %run[1] : f32 from vector<4xf32>
//          ..
//
// NEON has FMA by element: extraction and broadcast cost nothing, so that four
// turns of a loop over features load the scalars of a key once instead of four
// times. A run is as long as a register of 16 bytes; all its elements are
// loaded in the block anyway, so the joined load reads nothing new. x86
// broadcasts from memory, which is cheaper there.
//
// Before: any. After: no block loads a whole run only to broadcast its
// elements, unless something in between may write.
#include "attn/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace attn {
#define GEN_PASS_DEF_JOINSCALARLOADS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;

namespace {
/// An index as a value plus a constant.
struct Place {
  Value base;
  int64_t offset = 0;
};

/// What is equal among neighbours: the memref, the other indices and the base
/// of the last.
using Row = SmallVector<const void *, 4>;

/// Loads of one row, by their offset.
using Loads = std::map<int64_t, memref::LoadOp>;
} // namespace

static Place placeOf(Value index) {
  if (auto sum = index.getDefiningOp<arith::AddIOp>())
    if (std::optional<int64_t> constant = getConstantIntValue(sum.getRhs()))
      return {sum.getLhs(), *constant};
  return {index, 0};
}

/// Whether all that is done with the number is to broadcast it.
static bool isBroadcastOnly(memref::LoadOp load) {
  return llvm::all_of(load->getUsers(), [](Operation *user) {
    return isa<vector::BroadcastOp>(user);
  });
}

static int64_t runLength(MemRefType type) {
  Type element = type.getElementType();
  return element.isF32() || element.isF64()
             ? 128 / element.getIntOrFloatBitWidth()
             : 0;
}

/// Whether `index` can be used in front of `op`, in whose block it may be.
static bool isKnownBefore(Value index, Operation *op) {
  Operation *definition = index.getDefiningOp();
  return !definition || definition->getBlock() != op->getBlock() ||
         definition->isBeforeInBlock(op);
}

/// Replaces the loads of one run, which begins with `loads.front()`.
static void joinRun(MutableArrayRef<memref::LoadOp> loads) {
  Operation *earliest = loads.front();
  for (memref::LoadOp load : loads)
    if (load->isBeforeInBlock(earliest))
      earliest = load;
  memref::LoadOp first = loads.front();
  if (!isKnownBefore(first.getIndices().back(), earliest))
    return;
  OpBuilder builder(earliest);
  auto type = VectorType::get(loads.size(), first.getType());
  Value run = vector::LoadOp::create(builder, first.getLoc(), type,
                                     first.getMemRef(), first.getIndices());
  for (auto [i, load] : llvm::enumerate(loads)) {
    builder.setInsertionPoint(load);
    Value element = vector::ExtractOp::create(builder, load.getLoc(), run, i);
    load.replaceAllUsesWith(element);
  }
  for (memref::LoadOp load : loads)
    load.erase();
}

static void joinLoads(Loads &loads) {
  SmallVector<memref::LoadOp> run;
  int64_t next = 0;
  for (auto &[offset, load] : loads) {
    if (offset != next)
      run.clear();
    run.push_back(load);
    next = offset + 1;
    if (static_cast<int64_t>(run.size()) == runLength(load.getMemRefType())) {
      joinRun(run);
      run.clear();
    }
  }
}

static void joinInBlock(Block &block) {
  llvm::MapVector<Row, Loads, std::map<Row, unsigned>> rows;
  auto finish = [&] {
    for (auto &[row, loads] : rows)
      joinLoads(loads);
    rows.clear();
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto load = dyn_cast<memref::LoadOp>(op);
    if (!load) {
      if (!isMemoryEffectFree(&op) &&
          !isa<vector::LoadOp, memref::PrefetchOp>(op))
        finish();
      continue;
    }
    MemRefType type = load.getMemRefType();
    if (!type.getRank() || !runLength(type) || !type.isLastDimUnitStride() ||
        !isBroadcastOnly(load))
      continue;
    Place place = placeOf(load.getIndices().back());
    Row row;
    for (Value operand : load->getOperands().drop_back())
      row.push_back(operand.getAsOpaquePointer());
    row.push_back(place.base.getAsOpaquePointer());
    rows[row].try_emplace(place.offset, load);
  }
  finish();
}

namespace {
struct JoinScalarLoads : attn::impl::JoinScalarLoadsBase<JoinScalarLoads> {
  void runOnOperation() override {
    getOperation()->walk([](Block *block) { joinInBlock(*block); });
  }
};
} // namespace
