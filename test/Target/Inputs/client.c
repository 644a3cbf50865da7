// Calls the kernel of add.mlir rightly and wrongly.
#include "add.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float a[3][8], b[3][8], out[3][4];
static int32_t len[1] = {3};

static add_args good(void) {
  add_args args;
  memset(&args, 0, sizeof args);
  args.size = sizeof args;
  args.a = attn_contiguous(a, 2, (int64_t[]){3, 4});
  args.a.strides[0] = 8;
  args.b = attn_contiguous(b, 2, (int64_t[]){3, 4});
  args.b.strides[0] = 8;
  args.b.strides[1] = 2;
  args.len = attn_contiguous(len, 0, NULL);
  args.out = attn_contiguous(out, 2, (int64_t[]){3, 4});
  return args;
}

static void report(const char *what, const add_args *args) {
  int32_t status = add(args);
  printf("%s: %s\n", what, add_strerror(status));
}

#define WRONG(change)                                                          \
  do {                                                                         \
    add_args args = good();                                                    \
    args.change;                                                               \
    report(#change, &args);                                                    \
  } while (0)

int main(void) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) {
      a[i][j] = i;
      b[i][2 * j] = 10 * j;
    }
  add_args args = good();
  report("good", &args);
  printf("out[2][3] = %g\n", out[2][3]);
  printf("flops = %g\n", add_flops(&args));

  args.threads = 2;
  size_t bytes = add_workspace_size(&args);
  printf("bytes = %zu\n", bytes);
  args.workspace = malloc(bytes);
  args.workspace_size = bytes;
  report("own work space", &args);
  args.workspace_size = bytes - 1;
  report("small work space", &args);
  free(args.workspace);

  report("null", NULL);
  WRONG(size = 8);
  WRONG(a.data = NULL);
  WRONG(a.shape[0] = -1);
  WRONG(a.shape[1] = 5);
  WRONG(b.shape[0] = 2);
  WRONG(b.shape[1] = 3);
  WRONG(b.strides[1] = 1);
  WRONG(b.data = (char *)b + 2);
  WRONG(out.shape[0] = 4);
  WRONG(out.strides[0] = 0);
  WRONG(out.strides[1] = 0);
  WRONG(b.strides[0] = 0);
  WRONG(len.data = NULL);

  args = good();
  args.a.shape[0] = args.b.shape[0] = args.out.shape[0] = 0;
  args.a.data = args.b.data = args.out.data = NULL;
  report("empty", &args);
  args.a.shape[0] = -1;
  printf("wrong shapes: %zu bytes, %g flops\n", add_workspace_size(&args),
         add_flops(&args));
  printf("%s; %s\n", add_strerror(-99), add_strerror(7));
  printf("%s\n", add_info());
  return 0;
}
