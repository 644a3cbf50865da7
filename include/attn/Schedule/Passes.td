// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choice of tile sizes.
#ifndef ATTN_SCHEDULE_PASSES_TD
#define ATTN_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignSchedule : Pass<"attn-assign-schedule"> {
  let summary = "Choose the tile sizes of every kernel";
  let description = [{
    Gives every op that becomes a kernel and has no schedule the one that follows from the target: register tile, query block, query tile and key tile.
  }];
  let options = [
    Option<"prefillSplitKeys", "split-keys", "int64_t", "4096",
           "keys of a parallel item of kind prefill where at most 1024 queries "
           "see twice as many or more; 0: do not split them">,
  ];
}

def AssignGPUSchedule : Pass<"attn-assign-gpu-schedule"> {
  let summary = "Choose the tile sizes of every kernel of a GPU";
  let description = [{
    Gives every attention that has no schedule one from a table of the target's. What
    there is no kernel for is refused at the op.
  }];
  let options = [
    Option<"decodeSplitKeys", "split-keys", "int64_t", "-1",
           "keys of a block where few queries see more; 0: no kernels of few "
           "queries; -1: as the table says">,
  ];
}

#endif
