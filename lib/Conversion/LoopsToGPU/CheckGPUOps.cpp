// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-check-gpu-ops: refuses what there is no code for on a GPU, at the op.
//
//   %o = attn.sdpa %q, %k, %v scale 1.0 : ..
//        ^ error: 'attn.sdpa' op is not built for a GPU
//
// It runs twice. Behind attn-lower-prologue: ops of attn that are left have a
// schedule, or are those that only the kernels of a CPU compute. As LLVM
// dialect: intrinsics are those that the NVPTX target selects instructions for;
// for any other, as for the call of a function that is not there, LLVM would
// end the process.
//
// The IR does not change. All ops are looked at.
#include "attn/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLExtras.h"

namespace attn {
#define GEN_PASS_DEF_CHECKGPUOPS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;

/// Intrinsics of floats and integers that are one instruction, or a few.
static constexpr StringRef intrinsics[] = {
    "abs",       "bitreverse", "bswap",     "ceil",   "copysign", "ctlz",
    "ctpop",     "cttz",       "fabs",      "floor",  "fma",      "fmuladd",
    "fshl",      "fshr",       "maximum",   "maxnum", "minimum",  "minnum",
    "nearbyint", "rint",       "roundeven", "smax",   "smin",     "sqrt",
    "trunc",     "umax",       "umin"};

/// Whether the op of the LLVM dialect becomes instructions.
static bool hasCode(Operation *op) {
  StringRef name = op->getName().stripDialect();
  if (name.consume_front("intr."))
    return llvm::is_contained(intrinsics, name);
  return !isa<LLVM::CallOp, LLVM::InvokeOp>(op);
}

namespace {
struct CheckGPUOps : attn::impl::CheckGPUOpsBase<CheckGPUOps> {
  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      StringRef dialect = op->getName().getDialectNamespace();
      bool isLLVM = dialect == LLVM::LLVMDialect::getDialectNamespace();
      bool isGraph =
          dialect == "attn" && !op->hasTrait<OpTrait::IsTerminator>() &&
          !op->hasAttr("schedule") && !op->hasAttr("decode_schedule");
      if (!isGraph && (!isLLVM || hasCode(op)))
        return;
      op->emitOpError("is not built for a GPU");
      signalPassFailure();
    });
    markAllAnalysesPreserved(); // no verifier need look again
  }
};
} // namespace
