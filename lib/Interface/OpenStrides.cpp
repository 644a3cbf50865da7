// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of a GPU read the caller's tensors as they lie.
//
// Before:  func.func private @add.kernel(
//              %x: memref<?x64xf32, strided<[?, 1], offset: ?>>, ..) {
//            scf.forall .. { memref.load %x[%i, %j] .. }
//          }
// After:   func.func private @add.kernel(
//              %x: memref<?x64xf32, strided<[?, ?], offset: ?>>, ..) {
//            scf.forall .. { memref.load %x[%i, %j] .. }
//          }
//
// What is computed element by element needs no innermost stride of 1, nor do
// views of it. Where something else has use for a tensor, a kernel that moves
// rows with one instruction or a buffer that is one tensor or another, the type
// stays, and attn-make-contiguous lets that work on a copy.
//
// Before: every buffer of the caller has the innermost stride 1. After: those
// whose elements are only loaded and stored may have any.
#include "attn/Interface/KernelSignature.h"
#include "attn/Interface/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace attn {
#define GEN_PASS_DEF_OPENSTRIDES
#include "attn/Interface/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static MemRefType withOpenStrides(MemRefType type) {
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  return MemRefType::get(
      type.getShape(), type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides));
}

/// What a view of `source` is; null if `op` is no view that can be of any.
static MemRefType typeOfView(Operation *op, MemRefType source) {
  if (auto view = dyn_cast<memref::SubViewOp>(op))
    return memref::SubViewOp::inferRankReducedResultType(
        view.getType().getShape(), source, view.getMixedOffsets(),
        view.getMixedSizes(), view.getMixedStrides());
  if (auto cast = dyn_cast<memref::CastOp>(op))
    if (auto type = dyn_cast<MemRefType>(cast.getType()))
      return withOpenStrides(type);
  if (auto view = dyn_cast<memref::ExpandShapeOp>(op)) {
    FailureOr<MemRefType> type = memref::ExpandShapeOp::computeExpandedType(
        source, view.getResultType().getShape(),
        view.getReassociationIndices());
    return succeeded(type) ? *type : MemRefType();
  }
  return {};
}

/// Whether it asks for elements one by one, or for the layout.
static bool takesAnyStrides(Operation *op) {
  if (auto load = dyn_cast<vector::LoadOp>(op))
    return load.getVectorType().getNumElements() == 1;
  if (auto store = dyn_cast<vector::StoreOp>(op))
    return store.getVectorType().getNumElements() == 1;
  return isa<memref::LoadOp, memref::StoreOp, memref::DimOp, memref::CopyOp,
             memref::ExtractAlignedPointerAsIndexOp,
             memref::ExtractStridedMetadataOp>(op);
}

/// Collects the views of `buffer`, which will be of `type`; whether nothing
/// needs its innermost stride.
static bool collect(Value buffer, MemRefType type,
                    SmallVector<std::pair<Value, MemRefType>> &views) {
  views.push_back({buffer, type});
  for (Operation *user : buffer.getUsers()) {
    if (takesAnyStrides(user))
      continue;
    MemRefType view = typeOfView(user, type);
    if (!view || !collect(user->getResult(0), view, views))
      return false;
  }
  return true;
}

namespace {
struct OpenStrides : attn::impl::OpenStridesBase<OpenStrides> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    std::optional<KernelSignature> kernel = KernelSignature::of(function);
    if (!kernel)
      return;
    for (unsigned i = 0; i < kernel->getNumPorts(); ++i) {
      BlockArgument port = kernel->getPort(i);
      auto type = cast<MemRefType>(port.getType());
      SmallVector<std::pair<Value, MemRefType>> views;
      if (type.getRank() > 0 && collect(port, withOpenStrides(type), views))
        for (auto [view, open] : views)
          view.setType(open);
    }
    function.setType(FunctionType::get(
        &getContext(), function.front().getArgumentTypes(), {}));
  }
};
} // namespace
