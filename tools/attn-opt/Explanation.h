// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --explain: what is said of the phases as they pass.
#ifndef ATTN_OPT_EXPLANATION_H
#define ATTN_OPT_EXPLANATION_H

#include "Output.h"
#include "attn/Pipelines/ExplainGPU.h"

namespace attn::tool {

class Explanation {
public:
  /// Both must outlive it; `kind` may still change.
  Explanation(const Options &options, const TargetKind &kind)
      : options(options), kind(kind) {}

  /// Keeps what passes remark from now on.
  llvm::LogicalResult listen(mlir::MLIRContext &context);

  /// Prints what is to be said about the phase, of which this is the module.
  void add(const Phase &phase, mlir::ModuleOp module, const Output &output);

private:
  void addText(const Phase &phase, mlir::ModuleOp module, const Output &output);
  void addJson(const Phase &phase, mlir::ModuleOp module, const Output &output);

  const Options &options;
  const TargetKind &kind;
  std::vector<std::string> remarks;
  std::vector<LaunchFacts> launches;
  llvm::json::Object json;
};

} // namespace attn::tool

#endif
