/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls a kernel of another processor in an emulator: foreign.py links it with
 * the kernel and the runtime.
 *
 *   program THREADS INPUTS FILE.npy...
 *
 * The first INPUTS files are the arguments. The others are the results: they
 * are read for their shapes, and written anew. */
#include "attn-rt/attn.h"
#include "attn-rt/npy.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PORTS = 16 };

/* kernel_args for any number of ports: what follows the ports moves with it. */
typedef struct {
  size_t size;
  attn_tensor ports[MAX_PORTS];
  char rest[64];
} arguments;

extern int32_t kernel(const void *);
extern const char *kernel_strerror(int32_t);

int main(int argc, char **argv) {
  int ports = argc - 3, inputs, i;
  attn_rt_array arrays[MAX_PORTS];
  arguments args;
  char error[256];
  int32_t threads, status;
  if (argc < 4 || ports > MAX_PORTS)
    return 2;
  threads = atoi(argv[1]);
  inputs = atoi(argv[2]);
  memset(&args, 0, sizeof args);
  for (i = 0; i < ports; ++i) {
    if (attn_rt_npy_read(argv[3 + i], &arrays[i], error, sizeof error)) {
      fprintf(stderr, "%s: %s\n", argv[3 + i], error);
      return 1;
    }
    args.ports[i] =
        attn_contiguous(arrays[i].data, arrays[i].rank, arrays[i].shape);
  }
  /* Behind the ports: workspace, its size, parallel_for, context, threads. */
  args.size = sizeof(size_t) + ports * sizeof(attn_tensor) + 5 * sizeof(void *);
  memcpy((char *)&args.ports[ports] + 4 * sizeof(void *), &threads,
         sizeof threads);
  status = kernel(&args);
  if (status) {
    fprintf(stderr, "%s\n", kernel_strerror(status));
    return 1;
  }
  for (i = inputs; i < ports; ++i)
    if (attn_rt_npy_write(argv[3 + i], &arrays[i], error, sizeof error)) {
      fprintf(stderr, "%s: %s\n", argv[3 + i], error);
      return 1;
    }
  return 0;
}
