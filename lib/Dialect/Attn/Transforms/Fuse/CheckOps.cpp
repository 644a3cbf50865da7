// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-check-ops: refuses ops around the attention that have no lowering, by
// name and at the op.
//
//   %y = tensor.gather %x[%i] gather_dims([0]) : ..
//        ^ error: 'tensor.gather' op is not supported: attn-opt has no lowering
//          for it
//
// One table says which ops of other dialects have one. Numbers are of 16, 32 or
// 64 bits where they are floats, of 1, 8, 16, 32 or 64 where they are integers.
// Functions of the math dialect are here if attn-approximate-math has code for
// them, or every processor an instruction: a kernel calls no library. (What
// score functions may hold is narrower; attn-check-target looks at them.)
// Memory, branches between blocks and effects such as printing belong to what a
// specification is lowered to.
//
// The IR does not change. One op is enough to say: what follows from it often
// has no lowering either. Functions that are not public are the compiler's own.
// Before: the fused level, with anything else around it. After: the same, and
// every op that is not of the attn dialect is in the table.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/StringSet.h"

namespace attn {
#define GEN_PASS_DEF_CHECKOPS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;

/// Dialects of which everything has a lowering, but for `exceptions`.
static bool isWholeDialect(StringRef dialect) {
  static const llvm::StringSet<> dialects = {"attn", "arith", "index"};
  return dialects.contains(dialect);
}

static bool isException(StringRef name) {
  static const llvm::StringSet<> exceptions = {"arith.remf", // a call of fmod
                                               "arith.scaling_extf",
                                               "arith.scaling_truncf"};
  return exceptions.contains(name);
}

/// Single ops that have a lowering. Ops of linalg that are loops over a body
/// are not here; they have one all the same.
static bool isLowered(StringRef name) {
  static const llvm::StringSet<> names = {
      "affine.apply", "affine.delinearize_index", "affine.linearize_index",
      "affine.max", "affine.min",
      // inside of scf.execute_region
      "cf.br", "cf.cond_br", "cf.switch",
      //
      "func.func", "func.return",
      //
      "linalg.index", "linalg.yield",
      //
      "math.absf", "math.absi", "math.ceil", "math.copysign", "math.cos",
      "math.ctlz", "math.ctpop", "math.cttz", "math.erf", "math.exp",
      "math.exp2", "math.expm1", "math.floor", "math.fma", "math.isfinite",
      "math.isinf", "math.isnan", "math.isnormal", "math.log", "math.log1p",
      "math.log2", "math.powf", "math.round", "math.roundeven", "math.rsqrt",
      "math.sin", "math.sqrt", "math.tanh", "math.trunc",
      //
      "scf.condition", "scf.execute_region", "scf.for", "scf.forall",
      "scf.forall.in_parallel", "scf.if", "scf.index_switch", "scf.parallel",
      "scf.reduce", "scf.reduce.return", "scf.while", "scf.yield",
      //
      "tensor.cast", "tensor.collapse_shape", "tensor.concat", "tensor.dim",
      "tensor.empty", "tensor.expand_shape", "tensor.extract",
      "tensor.extract_slice", "tensor.from_elements", "tensor.generate",
      "tensor.insert", "tensor.insert_slice", "tensor.pad",
      "tensor.parallel_insert_slice", "tensor.rank", "tensor.reshape",
      "tensor.splat", "tensor.yield"};
  return names.contains(name);
}

static bool hasLowering(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (isWholeDialect(op->getName().getDialectNamespace()))
    return !isException(name);
  return isLowered(name) || isa<linalg::LinalgOp>(op);
}

/// Whether numbers of the type, alone or in a tensor of known rank, have code.
static bool hasNumbers(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    type = tensor.getElementType();
  if (type.isIndex() || type.isF16() || type.isBF16() || type.isF32() ||
      type.isF64())
    return true;
  static constexpr unsigned widths[] = {1, 8, 16, 32, 64};
  return type.isSignlessInteger() &&
         llvm::is_contained(widths, type.getIntOrFloatBitWidth());
}

static LogicalResult checkOp(Operation *op) {
  if (!hasLowering(op))
    return op->emitOpError("is not supported: attn-opt has no lowering for it");
  if (isa<attn::AttnDialect>(op->getDialect()))
    return success(); // other checks know its types
  // A comparison of a tensor with itself folds to a constant, also where MLIR
  // does not know of how many elements.
  auto result = op->hasTrait<OpTrait::ConstantLike>()
                    ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                    : RankedTensorType();
  if (result && !result.hasStaticShape())
    return op->emitOpError() << "is not supported where it makes an unknown "
                                "number of equal elements, "
                             << result;
  for (auto types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (!hasNumbers(type))
        return op->emitOpError()
               << "is not supported with values of type " << type;
  return success();
}

namespace {
struct CheckOps : attn::impl::CheckOpsBase<CheckOps> {
  void runOnOperation() override {
    if (!getOperation().isPublic())
      return;
    // From outside inwards: the loop, and not what ends its body.
    WalkResult result =
        getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
          return op != getOperation() && failed(checkOp(op))
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
