// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OnFunctions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace attn;

namespace {
struct RunOnFunctions : PassWrapper<RunOnFunctions, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RunOnFunctions)

  explicit RunOnFunctions(OnFunctions selected)
      : selected(selected), passes(func::FuncOp::getOperationName()) {
    selected.addPasses(passes);
  }

  StringRef getName() const override { return "RunOnFunctions"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    passes.getDependentDialects(registry);
  }

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      WalkResult found = function.walk([&](Operation *op) {
        return op->getName().getDialectNamespace() == selected.dialect
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      });
      if (found.wasInterrupted() == selected.holds &&
          failed(runPipeline(passes, function)))
        return signalPassFailure();
    }
  }

  OnFunctions selected;
  OpPassManager passes;
};
} // namespace

void attn::addOnFunctions(OpPassManager &module, OnFunctions selected) {
  module.addPass(std::make_unique<RunOnFunctions>(selected));
}
