// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A value of weight 0 contributes nothing, and 0 times NaN or infinity is NaN
// in a product of tiles, whose rows see different keys. To look at values in
// every step costs time that nearly no call needs. A NaN stays in the sums of
// the context, though, so that a block sees at its end whether there was one,
// and only then computes its rows once more:
//
//   %any = tile.any_nan %context
//   scf.if %any {
//     scf.for %turn = 0 to 3 {
//       // the attention, with tile.sift in front of each product with values
//       // in turn 0 its results, and else tile.store_marked
//     }
//   }
//
// The copy begins with the block's number and the kernel's arguments, which
// are not to be known as the same (readAgain): else all that follows from them
// would lie in registers through the loops in front. For the same reason it has
// what an op uses directly in front of it.
#include "LongWay.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace attn;
using gpucode::readAgain;

template <typename... Ops> static bool containsAny(Operation &op) {
  return op
      .walk([](Operation *inner) {
        return isa<Ops...>(inner) ? WalkResult::interrupt()
                                  : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Ops of the attention but weights and scores, which values have no part in.
static bool computes(Operation &op) {
  return containsAny<InitStateOp, OnlineOp, AddSinkOp, FinalizeOp,
                     ReturnStateOp>(op);
}

/// An instruction that no pass moves or joins with another one.
static Value writeUnmoved(OpBuilder &b, Location loc, Type type,
                          ValueRange operands, StringRef text,
                          StringRef constraints) {
  return LLVM::InlineAsmOp::create(b, loc, type, operands, text, constraints,
                                   /*has_side_effects=*/true,
                                   /*is_align_stack=*/false,
                                   LLVM::TailCallKind::None, nullptr, nullptr)
      .getRes();
}

Value gpucode::readAgain(OpBuilder &b, Location loc, StringRef name) {
  return writeUnmoved(b, loc, b.getI32Type(), {},
                      ("mov.u32 $0, " + name + ";").str(), "=r");
}

static Value copyOf(OpBuilder &b, Location loc, Value index) {
  Type i64 = b.getI64Type();
  Value number = arith::IndexCastOp::create(b, loc, i64, index);
  Value copy = writeUnmoved(b, loc, i64, number, "mov.b64 $0, $1;", "=l,l");
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), copy);
}

/// A memref of the same memory, with sizes and strides of its own.
static Value copyOfMatrix(OpBuilder &b, Location loc, Value memref) {
  auto facts = memref::ExtractStridedMetadataOp::create(b, loc, memref);
  auto copies = [&](SmallVector<OpFoldResult> numbers) {
    for (OpFoldResult &number : numbers)
      if (auto value = dyn_cast<Value>(number))
        number = copyOf(b, loc, value);
    return numbers;
  };
  return memref::ReinterpretCastOp::create(
      b, loc, cast<MemRefType>(memref.getType()), facts.getBaseBuffer(),
      copies({facts.getConstifiedMixedOffset()})[0],
      copies(facts.getConstifiedMixedSizes()),
      copies(facts.getConstifiedMixedStrides()));
}

namespace {
/// Copies ops of a kernel, each as late as possible.
class Copier {
public:
  Copier(OpBuilder &b, Block &block) : b(b), block(block) {}

  /// The op, behind what it uses.
  void copy(Operation *op) {
    SetVector<Value> used(op->operand_begin(), op->operand_end());
    bringAll(used, op);
    b.clone(*op, mapping);
  }

  /// Loops over tiles that follow each other, as one.
  void copyAsOne(ArrayRef<scf::ForOp> loops) {
    scf::ForOp first = loops.front(), last = loops.back(), general = first;
    for (scf::ForOp loop : loops)
      if (modeOf(loop) == TileMode::Edge)
        general = loop;
    SetVector<Value> used(first.getInits().begin(), first.getInits().end());
    used.insert(first.getLowerBound());
    used.insert(last.getUpperBound());
    used.insert(general.getStep());
    bringAll(used, general);
    auto copy = cast<scf::ForOp>(b.clone(*general, mapping));
    copy.setLowerBound(mapping.lookupOrDefault(first.getLowerBound()));
    copy.setUpperBound(mapping.lookupOrDefault(last.getUpperBound()));
    for (auto [own, init] :
         llvm::zip_equal(copy.getInitArgsMutable(), first.getInits()))
      own.set(mapping.lookupOrDefault(init));
    mapping.map(last.getResults(), copy.getResults());
  }

  /// Of a loop over tiles with one step.
  static std::optional<TileMode> modeOf(scf::ForOp loop) {
    auto steps = loop.getBody()->getOps<OnlineOp>();
    if (!llvm::hasSingleElement(steps))
      return std::nullopt;
    return (*steps.begin()).getMode();
  }

private:
  void bringAll(SetVector<Value> &used, Operation *op) {
    getUsedValuesDefinedAbove(op->getRegions(), used);
    for (Value value : used)
      bring(value, op->getLoc());
  }

  void bring(Value value, Location loc) {
    if (mapping.contains(value) || value.getParentBlock() != &block)
      return;
    Operation *op = value.getDefiningOp();
    if (isa_and_present<gpu::BlockIdOp>(op)) {
      Value number = readAgain(b, loc, "%ctaid.x");
      mapping.map(value, arith::IndexCastUIOp::create(b, loc, b.getIndexType(),
                                                      number));
    } else if (op) {
      copy(op);
    } else if (value.getType().isIndex()) {
      mapping.map(value, copyOf(b, loc, value));
    } else if (isa<MemRefType>(value.getType())) {
      mapping.map(value, copyOfMatrix(b, loc, value));
    }
  }

  OpBuilder &b;
  Block &block;
  IRMapping mapping;
};
} // namespace

/// Whether a loop goes on where another one ends: in its number of the tile, in
/// what it carries, and in steps that may test pairs or not.
static bool follows(scf::ForOp next, scf::ForOp loop) {
  return next.getLowerBound() == loop.getUpperBound() &&
         getConstantIntValue(next.getStep()) ==
             getConstantIntValue(loop.getStep()) &&
         llvm::equal(next.getInits(), loop.getResults()) &&
         Copier::modeOf(next) && Copier::modeOf(loop);
}

/// Copies ops in their order; a step of a masked tile serves all tiles.
static void copyAll(Copier &copier, ArrayRef<Operation *> ops) {
  SmallVector<scf::ForOp> loops;
  auto flush = [&] {
    if (!loops.empty())
      copier.copyAsOne(loops);
    loops.clear();
  };
  for (Operation *op : ops) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || loops.empty() || !follows(loop, loops.back()))
      flush();
    if (loop)
      loops.push_back(loop);
    else
      copier.copy(op);
  }
  flush();
}

gpucode::LongWay gpucode::addLongWay(gpu::GPUFuncOp kernel) {
  Block &block = kernel.getBody().front();
  SmallVector<Operation *> copied;
  Operation *last = nullptr;
  for (Operation &op : block.without_terminator()) {
    if (computes(op))
      copied.push_back(&op);
    if (computes(op) || containsAny<WeighOp>(op))
      last = &op;
  }
  auto inits = block.getOps<InitStateOp>();
  if (!llvm::hasSingleElement(inits))
    return {};
  Location loc = (*inits.begin()).getLoc();
  OpBuilder b(&block, std::next(last->getIterator()));
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value never = arith::ConstantIntOp::create(b, loc, 0, /*width=*/1);
  auto longWay = scf::IfOp::create(b, loc, never);
  longWay->setAttr(againName, b.getUnitAttr());
  b.setInsertionPointToStart(longWay.thenBlock());
  // Others may still read results where this copies to.
  tile::SyncOp::create(b, loc, TypeRange(), TypeRange(), ValueRange(),
                       ValueRange());
  auto turns = scf::ForOp::create(b, loc, index(0), index(3), index(1));
  b.setInsertionPointToStart(turns.getBody());
  Copier copier(b, block);
  copyAll(copier, copied);
  return {longWay, turns.getInductionVar()};
}
