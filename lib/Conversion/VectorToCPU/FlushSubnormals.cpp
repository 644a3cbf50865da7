// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights that would be subnormal are 0 on x86, which takes a hundred times as
// long for products with them.
//
// Before:  func.func private @mha.online_full(..) attributes {attn.flushes} {
//            ..
//            return
//          }
// After:   func.func private @mha.online_full(..) {
//            %old = llvm.alloca; llvm.x86.sse.stmxcsr(%old)
//            // %new: the same with the bit "flush to zero", and no traps
//            llvm.x86.sse.ldmxcsr(%new)
//            ..
//            llvm.x86.sse.ldmxcsr(%old)
//            return
//          }
//
// A weight is the exponential of a score below the row's maximum, and subnormal
// where the distance is 87 to 103: a band of keys in each row of ALiBi, most
// keys of a mask that adds -100, many where scores are large. No tolerance sees
// 1e-38 beside a sum of at least 1. What is read may be subnormal, and counts.
//
// Of pairs that a mask excludes -inf is subtracted from -inf: a caller that
// lets exceptions trap gets none of these.
//
// Before: any. After: no function has the attribute.
#include "attn/Conversion/Passes.h"
#include "attn/Conversion/VectorToCPU/Subnormals.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace attn {
#define GEN_PASS_DEF_FLUSHSUBNORMALS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;

/// FTZ of MXCSR and the masks of all exceptions (Intel 64 and IA-32 manual,
/// volume 1, section 10.2.3).
static constexpr int64_t flushToZero = 1 << 15, noTraps = 0x3F << 7;

static void callWith(OpBuilder &b, Location loc, StringRef intrinsic,
                     Value pointer) {
  LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr(intrinsic),
                                ValueRange{pointer});
}

static void flush(func::FuncOp function) {
  OpBuilder b = OpBuilder::atBlockBegin(&function.front());
  Location loc = function.getLoc();
  Type i32 = b.getI32Type(), ptr = LLVM::LLVMPointerType::get(b.getContext());
  auto number = [&](int64_t value) {
    return LLVM::ConstantOp::create(b, loc, i32, value);
  };
  auto place = [&] {
    return LLVM::AllocaOp::create(b, loc, ptr, i32, number(1));
  };
  Value old = place(), flushing = place();
  callWith(b, loc, "llvm.x86.sse.stmxcsr", old);
  Value bits = LLVM::LoadOp::create(b, loc, i32, old);
  bits = LLVM::OrOp::create(b, loc, bits, number(flushToZero | noTraps));
  LLVM::StoreOp::create(b, loc, bits, flushing);
  callWith(b, loc, "llvm.x86.sse.ldmxcsr", flushing);
  function.walk([&](func::ReturnOp leaves) {
    b.setInsertionPoint(leaves);
    callWith(b, loc, "llvm.x86.sse.ldmxcsr", old);
  });
}

namespace {
struct FlushSubnormals : attn::impl::FlushSubnormalsBase<FlushSubnormals> {
  void runOnOperation() override {
    if (getOperation()->removeAttr(attn::flushesAttr))
      flush(getOperation());
  }
};
} // namespace
