// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The built-in thread pool: one per process, created by the first parallel
// call, at most one parallel loop at a time.
//
// A loop is open while its caller runs items. A worker joins an open loop by
// raising the count in `state`, and the caller closes the loop and waits only
// for those that joined: a worker that the kernel schedules late costs nothing
// and never touches a finished loop. Idle workers spin for a short time, so
// that back-to-back loops start fast, and then sleep on a futex.
#define _GNU_SOURCE
#include "attn-rt/attn.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MaxThreads = 1024, FanOut = 4, CacheLine = 64 };
enum { SpinNanoseconds = 50000 };

// The states of worker.signal.
enum { Idle, Parked, Signalled };

// The flags of pool.state; the bits below count the workers that joined.
#define OPEN 0x80000000u
#define WAITED_FOR 0x40000000u
#define JOINED 0x3fffffffu

struct worker {
  _Alignas(CacheLine) atomic_uint signal;
  pthread_t thread;
};

static struct {
  // Held by the caller whose loop the pool runs. The plain members may be
  // written only by that caller, and only while no worker has joined.
  _Alignas(CacheLine) atomic_bool busy;
  atomic_bool quit, spin;
  int32_t started, cpus;
  attn_body body;
  void *data;
  int64_t items;
  int32_t threads;
  _Alignas(CacheLine) atomic_uint state;
  _Alignas(CacheLine) atomic_int_least64_t next;
} pool;

// Indexed by the worker's number; the caller is worker 0.
static struct worker workers[MaxThreads];

static void futex_wait(atomic_uint *word, unsigned expected) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

static void futex_wake(atomic_uint *word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static int64_t nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#endif
}

// Spins while (*word & mask) != wanted, for a bounded time.
static void spin_until(atomic_uint *word, unsigned mask, unsigned wanted) {
  if (!atomic_load_explicit(&pool.spin, memory_order_relaxed))
    return;
  int64_t end = nanoseconds() + SpinNanoseconds;
  do {
    for (int i = 0; i < 16; ++i) {
      if ((atomic_load_explicit(word, memory_order_acquire) & mask) == wanted)
        return;
      relax();
    }
  } while (nanoseconds() < end);
}

static void signal_worker(int32_t worker) {
  atomic_uint *word = &workers[worker].signal;
  if (atomic_exchange(word, Signalled) == Parked)
    futex_wake(word);
}

// The signals of a loop go down a tree, so that starting many workers does not
// take the caller one system call each.
static void signal_children(int32_t worker, int32_t threads) {
  for (int32_t i = 1; i <= FanOut; ++i) {
    int32_t child = FanOut * worker + i;
    if (child < threads)
      signal_worker(child);
  }
}

static void await_signal(atomic_uint *word) {
  spin_until(word, ~0u, Signalled);
  unsigned expected = Idle;
  if (atomic_compare_exchange_strong(word, &expected, Parked))
    while (atomic_load(word) == Parked)
      futex_wait(word, Parked);
  atomic_exchange(word, Idle);
}

static void run_items(int32_t worker) {
  attn_body body = pool.body;
  void *data = pool.data;
  int64_t items = pool.items, item;
  while ((item = atomic_fetch_add_explicit(&pool.next, 1,
                                           memory_order_relaxed)) < items)
    body(data, item, worker);
}

static bool join_loop(void) {
  unsigned state = atomic_load(&pool.state);
  while (state & OPEN)
    if (atomic_compare_exchange_weak(&pool.state, &state, state + 1))
      return true;
  return false;
}

static void leave_loop(void) {
  if (atomic_fetch_sub(&pool.state, 1) == (WAITED_FOR | 1))
    futex_wake(&pool.state);
}

static void *worker_main(void *argument) {
  struct worker *self = argument;
  int32_t worker = (int32_t)(self - workers);
  for (;;) {
    await_signal(&self->signal);
    if (atomic_load(&pool.quit))
      return NULL;
    // The loop may be a later one than the signal was for, with fewer threads.
    if (!join_loop())
      continue;
    if (worker < pool.threads) {
      signal_children(worker, pool.threads);
      run_items(worker);
    }
    leave_loop();
  }
}

static void close_loop(void) {
  atomic_fetch_and(&pool.state, ~OPEN);
  spin_until(&pool.state, JOINED, 0);
  unsigned state = atomic_load(&pool.state);
  while (state & JOINED) {
    unsigned waiting = state | WAITED_FOR;
    if (atomic_compare_exchange_weak(&pool.state, &state, waiting)) {
      futex_wait(&pool.state, waiting);
      state = atomic_load(&pool.state);
    }
  }
  atomic_store(&pool.state, 0);
}

// A forked child has only the thread that called fork.
static void reset_in_child(void) {
  for (int32_t i = 1; i < MaxThreads && i <= pool.started + 1; ++i)
    atomic_store(&workers[i].signal, Idle);
  pool.started = 0;
  atomic_store(&pool.state, 0);
  atomic_store(&pool.busy, false);
}

static void register_fork_handler(void) {
  pthread_atfork(NULL, NULL, reset_in_child);
}

// Returns how many of `threads` there are, the caller among them.
static int32_t start_workers(int32_t threads) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (pool.started >= threads - 1)
    return threads;
  pthread_once(&once, register_fork_handler);
  pool.cpus = attn_rt_max_threads();
  // Signals of the process belong on its own threads.
  sigset_t all, saved;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &saved);
  while (pool.started < threads - 1) {
    struct worker *next = &workers[pool.started + 1];
    if (pthread_create(&next->thread, NULL, worker_main, next) != 0)
      break;
    ++pool.started;
  }
  pthread_sigmask(SIG_SETMASK, &saved, NULL);
  return pool.started + 1;
}

// Unloading the library this is linked into must leave no thread in its code.
__attribute__((destructor)) static void stop_workers(void) {
  if (atomic_exchange(&pool.busy, true))
    return;
  atomic_store(&pool.quit, true);
  for (int32_t i = 1; i <= pool.started; ++i)
    signal_worker(i);
  for (int32_t i = 1; i <= pool.started; ++i)
    pthread_join(workers[i].thread, NULL);
  pool.started = 0;
}

void attn_rt_parallel_for(void *context, int64_t items, int32_t threads,
                          attn_body body, void *data) {
  (void)context;
  if (items <= 0)
    return;
  if (threads <= 0)
    threads = attn_rt_max_threads();
  if (threads > MaxThreads)
    threads = MaxThreads;
  if (threads > items)
    threads = (int32_t)items;
  // Nested loops find the pool busy, too.
  if (threads == 1 || atomic_exchange(&pool.busy, true)) {
    for (int64_t item = 0; item < items; ++item)
      body(data, item, 0);
    return;
  }
  pool.threads = threads = start_workers(threads);
  pool.body = body;
  pool.data = data;
  pool.items = items;
  atomic_store(&pool.spin, threads <= pool.cpus);
  atomic_store(&pool.next, 0);
  atomic_store(&pool.state, OPEN);
  signal_children(0, threads);
  run_items(0);
  close_loop();
  atomic_store(&pool.busy, false);
}

int32_t attn_rt_max_threads(void) {
  // The kernel refuses a set smaller than the machine's number of processors.
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 4) {
    cpu_set_t *set = CPU_ALLOC(cpus);
    if (!set)
      break;
    size_t size = CPU_ALLOC_SIZE(cpus);
    int failed = sched_getaffinity(0, size, set);
    int count = failed ? 0 : CPU_COUNT_S(size, set);
    CPU_FREE(set);
    if (count > 0)
      return count;
  }
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int32_t)online : 1;
}
