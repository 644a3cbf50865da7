// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products that take less time than reading their weight.
#ifndef ATTN_DIALECT_ATTN_UTILS_FEWROWS_H
#define ATTN_DIALECT_ATTN_UTILS_FEWROWS_H

#include "attn/Dialect/Attn/IR/AttnAttributes.h"

namespace attn {

/// On an `attn.project_tile` that may be the only one, and have so few rows:
/// it gets code for that.
constexpr llvm::StringLiteral fewRowsAttr = "attn.few_rows";

/// So many rows at most, of two blocks or more. Tiles of AMX multiply any rows
/// in that time.
inline int64_t mostFewRows(CPUScheduleAttr schedule) {
  return schedule.usesAmx() ? 0 : std::max<int64_t>(16, 2 * schedule.getRows());
}

/// On one that never has more rows than this: it gets no code for them.
constexpr llvm::StringLiteral mostRowsAttr = "attn.most_rows";

/// A weight that `schedule` packs in pairs first takes more time for so many
/// rows than products of numbers, which read it in place.
inline int64_t mostRowsInNumbers(CPUScheduleAttr schedule) {
  if (!schedule.usesDot())
    return 0;
  return schedule.usesAmx() ? 4 : 8;
}

} // namespace attn

#endif
