// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Explanation.h"
#include "attn/Pipelines/Explain.h"
#include "llvm/Support/FormatVariadic.h"

using namespace attn;
using namespace attn::tool;

llvm::LogicalResult Explanation::listen(mlir::MLIRContext &context) {
  return collectRemarks(context, remarks);
}

void Explanation::add(const Phase &phase, mlir::ModuleOp module,
                      const Output &output) {
  if (phase.id == PhaseId::GPUKernels)
    launches = launchesOf(module, options.dims);
  if (options.explainAsJson)
    addJson(phase, module, output);
  else
    addText(phase, module, output);
}

void Explanation::addText(const Phase &phase, mlir::ModuleOp module,
                          const Output &output) {
  bool isSchedule =
      phase.id == PhaseId::Scheduled || phase.id == PhaseId::GPURows;
  if (isSchedule || phase.id == PhaseId::Parallel ||
      phase.id == PhaseId::GPULLVM)
    for (const std::string &remark : std::exchange(remarks, {}))
      llvm::outs() << remark << "\n";
  if (isSchedule && kind == TargetKind::Both)
    llvm::outs() << (phase.id == PhaseId::GPURows ? "on the GPU\n"
                                                  : "on the processor\n");
  if (isSchedule)
    llvm::outs() << explainKernels(module, options.dims);
  if (phase.id == PhaseId::GPULLVM)
    llvm::outs() << explainLaunches(launches, output.assembleToExplain(module));
  if (phase.id == PhaseId::Parallel || phase.id == PhaseId::GPUKernels)
    llvm::outs() << explainWorkspace(module);
  if (phase.id == PhaseId::Entry)
    llvm::outs() << explainWeights(module);
}

void Explanation::addJson(const Phase &phase, mlir::ModuleOp module,
                          const Output &output) {
  bool isGPU = kind == TargetKind::GPU;
  if (phase.id == PhaseId::GPULLVM)
    json["gpu"] = launchesAsJson(launches, output.assembleToExplain(module));
  if (phase.id == (isGPU ? PhaseId::GPURows : PhaseId::Scheduled)) {
    // Names of files need not be UTF-8, which JSON is.
    for (std::string &remark : remarks)
      remark = llvm::json::fixUTF8(remark);
    json["remarks"] = llvm::json::Array(remarks);
    json["functions"] = kernelsAsJson(module, options.dims);
  }
  if (phase.id == (isGPU ? PhaseId::GPULLVM : PhaseId::Scheduled))
    llvm::outs() << llvm::formatv("{0:2}\n",
                                  llvm::json::Value(std::move(json)));
}
