/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Speed of compiled kernels as a share of this machine's own FMA peak.
 *
 *   attn-bench [--seconds S] [--threads N] NAME KERNEL.so B H SQ SKV D FLOPS
 * ...
 *
 * Each kernel is a shared library made by attn-opt with one function @kernel on
 * q, k, v (B,H,S,D) of f32. All kernels run in turn, in rotating order, each
 * run followed by a burst of register-only FMA; the machine's clock and its
 * other tenants thus hit all of them alike. Printed are medians over the runs,
 * the quiet fifth (20th percentile of the times against the 80th of the bursts)
 * and the spread of the bursts. FLOPS is what the result needs: visible pairs
 * only.
 */
#define _GNU_SOURCE
#include "attn-rt/attn.h"
#include "attn-rt/peak.h"
#include "attn-rt/program.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_KERNELS = 32, MAX_RUNS = 1000 };

typedef struct {
  size_t size;
  attn_tensor q, k, v, out;
  attn_rt_call call;
} kernel_args;

typedef struct {
  const char *name;
  int32_t (*run)(const kernel_args *);
  kernel_args args;
  double flops, times[MAX_RUNS];
} kernel;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Sum of uniform numbers: close to normal, never zeros. */
static float *normal(size_t count, uint64_t seed) {
  float *data = aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64);
  uint64_t x = seed * 0x9E3779B97F4A7C15u + 1;
  for (size_t i = 0; data && i < count; ++i) {
    float sum = 0;
    for (int k = 0; k < 4; ++k) {
      x ^= x << 13, x ^= x >> 7, x ^= x << 17;
      sum += (float)(x >> 40) / (1 << 24) - 0.5f;
    }
    data[i] = sum * 1.7320508f;
  }
  return data;
}

static attn_tensor tensor(int64_t b, int64_t h, int64_t s, int64_t d,
                          uint64_t seed) {
  int64_t shape[] = {b, h, s, d};
  return attn_contiguous(normal((size_t)(b * h * s * d), seed), 4, shape);
}

static int load(kernel *k, char **argv, int32_t threads) {
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "attn-bench: %s\n", dlerror());
    return 0;
  }
  int64_t b = atoll(argv[2]), h = atoll(argv[3]), sq = atoll(argv[4]),
          skv = atoll(argv[5]), d = atoll(argv[6]);
  void *symbol = dlsym(library, "kernel");
  memcpy(&k->run, &symbol, sizeof symbol);
  size_t (*workspace)(const kernel_args *);
  symbol = dlsym(library, "kernel_workspace_size");
  memcpy(&workspace, &symbol, sizeof symbol);
  if (!k->run || !workspace)
    return 0;
  k->name = argv[0];
  k->flops = atof(argv[7]);
  k->args = (kernel_args){.size = sizeof(kernel_args),
                          .q = tensor(b, h, sq, d, 1),
                          .k = tensor(b, h, skv, d, 2),
                          .v = tensor(b, h, skv, d, 3),
                          .out = tensor(b, h, sq, d, 4)};
  k->args.call.threads = threads;
  k->args.call.workspace_size = (workspace(&k->args) + 63) / 64 * 64;
  k->args.call.workspace = aligned_alloc(64, k->args.call.workspace_size);
  return 1;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
static double quantile(double *values, int count, double q) {
  qsort(values, (size_t)count, sizeof *values, ascending);
  return values[(int)(q * (count - 1))];
}

int main(int argc, char **argv) {
  static kernel kernels[MAX_KERNELS];
  static double bursts[MAX_RUNS * MAX_KERNELS];
  double seconds = 10;
  int32_t threads = 1;
  int count = 0, at = 1;
  for (; at + 1 < argc && !strncmp(argv[at], "--", 2); at += 2) {
    if (!strcmp(argv[at], "--seconds"))
      seconds = atof(argv[at + 1]);
    else if (!strcmp(argv[at], "--threads"))
      threads = atoi(argv[at + 1]);
  }
  for (; at + 7 < argc && count < MAX_KERNELS; at += 8)
    if (!load(&kernels[count++], argv + at, threads))
      return 1;
  if (!count) {
    fprintf(stderr, "usage: attn-bench [--seconds S] [--threads N] NAME "
                    "KERNEL.so B H SQ SKV D FLOPS ...\n");
    return 2;
  }
  int runs = 0, burst_count = 0;
  for (double begin = now(); runs < 3 || now() - begin < seconds; ++runs) {
    if (runs == MAX_RUNS)
      break;
    for (int i = 0; i < count; ++i) {
      kernel *k = &kernels[(i + runs) % count];
      double start = now();
      int32_t status = k->run(&k->args);
      k->times[runs] = now() - start;
      if (status) {
        fprintf(stderr, "attn-bench: %s returned %d\n", k->name, status);
        return 1;
      }
      bursts[burst_count++] = attn_rt_fma_burst();
    }
  }
  double peak = quantile(bursts, burst_count, 0.5),
         quiet = quantile(bursts, burst_count, 0.8);
  char cpu[128];
  attn_rt_cpu_name(cpu, sizeof cpu);
  printf("%s, %s: %.1f GFLOP/s per thread (middle half %.1f to %.1f), %d "
         "thread%s, %d runs each\n",
         cpu, attn_rt_peak_isa(), peak, quantile(bursts, burst_count, 0.25),
         quantile(bursts, burst_count, 0.75), threads, threads == 1 ? "" : "s",
         runs);
  printf("%-34s %10s %10s %8s %8s\n", "kernel", "median ms", "GFLOP/s",
         "% peak", "quiet %");
  for (int i = 0; i < count; ++i) {
    kernel *k = &kernels[i];
    double median = quantile(k->times, runs, 0.5),
           fast = quantile(k->times, runs, 0.2);
    printf("%-34s %10.3f %10.1f %8.1f %8.1f\n", k->name, 1e3 * median,
           1e-9 * k->flops / median, 1e-7 * k->flops / median / peak / threads,
           1e-7 * k->flops / fast / quiet / threads);
  }
  return 0;
}
