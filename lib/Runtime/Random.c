// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runtime.h"

#include <math.h>

// SplitMix64.
static uint64_t next_bits(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static double next_uniform(uint64_t *state) {
  return (double)(next_bits(state) >> 11) * 0x1p-53;
}

// A pair of normal numbers by Marsaglia's polar method.
static void next_normals(uint64_t *state, double pair[2]) {
  double x, y, norm;
  do {
    x = 2 * next_uniform(state) - 1;
    y = 2 * next_uniform(state) - 1;
    norm = x * x + y * y;
  } while (norm >= 1 || norm == 0);
  double scale = sqrt(-2 * log(norm) / norm);
  pair[0] = x * scale;
  pair[1] = y * scale;
}

void attn_rt_fill_random(attn_rt_array *array, uint64_t seed, uint64_t stream,
                         int64_t bound) {
  int64_t count = attn_rt_array_count(array);
  // Consecutive seeds and streams must not give shifted copies of each other.
  uint64_t state = seed;
  state = next_bits(&state) + stream;
  state = next_bits(&state);
  double pair[2] = {0, 0};
  for (int64_t i = 0; i < count; ++i) {
    if (attn_rt_is_float(array->dtype)) {
      if (i % 2 == 0)
        next_normals(&state, pair);
      attn_rt_store_float(array->dtype, array->data, i, pair[i % 2]);
    } else {
      uint64_t range = array->dtype == ATTN_BOOL ? 2
                       : bound > 0               ? (uint64_t)bound
                                                 : 1;
      attn_rt_store_int(array->dtype, array->data, i,
                        (int64_t)((next_bits(&state) >> 1) % range));
    }
  }
}
