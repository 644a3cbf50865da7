// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define _GNU_SOURCE
#include "Runtime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int short_file(FILE *file, char *error, size_t error_size,
                      const char *what) {
  if (ferror(file))
    return attn_rt_error(error, error_size, "cannot read: %s", strerror(errno));
  return attn_rt_error(error, error_size, "%s", what);
}

static int read_header(FILE *file, attn_rt_npy_header *header, char *error,
                       size_t error_size) {
  enum { MaxHeader = 1 << 20 };
  unsigned char start[12];
  errno = 0;
  if (fread(start, 1, 8, file) != 8 || memcmp(start, "\x93NUMPY", 6) != 0)
    return short_file(file, error, error_size, "not a .npy file");
  if (start[6] < 1 || start[6] > 3)
    return attn_rt_error(error, error_size,
                         ".npy version %d is not supported, expected 1 to 3",
                         start[6]);
  size_t size_bytes = start[6] == 1 ? 2 : 4, length = 0;
  if (fread(start + 8, 1, size_bytes, file) != size_bytes)
    return short_file(file, error, error_size, "truncated in the header");
  for (size_t i = 0; i < size_bytes; ++i)
    length |= (size_t)start[8 + i] << 8 * i;
  if (length > MaxHeader)
    return attn_rt_error(error, error_size,
                         "not a .npy file: malformed header");
  char *text = calloc(length + 1, 1);
  if (!text)
    return attn_rt_error(error, error_size, "cannot allocate %zu bytes",
                         length + 1);
  int result;
  if (fread(text, 1, length, file) != length)
    result = short_file(file, error, error_size, "truncated in the header");
  else if (strlen(text) != length)
    result =
        attn_rt_error(error, error_size, "not a .npy file: malformed header");
  else
    result = attn_rt_npy_parse_header(text, header, error, error_size);
  free(text);
  return result;
}

static void swap_bytes(unsigned char *data, size_t size, int64_t count) {
  for (int64_t i = 0; i < count; ++i, data += size)
    for (size_t a = 0, b = size - 1; a < b; ++a, --b) {
      unsigned char byte = data[a];
      data[a] = data[b];
      data[b] = byte;
    }
}

static int fortran_to_c(attn_rt_array *array, char *error, size_t error_size) {
  attn_rt_array sorted = *array;
  if (attn_rt_array_allocate(&sorted, error, error_size))
    return -1;
  size_t size = attn_rt_dtype_size(array->dtype);
  int64_t strides[ATTN_MAX_RANK], index[ATTN_MAX_RANK] = {0}, stride = 1;
  for (int32_t i = 0; i < array->rank; ++i) {
    strides[i] = stride;
    stride *= array->shape[i];
  }
  int64_t count = attn_rt_array_count(array), from = 0;
  for (int64_t to = 0; to < count; ++to) {
    memcpy((char *)sorted.data + to * size, (char *)array->data + from * size,
           size);
    for (int32_t i = array->rank - 1; i >= 0; --i) {
      from += strides[i];
      if (++index[i] < array->shape[i])
        break;
      from -= strides[i] * array->shape[i];
      index[i] = 0;
    }
  }
  attn_rt_array_free(array);
  *array = sorted;
  return 0;
}

// A header may claim any size: what a regular file cannot hold is refused
// before memory is asked for.
static int check_size(FILE *file, int64_t bytes, char *error,
                      size_t error_size) {
  struct stat info;
  off_t position = ftello(file);
  if (fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode) || position < 0)
    return 0;
  int64_t found = info.st_size - position;
  if (found < bytes)
    return attn_rt_error(error, error_size,
                         "truncated: %lld bytes of data, expected %lld",
                         (long long)(found < 0 ? 0 : found), (long long)bytes);
  return 0;
}

// Other files tell no size: memory grows with what was read.
static int read_data(FILE *file, attn_rt_array *array, int64_t bytes,
                     char *error, size_t error_size) {
  enum { Start = 1 << 20 };
  struct stat info;
  bool regular = fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode);
  int64_t capacity = regular || bytes < Start ? bytes : Start, found = 0;
  char *data = attn_rt_aligned_alloc(capacity);
  while (data) {
    found += (int64_t)fread(data + found, 1, (size_t)(capacity - found), file);
    if (found < capacity || capacity == bytes)
      break;
    int64_t larger = capacity > bytes / 2 ? bytes : capacity * 2;
    char *moved = attn_rt_aligned_alloc(larger);
    if (moved)
      memcpy(moved, data, (size_t)found);
    free(data);
    data = moved;
    capacity = larger;
  }
  array->data = data;
  if (!data)
    return attn_rt_error(error, error_size, "cannot allocate %lld bytes",
                         (long long)capacity);
  if (found == bytes)
    return 0;
  attn_rt_array_free(array);
  if (ferror(file))
    return attn_rt_error(error, error_size, "cannot read: %s", strerror(errno));
  return attn_rt_error(error, error_size,
                       "truncated: %lld bytes of data, expected %lld",
                       (long long)found, (long long)bytes);
}

static int read_file(FILE *file, attn_rt_array *array, char *error,
                     size_t error_size) {
  attn_rt_npy_header header;
  if (read_header(file, &header, error, error_size))
    return -1;
  array->dtype = header.dtype;
  array->rank = header.rank;
  memcpy(array->shape, header.shape, sizeof array->shape);
  int64_t bytes = attn_rt_array_bytes(array);
  if (bytes < 0)
    return attn_rt_error(error, error_size, "the shape is too large");
  if (check_size(file, bytes, error, error_size) ||
      read_data(file, array, bytes, error, error_size))
    return -1;
  int64_t count = attn_rt_array_count(array);
  bool host_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
  if (header.big_endian != host_big_endian)
    swap_bytes(array->data, attn_rt_dtype_size(array->dtype), count);
  if (array->dtype == ATTN_BOOL)
    for (int64_t i = 0; i < count; ++i)
      ((uint8_t *)array->data)[i] = ((uint8_t *)array->data)[i] != 0;
  if (header.fortran_order && array->rank > 1 &&
      fortran_to_c(array, error, error_size)) {
    attn_rt_array_free(array);
    return -1;
  }
  return 0;
}

int attn_rt_npy_read(const char *path, attn_rt_array *array, char *error,
                     size_t error_size) {
  memset(array, 0, sizeof *array);
  FILE *file = fopen(path, "rbe");
  if (!file)
    return attn_rt_error(error, error_size, "cannot open: %s", strerror(errno));
  int result = read_file(file, array, error, error_size);
  fclose(file);
  return result;
}
