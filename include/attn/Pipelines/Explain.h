// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the compiler did with a specification, in words and numbers.
#ifndef ATTN_PIPELINES_EXPLAIN_H
#define ATTN_PIPELINES_EXPLAIN_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <utility>
#include <vector>

namespace attn {

/// Sizes that the user gives to symbols: ("q2", 1024).
using SymbolSizes = std::vector<std::pair<std::string, int64_t>>;

/// Appends what passes remark from now on to `lines`, which must live as long
/// as the context.
mlir::LogicalResult collectRemarks(mlir::MLIRContext &context,
                                   std::vector<std::string> &lines);

/// Functions, masks, key tiles and schedules; `module` is in phase `scheduled`.
std::string explainKernels(mlir::ModuleOp module, const SymbolSizes &sizes);

/// The same of the attentions, as an array of functions.
llvm::json::Value kernelsAsJson(mlir::ModuleOp module,
                                const SymbolSizes &sizes);

/// Bytes of work space; `module` is in phase `parallel`, or in `gpu-kernels`.
std::string explainWorkspace(mlir::ModuleOp module);

/// What stands in a file of weights, if there is one; `module` is in phase
/// `entry`.
std::string explainWeights(mlir::ModuleOp module);

} // namespace attn

#endif
