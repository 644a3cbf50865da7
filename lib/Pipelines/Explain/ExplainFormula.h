// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index computations of a host's function, for people.
#ifndef ATTN_LIB_PIPELINES_EXPLAINFORMULA_H
#define ATTN_LIB_PIPELINES_EXPLAINFORMULA_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include <optional>
#include <string>
#include <utility>

namespace attn {

/// As a person writes it, in the sizes of the arguments that `ports` describes:
/// `ceil((q2)/128)*q0`. What it does not know is "?".
std::string formulaText(mlir::Value value, llvm::ArrayRef<PortAttr> ports);

/// Sizes that are given: ("q2", 1024).
using GivenSizes = llvm::ArrayRef<std::pair<std::string, int64_t>>;

/// Its number, where constants and these sizes suffice.
std::optional<int64_t> formulaValue(mlir::Value value,
                                    llvm::ArrayRef<PortAttr> ports,
                                    GivenSizes sizes);

} // namespace attn

#endif
