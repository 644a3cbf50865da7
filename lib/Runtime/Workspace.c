/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Work space of calls that bring none. What one call gives back the next one
 * takes: fresh memory is zeroed page by page when it is first written, which
 * takes 3 % of a call of a model. */
#include "Runtime.h"

#include <stdatomic.h>
#include <stdlib.h>

/* In front of the work space, and as long as its alignment. */
typedef struct {
  _Alignas(64) int64_t capacity;
} attn_rt_block;

/* More is not kept. */
enum { MOST_KEPT = 64 << 20 };

/* Nobody's at the moment, or null. */
static _Atomic(attn_rt_block *) kept;

static attn_rt_block *exchange(attn_rt_block *block) {
  return atomic_exchange_explicit(&kept, block, memory_order_acq_rel);
}

void *attn_rt_take_workspace(int64_t bytes) {
  int64_t header = sizeof(attn_rt_block);
  if (bytes < 0 || bytes > PTRDIFF_MAX - ATTN_RT_SPARE_BYTES - header)
    return NULL;
  attn_rt_block *block = exchange(NULL);
  if (block && block->capacity >= bytes)
    return block + 1;
  free(block);
  block = attn_rt_aligned_alloc(bytes + header);
  if (!block)
    return NULL;
  block->capacity = bytes;
  return block + 1;
}

void attn_rt_give_workspace(void *workspace) {
  if (!workspace)
    return;
  attn_rt_block *block = (attn_rt_block *)workspace - 1;
  free(block->capacity <= MOST_KEPT ? exchange(block) : block);
}

/* A library that is unloaded leaves nothing behind. */
__attribute__((destructor)) static void free_kept(void) {
  free(exchange(NULL));
}
