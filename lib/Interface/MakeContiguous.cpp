// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors of the caller that kernels cannot read as they lie are copied once.
//
// Before:  func.func private @mha.kernel(
//              %q: memref<?x64xf32, strided<[?, 1], offset: ?>>, ..) {
//            scf.forall .. { .. %q .. }
//          }
// After:   func.func private @mha.kernel(
//              %q: memref<?x64xf32, strided<[?, ?], offset: ?>>, ..) {
//            %bad = (the innermost stride of %q is not 1, or one is negative)
//            %copy = memref.alloc(%bad ? %S : 0) : memref<?x64xf32>
//            scf.if %bad { scf.forall (%rows) .. { copy rows of %q to %copy } }
//            %q_rows = arith.select %bad, %copy, %q
//            scf.forall .. { .. %q_rows .. }
//          }
//
// Results are computed in such a copy, which a loop at the end moves to the
// caller. Kernels so keep an innermost stride of 1, and no stride that a kernel
// sees is negative, which the addresses of memref.load do not allow. A call
// with rows as they should be pays one comparison per dimension and one branch
// per tensor; the work space counts the copies only where they are made.
//
// A copied row may be a column in memory, so an item moves some rows at a time,
// feature by feature: a line of either side is still in the cache when its next
// element is wanted.
//
// Before: vector code, and parallel loops that are not outlined; every buffer
// of the caller has the innermost stride 1, or any strides already. After: any.
#include "attn/Interface/KernelSignature.h"
#include "attn/Interface/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace attn {
#define GEN_PASS_DEF_MAKECONTIGUOUS
#include "attn/Interface/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using Predicate = arith::CmpIPredicate;

/// Rows that one item copies.
static constexpr int64_t rowsAtOnce = 64;

namespace {
/// One tensor of the caller, whose copies are made where `b` stands.
struct PortCopier {
  OpBuilder &b;
  Location loc;
  BlockArgument port;
  MemRefType contiguous; ///< as the kernel wants it
  Value isBad{}, copy{};

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  int64_t rank() const { return contiguous.getRank(); }

  void test();
  Value select();
  void move(Value from, Value to);
  void moveRows(Value from, Value to, SmallVector<Value> at, Value begin,
                Value end);
};
} // namespace

/// Computes `isBad`.
void PortCopier::test() {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, port);
  isBad = arith::ConstantIntOp::create(b, loc, false, 1);
  auto add = [&](Value condition) {
    isBad = arith::OrIOp::create(b, loc, isBad, condition);
  };
  auto compare = [&](Predicate predicate, Value value, int64_t with) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, value, constant(with));
  };
  for (Value stride : metadata.getStrides().drop_back())
    add(compare(Predicate::slt, stride, 0));
  Value several =
      compare(Predicate::sgt,
              memref::DimOp::create(b, loc, port, rank() - 1).getResult(), 1);
  Value apart = compare(Predicate::ne, metadata.getStrides().back(), 1);
  add(arith::AndIOp::create(b, loc, several, apart));
}

/// The port, or an uninitialized `copy` of its shape where it is bad.
Value PortCopier::select() {
  SmallVector<int64_t> shape(contiguous.getShape());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < rank(); ++dim) {
    bool isFirst = dim == 0;
    if (!isFirst && !ShapedType::isDynamic(shape[dim]))
      continue;
    Value size = memref::DimOp::create(b, loc, port, dim);
    if (isFirst) {
      auto chosen = arith::SelectOp::create(b, loc, isBad, size, constant(0));
      chosen->setAttr(contiguousCopyAttr, b.getUnitAttr());
      size = chosen;
    }
    sizes.push_back(size);
    shape[dim] = ShapedType::kDynamic;
  }
  Value memory = memref::AllocOp::create(
      b, loc, MemRefType::get(shape, contiguous.getElementType()), sizes,
      b.getI64IntegerAttr(64));
  copy = memref::CastOp::create(b, loc, contiguous, memory);
  Value direct = memref::CastOp::create(b, loc, contiguous, port);
  return arith::SelectOp::create(b, loc, isBad, copy, direct);
}

/// Rows [begin, end) behind the leading indices `at`. (Vectors of one element,
/// whose addresses may count backwards.)
void PortCopier::moveRows(Value from, Value to, SmallVector<Value> at,
                          Value begin, Value end) {
  auto element = VectorType::get(1, contiguous.getElementType());
  Value zero = constant(0), one = constant(1);
  Value columns = memref::DimOp::create(b, loc, from, rank() - 1);
  auto moveOne = [&](OpBuilder &inner, ValueRange index) {
    Value loaded = vector::LoadOp::create(inner, loc, element, from, index);
    vector::StoreOp::create(inner, loc, loaded, to, index);
  };
  scf::ForOp::create(b, loc, zero, columns, one, ValueRange(),
                     [&](OpBuilder &outer, Location, Value column, ValueRange) {
                       if (rank() == 1) {
                         moveOne(outer, column);
                         scf::YieldOp::create(outer, loc);
                         return;
                       }
                       scf::ForOp::create(outer, loc, begin, end, one,
                                          ValueRange(),
                                          [&](OpBuilder &inner, Location,
                                              Value row, ValueRange) {
                                            SmallVector<Value> index(at);
                                            index.append({row, column});
                                            moveOne(inner, index);
                                            scf::YieldOp::create(inner, loc);
                                          });
                       scf::YieldOp::create(outer, loc);
                     });
}

/// Copies all elements, in parallel, if the port is bad.
void PortCopier::move(Value from, Value to) {
  auto choice = scf::IfOp::create(b, loc, isBad, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  if (rank() == 1)
    return moveRows(from, to, {}, Value(), Value());
  SmallVector<OpFoldResult> bounds;
  for (int64_t dim = 0; dim < rank() - 2; ++dim)
    bounds.push_back(memref::getMixedSize(b, loc, from, dim));
  Value rows = memref::DimOp::create(b, loc, from, rank() - 2);
  Value group = constant(rowsAtOnce);
  Value groups = arith::CeilDivUIOp::create(b, loc, rows, group);
  bounds.push_back(getAsOpFoldResult(groups));
  auto forall = scf::ForallOp::create(b, loc, bounds, ValueRange(),
                                      /*mapping=*/std::nullopt);
  b.setInsertionPointToStart(forall.getBody());
  SmallVector<Value> at = forall.getInductionVars();
  Value begin = arith::MulIOp::create(b, loc, at.pop_back_val(), group);
  Value end = arith::MinUIOp::create(
      b, loc, arith::AddIOp::create(b, loc, begin, group), rows);
  moveRows(from, to, std::move(at), begin, end);
}

/// The same buffer with strides that are all known at run time only.
static MemRefType withAnyStrides(MemRefType type) {
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  return MemRefType::get(
      type.getShape(), type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides));
}

/// Whether `user` asks for sizes and strides only.
static bool asksForLayout(Operation *user) {
  auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(user);
  return isa<memref::DimOp>(user) ||
         (metadata && metadata.getBaseBuffer().use_empty() &&
          metadata.getOffset().use_empty());
}

/// The same part of another buffer; null if `op` makes no view.
static Value viewAgain(Operation *op, Value original) {
  OpBuilder b(op);
  auto whole = cast<MemRefType>(original.getType());
  if (auto part = dyn_cast<memref::SubViewOp>(op)) {
    auto type = memref::SubViewOp::inferRankReducedResultType(
        part.getType().getShape(), whole, part.getMixedOffsets(),
        part.getMixedSizes(), part.getMixedStrides());
    return memref::SubViewOp::create(
        b, part.getLoc(), cast<MemRefType>(type), original,
        part.getMixedOffsets(), part.getMixedSizes(), part.getMixedStrides());
  }
  auto heads = dyn_cast<memref::ExpandShapeOp>(op);
  if (!heads)
    return {};
  auto type = memref::ExpandShapeOp::computeExpandedType(
      whole, heads.getResultType().getShape(), heads.getReassociationIndices());
  return memref::ExpandShapeOp::create(b, heads.getLoc(), *type, original,
                                       heads.getReassociationIndices(),
                                       heads.getMixedOutputShape());
}

/// Lets what asks for the layout of `view`, or of views of it, ask that of
/// `original`, the same part of the caller's tensor: sizes of the work space
/// follow from it, and are computed where there is no copy.
static void askOriginal(Value view, Value original) {
  for (Operation *user : llvm::make_early_inc_range(view.getUsers())) {
    if (asksForLayout(user)) {
      user->replaceUsesOfWith(view, original);
      continue;
    }
    Value same = viewAgain(user, original);
    if (!same)
      continue;
    askOriginal(user->getResult(0), same);
    if (same.use_empty())
      same.getDefiningOp()->erase();
  }
}

static void makeContiguous(BlockArgument port, bool isInput) {
  auto type = cast<MemRefType>(port.getType());
  if (type.getRank() == 0 || type == withAnyStrides(type))
    return;
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : port.getUses())
    if (!asksForLayout(use.getOwner()))
      uses.push_back(&use);
  port.setType(withAnyStrides(type));
  askOriginal(port, port);
  Block *body = port.getOwner();
  OpBuilder b = OpBuilder::atBlockBegin(body);
  PortCopier copier{b, port.getLoc(), port, type};
  copier.test();
  Value chosen = copier.select();
  if (isInput)
    copier.move(port, copier.copy);
  for (OpOperand *use : uses)
    use->set(chosen);
  b.setInsertionPoint(body->getTerminator());
  if (!isInput)
    copier.move(copier.copy, port);
}

namespace {
struct MakeContiguous : attn::impl::MakeContiguousBase<MakeContiguous> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    std::optional<KernelSignature> kernel = KernelSignature::of(function);
    if (!kernel)
      return;
    // From the last to the first, since each stands in front of the others.
    std::vector<PortAttr> ports = PortAttr::of(function);
    for (size_t i = ports.size(); i-- > 0;)
      makeContiguous(kernel->getPort(i), ports[i].getInput());
    function.setType(FunctionType::get(
        &getContext(), function.front().getArgumentTypes(), {}));
  }
};
} // namespace
