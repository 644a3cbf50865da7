// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which ops join a product:
//   arith and math ops on tensors of its shape that there is vector code for,
//   linalg.generic that reads elements of that place, of the column or of all,
// as long as nothing but the chain reads what is inside of it. Their other
// operands are read with the result: tensors of that shape, rows that
// linalg.broadcast repeats, and constants, also by tensor.splat or linalg.fill.
// Booleans are read and computed, and no result: rows of numbers are stored.
//
// Numbers of 16 bits are widened for each op and rounded behind it, as the ops
// by themselves would be.
#include "Epilogue.h"
#include "EmptyResults.h"
#include "attn/Dialect/Attn/Utils/VectorOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace attn;

static bool isNarrow(Type type) { return type.isF16() || type.isBF16(); }

/// Whether an op on numbers can stand in an epilogue, beside sums of f64 or
/// others.
static bool isCode(Operation &op, bool isDouble) {
  auto fits = [&](Type type) {
    Type element = getElementTypeOrSelf(type);
    return element.isInteger(1) || (isDouble && element.isF64()) ||
           (!isDouble && (element.isF32() || isNarrow(element)));
  };
  bool isConstant = op.hasTrait<OpTrait::ConstantLike>();
  return op.getNumResults() == 1 && op.getNumRegions() == 0 &&
         (isConstant || OpTrait::hasElementwiseMappableTraits(&op)) &&
         hasVectorCode(&op) && !isa<arith::BitcastOp>(op) &&
         llvm::all_of(op.getOperandTypes(), fits) &&
         llvm::all_of(op.getResultTypes(), fits);
}

/// The constant number that a value is everywhere; null: none.
static Attribute numberOf(Value value) {
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    value = splat.getInput();
  else if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.value();
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return {};
  if (auto dense = dyn_cast<DenseElementsAttr>(constant))
    return dense.isSplat() ? dense.getSplatValue<Attribute>() : Attribute();
  return isa<FloatAttr>(constant) ? constant : Attribute();
}

/// Whether an operand of a generic op is read at the result's place or column,
/// or is the same number everywhere.
static bool isRead(linalg::GenericOp generic, OpOperand *operand) {
  AffineMap map = generic.getMatchingIndexingMap(operand);
  return map.isIdentity() || numberOf(operand->get()) ||
         (map.getNumResults() == 1 && map.isProjectedPermutation() &&
          map.isFunctionOfDim(map.getNumDims() - 1));
}

/// Whether all that a number in a generic op is computed from is inside.
static bool isInside(linalg::GenericOp generic, Operation &inner) {
  return llvm::all_of(inner.getOperands(), [&](Value operand) {
    return operand.getParentBlock() == generic.getBody() || numberOf(operand);
  });
}

static StringRef misfit(linalg::GenericOp generic, bool isDouble) {
  auto reads = [&](OpOperand *operand) { return isRead(generic, operand); };
  OpOperand *init = generic.getDpsInitOperand(0);
  if (generic.getNumParallelLoops() != generic.getNumLoops() ||
      !llvm::all_of(generic.getDpsInputOperands(), reads) ||
      !generic.getMatchingIndexingMap(init).isIdentity())
    return "it reads other places";
  if (generic.payloadUsesValueFromOperand(init))
    return "it reads what its result was";
  for (Operation &inner : generic.getBody()->without_terminator())
    if (!isCode(inner, isDouble) || !isInside(generic, inner))
      return "it computes what there is no vector code for";
  Value result = generic.getBody()->getTerminator()->getOperand(0);
  return result.getParentBlock() == generic.getBody()
             ? StringRef()
             : "it is the same everywhere";
}

/// Why an op does not join products of type `type`; empty: it does.
static StringRef misfit(Operation *user, RankedTensorType type) {
  bool isDouble = type.getElementType().isF64();
  auto result = user->getNumResults() == 1
                    ? dyn_cast<RankedTensorType>(user->getResult(0).getType())
                    : RankedTensorType();
  if (!result || result.getShape() != type.getShape())
    return "its result has another shape";
  if (auto generic = dyn_cast<linalg::GenericOp>(user))
    return misfit(generic, isDouble);
  auto fits = [&](Type operand) {
    auto tensor = dyn_cast<RankedTensorType>(operand);
    return tensor && tensor.getShape() == type.getShape();
  };
  if (!OpTrait::hasElementwiseMappableTraits(user) ||
      !llvm::all_of(user->getOperandTypes(), fits))
    return "it is no arithmetic of elements";
  return isCode(*user, isDouble)
             ? StringRef()
             : "it computes what there is no vector code for";
}

/// The ops of `all`, in their order, that `end` needs, and itself.
static SetVector<Operation *> chainOf(Operation *end,
                                      ArrayRef<Operation *> all) {
  llvm::SmallPtrSet<Operation *, 8> needed{end};
  for (Operation *op : llvm::reverse(all))
    if (needed.contains(op))
      for (Value operand : op->getOperands())
        if (Operation *source = operand.getDefiningOp())
          needed.insert(source);
  SetVector<Operation *> chain;
  for (Operation *op : all)
    if (needed.contains(op))
      chain.insert(op);
  return chain;
}

static bool isBoolean(Operation *op) {
  return getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1);
}

/// Whether only the chain reads what is inside of it.
static bool isClosed(ProjectOp product, const SetVector<Operation *> &chain) {
  auto readInside = [&](Operation *op) {
    return llvm::all_of(op->getUsers(), [&](Operation *user) {
      return chain.contains(user) || isa<tensor::DimOp>(user);
    });
  };
  return readInside(product) &&
         llvm::all_of(chain.getArrayRef().drop_back(), readInside);
}

static void explain(ProjectOp product, Operation *last, StringRef pass) {
  RankedTensorType type = product.getType();
  SmallVector<Operation *> users(last->getUsers());
  llvm::erase_if(users,
                 [](Operation *user) { return isa<tensor::DimOp>(user); });
  for (Operation *user : users) {
    StringRef reason =
        users.size() == 1 ? misfit(user, type) : "the result has several users";
    if (reason.empty() && isBoolean(user))
      reason = "it gives booleans";
    if (reason.empty() || !(isa<linalg::GenericOp>(user) ||
                            OpTrait::hasElementwiseMappableTraits(user)))
      continue;
    remark::missed(user->getLoc(),
                   remark::RemarkOpts::name("NotInEpilogue").category(pass))
        << (user->getName().getStringRef() +
            " is not computed with the product in front: " + reason)
               .str();
    return;
  }
}

/// `tensor` as the epilogue reads it.
static EpilogueCapture asCapture(Value tensor, int64_t rank) {
  auto broadcast = tensor.getDefiningOp<linalg::BroadcastOp>();
  bool isRow =
      broadcast &&
      cast<ShapedType>(broadcast.getInput().getType()).getRank() == 1 &&
      !llvm::is_contained(broadcast.getDimensions(), rank - 1);
  if (isRow)
    return {broadcast.getInput(), true};
  return {tensor, false};
}

Epilogue::Epilogue(ProjectOp op, StringRef pass)
    : op(op), product(op.getResult()) {
  SmallVector<Operation *> candidates;
  llvm::SmallPtrSet<Operation *, 8> inside{op};
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    bool depends = llvm::any_of(next->getOperands(), [&](Value operand) {
      return inside.contains(operand.getDefiningOp());
    });
    if (depends && misfit(next, op.getType()).empty()) {
      candidates.push_back(next);
      inside.insert(next);
    }
  }
  while (!candidates.empty()) {
    SetVector<Operation *> chain = chainOf(candidates.back(), candidates);
    if (!isBoolean(candidates.back()) && isClosed(op, chain)) {
      ops = chain.takeVector();
      break;
    }
    candidates.pop_back();
  }
  explain(op, last(), pass);
}

Operation *Epilogue::last() const {
  return ops.empty() ? product.getDefiningOp() : ops.back();
}

// --- emission ---

namespace {
/// Emits numbers of one element.
struct Body {
  OpBuilder b;
  Location loc;
  IRMapping values; // of tensors and of numbers in a linalg.generic

  Value widened(Value value) {
    return isNarrow(value.getType())
               ? arith::ExtFOp::create(b, loc, b.getF32Type(), value)
                     .getResult()
               : value;
  }
  /// A number that `attribute` is everywhere.
  Value constant(Attribute attribute) {
    return arith::ConstantOp::create(b, loc, cast<TypedAttr>(attribute));
  }
  Value clone(Operation &inner, ValueRange operands);
};
} // namespace

/// An op on tensors or numbers as one on numbers.
Value Body::clone(Operation &inner, ValueRange operands) {
  Type type = getElementTypeOrSelf(inner.getResult(0).getType());
  if (isa<arith::ConstantOp>(inner))
    return constant(cast<arith::ConstantOp>(inner).getValue());
  bool moves = isa<arith::ExtFOp, arith::TruncFOp, arith::SelectOp>(inner);
  bool narrow = isNarrow(type) || llvm::any_of(operands.getTypes(), isNarrow);
  if (!narrow || moves) {
    OperationState state(loc, inner.getName(), operands, type,
                         inner.getAttrs());
    return b.create(state)->getResult(0);
  }
  SmallVector<Value> wide;
  for (Value operand : operands)
    wide.push_back(widened(operand));
  Type computed = isNarrow(type) ? Type(b.getF32Type()) : type;
  OperationState state(loc, inner.getName(), wide, computed, inner.getAttrs());
  Value result = b.create(state)->getResult(0);
  return isNarrow(type)
             ? arith::TruncFOp::create(b, loc, type, result).getResult()
             : result;
}

namespace {
/// The block of a chain, and what it has captured so far.
struct Emitter {
  ProjectOp product;
  mlir::Block &block;
  Body body;
  SmallVector<EpilogueCapture> captures;

  Value read(Value value, bool isRow = false);
  void emit(linalg::GenericOp generic);
};
} // namespace

/// A number of the chain, a constant, or an argument.
Value Emitter::read(Value value, bool isRow) {
  if (Value inside = body.values.lookupOrNull(value))
    return inside;
  if (Attribute number = numberOf(value))
    return body.constant(number);
  EpilogueCapture capture = asCapture(value, product.getType().getRank());
  capture.isRow |= isRow;
  for (auto [i, known] : llvm::enumerate(captures))
    if (capture.tensor == known.tensor && capture.isRow == known.isRow)
      return block.getArgument(i + 1);
  captures.push_back(capture);
  return block.addArgument(getElementTypeOrSelf(capture.tensor),
                           value.getLoc());
}

void Emitter::emit(linalg::GenericOp generic) {
  for (OpOperand *input : generic.getDpsInputOperands()) {
    bool isRow = !generic.getMatchingIndexingMap(input).isIdentity();
    body.values.map(generic.getMatchingBlockArgument(input),
                    read(input->get(), isRow));
  }
  for (Operation &inner : generic.getBody()->without_terminator()) {
    SmallVector<Value> operands;
    for (Value operand : inner.getOperands())
      operands.push_back(read(operand));
    body.values.map(inner.getResult(0), body.clone(inner, operands));
  }
  Value result = generic.getBody()->getTerminator()->getOperand(0);
  body.values.map(generic.getResult(0), body.values.lookup(result));
}

SmallVector<EpilogueCapture> Epilogue::emit(Region &region) const {
  auto &block = region.emplaceBlock();
  Location loc = product.getLoc();
  Value sum = block.addArgument(
      cast<RankedTensorType>(product.getType()).getElementType(), loc);
  OpBuilder b(product.getContext()); // `region` may be of no op
  b.setInsertionPointToEnd(&block);
  Emitter emitter{op, block, Body{b, loc, {}}, {}};
  emitter.body.values.map(product, sum);
  for (Operation *each : ops) {
    if (auto generic = dyn_cast<linalg::GenericOp>(each)) {
      emitter.emit(generic);
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : each->getOperands())
      operands.push_back(emitter.read(operand));
    emitter.body.values.map(each->getResult(0),
                            emitter.body.clone(*each, operands));
  }
  YieldOp::create(emitter.body.b, loc,
                  emitter.body.values.lookup(last()->getResult(0)));
  return emitter.captures;
}

SmallVector<Value> Epilogue::begin(RewriterBase &rewriter) const {
  Location loc = product.getLoc();
  rewriter.setInsertionPoint(product.getDefiningOp());
  ReifiedRankedShapedTypeDims shapes;
  ProjectOp project = op;
  (void)project.reifyResultShapes(rewriter, shapes); // never fails
  SmallVector<Value> sizes;
  for (OpFoldResult size : shapes[0])
    sizes.push_back(getValueOrCreateConstantIndexOp(rewriter, loc, size));
  SmallVector<Operation *> all{product.getDefiningOp()};
  llvm::append_range(all, ops);
  for (Operation *each : all)
    for (Operation *user : llvm::make_early_inc_range(each->getUsers()))
      if (auto dim = dyn_cast<tensor::DimOp>(user))
        if (std::optional<int64_t> index = dim.getConstantIndex())
          rewriter.replaceOp(dim, sizes[*index]);
  rewriter.setInsertionPoint(last());
  return sizes;
}

void Epilogue::addTo(OpBuilder &b, Region &region, MutableOperandRange captures,
                     Value entry, Extent row, Extent column) const {
  ProjectOp project = op;
  SmallVector<Extent> ranges = rangesOf(b, project, entry, row, column);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(region.getParentOp());
  for (auto [tensor, isRow] : emit(region))
    captures.append(isRow ? extract(b, tensor.getLoc(), tensor, {column}, 1)
                          : extract(b, tensor.getLoc(), tensor, ranges, 2,
                                    project.joinsEntries()));
}

Value Epilogue::emptyResult(OpBuilder &b) const {
  Value empty = emptyResults(b, op)[0];
  auto type = cast<RankedTensorType>(last()->getResult(0).getType());
  if (type == empty.getType())
    return empty;
  Location loc = product.getLoc();
  return tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, empty),
                                 type.getElementType());
}

void Epilogue::replaceBy(RewriterBase &rewriter, Value result) const {
  rewriter.replaceAllUsesWith(last()->getResult(0), result);
  for (Operation *each : llvm::reverse(ops))
    rewriter.eraseOp(each);
  rewriter.eraseOp(product.getDefiningOp());
}
