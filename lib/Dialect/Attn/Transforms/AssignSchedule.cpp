// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the tile sizes of every kernel from a description of the target.
//
// Before:  attn.sdpa %q, %k, %v scale 0.125 : (..) -> ..
// After:   attn.sdpa %q, %k, %v scale 0.125
//            {schedule = #attn.schedule<lanes = 8, rows = 6, vectors = 2, ...>}
//
// Lanes are queries. A register tile holds rows x vectors accumulators; the
// smaller side stays in registers while the longer is streamed one register at
// a time, so it needs rows*vectors + min(rows, vectors) + 1 registers, one is
// kept to spare, and enough independent chains to hide the latency of an FMA:
//   16 registers             6 x 2   (15 used, 0.67 loads per FMA)
//   32 registers,  8 chains  4 x 4   (21 used, 0.50)
//   32 registers, 16 chains  4 x 5   (25 used, 0.45; LLVM spills 4 x 6)
// Fewer vectors are preferred: a ragged query tile wastes fewer lanes. A query
// tile holds as many panels as give about 128 queries. A key tile takes three
// quarters of the level-1 cache, but between 48 and 96 keys. All of this was
// measured; docs/performance.md says on what.
//
// An op that carries a schedule keeps it, so that a test or a user can pin it.
// Before: ops of the fused level. After: every sdpa and project has a schedule.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace attn {
#define GEN_PASS_DEF_ASSIGNSCHEDULE
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
struct AssignSchedule : attn::impl::AssignScheduleBase<AssignSchedule> {
  using AssignScheduleBase::AssignScheduleBase;

  /// The schedule for `queries` rows (or unknown) and features of size `dim`.
  ScheduleAttr schedule(int64_t queries, int64_t dim) {
    bool manyRegisters = registers >= 32;
    int64_t rows = manyRegisters ? 4 : 6;
    int64_t vectors = !manyRegisters ? 2 : chains > 8 ? 5 : 4;
    int64_t panel = lanes * vectors;
    int64_t queryTile = std::max<int64_t>(1, 128 / panel) * panel;
    if (!ShapedType::isDynamic(queries))
      queryTile = std::min(
          queryTile, std::max<int64_t>(
                         panel, static_cast<int64_t>(llvm::alignTo(
                                    static_cast<uint64_t>(queries), panel))));
    // Without FMA a product needs a register of its own: no room to unroll.
    bool fused = manyRegisters || lanes > 4;
    int64_t unroll = manyRegisters ? 4 : fused ? 2 : 1;
    int64_t fits = l1Bytes * 3 / 4 / (4 * std::max<int64_t>(dim, 1));
    int64_t keyTile = std::clamp<int64_t>(fits, 48, 96) / rows * rows;
    return ScheduleAttr::get(&getContext(), lanes, rows, vectors, queryTile,
                             keyTile, unroll, /*prefetch=*/2);
  }

  void runOnOperation() override {
    getOperation()->walk([&](SdpaOp op) {
      if (op.getScheduleAttr())
        return;
      RankedTensorType q = op.getQuery().getType(), v = op.getValue().getType();
      op.setScheduleAttr(
          schedule(q.getDimSize(op.queryDims().sequence),
                   std::max(q.getShape().back(), v.getShape().back())));
    });
    getOperation()->walk([&](ProjectOp op) {
      if (!op.getScheduleAttr())
        op.setScheduleAttr(schedule(ShapedType::kDynamic,
                                    op.getWeight().getType().getDimSize(1)));
    });
  }
};
} // namespace
