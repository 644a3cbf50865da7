/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Times compiled kernels beside what the machine gives at the same moment: a
 * shared library that benchmarks/kernels.py loads.
 *
 * A whole call lasts longer than the quiet moments of a shared machine, so a
 * kernel gets a parallel_for that times each of its items alone and lets the
 * same thread run bursts of register-only multiply-adds between items. */
#define _GNU_SOURCE
#include "attn-rt/attn.h"
#include "attn-rt/peak.h"
#include "attn-rt/program.h"
#include <stdint.h>
#include <time.h>

enum { MAX_WORKERS = 1024, BURST_EVERY_NS = 40000 };

/* Which peak a burst measures. */
enum { F32_FMA = 0, BF16_DOT = 1 };

/* One call. The caller owns the arrays; what does not fit is not kept. */
typedef struct {
  double *items;  /* seconds of each item, loop after loop */
  double *probes; /* GFLOP/s of the slower probe, before or after each item */
  double *bursts; /* GFLOP/s of one thread */
  int64_t max_items, max_bursts;
  int64_t item_count, burst_count;
  double rest; /* seconds outside the loops */
  int32_t burst_kind;
} attn_bench_record;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#if defined(__x86_64__)
/* Twenty-four independent chains, as many operands as the f32 burst has. */
#define DOT(r) "vdpbf16ps %%zmm30,%%zmm30,%%zmm" #r "\n"
#define ZERO(r) "vpxord %%zmm" #r ",%%zmm" #r ",%%zmm" #r "\n"
/* clang-format off */
#define CHAINS(F)                                                              \
  F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13)    \
  F(14) F(15) F(16) F(17) F(18) F(19) F(20) F(21) F(22) F(23)
#define REGISTERS                                                              \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",      \
  "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16",       \
  "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm30"
/* clang-format on */
__attribute__((target("avx512f"))) static double dot_burst(void) {
  enum { REPEATS = 5000, FLOPS_PER_DOT = 64 };
  long repeats = REPEATS;
  double start = now();
  __asm__ volatile(CHAINS(ZERO) ZERO(30) "1:\n" CHAINS(DOT) "dec %0\n"
                                                            "jnz 1b\n"
                                                            "vzeroupper\n"
                   : "+r"(repeats)::"cc", REGISTERS);
  return 1e-9 * REPEATS * 24 * FLOPS_PER_DOT / (now() - start);
}
static int has_dot(void) { return __builtin_cpu_supports("avx512bf16"); }
#else
static double dot_burst(void) { return 0; }
static int has_dot(void) { return 0; }
#endif

/* A probe of whether the core's other hardware threads are idle: as many
 * multiply-adds as a burst with a nop beside each. A core of its own takes the
 * nops for nothing; a shared one does not, for half of its front end is another
 * thread's. Bursts do not show it, their instructions being few. 0 where there
 * is no such loop. */
#if defined(__x86_64__)
/* clang-format off */
#define TWELVE(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)
/* clang-format on */
#define CLEAR(r) "vxorps %%xmm" #r ",%%xmm" #r ",%%xmm" #r "\n"
#define FMA256(r) "vfmadd231ps %%ymm14,%%ymm14,%%ymm" #r "\nnop\n"
#define FMA512(r) "vfmadd231ps %%zmm14,%%zmm14,%%zmm" #r "\nnop\n"
#define PROBE(name, isa, FMA)                                                  \
  __attribute__((target(isa))) static void name(long repeats) {                \
    __asm__ volatile(                                                          \
        TWELVE(CLEAR) CLEAR(14) "1:\n" TWELVE(FMA) TWELVE(FMA) "dec %0\n"      \
                                                               "jnz 1b\n"      \
                                                               "vzeroupper\n"  \
        : "+r"(repeats)::"cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", \
          "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm14");          \
  }
PROBE(probe_avx2, "avx2,fma", FMA256)
PROBE(probe_avx512, "avx512f", FMA512)

static double probe(void) {
  enum { REPEATS = 5000 };
  int wide = __builtin_cpu_supports("avx512f") != 0;
  if (!wide &&
      !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")))
    return 0;
  double start = now();
  (wide ? probe_avx512 : probe_avx2)(REPEATS);
  return 1e-9 * REPEATS * 24 * 2 * (wide ? 16 : 8) / (now() - start);
}
#else
static double probe(void) { return 0; }
#endif

static double burst(int32_t kind) {
  return kind == BF16_DOT && has_dot() ? dot_burst() : attn_rt_fma_burst();
}

typedef struct {
  attn_bench_record *record;
  int64_t first; /* number of this loop's first item */
  attn_body body;
  void *data;
  double since_burst[MAX_WORKERS];
} timed_loop;

static void timed_item(void *data, int64_t item, int32_t worker) {
  timed_loop *loop = data;
  attn_bench_record *record = loop->record;
  double before = probe(), start = now();
  loop->body(loop->data, item, worker);
  double seconds = now() - start, after = probe();
  if (loop->first + item < record->max_items) {
    record->items[loop->first + item] = seconds;
    record->probes[loop->first + item] = before < after ? before : after;
  }
  double *since = &loop->since_burst[worker % MAX_WORKERS];
  *since += seconds;
  if (*since < 1e-9 * BURST_EVERY_NS)
    return;
  *since = 0;
  double gflops = burst(record->burst_kind);
  int64_t at = __atomic_fetch_add(&record->burst_count, 1, __ATOMIC_RELAXED);
  if (at < record->max_bursts)
    record->bursts[at] = gflops;
}

static void timed_parallel_for(void *context, int64_t items, int32_t threads,
                               attn_body body, void *data) {
  attn_bench_record *record = context;
  timed_loop loop = {record, record->item_count, body, data, {0}};
  double start = now();
  attn_rt_parallel_for(NULL, items, threads, timed_item, &loop);
  record->rest -= now() - start;
  record->item_count += items;
}

/* Runs a kernel once and returns its status. `call` lies inside `args`. */
int32_t attn_bench_items(int32_t (*run)(const void *), const void *args,
                         attn_rt_call *call, attn_bench_record *record) {
  attn_rt_call before = *call;
  record->item_count = record->burst_count = 0;
  call->parallel_for = timed_parallel_for;
  call->parallel_context = record;
  double start = now();
  record->rest = 0;
  int32_t status = run(args);
  record->rest += now() - start;
  *call = before;
  if (record->burst_count == 0 && record->max_bursts > 0)
    record->bursts[record->burst_count++] = burst(record->burst_kind);
  return status;
}

static void burst_item(void *data, int64_t item, int32_t worker) {
  attn_bench_record *record = data;
  (void)worker;
  record->bursts[item] = burst(record->burst_kind);
}

/* Fills `bursts` on `threads` threads at once. */
void attn_bench_bursts(double *bursts, int64_t count, int32_t threads,
                       int32_t kind) {
  attn_bench_record record = {.bursts = bursts, .burst_kind = kind};
  attn_rt_parallel_for(NULL, count, threads, burst_item, &record);
}

/* Compilers do not agree on how to vectorise a loop that only reads, and a slow
 * plain read would flatter every kernel. One pass is 256 bytes. */
#if defined(__x86_64__)
#define LOOP(loads)                                                            \
  "1:\n" loads "add $256,%0\n"                                                 \
  "dec %1\n"                                                                   \
  "jnz 1b\n"
#define READ(load, at) load " " #at "(%0),"
/* clang-format off */
#define READ4(load, r) READ(load, 0) r READ(load, 64) r READ(load, 128) r      \
  READ(load, 192) r
#define READ8(load, r) READ4(load, r) READ(load, 32) r READ(load, 96) r        \
  READ(load, 160) r READ(load, 224) r
#define READ16(load, r) READ8(load, r) READ(load, 16) r READ(load, 48) r       \
  READ(load, 80) r READ(load, 112) r READ(load, 144) r READ(load, 176) r       \
  READ(load, 208) r READ(load, 240) r
/* clang-format on */
static void read_passes(const char *at, int64_t passes) {
  if (__builtin_cpu_supports("avx512f"))
    __asm__ volatile(LOOP(READ4("vmovups", "%%zmm0\n")) "vzeroupper\n"
                     : "+r"(at), "+r"(passes)::"cc", "memory", "xmm0");
  else if (__builtin_cpu_supports("avx2"))
    __asm__ volatile(LOOP(READ8("vmovups", "%%ymm0\n")) "vzeroupper\n"
                     : "+r"(at), "+r"(passes)::"cc", "memory", "xmm0");
  else
    __asm__ volatile(LOOP(READ16("movups", "%%xmm0\n"))
                     : "+r"(at), "+r"(passes)::"cc", "memory", "xmm0");
}
#else
static void read_passes(const char *at, int64_t passes) {
  for (; passes; --passes, at += 256)
    for (int i = 0; i < 256; i += (int)sizeof(uint64_t))
      (void)*(const volatile uint64_t *)(at + i);
}
#endif

typedef struct {
  const char *buffers[2];
  int64_t passes;
  int32_t shares;
} read_job;

static void read_item(void *data, int64_t item, int32_t worker) {
  const read_job *job = data;
  int64_t share = item % job->shares, begin = job->passes * share / job->shares,
          end = job->passes * (share + 1) / job->shares;
  (void)worker;
  if (end > begin)
    read_passes(job->buffers[item / job->shares] + 256 * begin, end - begin);
}

/* Seconds that `threads` threads take to read two buffers of `bytes` each. */
double attn_bench_read(const void *a, const void *b, int64_t bytes,
                       int32_t threads) {
  read_job job = {{a, b}, bytes / 256, threads};
  double start = now();
  attn_rt_parallel_for(NULL, 2 * (int64_t)threads, threads, read_item, &job);
  return now() - start;
}

const char *attn_bench_cpu(void) {
  static char name[128];
  return attn_rt_cpu_name(name, sizeof name);
}

/* What the bursts of a kind count. */
const char *attn_bench_peak(int32_t kind) {
  return kind == BF16_DOT && has_dot() ? "AVX-512 bf16 dot products"
                                       : attn_rt_peak_isa();
}
