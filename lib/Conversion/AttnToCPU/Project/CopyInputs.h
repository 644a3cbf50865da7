// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of the input of a projection, copied for one step.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_PROJECT_COPYINPUTS_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_PROJECT_COPYINPUTS_H

#include "Build/KernelBuilder.h"

namespace attn::cpu {

/// Columns [begin, begin + count) of `copies` rows, in f32 or in pairs. The
/// last of the input's `rows` may stand for several.
struct InputPart {
  Value input, to;
  Value begin, count, copies, rows;
};
void copyInputs(KernelBuilder &k, const InputPart &part);

} // namespace attn::cpu

#endif
