// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runtime.h"

#include <string.h>

typedef struct {
  const attn_rt_program *program;
  const attn_rt_options *options;
  attn_rt_bindings *bindings;
  attn_rt_array *inputs;
  bool said_rounded;
} loader;

// f32 is rounded for an argument of a shorter type.
static int convert_type(loader *l, const attn_rt_port *port, const char *path,
                        attn_rt_array *array, char *error, size_t error_size) {
  attn_rt_dtype wanted = (attn_rt_dtype)port->dtype;
  if (array->dtype == wanted)
    return 0;
  if (array->dtype != ATTN_F32 || (wanted != ATTN_F16 && wanted != ATTN_BF16))
    return attn_rt_error(error, error_size, "element type is %s, expected %s",
                         attn_rt_dtype_name(array->dtype),
                         attn_rt_dtype_name(wanted));
  attn_rt_array rounded = *array;
  rounded.dtype = wanted;
  if (attn_rt_array_allocate(&rounded, error, error_size))
    return -1;
  int64_t count = attn_rt_array_count(array);
  for (int64_t i = 0; i < count; ++i)
    attn_rt_store_float(wanted, rounded.data, i,
                        attn_rt_load_float(ATTN_F32, array->data, i));
  attn_rt_array_free(array);
  *array = rounded;
  if (!l->said_rounded)
    fprintf(stderr, "%s: %s: argument '%s': f32 is rounded to %s\n",
            l->options->argv0, path, port->name, attn_rt_dtype_name(wanted));
  l->said_rounded = true;
  return 0;
}

static int load_file(loader *l, int32_t i) {
  const attn_rt_port *port = &l->program->ports[i];
  const char *path = l->options->files[i];
  attn_rt_array *array = &l->inputs[i];
  char error[ATTN_RT_LINE];
  if (attn_rt_npy_read(path, array, error, sizeof error) == 0 &&
      attn_rt_bind_shape(l->bindings, port, array, error, sizeof error) == 0 &&
      convert_type(l, port, path, array, error, sizeof error) == 0)
    return ATTN_RT_OK;
  fprintf(stderr, "%s: %s: argument '%s': %s\n", l->options->argv0, path,
          port->name, error);
  return ATTN_RT_FAILED;
}

// The smallest dimension of all arguments: random integers below it are valid
// lengths, positions and indices.
static int64_t smallest_dimension(const loader *l) {
  int64_t smallest = INT32_MAX;
  for (int32_t i = 0; i < l->program->num_inputs; ++i)
    for (int32_t j = 0; j < l->inputs[i].rank; ++j)
      if (l->inputs[i].shape[j] < smallest)
        smallest = l->inputs[i].shape[j];
  return smallest;
}

static int make_random(loader *l) {
  const attn_rt_program *program = l->program;
  const char *argv0 = l->options->argv0;
  for (int32_t i = 0; i < program->num_inputs; ++i) {
    if (l->options->files[i])
      continue;
    const char *symbol =
        attn_rt_port_shape(l->bindings, &program->ports[i], &l->inputs[i]);
    if (!symbol)
      continue;
    fprintf(stderr, "%s: argument '%s' needs --dim %s=N; see '%s --help'\n",
            argv0, program->ports[i].name, symbol, argv0);
    return ATTN_RT_USAGE;
  }
  int64_t bound = smallest_dimension(l);
  for (int32_t i = 0; i < program->num_inputs; ++i) {
    char error[ATTN_RT_LINE];
    if (l->options->files[i])
      continue;
    if (attn_rt_array_allocate(&l->inputs[i], error, sizeof error)) {
      fprintf(stderr, "%s: argument '%s': %s\n", argv0, program->ports[i].name,
              error);
      return ATTN_RT_FAILED;
    }
    attn_rt_fill_random(&l->inputs[i], l->options->seed, (uint64_t)i, bound);
  }
  return ATTN_RT_OK;
}

int attn_rt_load_inputs(const attn_rt_program *program,
                        const attn_rt_options *options,
                        attn_rt_bindings *bindings, attn_rt_array *inputs) {
  loader l = {program, options, bindings, inputs, false};
  for (int32_t i = 0; i < options->num_dims; ++i)
    bindings->entries[bindings->count++] =
        (attn_rt_binding){options->dims[i].symbol, options->dims[i].size, NULL};
  for (int32_t i = 0; i < program->num_inputs; ++i)
    if (options->files[i] && load_file(&l, i))
      return ATTN_RT_FAILED;
  attn_rt_bind_tokens(program, options, bindings);
  return options->random ? make_random(&l) : ATTN_RT_OK;
}
