// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where something stands in what the user wrote.
#ifndef ATTN_PIPELINES_POSITIONS_H
#define ATTN_PIPELINES_POSITIONS_H

#include "mlir/IR/Location.h"
#include <string>

namespace attn {

/// "FILE:LINE:COLUMN", in a model "FILE: node 'NAME' (OPERATOR)", or `unknown`
/// where the location says neither.
std::string positionOf(mlir::Location location,
                       llvm::StringRef unknown = "an unknown place");

} // namespace attn

#endif
