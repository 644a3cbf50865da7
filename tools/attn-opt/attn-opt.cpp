// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// attn-opt: the pass driver and the compiler in one.
#include "Compile.h"
#include "Registration.h"
#include "System.h"
#include "Targets.h"
#include "attn/Pipelines/Phases.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

using namespace attn::tool;

/// The tables of docs/Pipeline.md.
static ExitStatus printPhases(const Options &options) {
  for (const attn::Phase &phase : attn::phases(kindOf(options.target)))
    llvm::outs() << "| `" << phase.name << "` | " << phase.sentence << " |\n";
  return Success;
}

int main(int argc, char **argv) {
  if (asksForCompiler(argc, argv)) {
    prepareSystem();
    ExitStatus status;
    std::optional<Options> options = parseOptions(argc, argv, status);
    if (options && options->listPhases)
      status = printPhases(*options);
    else if (options)
      status = onLargeStack([&] { return compile(*options, argc, argv); });
    return finishOutput(status);
  }
  mlir::DialectRegistry registry;
  registerDialects(registry);
  registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "attn-opt: pass driver for attention\n", registry));
}
