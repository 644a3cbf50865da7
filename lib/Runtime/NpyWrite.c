// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define _GNU_SOURCE
#include "Runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_all(int fd, const void *data, size_t size) {
  const char *at = data;
  while (size) {
    ssize_t written = write(fd, at, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    at += written;
    size -= (size_t)written;
  }
  return true;
}

static bool write_array(int fd, const attn_rt_array *array) {
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
  return write_all(fd, header, (size_t)end) &&
         write_all(fd, array->data, bytes);
}

static int cannot_write(char *error, size_t error_size) {
  return attn_rt_error(error, error_size, "cannot write: %s", strerror(errno));
}

// Pipes and devices cannot be replaced by a rename.
static int write_in_place(const char *path, const attn_rt_array *array,
                          char *error, size_t error_size) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    return cannot_write(error, error_size);
  bool ok = write_array(fd, array);
  ok = close(fd) == 0 && ok;
  return ok ? 0 : cannot_write(error, error_size);
}

int attn_rt_npy_stage(const char *path, const attn_rt_array *array,
                      attn_rt_npy_file *file, char *error, size_t error_size) {
  struct stat info;
  memset(file, 0, sizeof *file);
  bool exists = stat(path, &info) == 0;
  if (exists && !S_ISREG(info.st_mode))
    return write_in_place(path, array, error, error_size);
  // A link stays, and the file behind it is replaced.
  file->target = exists ? realpath(path, NULL) : strdup(path);
  int fd =
      file->target ? attn_rt_create_beside(file->target, &file->temporary) : -1;
  if (fd < 0) {
    int result = cannot_write(error, error_size);
    attn_rt_npy_discard(file);
    return result;
  }
  bool ok = write_array(fd, array);
  ok = close(fd) == 0 && ok;
  if (ok)
    return 0;
  int result = cannot_write(error, error_size);
  attn_rt_npy_discard(file);
  return result;
}

int attn_rt_npy_commit(attn_rt_npy_file *file, char *error, size_t error_size) {
  return attn_rt_npy_commit_all(file, 1, error, error_size) < 0 ? 0 : -1;
}

int32_t attn_rt_npy_commit_all(attn_rt_npy_file *files, int32_t count,
                               char *error, size_t error_size) {
  int32_t failed = attn_rt_replace_all(files, count);
  if (failed >= 0)
    cannot_write(error, error_size);
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
