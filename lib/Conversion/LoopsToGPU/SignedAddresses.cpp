// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses may lie before that of a tensor's first element.
//
// Before:  %0 = llvm.mul %i, %stride overflow<nsw, nuw> : i64
//          %1 = llvm.getelementptr inbounds|nuw %x[%0] : .. -> !llvm.ptr, f32
// After:   %0 = llvm.mul %i, %stride overflow<nsw> : i64
//          %1 = llvm.getelementptr inbounds %x[%0] : .. -> !llvm.ptr, f32
//
// MLIR lowers memref.load with the promise that no stride is negative. Kernels
// of a GPU read the caller's tensors as they lie, and those may be.
//
// Before: LLVM dialect. After: the same, without the promise.
#include "attn/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace attn {
#define GEN_PASS_DEF_SIGNEDADDRESSES
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;

template <typename Flags> static Flags withoutUnsigned(Flags flags, Flags nuw) {
  return flags & ~nuw;
}

namespace {
struct SignedAddresses : attn::impl::SignedAddressesBase<SignedAddresses> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (auto address = dyn_cast<LLVM::GEPOp>(op))
        address.setNoWrapFlags(withoutUnsigned(address.getNoWrapFlags(),
                                               LLVM::GEPNoWrapFlags::nuw));
      if (isa<LLVM::MulOp, LLVM::AddOp>(op)) {
        auto number = cast<LLVM::IntegerOverflowFlagsInterface>(op);
        number.setOverflowFlags(withoutUnsigned(
            number.getOverflowFlags(), LLVM::IntegerOverflowFlags::nuw));
      }
    });
  }
};
} // namespace
