/* Three tokens with the values 0, 2 and 4 whose scores are all equal: each
 * one's output is the mean of the values up to its own. The argument is
 * `device`. */
#include "mean.h"
#include <stdio.h>
#include <stdlib.h>

enum { HEADS = 2, TOKENS = 3, DIM = 16 };
static uint16_t q[HEADS][TOKENS][DIM], k[HEADS][TOKENS][DIM],
    v[HEADS][TOKENS][DIM];
static float out[HEADS][TOKENS][DIM];

int main(int argc, char **argv) {
  static const uint16_t f16[TOKENS] = {0, 0x4000, 0x4400};
  const int64_t shape[] = {HEADS, TOKENS, DIM};
  mean_args args = {sizeof args};
  int32_t status;
  int h, t, d;
  for (h = 0; h < HEADS; ++h)
    for (t = 0; t < TOKENS; ++t)
      for (d = 0; d < DIM; ++d)
        v[h][t][d] = f16[t];
  args.q = attn_contiguous(q, 3, shape);
  args.k = attn_contiguous(k, 3, shape);
  args.v = attn_contiguous(v, 3, shape);
  args.out = attn_contiguous(out, 3, shape);
  args.device = argc > 1 ? atoi(argv[1]) : 0;
  status = mean(&args);
  if (status) {
    fprintf(stderr, "%s\n", mean_strerror(status));
    return 1;
  }
  for (t = 0; t < TOKENS; ++t)
    printf("%.3f\n", out[HEADS - 1][t][DIM - 1]);
  return 0;
}
