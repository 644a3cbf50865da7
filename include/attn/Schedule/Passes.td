// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choice of tile sizes.
#ifndef ATTN_SCHEDULE_PASSES_TD
#define ATTN_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignSchedule : Pass<"attn-assign-schedule"> {
  let summary = "Choose the tile sizes of every kernel";
  let description = [{
    Gives every op that becomes a kernel and has no schedule the one that follows from the target: register tile, panel, query tile and key tile.
  }];
  let options = [
    Option<"lanes", "lanes", "int64_t", "8", "f32 values in a vector register">,
    Option<"registers", "registers", "int64_t", "16", "vector registers">,
    Option<"chains", "chains", "int64_t", "8",
           "independent FMA that hide the latency (latency times pipes)">,
    Option<"pairChains", "pair-chains", "int64_t", "0",
           "the same of dot products of bf16 pairs; 0: do not use them">,
    Option<"tiles", "tiles", "bool", "false",
           "multiply tiles of bf16 in registers of their own (AMX-BF16)">,
    Option<"l1Bytes", "l1-bytes", "int64_t", "32768",
           "bytes of the level-1 data cache">,
    Option<"prefillSplitKeys", "split-keys", "int64_t", "4096",
           "keys of a parallel item of kind prefill where at most 1024 queries "
           "see twice as many or more; 0: do not split them">,
  ];
}

#endif
