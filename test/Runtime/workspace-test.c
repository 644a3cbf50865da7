// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work space that is given back is taken again; a larger one replaces it.
#include "test.h"

#include "attn-rt/attn.h"

#include <stdint.h>
#include <string.h>

void test_workspace(void) {
  char *first = attn_rt_take_workspace(1000);
  CHECK(first && (uintptr_t)first % 64 == 0);
  memset(first, 1, 1000);
  char *second = attn_rt_take_workspace(1000); // the first is still taken
  CHECK(second && (second + 1000 <= first || first + 1000 <= second));
  attn_rt_give_workspace(first);
  CHECK(attn_rt_take_workspace(999) == first);
  attn_rt_give_workspace(first);
  char *larger = attn_rt_take_workspace(10 << 20);
  CHECK(larger);
  memset(larger, 1, 10 << 20);
  attn_rt_give_workspace(larger);
  attn_rt_give_workspace(second); // takes its place
  CHECK(attn_rt_take_workspace(1) == second);
  attn_rt_give_workspace(second);

  char *huge = attn_rt_take_workspace((int64_t)65 << 20); // is not kept
  attn_rt_give_workspace(huge);
  char *last = attn_rt_take_workspace(1);
  CHECK(last && last != huge);
  attn_rt_give_workspace(last);

  attn_rt_give_workspace(NULL);
  CHECK(!attn_rt_take_workspace(-1) && !attn_rt_take_workspace(INT64_MAX));
  attn_rt_give_workspace(attn_rt_take_workspace(0));
}
