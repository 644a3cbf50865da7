// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runtime.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool write_array(int fd, const void *what) {
  const attn_rt_array *array = what;
  // Version 1.0: magic, version, length, then the dictionary padded with
  // spaces so that the data begins at a multiple of 64.
  char header[256];
  int at = 10 + snprintf(header + 10, sizeof header - 10,
                         "{'descr': '%s', 'fortran_order': False, 'shape': (",
                         attn_rt_npy_descr(array->dtype));
  for (int32_t i = 0; i < array->rank; ++i)
    at += snprintf(header + at, sizeof header - (size_t)at, "%s%lld",
                   i ? ", " : "", (long long)array->shape[i]);
  at += snprintf(header + at, sizeof header - (size_t)at, "%s), }",
                 array->rank == 1 ? "," : "");
  int end = (at + 1 + 63) / 64 * 64;
  memset(header + at, ' ', (size_t)(end - at - 1));
  header[end - 1] = '\n';
  memcpy(header, "\x93NUMPY\x01\x00", 8);
  header[8] = (char)((end - 10) & 0xff);
  header[9] = (char)((end - 10) >> 8);
  size_t bytes =
      (size_t)attn_rt_array_count(array) * attn_rt_dtype_size(array->dtype);
  return attn_rt_write_all(fd, header, (size_t)end) &&
         attn_rt_write_all(fd, array->data, bytes);
}

int attn_rt_npy_stage(const char *path, const attn_rt_array *array,
                      attn_rt_npy_file *file, char *error, size_t error_size) {
  return attn_rt_stage(path, write_array, array, file, error, error_size);
}

int attn_rt_npy_commit(attn_rt_npy_file *file, char *error, size_t error_size) {
  return attn_rt_npy_commit_all(file, 1, error, error_size) < 0 ? 0 : -1;
}

int32_t attn_rt_npy_commit_all(attn_rt_npy_file *files, int32_t count,
                               char *error, size_t error_size) {
  int32_t failed = attn_rt_replace_all(files, count);
  if (failed >= 0)
    attn_rt_cannot_write(error, error_size);
  for (int32_t i = 0; i < count; ++i)
    attn_rt_npy_discard(&files[i]);
  return failed;
}

void attn_rt_npy_discard(attn_rt_npy_file *file) {
  if (file->temporary)
    unlink(file->temporary);
  free(file->temporary);
  free(file->target);
  memset(file, 0, sizeof *file);
}

int attn_rt_npy_write(const char *path, const attn_rt_array *array, char *error,
                      size_t error_size) {
  attn_rt_npy_file file;
  if (attn_rt_npy_stage(path, array, &file, error, error_size))
    return -1;
  return attn_rt_npy_commit(&file, error, error_size);
}
