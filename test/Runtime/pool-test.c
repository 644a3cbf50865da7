// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define _GNU_SOURCE
#include "test.h"

#include "attn-rt/attn.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MaxItems = 4096, MaxWorkers = 64 };

typedef struct {
  int32_t threads;
  atomic_int items[MaxItems];
  atomic_int inside[MaxWorkers];
  atomic_int errors;
} record;

static void count_item(void *data, int64_t item, int32_t worker) {
  record *r = data;
  if (worker < 0 || worker >= r->threads) {
    atomic_fetch_add(&r->errors, 1);
    return;
  }
  // No two calls with the same worker at the same time.
  if (atomic_fetch_add(&r->inside[worker], 1) != 0)
    atomic_fetch_add(&r->errors, 1);
  atomic_fetch_add(&r->items[item], 1);
  atomic_fetch_sub(&r->inside[worker], 1);
}

static bool every_item_once(int64_t items, int32_t threads) {
  record *r = calloc(1, sizeof *r);
  r->threads = threads;
  attn_rt_parallel_for(NULL, items, threads, count_item, r);
  bool ok = atomic_load(&r->errors) == 0;
  for (int64_t i = 0; i < MaxItems; ++i)
    ok &= atomic_load(&r->items[i]) == (i < items);
  free(r);
  return ok;
}

static void test_items(void) {
  static const int32_t threads[] = {1, 2, 3, 7, 2, 64, 3};
  static const int64_t items[] = {0, 1, 2, 3, 5, 100, MaxItems};
  for (size_t t = 0; t < sizeof threads / sizeof *threads; ++t)
    for (size_t i = 0; i < sizeof items / sizeof *items; ++i)
      for (int repeat = 0; repeat < 20; ++repeat)
        CHECK(every_item_once(items[i], threads[t]));
  CHECK(attn_rt_max_threads() >= 1);
}

typedef struct {
  int32_t expected;
  atomic_int arrived;
  atomic_uint_least64_t workers;
  bool timed_out;
} meeting;

// Ends only when as many workers are inside at the same time as were asked for.
static void meet(void *data, int64_t item, int32_t worker) {
  meeting *m = data;
  (void)item;
  atomic_fetch_or(&m->workers, UINT64_C(1) << worker);
  atomic_fetch_add(&m->arrived, 1);
  time_t end = time(NULL) + 20;
  while (atomic_load(&m->arrived) < m->expected && !m->timed_out) {
    sched_yield();
    if (time(NULL) > end)
      m->timed_out = true;
  }
}

static void test_workers(void) {
  static const int32_t threads[] = {1, 2, 3, 7};
  for (size_t t = 0; t < sizeof threads / sizeof *threads; ++t) {
    meeting m = {.expected = threads[t]};
    attn_rt_parallel_for(NULL, threads[t], threads[t], meet, &m);
    CHECK(!m.timed_out);
    // Worker numbers are dense.
    CHECK(atomic_load(&m.workers) == (UINT64_C(1) << threads[t]) - 1);
  }
}

static void *call_often(void *data) {
  int32_t threads = *(int32_t *)data;
  bool ok = true;
  for (int repeat = 0; repeat < 300; ++repeat)
    ok &= every_item_once(1 + repeat % 50, threads);
  return ok ? data : NULL;
}

static void test_concurrent_callers(void) {
  enum { Callers = 4 };
  pthread_t callers[Callers];
  int32_t threads[Callers] = {2, 3, 2, 7};
  for (int i = 0; i < Callers; ++i)
    CHECK(!pthread_create(&callers[i], NULL, call_often, &threads[i]));
  for (int i = 0; i < Callers; ++i) {
    void *result = NULL;
    pthread_join(callers[i], &result);
    CHECK(result != NULL);
  }
}

static void nested(void *data, int64_t item, int32_t worker) {
  (void)item;
  (void)worker;
  if (!every_item_once(20, 3))
    atomic_fetch_add((atomic_int *)data, 1);
}

static void test_nesting(void) {
  atomic_int errors = 0;
  for (int repeat = 0; repeat < 20; ++repeat)
    attn_rt_parallel_for(NULL, 10, 3, nested, &errors);
  CHECK(atomic_load(&errors) == 0);
}

static void test_fork(void) {
  CHECK(every_item_once(100, 3));
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    meeting m = {.expected = 3};
    attn_rt_parallel_for(NULL, 3, 3, meet, &m);
    _exit(every_item_once(100, 3) && !m.timed_out ? 0 : 1);
  }
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(every_item_once(100, 3));
}

// Workers that have nothing to do use no processor time.
static void test_parked(void) {
  struct timespec start, stop, pause = {0, 200000000};
  CHECK(every_item_once(100, 2));
  nanosleep(&(struct timespec){0, 20000000}, NULL);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
  nanosleep(&pause, NULL);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &stop);
  double seconds = (double)(stop.tv_sec - start.tv_sec) +
                   1e-9 * (double)(stop.tv_nsec - start.tv_nsec);
  CHECK(seconds < 0.05);
}

void test_pool(void) {
  test_items();
  test_workers();
  test_concurrent_callers();
  test_nesting();
  test_fork();
  test_parked();
}
