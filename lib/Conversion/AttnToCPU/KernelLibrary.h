// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels that a module has so far; ops that differ only in their operands
// share one.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_KERNELLIBRARY_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_KERNELLIBRARY_H

#include "Build/StateLayout.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include <map>

namespace attn::cpu {

class KernelLibrary {
public:
  /// Matrices that the masks and biases of any op need transposed.
  int64_t extras = 0;

  /// The kernel for `op` with the given operands; `emit` fills a new one.
  mlir::func::FuncOp
  get(mlir::Operation *op, llvm::StringRef name, mlir::ValueRange operands,
      llvm::function_ref<void(KernelBuilder &, mlir::ValueRange)> emit,
      CPUScheduleAttr schedule, mlir::Type element);

  /// The buffer of a state as kernels of the schedule see it.
  mlir::MemRefType bufferOf(StateType type, CPUScheduleAttr schedule) const;

private:
  llvm::DenseMap<mlir::Attribute, mlir::func::FuncOp> kernels;
  std::map<std::string, unsigned> names;
};

/// `buffer`, which is large enough, as `type`.
mlir::Value viewBuffer(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value buffer, mlir::MemRefType type);

/// `operand`; a buffer with rows of one element as one whose rows are
/// contiguous: a view of one feature may have dropped the feature's stride and
/// kept that of the head, which vectors do not take.
mlir::Value viewRows(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value operand);

template <typename Op> struct ConvertTileOp : mlir::OpConversionPattern<Op> {
  KernelLibrary &library;
  ConvertTileOp(const mlir::TypeConverter &types, mlir::MLIRContext *context,
                KernelLibrary &library)
      : mlir::OpConversionPattern<Op>(types, context), library(library) {}

  /// The op becomes a call of its kernel, and its results become `results`.
  llvm::LogicalResult replaceByCall(
      Op op, mlir::ConversionPatternRewriter &rewriter, llvm::StringRef name,
      mlir::ValueRange operands,
      llvm::function_ref<void(KernelBuilder &, mlir::ValueRange)> body,
      mlir::Type element, mlir::ValueRange results = {}) const {
    llvm::SmallVector<Value> arguments(operands);
    for (auto [argument, operand] : llvm::zip(arguments, op->getOperands()))
      if (auto state = llvm::dyn_cast<StateType>(operand.getType()))
        argument = viewBuffer(rewriter, op.getLoc(), argument,
                              library.bufferOf(state, CPUScheduleAttr::of(op)));
    for (Value &argument : arguments)
      argument = viewRows(rewriter, op.getLoc(), argument);
    mlir::func::FuncOp kernel = library.get(op, name, arguments, body,
                                            CPUScheduleAttr::of(op), element);
    mlir::func::CallOp::create(rewriter, op.getLoc(), kernel, arguments);
    rewriter.replaceOp(op, results);
    return mlir::success();
  }
};

/// Patterns for merge_rows, finalize_rows, return_state and combine_state.
void populateStateRowsPatterns(mlir::RewritePatternSet &patterns,
                               const mlir::TypeConverter &types,
                               KernelLibrary &library);

/// Patterns for init_grad, grad_step and finish_grad, and what their state
/// becomes.
void populateGradientPatterns(mlir::RewritePatternSet &patterns,
                              mlir::TypeConverter &types, mlir::ModuleOp module,
                              KernelLibrary &library);

} // namespace attn::cpu

#endif
