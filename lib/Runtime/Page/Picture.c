// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --lab: the steps of an attention are computed by a kernel that returns them,
// and become a page.
#define _GNU_SOURCE
#include "attn-rt/picture.h"
#include "Runtime.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  char *text; // the words, each with its end
  const char **words;
  int64_t count;
} labels;

static void free_labels(labels *l) {
  free(l->text);
  free(l->words);
}

// Words between white space. False: there is no memory.
static bool split(const char *text, labels *l) {
  *l = (labels){.text = strdup(text),
                .words = calloc(strlen(text) + 1, sizeof *l->words)};
  if (!l->text || !l->words)
    return false;
  char *rest = NULL;
  for (char *word = strtok_r(l->text, " \t\n\r", &rest); word;
       word = strtok_r(NULL, " \t\n\r", &rest))
    l->words[l->count++] = word;
  return true;
}

static int64_t count_words(const char *text) {
  labels l;
  int64_t count = split(text, &l) ? l.count : -1;
  free_labels(&l);
  return count;
}

static const attn_rt_port *port_of(const attn_rt_picture *picture,
                                   attn_rt_step step) {
  return &picture->kernel->ports[picture->ports[step]];
}

void attn_rt_bind_tokens(const attn_rt_program *program,
                         const attn_rt_options *options,
                         attn_rt_bindings *bindings) {
  if (!options->random || !options->tokens)
    return;
  for (int i = 0; i < 2; ++i) {
    bool of_keys = i == 1;
    const attn_rt_port *port =
        port_of(program->picture, of_keys ? ATTN_RT_KEY : ATTN_RT_QUERY);
    const char *text =
        of_keys && options->key_tokens ? options->key_tokens : options->tokens;
    const char *symbol = port->symbols[port->rank - 2];
    int64_t count = count_words(text);
    if (port->shape[port->rank - 2] < 0 && count >= 0 &&
        !attn_rt_find_binding(bindings, symbol))
      bindings->entries[bindings->count++] =
          (attn_rt_binding){symbol, count, NULL};
  }
}

// Whether there is a word for each token; null: numbers will do.
static bool check_words(const char *argv0, const char *option, const char *text,
                        int64_t tokens, const char *of) {
  int64_t words = text ? count_words(text) : tokens;
  if (words == tokens)
    return true;
  fprintf(stderr, "%s: --%s: expected %lld word%s, one per %s, but got %lld\n",
          argv0, option, (long long)tokens, tokens == 1 ? "" : "s", of,
          (long long)words);
  return false;
}

static bool check_not_empty(const char *argv0, const attn_rt_array *array,
                            const char *of) {
  for (int32_t dim = 0; dim < array->rank; ++dim)
    if (array->shape[dim] == 0) {
      fprintf(stderr, "%s: --lab: no page can show %s of size 0\n", argv0, of);
      return false;
    }
  return true;
}

static char *render(const attn_rt_options *options,
                    const attn_rt_picture *picture, const char *title,
                    const attn_rt_array *arrays, size_t *size) {
  attn_rt_page page = {.title = title};
  labels queries = {.text = NULL}, keys = {.text = NULL};
  for (int i = 0; i < ATTN_RT_NUM_STEPS; ++i)
    page.steps[i] = &arrays[picture->ports[i]];
  const attn_rt_array *key = page.steps[ATTN_RT_KEY];
  bool ok = true;
  if (options->tokens) {
    ok = split(options->tokens, &queries);
    page.queries = queries.words;
    if (queries.count == key->shape[key->rank - 2])
      page.keys = queries.words;
  }
  if (options->key_tokens) {
    ok = split(options->key_tokens, &keys) && ok;
    page.keys = keys.words;
  }
  char *text = ok ? picture->render(picture, &page, size) : NULL;
  free_labels(&queries);
  free_labels(&keys);
  return text;
}

int attn_rt_check_picture(const attn_rt_program *program,
                          const attn_rt_options *options,
                          const attn_rt_bindings *bindings) {
  if (!options->lab)
    return ATTN_RT_OK;
  attn_rt_array query, key, value;
  attn_rt_port_shape(bindings, port_of(program->picture, ATTN_RT_QUERY),
                     &query);
  attn_rt_port_shape(bindings, port_of(program->picture, ATTN_RT_KEY), &key);
  attn_rt_port_shape(bindings, port_of(program->picture, ATTN_RT_VALUE),
                     &value);
  const char *argv0 = options->argv0;
  return check_not_empty(argv0, &query, "queries") &&
                 check_not_empty(argv0, &key, "keys") &&
                 check_not_empty(argv0, &value, "values") &&
                 check_words(argv0, "tokens", options->tokens,
                             query.shape[query.rank - 2], "query") &&
                 check_words(argv0, "key-tokens", options->key_tokens,
                             key.shape[key.rank - 2], "key")
             ? ATTN_RT_OK
             : ATTN_RT_FAILED;
}

int attn_rt_make_page(const attn_rt_call_state *call,
                      const attn_rt_options *options,
                      const attn_rt_bindings *bindings, attn_rt_text *page) {
  const attn_rt_picture *picture = call->program->picture;
  const attn_rt_program *kernel = picture->kernel;
  attn_rt_call_state steps = {.program = kernel,
                              .argv0 = call->argv0,
                              .threads = call->threads,
                              .borrows_inputs = true};
  size_t ports = (size_t)(kernel->num_inputs + kernel->num_outputs);
  double seconds;
  int status = ATTN_RT_FAILED;
  steps.arrays = calloc(ports, sizeof *steps.arrays);
  if (steps.arrays) {
    memcpy(steps.arrays, call->arrays,
           (size_t)kernel->num_inputs * sizeof *steps.arrays);
    status = attn_rt_prepare_call(&steps, bindings);
    if (!status)
      status = attn_rt_run_call(&steps, &seconds);
    if (!status)
      page->data = render(options, picture, call->program->name, steps.arrays,
                          &page->size);
  }
  if (!steps.arrays || (!status && !page->data)) {
    fprintf(stderr, "%s: --lab: out of memory\n", options->argv0);
    status = ATTN_RT_FAILED;
  }
  attn_rt_end_call(&steps);
  return status;
}
