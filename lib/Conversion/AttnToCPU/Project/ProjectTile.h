// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The body of attn.project_tile.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_PROJECT_PROJECTTILE_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_PROJECT_PROJECTTILE_H

#include "Build/KernelBuilder.h"

namespace attn::cpu {

/// out = input * weight + bias (may be null). The weight is a matrix or panels;
/// the scratch has projectScratchRows x panel elements of the builder's type.
void emitProjectTile(KernelBuilder &k, Value input, Value weight, Value bias,
                     Value out, Value scratch);
int64_t projectScratchRows(CPUScheduleAttr schedule);

} // namespace attn::cpu

#endif
