/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tile registers (AMX) are large, so Linux gives them only to processes that
 * ask. The answer holds for all threads of the process, and is kept. */
#define _GNU_SOURCE
#include "attn-rt/attn.h"

#if defined(__linux__) && defined(__x86_64__)
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

int32_t attn_rt_request_tiles(void) {
  enum { RequestPermission = 0x1023, TileData = 18 }; /* asm/prctl.h */
  static atomic_int granted;
  if (atomic_load_explicit(&granted, memory_order_relaxed))
    return 0;
  if (syscall(SYS_arch_prctl, RequestPermission, TileData) != 0)
    return -1;
  atomic_store_explicit(&granted, 1, memory_order_relaxed);
  return 0;
}
#else
int32_t attn_rt_request_tiles(void) { return -1; }
#endif
