// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_PIPELINES_DESCRIBEPICTURE_H
#define ATTN_PIPELINES_DESCRIBEPICTURE_H

#include "mlir/Pass/Pass.h"

namespace attn {
/// Writes the tiles of a program's attention, and the bounds of the loops over
/// them, into `attn.picture` of the function that returns its steps.
std::unique_ptr<mlir::Pass> createDescribePicture();
} // namespace attn

#endif
