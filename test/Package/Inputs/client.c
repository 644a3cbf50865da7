/* Three tokens whose scores are all equal: under a causal mask each token's
 * output is the mean of the values up to its own. */
#include "causal.h"
#include <stdio.h>

enum { HEADS = 8, TOKENS = 3, DIM = 64 };
static float q[HEADS][TOKENS][DIM], k[HEADS][TOKENS][DIM];
static float v[HEADS][TOKENS][DIM], out[HEADS][TOKENS][DIM];

int main(void) {
  const int64_t shape[] = {1, HEADS, TOKENS, DIM};
  causal_args args = {sizeof args};
  int32_t status;
  int h, t, d;
  for (h = 0; h < HEADS; ++h)
    for (t = 0; t < TOKENS; ++t)
      for (d = 0; d < DIM; ++d)
        v[h][t][d] = (float)(2 * t);
  args.q = attn_contiguous(q, 4, shape);
  args.k = attn_contiguous(k, 4, shape);
  args.v = attn_contiguous(v, 4, shape);
  args.out = attn_contiguous(out, 4, shape);
  status = causal(&args);
  if (status) {
    fprintf(stderr, "%s\n", causal_strerror(status));
    return 1;
  }
  for (t = 0; t < TOKENS; ++t)
    printf("%.3f\n", out[HEADS - 1][t][DIM - 1]);
  return 0;
}
