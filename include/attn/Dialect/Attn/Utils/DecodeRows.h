// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which queries are rows of one state where the kind is decode, and where keys
// are split where it is prefill.
#ifndef ATTN_DIALECT_ATTN_UTILS_DECODEROWS_H
#define ATTN_DIALECT_ATTN_UTILS_DECODEROWS_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include <optional>

namespace attn {

/// The most parts of a head's keys where a GPU's blocks share them: a part has
/// more keys than the schedule says where there would be more.
constexpr int64_t mostPartsOfKeys = 64;

/// Query heads that share a key head and may be packed into one state; 1 where
/// a bias or a mask operand differs between them, 0 where lanes must hold
/// queries.
int64_t packedHeads(SdpaOp op);

/// How many of them a state has: as many as divide them and fit its rows.
int64_t headsOfState(SdpaOp op, ScheduleInterface decode);

/// The largest divisor of `heads` that is at most `most`, which is positive.
int64_t largestPart(int64_t heads, int64_t most);

/// Whether each row sees its own document only, at which rows are cut: the mask
/// is the term `document` or an `and` of it.
bool cutsRowsAtDocuments(SdpaOp op);

/// Whether it also says how many documents there are.
bool countsDocuments(SdpaOp op);

/// The most queries per head, or where documents are counted per head and
/// document on average, that the op's decode_schedule takes.
int64_t mostDecodeQueries(SdpaOp op);

/// Whether kernels of `schedule`, of kind prefill, split the op's keys; null
/// where lengths that are known at run time only decide.
std::optional<bool> splitsKeys(SdpaOp op, ScheduleInterface schedule);

/// The fewest keys that are split.
inline int64_t leastSplitKeys(ScheduleInterface schedule) {
  return 2 * schedule.getSplitKeys();
}

} // namespace attn

#endif
