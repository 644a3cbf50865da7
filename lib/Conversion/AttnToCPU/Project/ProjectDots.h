// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of a few rows with a transposed weight.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_PROJECT_PROJECTDOTS_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_PROJECT_PROJECTDOTS_H

#include "ProjectSizes.h"

namespace attn::cpu {

/// All of a tile whose weight is transposed, at most `sizes.dotRows` rows.
void emitDots(KernelBuilder &k, const ProjectOperands &operands,
              const ProjectSizes &sizes);

} // namespace attn::cpu

#endif
