// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PIPELINES_FUSEELEMENTWISE_H
#define ATTN_PIPELINES_FUSEELEMENTWISE_H

#include "mlir/Pass/Pass.h"

namespace attn {
/// Chains of elementwise ops on tensors become one linalg.generic each.
std::unique_ptr<mlir::Pass> createFuseElementwise();
} // namespace attn

#endif
