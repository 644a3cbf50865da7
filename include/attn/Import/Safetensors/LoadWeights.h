// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights of a specification that lie in files of the safetensors format.
#ifndef ATTN_IMPORT_SAFETENSORS_LOADWEIGHTS_H
#define ATTN_IMPORT_SAFETENSORS_LOADWEIGHTS_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace attn {

/// Makes a constant of every attn.weight. Its file is looked for beside the
/// specification, which lies in `folder`. Fails with an error at the op that
/// names the file and what is wrong with it. `filesRead` gets the files, where
/// it is given.
mlir::LogicalResult loadWeights(mlir::ModuleOp module, llvm::StringRef folder,
                                std::vector<std::string> *filesRead = nullptr);

} // namespace attn

#endif
