// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-sink-reads: numbers in a tensor's memory are read by the loops that use
// them.
//
// Before:  %past = memref.load %at[%c0] : memref<?xindex>
//          %new = memref.subview %keys[%past, 0] [%n, 64] [1, 1]
//          scf.forall (%i) in (%n) { .. memref.store %x, %new[%i, %j] .. }
// After:   scf.forall (%i) in (%n) {
//            %past = memref.load %at[%c0] : memref<?xindex>
//            %new = memref.subview %keys[%past, 0] [%n, 64] [1, 1]
//            .. memref.store %x, %new[%i, %j] ..
//          }
//
// Loops become kernels, and the memory is a device's, which the host does not
// see. A number that decides how many items there are stays where it is, and
// attn-outline-gpu-kernels refuses it; so does one whose memory is written
// between the read and the loop, or by the loop.
//
// Before: buffers, and parallel loops that are not outlined. After: what they
// use of a read that stands in front of them they read themselves.
#include "attn/Conversion/Passes.h"
#include "attn/Interface/KernelSignature.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

namespace attn {
#define GEN_PASS_DEF_SINKREADS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// The argument or the buffer that is read or written; null if it is not known.
static Value rootOf(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  bool isKnown = isa<BlockArgument>(memory) ||
                 memory.getDefiningOp<memref::AllocOp>() ||
                 memory.getDefiningOp<memref::GetGlobalOp>();
  return isKnown ? memory : Value();
}

namespace {
/// Moves reads into the loops of one function.
class Sinker {
public:
  explicit Sinker(func::FuncOp function) : function(function) {}

  void sinkInto(scf::ForallOp loop);

private:
  bool mayWrite(Operation *op, Value memory) const;
  bool isUnchanged(memref::LoadOp load, Operation *loop) const;
  bool canMove(Value value, scf::ForallOp loop, SetVector<Operation *> &chain);

  func::FuncOp function;
  SmallPtrSet<Operation *, 16> others; ///< that the loop does not do itself
};
} // namespace

static bool mayBeSame(Value a, Value c) {
  return !a || !c || mayBeOneMemory(a, c);
}

/// Whether `op`, or an op in it, may change `memory`. What threads of a warp do
/// together does not.
bool Sinker::mayWrite(Operation *op, Value memory) const {
  auto writes = [&](Operation *inner) {
    if (inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        isMemoryEffectFree(inner) || isa<NVVM::ShflOp, NVVM::SyncWarpOp>(inner))
      return false;
    auto effects = getEffectsRecursively(inner);
    return !effects ||
           llvm::any_of(*effects, [&](const MemoryEffects::EffectInstance &e) {
             return isa<MemoryEffects::Write>(e.getEffect()) &&
                    (!e.getValue() || mayBeSame(memory, rootOf(e.getValue())));
           });
  };
  return op
      ->walk([&](Operation *inner) {
        return writes(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool Sinker::isUnchanged(memref::LoadOp load, Operation *loop) const {
  Value memory = rootOf(load.getMemRef());
  Operation *last = load->getBlock()->findAncestorOpInBlock(*loop);
  for (Operation &op : llvm::make_range(std::next(load->getIterator()),
                                        std::next(last->getIterator())))
    if (mayWrite(&op, memory))
      return false;
  return true;
}

/// Whether `value` follows from a read, which the loop can do. `chain` gets the
/// ops, each behind those that it uses.
bool Sinker::canMove(Value value, scf::ForallOp loop,
                     SetVector<Operation *> &chain) {
  Operation *op = value.getDefiningOp();
  if (!op || others.contains(op))
    return false;
  if (chain.contains(op))
    return true;
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    if (!isUnchanged(load, loop))
      return false;
    for (Value operand : op->getOperands())
      canMove(operand, loop, chain);
    chain.insert(op);
    return true;
  }
  if (op->getNumRegions() || !isMemoryEffectFree(op))
    return false;
  // Every operand is looked at: several may be read.
  bool isRead = false;
  for (Value operand : op->getOperands())
    isRead |= canMove(operand, loop, chain);
  if (isRead)
    chain.insert(op);
  else
    others.insert(op);
  return isRead;
}

void Sinker::sinkInto(scf::ForallOp loop) {
  SetVector<Value> used;
  getUsedValuesDefinedAbove(loop.getRegion(), used);
  SetVector<Operation *> chain;
  others.clear();
  for (Value value : used)
    canMove(value, loop, chain);
  OpBuilder b = OpBuilder::atBlockBegin(loop.getBody());
  IRMapping mapping;
  for (Operation *op : chain) {
    b.clone(*op, mapping);
    for (Value result : op->getResults())
      result.replaceUsesWithIf(mapping.lookup(result), [&](OpOperand &use) {
        return loop->isProperAncestor(use.getOwner());
      });
  }
}

namespace {
struct SinkReads : attn::impl::SinkReadsBase<SinkReads> {
  void runOnOperation() override {
    if (!KernelSignature::of(getOperation()))
      return;
    Sinker sinker(getOperation());
    getOperation().walk<WalkOrder::PreOrder>([&](scf::ForallOp loop) {
      sinker.sinkInto(loop);
      return WalkResult::skip();
    });
  }
};
} // namespace
