// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runtime.h"

#include <stdlib.h>
#include <string.h>

const attn_rt_binding *attn_rt_find_binding(const attn_rt_bindings *bindings,
                                            const char *symbol) {
  for (int32_t i = 0; i < bindings->count; ++i)
    if (strcmp(bindings->entries[i].symbol, symbol) == 0)
      return &bindings->entries[i];
  return NULL;
}

int attn_rt_bind_shape(attn_rt_bindings *bindings, const attn_rt_port *port,
                       const attn_rt_array *array, char *error,
                       size_t error_size) {
  char type[ATTN_RT_LINE];
  attn_rt_format_type(port, type, sizeof type);
  if (array->rank != port->rank)
    return attn_rt_error(error, error_size, "rank is %d, expected %d (%s)",
                         array->rank, port->rank, type);
  for (int32_t i = 0; i < port->rank; ++i) {
    const char *symbol = port->symbols[i];
    long long found = array->shape[i];
    if (port->shape[i] >= 0) {
      if (found != port->shape[i])
        return attn_rt_error(error, error_size,
                             "dimension %d is %lld, expected %lld (%s)", i,
                             found, (long long)port->shape[i], type);
      continue;
    }
    const attn_rt_binding *bound = attn_rt_find_binding(bindings, symbol);
    if (!bound) {
      bindings->entries[bindings->count++] =
          (attn_rt_binding){symbol, found, port->name};
    } else if (bound->size != found) {
      const char *quote = bound->from ? "'" : "";
      return attn_rt_error(
          error, error_size,
          "dimension %d is %lld, expected %lld (%s, from %s%s%s)", i, found,
          (long long)bound->size, symbol, quote,
          bound->from ? bound->from : "--dim", quote);
    }
  }
  return 0;
}

/* Reads a size that is computed of others, as include/attn's SizeText.h says:
 * sum = product {(+|-) product}; product = atom {(*|/) atom};
 * atom = number | name | ( sum ) | (max|min)( sum , sum ). */
typedef struct {
  const attn_rt_bindings *bindings;
  const char *at;
  bool known; /* every name is bound */
} size_reader;

static int64_t read_sum(size_reader *r);

/* Behind its first parenthesis. */
static int64_t read_extreme(size_reader *r, bool is_max) {
  int64_t left = read_sum(r);
  ++r->at;
  int64_t right = read_sum(r);
  ++r->at;
  return (left > right) == is_max ? left : right;
}

static int64_t read_atom(size_reader *r) {
  if (strncmp(r->at, "max(", 4) == 0 || strncmp(r->at, "min(", 4) == 0) {
    bool is_max = r->at[1] == 'a';
    r->at += 4;
    return read_extreme(r, is_max);
  }
  if (*r->at == '(') {
    ++r->at;
    int64_t size = read_sum(r);
    ++r->at;
    return size;
  }
  if (*r->at >= '0' && *r->at <= '9')
    return strtoll(r->at, (char **)&r->at, 10);
  size_t length = strcspn(r->at, "+-*/(),");
  const char *name = r->at;
  r->at += length;
  for (int32_t i = 0; i < r->bindings->count; ++i) {
    const char *symbol = r->bindings->entries[i].symbol;
    if (strlen(symbol) == length && strncmp(symbol, name, length) == 0)
      return r->bindings->entries[i].size;
  }
  r->known = false;
  return 1;
}

/* Sizes wrap around, as in the function's own check. */
static int64_t read_product(size_reader *r) {
  int64_t left = read_atom(r);
  while (*r->at == '*' || *r->at == '/') {
    bool quotient = *r->at++ == '/';
    int64_t right = read_atom(r);
    if (!quotient)
      left = (int64_t)((uint64_t)left * (uint64_t)right);
    else if (right > 0)
      left = left / right - (left % right < 0);
  }
  return left;
}

static int64_t read_sum(size_reader *r) {
  bool negative = *r->at == '-';
  r->at += negative;
  uint64_t sum = (uint64_t)read_product(r);
  sum = negative ? 0 - sum : sum;
  while (*r->at == '+' || *r->at == '-') {
    bool minus = *r->at++ == '-';
    uint64_t next = (uint64_t)read_product(r);
    sum += minus ? 0 - next : next;
  }
  return (int64_t)sum;
}

const char *attn_rt_port_shape(const attn_rt_bindings *bindings,
                               const attn_rt_port *port, attn_rt_array *array) {
  memset(array, 0, sizeof *array);
  array->dtype = (attn_rt_dtype)port->dtype;
  array->rank = port->rank;
  for (int32_t i = 0; i < port->rank; ++i) {
    array->shape[i] = port->shape[i];
    if (port->shape[i] >= 0)
      continue;
    size_reader reader = {bindings, port->symbols[i], true};
    int64_t size = read_sum(&reader);
    array->shape[i] = size < 0 ? 0 : size; /* the function refuses it */
    if (!reader.known)
      return port->symbols[i];
  }
  return NULL;
}
