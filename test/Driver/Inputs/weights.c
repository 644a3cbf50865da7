/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* weights RIGHT OTHER: calls both functions of weights.mlir, whose file the
 * program must be told. */
#include "both.h"
#include <stdio.h>
#include <string.h>

enum { ROWS = 3, SIZE = 64 };

static attn_tensor matrix(float *data) {
  int64_t shape[] = {ROWS, SIZE};
  return attn_contiguous(data, 2, shape);
}

static void tell(int32_t status) {
  printf("%d %s\n", (int)status, one_strerror(status));
}

int main(int argc, char **argv) {
  static float x[ROWS * SIZE], y[ROWS * SIZE], z[ROWS * SIZE];
  one_args first;
  two_args second;
  int i;
  if (argc != 3)
    return 1;
  for (i = 0; i < ROWS * SIZE; ++i)
    x[i] = (float)(i % 7) - 3;
  memset(&first, 0, sizeof first);
  memset(&second, 0, sizeof second);
  first.size = sizeof first;
  second.size = sizeof second;
  first.x = second.x = matrix(x);
  first.y = matrix(y);
  second.y = matrix(z);
  tell(one(&first));
  tell(one_load_weights(argv[2]));
  tell(two_load_weights(argv[1]));
  tell(one(&first));
  if (two(&second) == 0)
    printf(memcmp(y, z, sizeof y) == 0 && y[0] != 0 ? "equal\n" : "wrong\n");
  return 0;
}
