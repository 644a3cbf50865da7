// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-combine-by-elements: saved states are combined by an item per element.
//
// Before:  scf.forall (%b, %h, %i) in (%B, 8, %n) {
//            attn.combine %parts outs(%out, %lse : memref<1x64xbf16, ..>, ..)
//                {schedule = #attn.gpu_schedule<.., kind = decode, ..>} ..
//          }
// After:   scf.forall (%b, %h, %i, %d) in (%B, 8, %n, 64) {
//            %m = scf.for %s .. // the largest maximum of the states, 16 at a
//            time %sum, %context = scf.for %s .. // each times 2^(its maximum -
//            %m) memref.store %context / %sum, %out[0, %d] scf.if %d == 0 {
//            memref.store .., %lse[0] }
//          }
//
// Neighbouring threads of a kernel have neighbouring features then, and read
// the states' maxima and sums together. States are added in their order, so
// that no bit depends on which blocks ran first. Why this is a kernel of its
// own: docs/Rationale.md.
//
// Before: buffers. After: loops of items have no attn.combine and
// attn.combine_state.
#include "Score/PairScore.h"
#include "attn/Conversion/Passes.h"
#include "attn/Interface/KernelSignature.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"
#include <cmath>
#include <limits>

namespace attn {
#define GEN_PASS_DEF_COMBINEBYELEMENTS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Of long contexts, few threads wait for many loads.
static constexpr int64_t statesAtOnce = 16;

namespace {
/// Writes one feature of one row.
class ElementCombiner {
public:
  ElementCombiner(OpBuilder &b, Location loc, Value parts, Value feature)
      : b(b), loc(loc), parts(parts), feature(feature), row(index(0)),
        features(cast<MemRefType>(parts.getType()).getDimSize(2) - 2) {}

  void write(CombineOp op);
  void write(CombineStateOp op);
  void unrollLoops();

private:
  /// Maximum (in units of log2), the same with -inf as 0, sum, context.
  struct Merged {
    Value maximum, safe, sum, context;
  };

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value real(double value) {
    return arith::ConstantOp::create(
        b, loc, b.getF32FloatAttr(static_cast<float>(value)));
  }
  Value infinity() { return real(-std::numeric_limits<double>::infinity()); }
  Value equal(Value x, Value y) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value asNumber(Value maximum) {
    return select(equal(maximum, infinity()), real(0.0), maximum);
  }
  /// The hardware's instruction, as in steps.
  Value exp2(Value x) {
    auto call = LLVM::CallIntrinsicOp::create(
        b, loc, b.getF32Type(), b.getStringAttr("llvm.nvvm.ex2.approx.ftz.f"),
        x);
    return call.getResult(0);
  }
  Value power(Value x, Value y) {
    return exp2(arith::SubFOp::create(b, loc, x, y));
  }
  Value load(Value state, Value column) {
    return memref::LoadOp::create(b, loc, parts,
                                  ValueRange{state, row, column});
  }
  Value maximumOf(Value state) { return load(state, index(features)); }
  SmallVector<Value> overStates(
      ValueRange begin,
      function_ref<SmallVector<Value>(Value state, ValueRange carried)> step);
  Merged merge(Value sink);
  void store(Value number, Value memory);
  void byFirst(function_ref<void()> body);

  OpBuilder &b;
  Location loc;
  Value parts, feature, row;
  int64_t features;
  SmallVector<scf::ForOp> loops; ///< over states
};
} // namespace

/// States are loaded many at a time, and added in their order.
void ElementCombiner::unrollLoops() {
  for (scf::ForOp loop : loops)
    (void)loopUnrollByFactor(loop, statesAtOnce);
}

SmallVector<Value> ElementCombiner::overStates(
    ValueRange begin,
    function_ref<SmallVector<Value>(Value, ValueRange)> step) {
  Value states = memref::DimOp::create(b, loc, parts, 0);
  auto loop =
      scf::ForOp::create(b, loc, index(0), states, index(1), begin,
                         [&](OpBuilder &, Location, Value state, ValueRange x) {
                           scf::YieldOp::create(b, loc, step(state, x));
                         });
  loops.push_back(loop);
  return SmallVector<Value>(loop.getResults());
}

/// Beside a large sink, also NaN counts for nothing.
ElementCombiner::Merged ElementCombiner::merge(Value sink) {
  Merged merged;
  merged.maximum = overStates(
      sink ? sink : infinity(),
      [&](Value state, ValueRange x) -> SmallVector<Value> {
        return {arith::MaxNumFOp::create(b, loc, maximumOf(state), x[0])};
      })[0];
  merged.safe = asNumber(merged.maximum);
  Value zero = real(0.0);
  SmallVector<Value> sums = overStates(
      {zero, zero}, [&](Value state, ValueRange x) -> SmallVector<Value> {
        Value factor = power(maximumOf(state), merged.safe);
        SmallVector<Value> next;
        for (auto [column, before] :
             {std::pair(index(features + 1), x[0]), std::pair(feature, x[1])}) {
          Value after =
              math::FmaOp::create(b, loc, load(state, column), factor, before);
          next.push_back(sink ? select(equal(factor, zero), before, after)
                              : after);
        }
        return next;
      });
  merged.sum = sums[0];
  merged.context = sums[1];
  if (!sink)
    return merged;
  // A sink of +inf is the maximum: infinity minus itself is no number.
  Value term =
      select(equal(sink, merged.maximum), real(1.0), power(sink, merged.safe));
  term = select(equal(sink, infinity()), zero, term);
  merged.sum = arith::AddFOp::create(b, loc, merged.sum, term);
  return merged;
}

/// As the element of a matrix, or of a number per row.
void ElementCombiner::store(Value number, Value memory) {
  auto type = cast<MemRefType>(memory.getType());
  if (type.getElementType() != number.getType())
    number = arith::TruncFOp::create(b, loc, type.getElementType(), number);
  SmallVector<Value> at{row};
  if (type.getRank() == 2)
    at.push_back(feature);
  memref::StoreOp::create(b, loc, number, memory, at);
}

/// What a row has one of.
void ElementCombiner::byFirst(function_ref<void()> body) {
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        feature, index(0));
  auto guarded = scf::IfOp::create(b, loc, isFirst);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(guarded.thenBlock());
  body();
}

void ElementCombiner::write(CombineOp op) {
  Value sink = op.getSink();
  Merged merged = merge(sink ? gpucode::inLog2(b, loc, sink) : Value());
  Value none = equal(merged.sum, real(0.0));
  Value quotient = arith::DivFOp::create(b, loc, merged.context, merged.sum);
  store(select(none, real(0.0), quotient), op.getOut());
  if (!op.getLse())
    return;
  byFirst([&] {
    Value log = math::LogOp::create(b, loc, merged.sum);
    Value lse =
        math::FmaOp::create(b, loc, merged.maximum, real(std::log(2.0)), log);
    store(select(none, infinity(), lse), op.getLse());
  });
}

/// The maximum in natural units is rounded once more; sum and context take the
/// power of two that this leaves.
void ElementCombiner::write(CombineStateOp op) {
  Merged merged = merge(/*sink=*/{});
  // log2(e) in two numbers, since one has an error of its own.
  double log2e = std::log2(std::exp(1.0)), high = static_cast<float>(log2e);
  Value natural =
      arith::MulFOp::create(b, loc, merged.maximum, real(std::log(2.0)));
  Value rest = merged.safe, safe = asNumber(natural);
  for (double part : {high, log2e - high})
    rest = math::FmaOp::create(b, loc, safe, real(-part), rest);
  // Where neighbours of the maximum lie further apart than 1, there is none.
  Value small =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT,
                            math::AbsFOp::create(b, loc, rest), real(1.0));
  Value factor = exp2(select(small, rest, real(0.0)));
  auto times = [&](Value x) -> Value {
    return arith::MulFOp::create(b, loc, x, factor);
  };
  store(times(merged.context), op.getAcc());
  byFirst([&] {
    // A row with a NaN has none of its scores as the maximum.
    store(math::FmaOp::create(b, loc, merged.sum, real(0.0), natural),
          op.getMaximum());
    store(times(merged.sum), op.getSum());
  });
}

static Value partsOf(Operation *op) {
  if (auto combine = dyn_cast<CombineOp>(op))
    return combine.getParts();
  if (auto combine = dyn_cast<CombineStateOp>(op))
    return combine.getParts();
  return {};
}

/// Writes what `op` does for one feature, and erases it.
static void combine(Operation *op, Value feature) {
  OpBuilder b(op);
  ElementCombiner combiner(b, op->getLoc(), partsOf(op), feature);
  if (auto combine = dyn_cast<CombineOp>(op))
    combiner.write(combine);
  else
    combiner.write(cast<CombineStateOp>(op));
  combiner.unrollLoops();
  op->erase();
}

static scf::ForallOp makeLoop(OpBuilder &b, Location loc,
                              ArrayRef<OpFoldResult> bounds) {
  auto loop = scf::ForallOp::create(b, loc, bounds, ValueRange(), std::nullopt);
  loop->setAttr(kernelNameAttr, b.getStringAttr("merge"));
  return loop;
}

/// The same loop with a dimension of features.
static void addFeatures(scf::ForallOp loop, int64_t features) {
  OpBuilder b(loop);
  SmallVector<OpFoldResult> bounds = loop.getMixedUpperBound();
  bounds.push_back(b.getIndexAttr(features));
  scf::ForallOp wider = makeLoop(b, loop.getLoc(), bounds);
  IRMapping mapping;
  for (auto [from, to] :
       llvm::zip(loop.getInductionVars(), wider.getInductionVars()))
    mapping.map(from, to);
  b.setInsertionPoint(wider.getTerminator());
  for (Operation &op : loop.getBody()->without_terminator()) {
    Operation *copy = b.clone(op, mapping);
    if (partsOf(copy))
      combine(copy, wider.getInductionVars().back());
  }
  loop.erase();
}

/// A number that was read in front, read again: the host does not see the
/// device's memory.
static Value readHere(OpBuilder &b, Value number) {
  Operation *op = number.getDefiningOp();
  bool isRead = isa_and_present<memref::LoadOp>(op);
  if (!isRead && (!op || op->getNumOperands() != 1 || !isMemoryEffectFree(op)))
    return number;
  IRMapping mapping;
  if (!isRead)
    mapping.map(op->getOperand(0), readHere(b, op->getOperand(0)));
  return b.clone(*op, mapping)->getResult(0);
}

/// Of one row there is no loop.
static void makeFeatures(Operation *op, int64_t features) {
  OpBuilder b(op);
  scf::ForallOp loop =
      makeLoop(b, op->getLoc(), OpFoldResult(b.getIndexAttr(features)));
  op->moveBefore(loop.getTerminator());
  b.setInsertionPoint(op);
  if (auto combine = dyn_cast<CombineOp>(op); combine && combine.getSink())
    combine.getSinkMutable().assign(readHere(b, combine.getSink()));
  combine(op, loop.getInductionVars().front());
}

namespace {
struct CombineByElements
    : attn::impl::CombineByElementsBase<CombineByElements> {
  void runOnOperation() override {
    llvm::MapVector<Operation *, int64_t> loops;
    WalkResult walked = getOperation().walk([&](Operation *op) {
      Value parts = partsOf(op);
      if (!parts)
        return WalkResult::advance();
      if (!isa_and_present<GPUScheduleAttr>(op->getAttr("schedule")) ||
          !isa<MemRefType>(parts.getType())) {
        op->emitOpError("expects a schedule for a GPU, and parts in memory");
        return WalkResult::interrupt();
      }
      bool inLoop = isa<scf::ForallOp>(op->getParentOp());
      loops[inLoop ? op->getParentOp() : op] =
          cast<MemRefType>(parts.getType()).getDimSize(2) - 2;
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return signalPassFailure();
    for (auto [op, features] : loops) {
      if (auto loop = dyn_cast<scf::ForallOp>(op))
        addFeatures(loop, features);
      else
        makeFeatures(op, features);
    }
  }
};
} // namespace
