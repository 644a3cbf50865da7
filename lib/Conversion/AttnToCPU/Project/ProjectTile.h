// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The body of attn.project_tile.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_PROJECT_PROJECTTILE_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_PROJECT_PROJECTTILE_H

#include "ProjectSizes.h"

namespace attn::cpu {

void emitProjectTile(KernelBuilder &k, const ProjectOperands &operands);

} // namespace attn::cpu

#endif
