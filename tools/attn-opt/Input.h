// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the files of the command line become: a module that is valid, whose
// ports have names.
#ifndef ATTN_OPT_INPUT_H
#define ATTN_OPT_INPUT_H

#include "Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

namespace attn::tool {

/// Reads the first buffer of `sources`, text or bytecode, and the weights that
/// it names, whose files `filesRead` gets. What is wrong has been said.
ExitStatus readSpecification(llvm::SourceMgr &sources, const Options &options,
                             mlir::MLIRContext &context,
                             mlir::OwningOpRef<mlir::ModuleOp> &module,
                             std::vector<std::string> &filesRead);

/// The same of an ONNX model.
ExitStatus readModel(const Options &options, mlir::MLIRContext &context,
                     mlir::OwningOpRef<mlir::ModuleOp> &module,
                     std::vector<std::string> &filesRead);

} // namespace attn::tool

#endif
