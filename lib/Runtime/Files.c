// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that take the place of others, all of them or none.
#define _GNU_SOURCE
#include "Runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Bytes of `path` up to its last '/', which is among them.
static int folder_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (int)(slash + 1 - path) : 0;
}

// mkstemp would ignore the process' umask. The name is short, since that of the
// target may be as long as a name can be.
int attn_rt_create_beside(const char *target, char **path) {
  for (unsigned attempt = 0; attempt < 1000; ++attempt) {
    if (asprintf(path, "%.*sattn-%ld-%u.tmp", folder_length(target), target,
                 (long)getpid(), attempt) < 0) {
      *path = NULL;
      errno = ENOMEM;
      return -1;
    }
    int fd = open(*path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0)
      return fd;
    free(*path);
    *path = NULL;
    if (errno != EEXIST)
      return -1;
  }
  return -1;
}

// The folder without links, and the name in it.
static char *canonical(const char *path) {
  int length = folder_length(path);
  char *folder = length ? strndup(path, (size_t)length) : strdup(".");
  char *real = folder ? realpath(folder, NULL) : NULL, *result = NULL;
  if (real && asprintf(&result, "%s/%s", real, path + length) < 0)
    result = NULL;
  free(folder);
  free(real);
  return result;
}

bool attn_rt_same_file(const char *a, const char *b) {
  struct stat x, y;
  bool has_a = stat(a, &x) == 0, has_b = stat(b, &y) == 0;
  if (has_a && has_b)
    return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
  if (has_a || has_b)
    return false;
  char *first = canonical(a), *second = canonical(b);
  bool same = first && second && strcmp(first, second) == 0;
  free(first);
  free(second);
  return same;
}

// Keeps what stands at `target` under a second name, null if nothing does.
// Where the file system has no second names, it is moved there.
static bool back_up(const char *target, char **backup) {
  struct stat info;
  if (stat(target, &info) != 0)
    return true;
  if (!S_ISREG(info.st_mode)) {
    errno = EEXIST;
    return false;
  }
  int fd = attn_rt_create_beside(target, backup);
  if (fd < 0)
    return false;
  close(fd);
  unlink(*backup);
  if (link(target, *backup) == 0 || rename(target, *backup) == 0)
    return true;
  int why = errno;
  free(*backup);
  *backup = NULL;
  errno = why;
  return false;
}

static void restore(const attn_rt_npy_file *file, const char *backup) {
  if (backup) {
    rename(backup, file->target);
    unlink(backup); // where both are one file still, a rename does nothing
  } else if (file->target && !file->temporary) {
    unlink(file->target);
  }
}

// The index of the first file that cannot take its place, or -1.
static int32_t replace(attn_rt_npy_file *files, int32_t count, char **backups) {
  // A single rename happens or does not; several need a way back.
  for (int32_t i = 0; i < count && count > 1; ++i)
    if (files[i].temporary && !back_up(files[i].target, &backups[i]))
      return i;
  for (int32_t i = 0; i < count; ++i) {
    if (!files[i].temporary)
      continue;
    if (rename(files[i].temporary, files[i].target) != 0)
      return i;
    free(files[i].temporary);
    files[i].temporary = NULL;
  }
  return -1;
}

int32_t attn_rt_replace_all(attn_rt_npy_file *files, int32_t count) {
  char **backups = calloc((size_t)count + 1, sizeof *backups);
  if (!backups) {
    errno = ENOMEM;
    return 0;
  }
  int32_t failed = replace(files, count, backups);
  int why = errno;
  for (int32_t i = 0; i < count; ++i) {
    if (failed >= 0)
      restore(&files[i], backups[i]);
    else if (backups[i])
      unlink(backups[i]);
    free(backups[i]);
  }
  free(backups);
  errno = why;
  return failed;
}

bool attn_rt_write_all(int file, const void *data, size_t size) {
  const char *at = data;
  while (size) {
    ssize_t written = write(file, at, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    at += written;
    size -= (size_t)written;
  }
  return true;
}

int attn_rt_cannot_write(char *error, size_t error_size) {
  return attn_rt_error(error, error_size, "cannot write: %s", strerror(errno));
}

static int write_and_close(int fd, attn_rt_content *content, const void *what,
                           char *error, size_t error_size) {
  bool ok = content(fd, what);
  ok = close(fd) == 0 && ok;
  return ok ? 0 : attn_rt_cannot_write(error, error_size);
}

int attn_rt_stage(const char *path, attn_rt_content *content, const void *what,
                  attn_rt_npy_file *file, char *error, size_t error_size) {
  struct stat info;
  memset(file, 0, sizeof *file);
  bool exists = stat(path, &info) == 0;
  // Pipes and devices cannot be replaced by a rename.
  if (exists && !S_ISREG(info.st_mode)) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? attn_rt_cannot_write(error, error_size)
                  : write_and_close(fd, content, what, error, error_size);
  }
  // A link stays, and the file behind it is replaced.
  file->target = exists ? realpath(path, NULL) : strdup(path);
  int fd =
      file->target ? attn_rt_create_beside(file->target, &file->temporary) : -1;
  // A file that is replaced stays as private as it was.
  if (fd >= 0 && exists)
    (void)fchmod(fd, info.st_mode & 07777);
  int result = fd < 0 ? attn_rt_cannot_write(error, error_size)
                      : write_and_close(fd, content, what, error, error_size);
  if (result)
    attn_rt_npy_discard(file);
  return result;
}
