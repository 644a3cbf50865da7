// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What attn_rt_run_dlpack and attn_rt_run_capsules make of DLPack tensors, seen
// by kernels that only write down their arguments.
#define _GNU_SOURCE // as the other files
#include "test.h"

#include "attn-rt/dlpack.h"
#include "attn-rt/gpu.h"
#include <string.h>

#define PORTS 3
static struct {
  size_t size;
  attn_tensor ports[PORTS];
  attn_rt_call call;
} seen;

static int32_t write_down(const void *args) {
  memcpy(&seen, args, sizeof seen);
  return seen.size == sizeof seen ? -7 : -2;
}

static float memory[3][64];
static int64_t shape[2] = {2, 3}, strides[2] = {8, 2};
static attn_rt_dltensor x, y, result;
static const attn_rt_dltensor *const tensors[PORTS] = {&x, &y, &result};
static const attn_rt_dlpack_port ports[PORTS] = {
    {ATTN_F32, 2}, {ATTN_F32, 2}, {ATTN_F32, 2}};
static const attn_rt_dlpack_kernel kernel = {write_down, 2, 1, ports};

static attn_rt_dltensor tensor(void *data) {
  attn_rt_dltensor t = {data, 1, 0, 2, 2, 32, 1, shape, NULL, 0};
  return t;
}

static void reset(void) {
  x = tensor(memory[0]);
  y = tensor(memory[1]);
  result = tensor(memory[2]);
}

static int32_t call_kernel(int32_t check_overlap) {
  return attn_rt_run_dlpack(&kernel, tensors, 5, check_overlap);
}

/// Restores the tensors behind.
static int32_t refused(int32_t check_overlap) {
  int32_t status = call_kernel(check_overlap);
  reset();
  return status;
}

static void test_tensors(void) {
  y.strides = strides;
  y.byte_offset = 8;
  CHECK(call_kernel(1) == -7);
  CHECK(seen.call.threads == 5 && !seen.call.workspace);
  CHECK(seen.ports[0].data == memory[0] && seen.ports[0].strides[0] == 3);
  CHECK(seen.ports[1].data == memory[1] + 2 && seen.ports[1].strides[0] == 8);
  CHECK(seen.ports[1].strides[1] == 2 && seen.ports[1].shape[1] == 3);
  reset();
}

/* The stride of a single element may be anything, and a tensor without
 * elements may have no memory. */
static void test_small(void) {
  static int64_t one[2] = {2, 1}, none[2] = {0, 3}, wild[2] = {1, 77};
  x.shape = one;
  x.strides = wild;
  y.shape = none;
  y.data = NULL;
  CHECK(call_kernel(1) == -7);
  CHECK(seen.ports[0].strides[0] == 1 && seen.ports[0].strides[1] == 1);
  CHECK(seen.ports[1].data != NULL);
  reset();
}

static void test_wrong(void) {
  y.device_type = 2;
  CHECK(refused(0) == ATTN_DLPACK_REASONS + ATTN_DLPACK_DEVICE);
  x.bits = 64;
  CHECK(refused(0) == ATTN_DLPACK_DTYPE);
  x.code = 0;
  CHECK(refused(0) == ATTN_DLPACK_DTYPE);
  x.lanes = 2;
  CHECK(refused(0) == ATTN_DLPACK_DTYPE);
  result.ndim = 1;
  CHECK(refused(0) == 2 * ATTN_DLPACK_REASONS + ATTN_DLPACK_RANK);
}

static void test_overlap(void) {
  static int64_t back[2] = {-3, -1};
  int32_t overlaps = 2 * ATTN_DLPACK_REASONS + ATTN_DLPACK_OVERLAP;
  result.data = memory[1] + 5; /* the last element of y */
  CHECK(call_kernel(0) == -7);
  CHECK(refused(1) == overlaps);
  result.data = memory[1] + 6;
  CHECK(refused(1) == -7);
  /* Backwards, from the last element to the first. */
  result.data = memory[1] + 10;
  result.strides = back;
  CHECK(refused(1) == overlaps);
  result.data = memory[1] + 11;
  result.strides = back;
  CHECK(refused(1) == -7);
}

static int32_t count(const void *args) { return -(int32_t)(*(size_t *)args); }

/* More ports than the stack has room for. */
static void test_many(void) {
  enum { many = 40 };
  attn_rt_dlpack_port wide[many];
  const attn_rt_dltensor *all[many];
  attn_rt_dlpack_kernel large = {count, many, 0, wide};
  for (int i = 0; i < many; ++i) {
    wide[i] = ports[0];
    all[i] = &x;
  }
  CHECK(attn_rt_run_dlpack(&large, all, 0, 0) ==
        -(int32_t)(sizeof(size_t) + many * sizeof(attn_tensor) +
                   sizeof(attn_rt_call)));
}

/* A list is an array of tensors here, which are their own capsules. */
static int locks;
static void *item_of(void *list, ptrdiff_t i) {
  CHECK(locks == 0);
  return ((void **)list)[i];
}
static void *pointer_of(void *capsule, const char *name) {
  CHECK(strcmp(name, "dltensor") == 0);
  return capsule;
}
static void *release_lock(void) {
  ++locks;
  return &locks;
}
static void take_lock(void *state) {
  CHECK(state == &locks);
  locks = -1;
}
static int32_t without_lock(const void *args) {
  return locks == 1 ? count(args) : -1;
}

static void test_capsules(void) {
  enum { many = 40, few = 3 };
  attn_rt_dlpack_port wide[many];
  void *list[many];
  for (int i = 0; i < many; ++i) {
    wide[i] = ports[0];
    list[i] = &x;
  }
  attn_rt_capsule_kernel python = {{without_lock, few, 0, wide},
                                   item_of,
                                   pointer_of,
                                   release_lock,
                                   take_lock};
  for (int32_t n = few; n <= many; n += many - few) {
    python.kernel.num_inputs = n;
    locks = 0;
    CHECK(attn_rt_run_capsules(&python, list, 0, 1) ==
          -(int32_t)(sizeof(size_t) + (size_t)n * sizeof(attn_tensor) +
                     sizeof(attn_rt_call)));
    CHECK(locks == -1);
  }
  python.kernel.num_inputs = 2; /* the result is the arguments' memory */
  python.kernel.num_outputs = 1;
  locks = 0;
  CHECK(attn_rt_run_capsules(&python, list, 0, 1) ==
        2 * ATTN_DLPACK_REASONS + ATTN_DLPACK_OVERLAP);
  locks = 0;
  CHECK(attn_rt_run_capsules(&python, list, 0, 0) < 0);
  list[1] = NULL; /* Python's functions fail, and the lock is still held */
  locks = 0;
  CHECK(attn_rt_run_capsules(&python, list, 0, 1) ==
        ATTN_DLPACK_REASONS + ATTN_DLPACK_CAPSULE);
  CHECK(locks == 0);
}

static attn_rt_gpu_settings settings;

static int32_t write_down_settings(const void *args) {
  memcpy(&settings,
         (const char *)args + sizeof(size_t) + PORTS * sizeof(attn_tensor),
         sizeof settings);
  return *(const size_t *)args ==
                 sizeof(size_t) + PORTS * sizeof(attn_tensor) + sizeof settings
             ? -7
             : -2;
}

/* A GPU's memory goes with kernels that have code for one alone. */
static void test_gpu(void) {
  attn_rt_dlpack_kernel gpu = kernel;
  gpu.run = write_down_settings;
  x.device_type = 2;
  y.device_type = 13;
  int stream;
  CHECK(attn_rt_run_dlpack(&gpu, tensors, 3, 1) == ATTN_DLPACK_DEVICE);
  CHECK(attn_rt_run_dlpack_on(&gpu, tensors, 3, 1, &stream) == -7);
  CHECK(settings.stream == &stream && settings.threads == 3);
  CHECK(settings.device == 0 && !settings.workspace);
  x.device_type = 10; /* AMD's */
  CHECK(attn_rt_run_dlpack_on(&gpu, tensors, 3, 1, NULL) == ATTN_DLPACK_DEVICE);
  reset();
}

void test_dlpack(void) {
  reset();
  test_tensors();
  test_small();
  test_wrong();
  test_overlap();
  test_many();
  test_capsules();
  test_gpu();
}
