// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// attn-opt: the pass driver and the compiler.
#include "Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  attn::tool::registerDialects(registry);
  attn::tool::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "attn-opt: pass driver for attention\n", registry));
}
