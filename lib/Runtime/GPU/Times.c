/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How long the kernels of a call take, by two events of its stream around them.
 * What is copied before and behind is not in it. */
#define _GNU_SOURCE
#include "Driver.h"

static _Thread_local struct {
  bool wanted;
  gpu_handle begin, end;
  double seconds;
} times = {.seconds = -1};

void attn_rt_gpu_time_calls(int32_t wanted) {
  times.wanted = wanted != 0;
  times.seconds = -1;
}

double attn_rt_gpu_seconds(void) { return times.seconds; }

static void destroy(const gpu_driver *driver, gpu_handle *event) {
  if (*event)
    driver->EventDestroy(*event);
  *event = NULL;
}

/* A driver that makes no events leaves the call without a time. */
void gpu_begin_time(const gpu_driver *driver, const attn_rt_gpu_call *call) {
  times.seconds = -1;
  if (!times.wanted || driver->EventCreate(&times.begin, 0))
    return;
  if (driver->EventCreate(&times.end, 0) ||
      driver->EventRecord(times.begin, call->stream)) {
    destroy(driver, &times.begin);
    destroy(driver, &times.end);
  }
}

void gpu_end_time(const gpu_driver *driver, const attn_rt_gpu_call *call) {
  float milliseconds = 0;
  if (!times.begin)
    return;
  if (!call->failure && !driver->EventRecord(times.end, call->stream) &&
      !driver->EventSynchronize(times.end) &&
      !driver->EventElapsedTime(&milliseconds, times.begin, times.end))
    times.seconds = 1e-3 * (double)milliseconds;
  destroy(driver, &times.begin);
  destroy(driver, &times.end);
}
