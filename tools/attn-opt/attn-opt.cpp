// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// attn-opt: the pass driver and the compiler in one.
#include "Compile.h"
#include "Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

using namespace attn::tool;

int main(int argc, char **argv) {
  if (asksForCompiler(argc, argv)) {
    ExitStatus status;
    std::optional<Options> options = parseOptions(argc, argv, status);
    return options ? compile(*options, argc, argv) : status;
  }
  mlir::DialectRegistry registry;
  registerDialects(registry);
  registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "attn-opt: pass driver for attention\n", registry));
}
