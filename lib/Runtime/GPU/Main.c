/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The main of executables with kernels of a GPU. It stands alone, so that
 * others are linked without all that finds a driver. */
#define _GNU_SOURCE
#include "Runtime.h"
#include "attn-rt/gpu.h"

static void choose_device(attn_rt_call *call, int32_t device) {
  ((attn_rt_gpu_settings *)call)->device = device;
}

int attn_rt_gpu_main(const attn_rt_program *program, int argc, char **argv) {
  static const attn_rt_gpu_hooks hooks = {
      sizeof(attn_rt_gpu_settings), choose_device, attn_rt_gpu_why,
      attn_rt_gpu_time_calls, attn_rt_gpu_seconds};
  return attn_rt_run_program(program, &hooks, argc, argv);
}
