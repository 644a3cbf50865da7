// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// No text may end the script element that holds the data; JavaScript of before
// 2019 knows no U+2028 and U+2029 in a string.
void attn_rt_json_text(FILE *file, const char *text) {
  putc('"', file);
  for (const char *at = text; *at; ++at) {
    unsigned char c = (unsigned char)*at;
    bool is_separator = strncmp(at, "\xe2\x80\xa8", 3) == 0 ||
                        strncmp(at, "\xe2\x80\xa9", 3) == 0;
    if (is_separator) {
      fprintf(file, "\\u20%02x", (unsigned char)at[2] - 0x80);
      at += 2;
    } else if (c < 0x20 || c == '<' || c == '>' || c == '&') {
      fprintf(file, "\\u%04x", c);
    } else {
      if (c == '"' || c == '\\')
        putc('\\', file);
      putc(c, file);
    }
  }
  putc('"', file);
}

// Six digits, and no negative zero.
static double rounded(double value) {
  char text[32];
  if (!isfinite(value))
    return value;
  snprintf(text, sizeof text, "%.6g", value);
  value = strtod(text, NULL);
  return value == 0 ? 0 : value;
}

void attn_rt_json_number(FILE *file, double value) {
  if (isfinite(value))
    fprintf(file, "%.6g", rounded(value));
  else if (isnan(value))
    fputs("\"NaN\"", file);
  else
    fputs(value > 0 ? "\"Infinity\"" : "null", file);
}

void attn_rt_json_labels(FILE *file, const char *const *labels, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    putc(i ? ',' : '[', file);
    if (labels)
      attn_rt_json_text(file, labels[i]);
    else
      fprintf(file, "\"%lld\"", (long long)i);
  }
  putc(']', file);
}

void attn_rt_json_integers(FILE *file, const int64_t *values, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    fprintf(file, "%c%lld", i ? ',' : '[', (long long)values[i]);
  putc(']', file);
}

static void write_lists(FILE *file, const attn_rt_numbers *numbers, int32_t dim,
                        int64_t at) {
  if (dim == numbers->rank) {
    attn_rt_json_number(file, numbers->data[at]);
    return;
  }
  int64_t size = numbers->shape[dim];
  for (int64_t i = 0; i < size; ++i) {
    putc(i ? ',' : '[', file);
    write_lists(file, numbers, dim + 1, at * size + i);
  }
  putc(']', file);
}

// Bytes one by one, as base64.
typedef struct {
  FILE *file;
  uint32_t bits;
  int count;
} base64;

static const char digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_byte(base64 *to, unsigned byte) {
  to->bits = to->bits << 8 | (byte & 0xff);
  if (++to->count < 3)
    return;
  for (int shift = 18; shift >= 0; shift -= 6)
    putc(digits[to->bits >> shift & 63], to->file);
  to->bits = 0;
  to->count = 0;
}

static void end_base64(base64 *to) {
  int count = to->count;
  if (count == 0)
    return;
  uint32_t bits = to->bits << 8 * (3 - count);
  for (int i = 0; i < 4; ++i)
    putc(i <= count ? digits[bits >> (18 - 6 * i) & 63] : '=', to->file);
}

static void put_number(base64 *to, int32_t bytes, double value) {
  float single = (float)value;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  if (bytes == 2)
    bits = attn_rt_f16_from_double(value);
  for (int32_t i = 0; i < bytes; ++i)
    put_byte(to, bits >> 8 * i);
}

static void write_packed(FILE *file, const attn_rt_numbers *numbers,
                         int64_t count) {
  double largest = 0, unit = 1;
  for (int64_t i = 0; i < count; ++i) {
    double size = fabs(rounded(numbers->data[i]));
    if (isfinite(size) && size > largest)
      largest = size;
  }
  if (numbers->packed == 2 && largest > 0) {
    int exponent;
    frexp(largest, &exponent);
    unit = ldexp(1, exponent - 1);
  }
  fprintf(file, "{\"packed\":\"f%d\",\"shape\":", numbers->packed);
  for (int32_t i = 0; i < numbers->rank; ++i)
    fprintf(file, "%c%lld", i ? ',' : '[', (long long)numbers->shape[i]);
  fprintf(file, "],\"unit\":%.17g,\"base64\":\"", unit);
  base64 to = {file, 0, 0};
  for (int64_t i = 0; i < count; ++i)
    put_number(&to, numbers->packed, rounded(numbers->data[i]) / unit);
  end_base64(&to);
  fputs("\"}", file);
}

void attn_rt_json_numbers(FILE *file, const attn_rt_numbers *numbers) {
  int64_t count = 1;
  for (int32_t i = 0; i < numbers->rank; ++i)
    count *= numbers->shape[i];
  if (numbers->packed)
    write_packed(file, numbers, count);
  else
    write_lists(file, numbers, 0, 0);
}
