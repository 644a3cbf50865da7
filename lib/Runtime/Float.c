// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runtime.h"

#include <stdlib.h>
#include <string.h>

double attn_rt_round_to(attn_rt_dtype dtype, double value) {
  uint64_t cell;
  attn_rt_store_float(dtype, &cell, 0, value);
  return attn_rt_load_float(dtype, &cell, 0);
}

static bool means(attn_rt_dtype dtype, double value,
                  const attn_rt_decimal *decimal) {
  char text[48];
  snprintf(text, sizeof text, "%s%c.%se%d", decimal->negative ? "-" : "",
           decimal->digits[0], decimal->digits + 1, decimal->exponent);
  // Rounding to f64 first and then to f32 could round a tie the wrong way.
  if (dtype == ATTN_F32)
    return strtof(text, NULL) == (float)value;
  return attn_rt_round_to(dtype, strtod(text, NULL)) == value;
}

static attn_rt_decimal nearest(double value, int count) {
  attn_rt_decimal decimal = {.count = count};
  char text[48], *at = text, *out = decimal.digits;
  snprintf(text, sizeof text, "%.*e", count - 1, value);
  decimal.negative = *at == '-';
  at += decimal.negative;
  for (; *at != 'e'; ++at)
    if (*at != '.')
      *out++ = *at;
  *out = 0;
  decimal.exponent = atoi(at + 1);
  return decimal;
}

// The next number of as many digits, away from zero.
static attn_rt_decimal next_up(attn_rt_decimal decimal) {
  int i = decimal.count - 1;
  while (i >= 0 && decimal.digits[i] == '9')
    decimal.digits[i--] = '0';
  if (i >= 0) {
    ++decimal.digits[i];
  } else {
    decimal.digits[0] = '1';
    ++decimal.exponent;
  }
  return decimal;
}

attn_rt_decimal attn_rt_shortest(attn_rt_dtype dtype, double value) {
  for (int count = 1;; ++count) {
    attn_rt_decimal decimal = nearest(value, count);
    // 17 digits are enough for every f64.
    if (count == 17 || means(dtype, value, &decimal))
      return decimal;
    // The values above a power of two are twice as far as those below: there a
    // number above may do where the nearest one, below, does not.
    decimal = next_up(decimal);
    if (means(dtype, value, &decimal))
      return decimal;
  }
}
