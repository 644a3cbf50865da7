// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* The file is mapped, not read: processes share its pages, and what a call does
 * not touch takes no memory. Size and first bytes, which hold a hash of all
 * others, are compared before anything is read; a file that is changed while it
 * is mapped is like a library that is. */
#define _GNU_SOURCE
#include "attn-rt/weights.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Keeps a mapping, unless another thread was first. It stays until the process
 * ends: at its exit, other threads may still be in a call. */
static void keep(attn_rt_weights *weights, void *data) {
  void *none = NULL;
  if (!__atomic_compare_exchange_n(&weights->data, &none, data, 0,
                                   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    munmap(data, (size_t)weights->bytes);
}

static int32_t map_open(attn_rt_weights *weights, int file) {
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size != weights->bytes)
    return ATTN_RT_WEIGHTS_OTHER;
  size_t bytes = (size_t)weights->bytes;
  void *data = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
  if (data == MAP_FAILED)
    return ATTN_RT_WEIGHTS_UNMAPPED;
  if (memcmp(data, weights->begin, (size_t)weights->begin_bytes) != 0) {
    munmap(data, bytes);
    return ATTN_RT_WEIGHTS_OTHER;
  }
  keep(weights, data);
  return 0;
}

/* A pipe must not wait for a writer. */
static int open_to_read(const char *path) {
  return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static int32_t map_file(attn_rt_weights *weights, const char *path) {
  int file = open_to_read(path);
  if (file < 0)
    return ATTN_RT_WEIGHTS_MISSING;
  int32_t status = map_open(weights, file);
  close(file);
  return status;
}

static const char *name_in(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* The file under its own name in a folder, whose name has `length` letters. */
static int32_t map_in(attn_rt_weights *weights, const char *folder,
                      size_t length) {
  char path[PATH_MAX];
  int count = snprintf(path, sizeof path, "%.*s/%s", (int)length, folder,
                       name_in(weights->path));
  if (count < 0 || (size_t)count >= sizeof path)
    return ATTN_RT_WEIGHTS_MISSING;
  return map_file(weights, path);
}

/* The file, or the folder that holds it. */
static int32_t map_at(attn_rt_weights *weights, const char *path) {
  struct stat status;
  if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
    return map_in(weights, path, strlen(path));
  return map_file(weights, path);
}

/* In the folder of the library or program that holds the object. A program that
 * was found by PATH does not know its folder by its name. */
static int32_t map_beside(attn_rt_weights *weights) {
  char program[PATH_MAX];
  const char *path = NULL;
  Dl_info info;
  if (dladdr(weights, &info) && info.dli_fname && strchr(info.dli_fname, '/'))
    path = info.dli_fname;
  if (!path) {
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
      return ATTN_RT_WEIGHTS_MISSING;
    program[length] = '\0';
    path = program;
  }
  const char *slash = strrchr(path, '/');
  return slash ? map_in(weights, path, (size_t)(slash - path))
               : ATTN_RT_WEIGHTS_MISSING;
}

int32_t attn_rt_map_weights(attn_rt_weights *weights, const char *path) {
  if (__atomic_load_n(&weights->data, __ATOMIC_ACQUIRE))
    return 0;
  if (!path)
    path = getenv("ATTN_WEIGHTS");
  if (path && *path)
    return map_at(weights, path);
  int32_t given = map_file(weights, weights->path);
  if (given == 0)
    return 0;
  int32_t beside = map_beside(weights);
  // A wrong file says more than none.
  return beside == ATTN_RT_WEIGHTS_MISSING ? given : beside;
}
