/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Programs whose kernels are written in C. */
#ifndef ATTN_TEST_RUNTIME_PROGRAMS_H
#define ATTN_TEST_RUNTIME_PROGRAMS_H
#include "Runtime.h"

/* sum = a + b, difference = a - b; fails if the first element of a is 99. */
extern const attn_rt_program add_program;
/* The same with arguments that are called as options are. */
extern const attn_rt_program named_program;
/* copy = every argument, as f32, one after the other. */
extern const attn_rt_program mixed_program;

/* Of add's kernel: the threads of its last call, and its calls. */
extern int32_t last_threads, add_calls;

#endif
