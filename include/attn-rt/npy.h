/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Arrays in memory and in .npy files. Nothing here prints or aborts: a function
 * that can fail returns 0 or -1 and leaves one line, without the file's name,
 * in the caller's buffer. */
#ifndef ATTN_RT_NPY_H
#define ATTN_RT_NPY_H
#include "attn-rt/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A C-contiguous array in the machine's byte order. */
typedef struct {
  attn_rt_dtype dtype;
  int32_t rank;
  int64_t shape[ATTN_MAX_RANK];
  void *data; /* aligned to 64 bytes; never null, even without elements */
} attn_rt_array;

/* Bytes of an element, and its name: "f32", "bool". 0 and "?" if unknown. */
size_t attn_rt_dtype_size(attn_rt_dtype dtype);
const char *attn_rt_dtype_name(attn_rt_dtype dtype);

int64_t attn_rt_array_count(const attn_rt_array *array);

/* Allocates `data`, uninitialised, for the dtype, rank and shape already set.
 */
int attn_rt_array_allocate(attn_rt_array *array, char *error,
                           size_t error_size);
void attn_rt_array_free(attn_rt_array *array);

/* Reads versions 1 to 3, either byte order, C and Fortran order. bf16 is what
 * NumPy's ml_dtypes writes: descr '<V2'. Free the array if the result is 0. */
int attn_rt_npy_read(const char *path, attn_rt_array *array, char *error,
                     size_t error_size);

/* Writes in two steps, so that a file is either whole or as it was before:
 * `stage` writes a temporary file in the directory of `path`, `commit` renames
 * it, `discard` removes it. Exactly one of the latter follows a successful
 * stage. What is not a regular file (a pipe, a device) is written at once. */
typedef struct {
  char *target, *temporary;
} attn_rt_npy_file;
int attn_rt_npy_stage(const char *path, const attn_rt_array *array,
                      attn_rt_npy_file *file, char *error, size_t error_size);
int attn_rt_npy_commit(attn_rt_npy_file *file, char *error, size_t error_size);
/* Commits files that belong together: if one cannot be renamed, every place is
 * as it was before, and that file's index is returned; else -1. */
int32_t attn_rt_npy_commit_all(attn_rt_npy_file *files, int32_t count,
                               char *error, size_t error_size);
void attn_rt_npy_discard(attn_rt_npy_file *file);

/* Stage and commit. */
int attn_rt_npy_write(const char *path, const attn_rt_array *array, char *error,
                      size_t error_size);

#ifdef __cplusplus
}
#endif
#endif
