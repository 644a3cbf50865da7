// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic moves in front of a reshape of the product that it belongs to.
//
// Before:  %p = attn.project %x, %w              : tensor<?x64xf32>
//          %e = tensor.expand_shape %p ..        : tensor<?x7x64xf32>
//          %y = arith.addf %e, %rows_of_b        : tensor<?x7x64xf32>
// After:   %p = attn.project %x, %w              : tensor<?x64xf32>
//          %s = arith.addf %p, %rows_of_b        : tensor<?x64xf32>
//          %y = tensor.expand_shape %s ..        : tensor<?x7x64xf32>
//
// attn-tile-projections computes what stands directly behind a product with its
// sums. Chains of ops move one by one. The other operands take the product's
// shape: constants and broadcasts are made so, a reshape of the same kind goes,
// any other tensor is reshaped the other way. That is a view, unless a caller
// chooses how the tensor lies, or it is a slice: then the op stays, and a
// remark says so.
//
// Before: any level. After: the same.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"

namespace attn {
#define GEN_PASS_DEF_SINKRESHAPES
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// tensor.expand_shape or collapse_shape.
struct Reshape {
  Operation *op;

  static Reshape of(Value value) {
    Operation *op = value.getDefiningOp();
    return {isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)
                ? op
                : nullptr};
  }
  explicit operator bool() const { return op; }
  bool expands() const { return isa<tensor::ExpandShapeOp>(op); }
  Value source() const { return op->getOperand(0); }
  RankedTensorType sourceType() const {
    return cast<RankedTensorType>(source().getType());
  }
  RankedTensorType type() const {
    return cast<RankedTensorType>(op->getResult(0).getType());
  }
  SmallVector<ReassociationIndices> groups() const {
    return expands()
               ? cast<tensor::ExpandShapeOp>(op).getReassociationIndices()
               : cast<tensor::CollapseShapeOp>(op).getReassociationIndices();
  }
  /// Whether both do the same to tensors that may differ in their elements.
  bool isLike(Reshape other) const {
    return op->getName() == other.op->getName() && groups() == other.groups() &&
           type().getShape() == other.type().getShape() &&
           sourceType().getShape() == other.sourceType().getShape();
  }
  /// `value`, which has the source's shape, in the result's.
  Value apply(OpBuilder &b, Value value) const;
  /// `value`, which has the result's shape, in the source's.
  Value undo(OpBuilder &b, Value value) const;
};

/// Moves the arithmetic of one block.
class Sinker {
public:
  explicit Sinker(MLIRContext *context) : b(context) {}
  void visit(Operation &op);
  void eraseUnused();

private:
  Value inFront(Reshape reshape, Value operand);
  Value broadcastInFront(Reshape reshape, linalg::BroadcastOp op);
  void sink(Operation &op, Reshape reshape);

  IRRewriter b;
  /// Products, and what is computed from them element by element.
  DenseSet<Value> ofProduct;
  SmallVector<Operation *> reshapes, moved;
};
} // namespace

static Type shapeOf(RankedTensorType shape, Type element) {
  return RankedTensorType::get(shape.getShape(), element);
}

Value Reshape::apply(OpBuilder &b, Value value) const {
  Type result = shapeOf(type(), getElementTypeOrSelf(value));
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return tensor::ExpandShapeOp::create(
        b, op->getLoc(), result, value, groups(), expand.getMixedOutputShape());
  return tensor::CollapseShapeOp::create(b, op->getLoc(), result, value,
                                         groups());
}

Value Reshape::undo(OpBuilder &b, Value value) const {
  Type result = shapeOf(sourceType(), getElementTypeOrSelf(value));
  if (expands())
    return tensor::CollapseShapeOp::create(b, op->getLoc(), result, value,
                                           groups());
  return tensor::ExpandShapeOp::create(
      b, op->getLoc(), result, value, groups(),
      tensor::getMixedSizes(b, op->getLoc(), source()));
}

/// Whether the op computes each element from those at the same place.
static bool isElementwise(Operation &op) {
  if (!OpTrait::hasElementwiseMappableTraits(&op) || op.getNumRegions() ||
      op.getNumResults() != 1 || op.getNumOperands() == 0)
    return false;
  auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
  return type && llvm::all_of(op.getOperandTypes(), [&](Type operand) {
           auto tensor = dyn_cast<RankedTensorType>(operand);
           return tensor && tensor.getShape() == type.getShape();
         });
}

/// Whether a view of the tensor in other dimensions costs nothing.
static bool isContiguous(Value value) {
  while (Reshape reshape = Reshape::of(value))
    value = reshape.source();
  Operation *op = value.getDefiningOp();
  return op && !isa<tensor::ExtractSliceOp, tensor::CastOp>(op);
}

/// What repeats rows, in the source's shape: its own dimensions and those that
/// it adds are whole groups. Null if they are not.
Value Sinker::broadcastInFront(Reshape reshape, linalg::BroadcastOp op) {
  // Dimensions of the longer shape, by those of the shorter one.
  SmallVector<ReassociationIndices> groups = reshape.groups();
  auto isAdded = [&](int64_t dim) {
    return llvm::is_contained(op.getDimensions(), dim);
  };
  SmallVector<int64_t> added; // of the source
  SmallVector<ReassociationIndices> own;
  int64_t next = 0;
  for (auto [shorter, group] : llvm::enumerate(groups)) {
    ArrayRef<int64_t> longer(group);
    int64_t only = static_cast<int64_t>(shorter);
    ArrayRef<int64_t> ofResult = reshape.expands() ? longer : ArrayRef(only);
    if (!llvm::all_equal(llvm::map_range(ofResult, isAdded)))
      return {};
    bool repeats = isAdded(ofResult.front());
    ArrayRef<int64_t> ofSource = reshape.expands() ? ArrayRef(only) : longer;
    if (repeats) {
      llvm::append_range(added, ofSource);
      continue;
    }
    ReassociationIndices dims;
    for (size_t i = 0; i < longer.size(); ++i)
      dims.push_back(next++);
    own.push_back(dims);
  }
  Value input = op.getInput();
  auto type = cast<RankedTensorType>(input.getType());
  RankedTensorType source = reshape.sourceType();
  SmallVector<int64_t> shape;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, op.getLoc(),
                                                          reshape.source()),
                            ownSizes;
  for (auto [dim, size] : llvm::enumerate(source.getShape()))
    if (!llvm::is_contained(added, static_cast<int64_t>(dim))) {
      shape.push_back(size);
      ownSizes.push_back(sizes[dim]);
    }
  auto needed = RankedTensorType::get(shape, type.getElementType());
  if (needed.getRank() < type.getRank() &&
      tensor::CollapseShapeOp::inferCollapsedType(type, own) != needed)
    return {};
  if (needed.getRank() < type.getRank())
    input = tensor::CollapseShapeOp::create(b, op.getLoc(), needed, input, own);
  else if (needed.getRank() > type.getRank())
    input = tensor::ExpandShapeOp::create(b, op.getLoc(), needed, input, own,
                                          ownSizes);
  else if (needed != type)
    return {};
  Value empty =
      tensor::EmptyOp::create(b, op.getLoc(), sizes, type.getElementType());
  return linalg::BroadcastOp::create(b, op.getLoc(), input, empty, added)
      .getResult()[0];
}

/// Whether an operand takes the source's shape without a copy. A tensor of the
/// caller can be cut as it lies, but not joined.
static bool fits(Reshape reshape, Value operand) {
  Reshape own = Reshape::of(operand);
  return (own && own.isLike(reshape)) || !reshape.expands() ||
         isContiguous(operand);
}

/// An operand that has the result's shape, in the source's.
Value Sinker::inFront(Reshape reshape, Value operand) {
  Location loc = operand.getLoc();
  RankedTensorType source = reshape.sourceType();
  Type element = getElementTypeOrSelf(operand);
  if (Reshape same = Reshape::of(operand); same && same.isLike(reshape))
    return same.source();
  DenseElementsAttr constant;
  if (matchPattern(operand, m_Constant(&constant)) && source.hasStaticShape()) {
    auto type = cast<ShapedType>(shapeOf(source, element));
    DenseElementsAttr value = constant.isSplat() ? constant.resizeSplat(type)
                                                 : constant.reshape(type);
    return arith::ConstantOp::create(b, loc, value);
  }
  auto sizes = [&] { return tensor::getMixedSizes(b, loc, reshape.source()); };
  if (auto splat = operand.getDefiningOp<tensor::SplatOp>())
    return tensor::SplatOp::create(b, loc, splat.getInput(), sizes());
  if (auto fill = operand.getDefiningOp<linalg::FillOp>())
    return linalg::FillOp::create(
               b, loc, fill.value(),
               Value(tensor::EmptyOp::create(b, loc, sizes(), element)))
        .getResult(0);
  if (auto rows = operand.getDefiningOp<linalg::BroadcastOp>())
    if (Value inFront = broadcastInFront(reshape, rows))
      return inFront;
  return reshape.undo(b, operand);
}

static void remarkStays(Operation &op, StringRef reason) {
  remark::missed(
      op.getLoc(),
      remark::RemarkOpts::name("BehindReshape").category("attn-sink-reshapes"))
      << (op.getName().getStringRef() +
          " is not computed with the product in front of a reshape: " + reason)
             .str();
}

/// Makes `op` one in front of `reshape`, which one of its operands is.
void Sinker::sink(Operation &op, Reshape reshape) {
  for (Value operand : op.getOperands())
    if (!fits(reshape, operand))
      return remarkStays(op, "another operand is a slice or a tensor of the "
                             "caller, which would have to be copied");
  b.setInsertionPoint(&op);
  SmallVector<Value> operands;
  for (Value operand : op.getOperands())
    operands.push_back(inFront(reshape, operand));
  OperationState state(
      op.getLoc(), op.getName(), operands,
      shapeOf(reshape.sourceType(), getElementTypeOrSelf(op.getResult(0))),
      op.getAttrs());
  Value result = b.create(state)->getResult(0);
  ofProduct.insert(result);
  Value reshaped = reshape.apply(b, result);
  reshapes.push_back(reshaped.getDefiningOp());
  op.getResult(0).replaceAllUsesWith(reshaped);
  moved.push_back(&op);
}

void Sinker::visit(Operation &op) {
  if (isa<ProjectOp>(op)) {
    ofProduct.insert(op.getResult(0));
    return;
  }
  auto reshapeOfProduct = [&](Value operand) {
    Reshape reshape = Reshape::of(operand);
    return reshape && ofProduct.contains(reshape.source()) ? reshape
                                                           : Reshape{nullptr};
  };
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    reshapes.push_back(&op);
  for (Value operand : op.getOperands()) {
    Reshape reshape = reshapeOfProduct(operand);
    if (reshape && isElementwise(op))
      return sink(op, reshape);
    if (reshape && isa<linalg::GenericOp>(op))
      return remarkStays(op, "it has a body");
  }
  if (isElementwise(op) && llvm::any_of(op.getOperands(), [&](Value operand) {
        return ofProduct.contains(operand);
      }))
    ofProduct.insert(op.getResult(0));
}

/// Ops that have moved, and reshapes that they alone have read.
void Sinker::eraseUnused() {
  for (Operation *op : llvm::reverse(moved))
    b.eraseOp(op);
  for (Operation *op : llvm::reverse(reshapes))
    if (op->use_empty())
      b.eraseOp(op);
}

namespace {
struct SinkReshapes : attn::impl::SinkReshapesBase<SinkReshapes> {
  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation()->walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks) {
      Sinker sinker(&getContext());
      for (Operation &op : llvm::make_early_inc_range(*block))
        sinker.visit(op);
      sinker.eraseUnused();
    }
  }
};
} // namespace
