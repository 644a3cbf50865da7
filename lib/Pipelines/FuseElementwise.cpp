// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise ops around kernels, without a tensor for every step.
//
// Before:  %0 = arith.addf %a, %b : tensor<?x64xf32>
//          %1 = math.tanh %0 : tensor<?x64xf32>
// After:   %1 = linalg.generic ins(%a, %b : ..) outs(%empty : ..) {
//            ^bb0(%x: f32, %y: f32, %out: f32):
//              %2 = arith.addf %x, %y : f32
//              %3 = math.tanh %2 : f32
//              linalg.yield %3 : f32
//          }
//
// An op joins the op that reads it, if nothing else does. One pass over the
// values instead of one per op, and no buffers between. Bufferization also
// takes quadratic time for ops in a row: 500 of them took half a minute.
// MLIR's own fusion of linalg ops would copy a growing body 500 times.
//
// An op that joins no other is left alone, unless it has a constant that is the
// same everywhere: that would be a tensor in memory.
#include "FuseElementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

/// The shape of an op that computes each element from those at the same place;
/// null for any other.
static RankedTensorType elementwiseType(Operation *op) {
  if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumRegions() ||
      op->getNumResults() != 1 || op->getNumOperands() == 0)
    return {};
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  auto fits = [&](Type operand) {
    auto tensor = dyn_cast<RankedTensorType>(operand);
    return tensor && type && tensor.getShape() == type.getShape() &&
           !tensor.getEncoding();
  };
  return llvm::all_of(op->getOperandTypes(), fits) ? type : RankedTensorType();
}

/// The ops of a block by the last op of their chain, in the order of the block.
static llvm::MapVector<Operation *, SmallVector<Operation *>>
findChains(Block &block) {
  DenseMap<Operation *, Operation *> lastOf;
  llvm::MapVector<Operation *, SmallVector<Operation *>> chains;
  for (Operation &op : llvm::reverse(block)) {
    RankedTensorType type = elementwiseType(&op);
    if (!type)
      continue;
    Operation *last = &op;
    for (auto [i, user] : llvm::enumerate(op.getUsers())) {
      Operation *other = lastOf.lookup(user);
      bool fits = other && (i == 0 || other == last) &&
                  elementwiseType(other).getShape() == type.getShape();
      last = fits ? other : &op;
      if (!fits)
        break;
    }
    lastOf[&op] = last;
    chains[last].push_back(&op);
  }
  for (auto &chain : chains)
    std::reverse(chain.second.begin(), chain.second.end());
  return chains;
}

namespace {
/// What a chain reads: tensors, and constants that are the same everywhere.
struct Inputs {
  SmallVector<Value> tensors;
  llvm::MapVector<Value, TypedAttr> constants;

  explicit Inputs(ArrayRef<Operation *> chain) {
    llvm::SmallPtrSet<Operation *, 8> inside(chain.begin(), chain.end());
    llvm::SmallPtrSet<Value, 8> seen;
    for (Operation *op : chain)
      for (Value operand : op->getOperands()) {
        if (inside.contains(operand.getDefiningOp()) ||
            !seen.insert(operand).second)
          continue;
        DenseElementsAttr constant;
        TypedAttr number;
        auto splat = operand.getDefiningOp<tensor::SplatOp>();
        if (matchPattern(operand, m_Constant(&constant)) && constant.isSplat())
          constants[operand] =
              cast<TypedAttr>(constant.getSplatValue<Attribute>());
        else if (splat && matchPattern(splat.getInput(), m_Constant(&number)))
          constants[operand] = number;
        else
          tensors.push_back(operand);
      }
  }
};
} // namespace

static void fuse(ArrayRef<Operation *> chain) {
  Operation *last = chain.back();
  Inputs inputs(chain);
  if (inputs.tensors.empty()) // a constant, which folds
    return;
  if (chain.size() == 1 && inputs.constants.empty())
    return;
  OpBuilder b(last);
  Location loc = last->getLoc();
  auto type = cast<RankedTensorType>(last->getResult(0).getType());
  Value empty = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, inputs.tensors.front()),
      type.getElementType());
  SmallVector<AffineMap> maps(inputs.tensors.size() + 1,
                              b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto body = [&](OpBuilder &inner, Location, ValueRange elements) {
    IRMapping mapping;
    mapping.map(inputs.tensors, elements.drop_back());
    for (auto &[tensor, number] : inputs.constants)
      mapping.map(tensor, arith::ConstantOp::create(inner, loc, number));
    for (Operation *op : chain) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(mapping.lookup(operand));
      OperationState state(op->getLoc(), op->getName(), operands,
                           getElementTypeOrSelf(op->getResult(0)),
                           op->getAttrs());
      mapping.map(op->getResult(0), inner.create(state)->getResult(0));
    }
    linalg::YieldOp::create(inner, loc, mapping.lookup(last->getResult(0)));
  };
  auto generic = linalg::GenericOp::create(b, loc, type, inputs.tensors, empty,
                                           maps, iterators, body);
  last->getResult(0).replaceAllUsesWith(generic.getResult(0));
  for (Operation *op : llvm::reverse(chain))
    op->erase();
}

namespace {
struct FuseElementwise : PassWrapper<FuseElementwise, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FuseElementwise)

  StringRef getName() const override { return "FuseElementwise"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, linalg::LinalgDialect,
                    tensor::TensorDialect>();
  }
  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation()->walk([&](Block *block) {
      if (!isa<linalg::LinalgOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    for (Block *block : blocks)
      for (auto &[last, chain] : findChains(*block))
        fuse(chain);
  }
};
} // namespace

std::unique_ptr<Pass> attn::createFuseElementwise() {
  return std::make_unique<FuseElementwise>();
}
