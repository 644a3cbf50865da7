/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What one thread of this machine can do at best, measured. */
#ifndef ATTN_RT_PEAK_H
#define ATTN_RT_PEAK_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Floating-point operations per nanosecond (GFLOP/s) of f32 fused
 * multiply-adds on registers only, with the widest vectors of this processor.
 * Takes about 20 ms. 0 on an architecture without such a loop. */
double attn_rt_peak_gflops(void);

/* The same from one burst of some 30 us, for benchmarks that take one between
 * runs of a kernel. */
double attn_rt_fma_burst(void);

/* The vectors used: "AVX-512", "AVX2", "SSE", "NEON" or "none". */
const char *attn_rt_peak_isa(void);

/* Bytes per nanosecond (GB/s) of reading `bytes` of memory over and over;
 * choose a size beyond the caches to measure the memory. 0 if the memory
 * cannot be had. */
double attn_rt_read_bandwidth(size_t bytes);

/* Writes the processor's name, or "unknown", and returns `name`. */
const char *attn_rt_cpu_name(char *name, size_t size);

#ifdef __cplusplus
}
#endif
#endif
