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

/* The size that a name stands for, or several and numbers joined by '+'; -1 if
 * a name is not bound. */
static int64_t size_of(const attn_rt_bindings *bindings, const char *sum) {
  int64_t size = 0;
  while (*sum) {
    size_t length = strcspn(sum, "+");
    int64_t one = -1;
    if (*sum >= '0' && *sum <= '9')
      one = strtoll(sum, NULL, 10);
    for (int32_t i = 0; one < 0 && i < bindings->count; ++i) {
      const char *symbol = bindings->entries[i].symbol;
      if (strlen(symbol) == length && strncmp(symbol, sum, length) == 0)
        one = bindings->entries[i].size;
    }
    if (one < 0)
      return -1;
    size += one;
    sum += length + (sum[length] == '+');
  }
  return size;
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
    array->shape[i] = size_of(bindings, port->symbols[i]);
    if (array->shape[i] < 0)
      return port->symbols[i];
  }
  return NULL;
}
