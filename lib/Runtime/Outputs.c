// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void attn_rt_cannot_print(const char *argv0) {
  fprintf(stderr, "%s: cannot write to standard output: %s\n", argv0,
          strerror(errno));
}

static int print_outputs(const attn_rt_program *program,
                         const attn_rt_options *options,
                         const attn_rt_array *outputs) {
  for (int32_t i = 0; i < program->num_outputs; ++i) {
    printf("%s =\n", program->ports[program->num_inputs + i].name);
    attn_rt_print_array(stdout, &outputs[i]);
    putchar('\n');
    if (ferror(stdout)) {
      attn_rt_cannot_print(options->argv0);
      return ATTN_RT_FAILED;
    }
  }
  return ATTN_RT_OK;
}

static bool write_page(int file, const void *what) {
  const attn_rt_text *page = what;
  return attn_rt_write_all(file, page->data, page->size);
}

// The files of a run: a result each, then the page.
typedef struct {
  const attn_rt_program *program;
  const attn_rt_options *options;
  const attn_rt_array *outputs;
  const attn_rt_text *page;
} results;

static const char *path_of(const results *r, int32_t i) {
  return i < r->program->num_outputs
             ? r->options->files[r->program->num_inputs + i]
             : r->options->lab;
}

static int cannot_write(const results *r, int32_t i, const char *error) {
  const attn_rt_port *port = &r->program->ports[r->program->num_inputs + i];
  if (i < r->program->num_outputs)
    fprintf(stderr, "%s: %s: result '%s': %s\n", r->options->argv0,
            path_of(r, i), port->name, error);
  else
    fprintf(stderr, "%s: %s: the picture: %s\n", r->options->argv0,
            path_of(r, i), error);
  return ATTN_RT_FAILED;
}

// All files are staged before the first one is renamed: most failures (no
// space, no permission) happen while nothing of this run is visible yet.
static int write_files(const results *r, attn_rt_npy_file *files) {
  int32_t num_outputs = r->program->num_outputs;
  char error[ATTN_RT_LINE];
  for (int32_t i = 0; i <= num_outputs; ++i) {
    const char *path = path_of(r, i);
    int failed = 0;
    if (path && i < num_outputs)
      failed = attn_rt_npy_stage(path, &r->outputs[i], &files[i], error,
                                 sizeof error);
    else if (path)
      failed = attn_rt_stage(path, write_page, r->page, &files[i], error,
                             sizeof error);
    if (!failed)
      continue;
    for (int32_t j = 0; j < i; ++j)
      attn_rt_npy_discard(&files[j]);
    return cannot_write(r, i, error);
  }
  int32_t failed =
      attn_rt_npy_commit_all(files, num_outputs + 1, error, sizeof error);
  return failed < 0 ? ATTN_RT_OK : cannot_write(r, failed, error);
}

int attn_rt_write_outputs(const attn_rt_program *program,
                          const attn_rt_options *options,
                          const attn_rt_array *outputs,
                          const attn_rt_text *page) {
  if (!options->any_output)
    return print_outputs(program, options, outputs);
  results r = {program, options, outputs, page};
  attn_rt_npy_file *files =
      calloc((size_t)program->num_outputs + 1, sizeof *files);
  if (!files) {
    fprintf(stderr, "%s: out of memory\n", options->argv0);
    return ATTN_RT_FAILED;
  }
  int status = write_files(&r, files);
  free(files);
  return status;
}
