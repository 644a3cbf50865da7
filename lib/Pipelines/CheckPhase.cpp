// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contract of a phase: which ops are gone. Written without TableGen because
// it belongs to the table of phases and not to the passes that people combine.
#include "CheckPhase.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace {
struct CheckPhase : PassWrapper<CheckPhase, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckPhase)

  CheckPhase() = default;
  CheckPhase(const CheckPhase &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "attn-check-phase"; }
  StringRef getDescription() const override {
    return "Check that the ops a phase has no more are gone";
  }

  void runOnOperation() override {
    llvm::DenseMap<OperationName, bool> known; // kernels have few kinds of ops
    WalkResult result = getOperation()->walk([&](Operation *op) {
      OperationName name = op->getName();
      auto [isGone, isNew] = known.try_emplace(name);
      if (isNew)
        isGone->second = llvm::is_contained(gone, name.getStringRef()) ||
                         llvm::is_contained(gone, name.getDialectNamespace());
      if (!isGone->second)
        return WalkResult::advance();
      op->emitOpError() << "is left in phase '" << phase.getValue() << "'";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
    markAllAnalysesPreserved(); // no verifier need look again
  }

  Option<std::string> phase{*this, "phase",
                            llvm::cl::desc("name for the message")};
  ListOption<std::string> gone{
      *this, "gone", llvm::cl::desc("ops and dialects that must not be there")};
};
} // namespace

std::unique_ptr<Pass> attn::createCheckPhase(StringRef phase,
                                             ArrayRef<StringRef> gone) {
  auto pass = std::make_unique<CheckPhase>();
  pass->phase = phase.str();
  pass->gone = llvm::to_vector_of<std::string>(gone);
  return pass;
}

void attn::registerCheckPhase() { PassRegistration<CheckPhase>(); }
