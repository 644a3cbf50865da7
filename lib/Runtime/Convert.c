// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define _GNU_SOURCE
#include "Runtime.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { Alignment = 64, HugePage = ATTN_RT_SPARE_BYTES };

int attn_rt_error(char *error, size_t error_size, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error, error_size, format, arguments);
  va_end(arguments);
  return -1;
}

size_t attn_rt_dtype_size(attn_rt_dtype dtype) {
  switch (dtype) {
#define ATTN_ELEMENT(enumerator, code, type, name, bytes, c_type, descr)       \
  case enumerator:                                                             \
    return bytes;
#include "attn-rt/elements.inc"
  }
  return 0;
}

const char *attn_rt_dtype_name(attn_rt_dtype dtype) {
  switch (dtype) {
#define ATTN_ELEMENT(enumerator, code, type, name, bytes, c_type, descr)       \
  case enumerator:                                                             \
    return name;
#include "attn-rt/elements.inc"
  }
  return "?";
}

int64_t attn_rt_array_count(const attn_rt_array *array) {
  int64_t count = 1;
  for (int32_t i = 0; i < array->rank; ++i)
    count *= array->shape[i];
  return count;
}

int64_t attn_rt_array_bytes(const attn_rt_array *array) {
  int64_t bytes = (int64_t)attn_rt_dtype_size(array->dtype);
  bool empty = false, too_large = false;
  for (int32_t i = 0; i < array->rank; ++i) {
    // A zero does not make the product of the other sizes small: strides and
    // counts are made of these.
    empty |= array->shape[i] == 0;
    if (array->shape[i] != 0)
      too_large |= __builtin_mul_overflow(bytes, array->shape[i], &bytes);
  }
  if (too_large || bytes > PTRDIFF_MAX - HugePage)
    return -1;
  return empty ? 0 : bytes;
}

// Kernels read rows far apart: on small pages, finding them takes longer than
// reading them. The advice is only that, so its result does not matter.
void *attn_rt_aligned_alloc(int64_t bytes) {
  size_t unit = bytes < 2 * HugePage ? Alignment : HugePage;
  size_t size = ((size_t)bytes + unit) / unit * unit;
  void *memory = aligned_alloc(unit, size);
#ifdef MADV_HUGEPAGE
  if (memory && unit == HugePage)
    (void)madvise(memory, size, MADV_HUGEPAGE);
#endif
  return memory;
}

int attn_rt_array_allocate(attn_rt_array *array, char *error,
                           size_t error_size) {
  int64_t bytes = attn_rt_array_bytes(array);
  array->data = NULL;
  if (bytes < 0)
    return attn_rt_error(error, error_size, "the shape is too large");
  array->data = attn_rt_aligned_alloc(bytes);
  if (!array->data)
    return attn_rt_error(error, error_size, "cannot allocate %lld bytes",
                         (long long)bytes);
  return 0;
}

void attn_rt_array_free(attn_rt_array *array) {
  free(array->data);
  array->data = NULL;
}

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double from_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// Rounds a magnitude to `precision` significant bits, fewer where its exponent
// is below the smallest normal one: adding and taking away a number whose last
// bit has the weight of the last bit wanted.
static double round_magnitude(double magnitude, int precision,
                              int min_exponent) {
  int exponent = (int)(bits_of(magnitude) >> 52) - 1023;
  if (exponent < min_exponent)
    exponent = min_exponent;
  uint64_t biased = (uint64_t)(exponent + 52 - (precision - 1) + 1023);
  double shift = from_bits(biased << 52 | UINT64_C(1) << 51);
  volatile double sum = magnitude + shift;
  return sum - shift;
}

uint16_t attn_rt_f16_from_double(double value) {
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  double magnitude = fabs(value);
  if (isnan(value))
    return sign | 0x7e00;
  if (magnitude >= 65520)
    return sign | 0x7c00;
  magnitude = round_magnitude(magnitude, 11, -14);
  if (magnitude < 0x1p-14)
    return sign | (uint16_t)(magnitude * 0x1p24);
  uint64_t bits = bits_of(magnitude) - ((uint64_t)(1023 - 15) << 52);
  return sign | (uint16_t)(bits >> 42);
}

uint16_t attn_rt_bf16_from_double(double value) {
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  double magnitude = fabs(value);
  if (isnan(value))
    return sign | 0x7fc0;
  if (magnitude >= 0x1.ffp127)
    return sign | 0x7f80;
  // An f32 with zeros in its lower half.
  float single = (float)round_magnitude(magnitude, 8, -126);
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  return sign | (uint16_t)(bits >> 16);
}

static double f16_to_double(uint16_t bits) {
  uint64_t exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  double magnitude;
  if (exponent == 31)
    magnitude = fraction ? NAN : INFINITY;
  else if (exponent == 0)
    magnitude = (double)fraction * 0x1p-24;
  else
    magnitude = from_bits((exponent + 1023 - 15) << 52 | fraction << 42);
  return bits & 0x8000 ? -magnitude : magnitude;
}

static double bf16_to_double(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float single;
  memcpy(&single, &wide, sizeof single);
  return single;
}

bool attn_rt_is_float(attn_rt_dtype dtype) {
  return dtype == ATTN_F32 || dtype == ATTN_F64 || dtype == ATTN_F16 ||
         dtype == ATTN_BF16;
}

double attn_rt_load_float(attn_rt_dtype dtype, const void *data,
                          int64_t index) {
  switch (dtype) {
  case ATTN_F32:
    return ((const float *)data)[index];
  case ATTN_F64:
    return ((const double *)data)[index];
  case ATTN_F16:
    return f16_to_double(((const uint16_t *)data)[index]);
  case ATTN_BF16:
    return bf16_to_double(((const uint16_t *)data)[index]);
  case ATTN_BOOL:
  case ATTN_I32:
  case ATTN_I64:
    break;
  }
  return NAN; // no float
}

void attn_rt_store_float(attn_rt_dtype dtype, void *data, int64_t index,
                         double value) {
  switch (dtype) {
  case ATTN_F32:
    ((float *)data)[index] = (float)value;
    break;
  case ATTN_F64:
    ((double *)data)[index] = value;
    break;
  case ATTN_F16:
    ((uint16_t *)data)[index] = attn_rt_f16_from_double(value);
    break;
  case ATTN_BF16:
    ((uint16_t *)data)[index] = attn_rt_bf16_from_double(value);
    break;
  case ATTN_BOOL:
  case ATTN_I32:
  case ATTN_I64:
    break; // no float
  }
}

int64_t attn_rt_load_int(attn_rt_dtype dtype, const void *data, int64_t index) {
  switch (dtype) {
  case ATTN_BOOL:
    return ((const uint8_t *)data)[index] != 0;
  case ATTN_I32:
    return ((const int32_t *)data)[index];
  case ATTN_I64:
    return ((const int64_t *)data)[index];
  case ATTN_F32:
  case ATTN_F64:
  case ATTN_F16:
  case ATTN_BF16:
    break;
  }
  return 0; // no integer
}

void attn_rt_store_int(attn_rt_dtype dtype, void *data, int64_t index,
                       int64_t value) {
  switch (dtype) {
  case ATTN_BOOL:
    ((uint8_t *)data)[index] = value != 0;
    break;
  case ATTN_I32:
    ((int32_t *)data)[index] = (int32_t)value;
    break;
  case ATTN_I64:
    ((int64_t *)data)[index] = value;
    break;
  case ATTN_F32:
  case ATTN_F64:
  case ATTN_F16:
  case ATTN_BF16:
    break; // no integer
  }
}
