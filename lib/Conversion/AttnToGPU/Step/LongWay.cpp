// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A value of weight 0 contributes nothing, and 0 times NaN or infinity is NaN
// in a product of tiles, whose rows see different keys. To look at values in
// every step costs time that nearly no call needs. A NaN stays in the sums of
// the context, though, so that a block sees at its end whether there was one,
// and only then computes its rows once more:
//
//   scf.while (%turn = 0) {
//     // the attention; in steps, where %turn > 0: tile.sift of the values
//     %any = tile.any_nan %context
//     // in turn 0 its results unless there is one, in turn 1 its results, in
//     // turns 2 and 3 tile.store_marked
//     scf.condition(%turn is 0 ? %any : %turn < 3) %turn
//   } do { scf.yield %turn + 1 }
//
// All turns run the same code: a copy would double the time that a kernel takes
// to compile, and what both use would lie in registers through the first one.
//
// A turn begins with the block's number and the kernel's arguments, which are
// not to be known as the same (readAgain), and so do the results behind its
// loops: else all that follows from them would lie in registers through these.
// For the same reason each op has what it uses directly in front of it.
#include "LongWay.h"
#include "StateResults.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Tile/IR/TileOps.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

/// Whether the op, or one in it, writes what comes of a state.
static bool writesResults(Operation &op) {
  return containsAny<FinalizeOp, ReturnStateOp, SaveStateOp, WeighOp>(op);
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

Value gpucode::copyAgain(OpBuilder &b, Location loc, Value number) {
  bool isWide = number.getType().isInteger(64);
  return writeUnmoved(b, loc, number.getType(), number,
                      isWide ? "mov.b64 $0, $1;" : "mov.b32 $0, $1;",
                      isWide ? "=l,l" : "=r,r");
}

static Value copyOfIndex(OpBuilder &b, Location loc, Value index) {
  Value number = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                    copyAgain(b, loc, number));
}

/// A memref of the same memory, with sizes and strides of its own.
static Value copyOfMatrix(OpBuilder &b, Location loc, Value memref) {
  auto facts = memref::ExtractStridedMetadataOp::create(b, loc, memref);
  auto copies = [&](SmallVector<OpFoldResult> numbers) {
    for (OpFoldResult &number : numbers)
      if (auto value = dyn_cast<Value>(number))
        number = copyOfIndex(b, loc, value);
    return numbers;
  };
  return memref::ReinterpretCastOp::create(
      b, loc, cast<MemRefType>(memref.getType()), facts.getBaseBuffer(),
      copies({facts.getConstifiedMixedOffset()})[0],
      copies(facts.getConstifiedMixedSizes()),
      copies(facts.getConstifiedMixedStrides()));
}

namespace {
/// Copies ops of a block, each as late as possible.
class Copier {
public:
  Copier(OpBuilder &b, Block &block) : b(b), block(block) {}

  /// The op, behind what it uses.
  void copy(Operation *op) {
    SetVector<Value> used(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
    for (Value value : used)
      bring(value, op->getLoc());
    b.clone(*op, mapping);
  }

  /// The copy of a value, behind what it follows from.
  Value copyOf(Value value) {
    bring(value, value.getLoc());
    return mapping.lookupOrDefault(value);
  }

  /// What `other` made of the op's results serves here, too.
  void take(const Copier &other, Operation *op) {
    for (Value result : op->getResults())
      mapping.map(result, other.mapping.lookup(result));
  }

private:
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
      mapping.map(value, copyOfIndex(b, loc, value));
    } else if (isa<MemRefType>(value.getType())) {
      mapping.map(value, copyOfMatrix(b, loc, value));
    }
  }

  OpBuilder &b;
  Block &block;
  IRMapping mapping;
};
} // namespace

namespace {
/// Writes the turns of one attention.
class Turns {
public:
  Turns(InitStateOp init, TypeRange partTypes);
  void write();

private:
  void writeTurn(OpBuilder &b, Value turn);
  void writeResults(OpBuilder &b, const Copier &loops);
  void writeMarks(OpBuilder &b, const Copier &loops, ValueRange parts,
                  Value turn);

  Block &block;
  Location loc;
  TypeRange partTypes;
  /// Ops of the block that lead to the state, and those that use it.
  SmallVector<Operation *> steps, results;
  Value state;
};
} // namespace

Turns::Turns(InitStateOp init, TypeRange partTypes)
    : block(*init->getBlock()), loc(init.getLoc()), partTypes(partTypes) {
  SetVector<Operation *> slice; // without the op itself
  getForwardSlice(init.getOperation(), &slice);
  SetVector<Operation *> own;
  own.insert(init);
  for (Operation *op : slice)
    if (isa<AttnDialect>(op->getDialect()))
      own.insert(block.findAncestorOpInBlock(*op));
  SmallVector<Operation *> inOrder(own.getArrayRef());
  llvm::sort(inOrder,
             [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  for (Operation *op : inOrder)
    (results.empty() && !writesResults(*op) ? steps : results).push_back(op);
  for (Operation *op : results)
    if (isa<FinalizeOp, ReturnStateOp, SaveStateOp>(op))
      state = op->getOperand(0);
}

/// The sums of the context where the op writes them; null if it does not.
static Value contextOf(OpBuilder &b, Operation *op, Copier &copier) {
  if (auto finalize = dyn_cast<FinalizeOp>(op))
    return copier.copyOf(finalize.getOut());
  if (auto returned = dyn_cast<ReturnStateOp>(op))
    return copier.copyOf(returned.getAcc());
  if (auto save = dyn_cast<SaveStateOp>(op))
    return columnsOf(b, save.getLoc(), copier.copyOf(save.getPart()), 0,
                     save.getState().getType().getValueDim());
  return {};
}

void Turns::writeResults(OpBuilder &b, const Copier &loops) {
  Copier copier(b, block);
  for (Operation *op : steps)
    copier.take(loops, op);
  for (Operation *op : results)
    copier.copy(op);
}

/// Nobody reads the keys that are on their way.
void Turns::writeMarks(OpBuilder &b, const Copier &loops, ValueRange parts,
                       Value turn) {
  Value keys = parts[4];
  auto loading = cast<tile::BufferType>(keys.getType());
  tile::DiscardOp::create(b, loc, loading.in(tile::BufferState::Free), keys);
  Value marks = arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::ugt, turn,
      arith::ConstantIntOp::create(b, loc, 1, /*width=*/32));
  auto choice = scf::IfOp::create(b, loc, marks);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  Copier copier(b, block);
  for (Operation *op : results)
    if (Value memory = contextOf(b, op, copier))
      tile::StoreMarkedOp::create(b, loc, parts[0], turn, memory);
}

void Turns::writeTurn(OpBuilder &b, Value turn) {
  Copier copier(b, block);
  for (Operation *op : steps)
    copier.copy(op);
  auto parts = UnrealizedConversionCastOp::create(b, loc, partTypes,
                                                  copier.copyOf(state));
  auto number = [&](int64_t value, unsigned width = 32) -> Value {
    return arith::ConstantIntOp::create(b, loc, value, width);
  };
  auto compare = [&](arith::CmpIPredicate predicate, int64_t value) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, turn, number(value));
  };
  Value any = tile::AnyNaNOp::create(b, loc, parts.getResult(0));
  Value again =
      arith::AndIOp::create(b, loc, any, compare(arith::CmpIPredicate::eq, 0));
  Value writes = arith::AndIOp::create(
      b, loc, compare(arith::CmpIPredicate::ule, 1),
      arith::XOrIOp::create(b, loc, again, number(1, /*width=*/1)));
  auto choice = scf::IfOp::create(b, loc, writes, /*withElseRegion=*/true);
  choice->setAttr(againName, b.getUnitAttr());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    writeResults(b, copier);
    b.setInsertionPointToStart(choice.elseBlock());
    writeMarks(b, copier, parts.getResults(), turn);
  }
  Value later =
      arith::AndIOp::create(b, loc, compare(arith::CmpIPredicate::uge, 1),
                            compare(arith::CmpIPredicate::ule, 2));
  scf::ConditionOp::create(b, loc, arith::OrIOp::create(b, loc, again, later),
                           turn);
}

void Turns::write() {
  if (!state)
    return;
  OpBuilder b(&block, std::next(results.back()->getIterator()));
  Value first = arith::ConstantIntOp::create(b, loc, 0, /*width=*/32);
  auto turns = scf::WhileOp::create(
      b, loc, TypeRange(first.getType()), first,
      [&](OpBuilder &inner, Location, ValueRange turn) {
        writeTurn(inner, turn[0]);
      },
      [&](OpBuilder &inner, Location, ValueRange turn) {
        Value one = arith::ConstantIntOp::create(inner, loc, 1, /*width=*/32);
        Value next = arith::AddIOp::create(inner, loc, turn[0], one);
        scf::YieldOp::create(inner, loc, next);
      });
  turns->setAttr(againName, b.getUnitAttr());
  for (Operation *op : llvm::reverse(results))
    op->erase();
  for (Operation *op : llvm::reverse(steps))
    op->erase();
}

void gpucode::addTurns(InitStateOp init, TypeRange partTypes) {
  Turns(init, partTypes).write();
}

Value gpucode::turnOf(Operation *op) {
  for (auto loop = op->getParentOfType<scf::WhileOp>(); loop;
       loop = loop->getParentOfType<scf::WhileOp>())
    if (loop->hasAttr(againName))
      return loop.getBeforeArguments()[0];
  return {};
}
