// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LowerCopies.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace {
struct LowerCopies : PassWrapper<LowerCopies, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerCopies)

  StringRef getArgument() const override { return "attn-lower-copies"; }
  StringRef getDescription() const override {
    return "Turn memref.copy into linalg ops";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<linalg::LinalgDialect>();
  }

  void runOnOperation() override {
    getOperation()->walk([](memref::CopyOp copy) {
      OpBuilder builder(copy);
      linalg::makeMemRefCopyOp(builder, copy.getLoc(), copy.getSource(),
                               copy.getTarget());
      copy.erase();
    });
  }
};
} // namespace

std::unique_ptr<Pass> attn::createLowerCopies() {
  return std::make_unique<LowerCopies>();
}
