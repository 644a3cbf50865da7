// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define _GNU_SOURCE
#include "attn-rt/peak.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Independent chains enough to cover the latency of the multiply-add on every
// pipe, all in registers.
typedef struct {
  const char *isa;
  void (*burst)(long repeats);
  double flops_per_repeat;
} attn_rt_burst;

#if defined(__x86_64__)
// The operands are zero: subnormal numbers would slow some processors down.
#define TWELVE(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)
#define REGISTERS                                                              \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",      \
      "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

#define ZERO(r) "vxorps %%xmm" #r ",%%xmm" #r ",%%xmm" #r "\n"
#define FMA512(r) "vfmadd231ps %%zmm14,%%zmm14,%%zmm" #r "\n"
#define FMA256(r) "vfmadd231ps %%ymm14,%%ymm14,%%ymm" #r "\n"

__attribute__((target("avx512f"))) static void burst_avx512(long repeats) {
  __asm__ volatile(TWELVE(ZERO) ZERO(14) "1:\n" TWELVE(FMA512)
                       TWELVE(FMA512) "dec %0\n"
                                      "jnz 1b\n"
                                      "vzeroupper\n"
                   : "+r"(repeats)::"cc", REGISTERS);
}

__attribute__((target("avx2,fma"))) static void burst_avx2(long repeats) {
  __asm__ volatile(TWELVE(ZERO) ZERO(14) "1:\n" TWELVE(FMA256)
                       TWELVE(FMA256) "dec %0\n"
                                      "jnz 1b\n"
                                      "vzeroupper\n"
                   : "+r"(repeats)::"cc", REGISTERS);
}

// Without fused multiply-add, a multiplication beside every addition.
#define ZERO128(r) "xorps %%xmm" #r ",%%xmm" #r "\n"
#define MUL(r) "mulps %%xmm14,%%xmm" #r "\n"
#define ADD(r) "addps %%xmm14,%%xmm" #r "\n"
#define PAIRS                                                                  \
  MUL(0)                                                                       \
  ADD(1) MUL(2) ADD(3) MUL(4) ADD(5) MUL(6) ADD(7) MUL(8) ADD(9) MUL(10) ADD(11)

static void burst_sse(long repeats) {
  __asm__ volatile(TWELVE(ZERO128) ZERO128(14) "1:\n" PAIRS PAIRS "dec %0\n"
                                               "jnz 1b\n"
                   : "+r"(repeats)::"cc", REGISTERS);
}

static attn_rt_burst choose_burst(void) {
  if (__builtin_cpu_supports("avx512f"))
    return (attn_rt_burst){"AVX-512", burst_avx512, 24 * 2 * 16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return (attn_rt_burst){"AVX2", burst_avx2, 24 * 2 * 8};
  return (attn_rt_burst){"SSE", burst_sse, 24 * 4};
}

#elif defined(__aarch64__)
#define FMA128(r) "fmla v" #r ".4s, v30.4s, v30.4s\n"
// clang-format off
#define TWENTY_FOUR(F)                                                         \
  F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13)    \
  F(14) F(15) F(16) F(17) F(18) F(19) F(20) F(21) F(22) F(23)
// clang-format on
#define ZERO128(r) "movi v" #r ".4s, #0\n"

static void burst_neon(long repeats) {
  __asm__ volatile(
      TWENTY_FOUR(ZERO128)
          ZERO128(30) "1:\n" TWENTY_FOUR(FMA128) "subs %0, %0, #1\n"
                                                 "b.ne 1b\n"
      : "+r"(repeats)::"cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7",
        "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17",
        "v18", "v19", "v20", "v21", "v22", "v23", "v30");
}

static attn_rt_burst choose_burst(void) {
  return (attn_rt_burst){"NEON", burst_neon, 24 * 2 * 4};
}

#else
static attn_rt_burst choose_burst(void) {
  return (attn_rt_burst){"none", NULL, 0};
}
#endif

const char *attn_rt_peak_isa(void) { return choose_burst().isa; }

// Far shorter than a time slice: neighbours on the machine disturb some bursts,
// but not all.
static double time_burst(attn_rt_burst b) {
  enum { Repeats = 5000 };
  double start = seconds();
  b.burst(Repeats);
  return Repeats * b.flops_per_repeat / (seconds() - start) * 1e-9;
}

double attn_rt_fma_burst(void) {
  attn_rt_burst b = choose_burst();
  return b.burst ? time_burst(b) : 0;
}

double attn_rt_peak_gflops(void) {
  // The first bursts also bring the processor to its clock rate for such code.
  double best = 0;
  for (double end = seconds() + 0.02; seconds() < end;) {
    double gflops = attn_rt_fma_burst();
    if (gflops == 0)
      return 0;
    if (gflops > best)
      best = gflops;
  }
  return best;
}

double attn_rt_read_bandwidth(size_t bytes) {
  enum { Streams = 8 };
  size_t count = bytes / sizeof(uint64_t) / Streams * Streams;
  uint64_t *words = count ? malloc(count * sizeof(uint64_t)) : NULL;
  if (!words)
    return 0;
  memset(words, 1, count * sizeof(uint64_t));
  double best = 0, end = seconds() + 0.1;
  do {
    uint64_t sums[Streams] = {0};
    double start = seconds();
    for (size_t i = 0; i < count; i += Streams)
      for (int j = 0; j < Streams; ++j)
        sums[j] += words[i + j];
    double rate = count * sizeof(uint64_t) / (seconds() - start) * 1e-9;
    // Keeps the sums, and so the loop.
    __asm__ volatile("" ::"r"(sums) : "memory");
    if (rate > best)
      best = rate;
  } while (seconds() < end);
  free(words);
  return best;
}

const char *attn_rt_cpu_name(char *name, size_t size) {
  char line[256];
  snprintf(name, size, "unknown");
  FILE *file = fopen("/proc/cpuinfo", "re");
  if (!file)
    return name;
  while (fgets(line, sizeof line, file)) {
    char *value = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || !value)
      continue;
    value += 1 + strspn(value + 1, " \t");
    value[strcspn(value, "\n")] = 0;
    snprintf(name, size, "%s", value);
    break;
  }
  fclose(file);
  return name;
}
