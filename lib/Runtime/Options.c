// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runtime.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const attn_rt_program *program;
  attn_rt_options *options;
  char **argv;
  int argc, next; // argv[next] has not been looked at
  // What was given without a name, to be assigned in order at the end.
  const char **inputs, **outputs;
  int32_t num_inputs, num_outputs;
} parser;

__attribute__((format(printf, 2, 3))) static int
usage(const parser *p, const char *format, ...) {
  va_list arguments;
  fprintf(stderr, "%s: ", p->options->argv0);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fprintf(stderr, "; see '%s --help'\n", p->options->argv0);
  return ATTN_RT_USAGE;
}

static int32_t find_port(const parser *p, int32_t begin, int32_t end,
                         const char *name, size_t length) {
  for (int32_t i = begin; i < end; ++i) {
    const char *port = p->program->ports[i].name;
    if (strlen(port) == length && strncmp(port, name, length) == 0)
      return i;
  }
  return -1;
}

static bool parse_integer(const char *text, long long min, long long max,
                          long long *value) {
  char *end;
  errno = 0;
  *value = strtoll(text, &end, 10);
  return errno == 0 && end != text && *end == 0 && *value >= min &&
         *value <= max;
}

static bool has_symbol(const parser *p, const char *name, size_t length,
                       const char **symbol) {
  for (int32_t i = 0; i < p->program->num_inputs; ++i) {
    const attn_rt_port *port = &p->program->ports[i];
    for (int32_t j = 0; j < port->rank; ++j) {
      *symbol = port->shape[j] < 0 ? port->symbols[j] : NULL;
      if (*symbol && strlen(*symbol) == length &&
          strncmp(*symbol, name, length) == 0)
        return true;
    }
  }
  return false;
}

static int set_dim(parser *p, const char *value) {
  attn_rt_options *options = p->options;
  const char *equals = strchr(value, '=');
  attn_rt_dim_option dim;
  long long size;
  if (!equals || !parse_integer(equals + 1, 0, INT64_MAX, &size))
    return usage(p, "--dim needs NAME=N, not '%s'", value);
  if (!has_symbol(p, value, (size_t)(equals - value), &dim.symbol))
    return usage(p, "no argument has a dimension '%.*s'", (int)(equals - value),
                 value);
  dim.size = size;
  for (int32_t i = 0; i < options->num_dims; ++i)
    if (strcmp(options->dims[i].symbol, dim.symbol) == 0)
      return usage(p, "--dim %s is given twice", dim.symbol);
  options->dims[options->num_dims++] = dim;
  return ATTN_RT_OK;
}

static int set_seed(parser *p, const char *value) {
  char *end;
  p->options->random = true;
  if (!value)
    return ATTN_RT_OK;
  errno = 0;
  p->options->seed = strtoull(value, &end, 10);
  if (*value < '0' || *value > '9' || *end != 0 || errno != 0)
    return usage(p, "--random needs a number as seed, not '%s'", value);
  return ATTN_RT_OK;
}

static int set_repeat(parser *p, const char *value) {
  long long count;
  if (!parse_integer(value, 1, 1000000000, &count))
    return usage(p, "--repeat needs a positive number, not '%s'", value);
  p->options->repeat = count;
  return ATTN_RT_OK;
}

static int set_threads(parser *p, const char *value) {
  long long count;
  if (!parse_integer(value, 1, 65536, &count))
    return usage(p, "--threads needs a number from 1 to 65536, not '%s'",
                 value);
  p->options->threads = (int32_t)count;
  return ATTN_RT_OK;
}

static int set_help(parser *p, const char *value) {
  (void)value;
  p->options->help = true;
  return ATTN_RT_OK;
}

static int set_lab(parser *p, const char *value) {
  if (!p->program->picture)
    return usage(p, "--lab: this program was made without a picture; make it "
                    "with attn-opt --emit=exe --with-lab");
  if (!*value)
    return usage(p, "--lab needs a file");
  p->options->lab = value;
  p->options->any_output = true;
  return ATTN_RT_OK;
}

// The bytes of the first character, or 0 where it is not UTF-8.
static int utf8_length(const char *text) {
  unsigned char first = (unsigned char)*text;
  int length = first < 0x80   ? 1
               : first < 0xc2 ? 0
               : first < 0xe0 ? 2
               : first < 0xf0 ? 3
               : first < 0xf5 ? 4
                              : 0;
  unsigned char second = length > 1 ? (unsigned char)text[1] : 0;
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
    return 0;
  for (int i = 1; i < length; ++i)
    if (((unsigned char)text[i] & 0xc0) != 0x80)
      return 0;
  return length;
}

static int check_text(const parser *p, const char *option, const char *text) {
  for (int length; *text; text += length)
    if (!(length = utf8_length(text)))
      return usage(p, "--%s expects UTF-8", option);
  return ATTN_RT_OK;
}

static int set_tokens(parser *p, const char *value) {
  p->options->tokens = value;
  return check_text(p, "tokens", value);
}

static int set_key_tokens(parser *p, const char *value) {
  p->options->key_tokens = value;
  return check_text(p, "key-tokens", value);
}

// cpu, gpu, or the number of a GPU.
static int set_device(parser *p, const char *value) {
  if (!p->options->gpu)
    return usage(p, "no option or argument '--device'");
  char *end;
  long number = strtol(value, &end, 10);
  if (strcmp(value, "cpu") == 0)
    p->options->device = -1;
  else if (strcmp(value, "gpu") == 0)
    p->options->device = 1;
  else if (*value >= '0' && *value <= '9' && !*end && number < 1024)
    p->options->device = (int32_t)number + 1;
  else
    return usage(p,
                 "option --device expects cpu, gpu or a number, but got "
                 "'%s'",
                 value);
  return ATTN_RT_OK;
}

enum { NoValue, OptionalValue, NeedsValue };

static const struct {
  const char *name;
  int kind;
  int (*set)(parser *p, const char *value);
} known_options[] = {
    {"help", NoValue, set_help},
    {"random", OptionalValue, set_seed},
    {"dim", NeedsValue, set_dim},
    {"repeat", NeedsValue, set_repeat},
    {"threads", NeedsValue, set_threads},
    {"device", NeedsValue, set_device},
    {"lab", NeedsValue, set_lab},
    {"tokens", NeedsValue, set_tokens},
    {"key-tokens", NeedsValue, set_key_tokens},
};

static int set_file(parser *p, int32_t port, const char *file) {
  const char **slot = &p->options->files[port];
  if (*slot)
    return usage(p, "%s '%s' is given twice",
                 port < p->program->num_inputs ? "argument" : "result",
                 p->program->ports[port].name);
  *slot = file;
  return ATTN_RT_OK;
}

// The value of an option: after its '=', or the next word.
static const char *take_value(parser *p, const char *inline_value) {
  if (inline_value)
    return inline_value;
  return p->next < p->argc ? p->argv[p->next++] : NULL;
}

static int parse_long_option(parser *p, const char *name) {
  size_t length = strcspn(name, "=");
  const char *value = name[length] ? name + length + 1 : NULL;
  for (size_t i = 0; i < sizeof known_options / sizeof *known_options; ++i) {
    if (strlen(known_options[i].name) != length ||
        strncmp(known_options[i].name, name, length) != 0)
      continue;
    int kind = known_options[i].kind;
    if (kind == NoValue && value)
      return usage(p, "option --%s takes no value", known_options[i].name);
    if (kind == NeedsValue && !(value = take_value(p, value)))
      return usage(p, "option --%s needs a value", known_options[i].name);
    return known_options[i].set(p, value);
  }
  int32_t port = find_port(p, 0, p->program->num_inputs, name, length);
  if (port < 0)
    return usage(p, "no option or argument '--%.*s'", (int)length, name);
  value = take_value(p, value);
  if (!value)
    return usage(p, "argument --%.*s needs a file", (int)length, name);
  return set_file(p, port, value);
}

static bool is_name(const char *text, size_t length) {
  for (size_t i = 0; i < length; ++i)
    if (text[i] != '_' && !isalnum((unsigned char)text[i]))
      return false;
  return length > 0;
}

// -o and -i: NAME=FILE, or the FILE of the next port in order.
static int parse_port(parser *p, char option, const char *inline_value) {
  const char *value = take_value(p, inline_value);
  if (!value || !*value)
    return usage(p, "option -%c needs a file", option);
  bool output = option == 'o';
  p->options->any_output |= output;
  int32_t inputs = p->program->num_inputs;
  int32_t begin = output ? inputs : 0;
  int32_t end = output ? inputs + p->program->num_outputs : inputs;
  size_t length = strcspn(value, "=");
  int32_t port = value[length] ? find_port(p, begin, end, value, length) : -1;
  if (port >= 0 && value[length + 1] == 0)
    return usage(p, "option -%c needs a file after '%s'", option, value);
  if (port < 0 && value[length] && is_name(value, length))
    return usage(p, "no %s '%.*s'; a file of that name is './%s'",
                 output ? "result" : "argument", (int)length, value, value);
  if (port >= 0)
    return set_file(p, port, value + length + 1);
  if (output)
    p->outputs[p->num_outputs++] = value;
  else
    p->inputs[p->num_inputs++] = value;
  return ATTN_RT_OK;
}

static int parse_words(parser *p) {
  bool only_files = false;
  while (p->next < p->argc) {
    const char *word = p->argv[p->next++];
    int status = ATTN_RT_OK;
    if (only_files || *word != '-' || word[1] == 0)
      p->inputs[p->num_inputs++] = word;
    else if (strcmp(word, "--") == 0)
      only_files = true;
    else if (word[1] == '-')
      status = parse_long_option(p, word + 2);
    else if (word[1] == 'o' || word[1] == 'i')
      status = parse_port(p, word[1], word[2] ? word + 2 : NULL);
    else if (strcmp(word, "-h") == 0)
      p->options->help = true;
    else
      status = usage(p, "no option '%s'", word);
    if (status || p->options->help)
      return status;
  }
  return ATTN_RT_OK;
}

// Files without a name go to the ports [begin, end) without a file.
static int assign_in_order(parser *p, const char **files, int32_t count,
                           int32_t begin, int32_t end, const char *what) {
  int32_t port = begin;
  for (int32_t i = 0; i < count; ++i) {
    while (port < end && p->options->files[port])
      ++port;
    if (port == end)
      return usage(p, "'%s' is one more file than there are %s", files[i],
                   what);
    p->options->files[port] = files[i];
  }
  return ATTN_RT_OK;
}

static int check_options(const parser *p) {
  const attn_rt_program *program = p->program;
  const char **files = p->options->files;
  int32_t inputs = program->num_inputs, ports = inputs + program->num_outputs;
  if (p->options->num_dims && !p->options->random)
    return usage(p, "--dim is for --random");
  for (int32_t i = 0; i < inputs && !p->options->random; ++i) {
    char type[ATTN_RT_LINE];
    attn_rt_format_type(&program->ports[i], type, sizeof type);
    if (!files[i] && !program->ports[i].optional)
      return usage(p, "argument '%s' is missing, expected a file with %s",
                   program->ports[i].name, type);
  }
  for (int32_t i = inputs; i < ports; ++i)
    for (int32_t j = inputs; j < i; ++j)
      if (files[i] && files[j] && attn_rt_same_file(files[i], files[j]))
        return usage(p, "'%s' is the file of two results", files[i]);
  const char *lab = p->options->lab;
  if ((p->options->tokens || p->options->key_tokens) && !lab)
    return usage(p, "--tokens and --key-tokens are for --lab");
  for (int32_t i = inputs; i < ports && lab; ++i)
    if (files[i] && attn_rt_same_file(files[i], lab))
      return usage(p, "'%s' is the file of a result and of the page", lab);
  return ATTN_RT_OK;
}

int attn_rt_parse_options(const attn_rt_program *program,
                          const attn_rt_gpu_hooks *gpu, int argc, char **argv,
                          attn_rt_options *options) {
  memset(options, 0, sizeof *options);
  options->gpu = gpu;
  options->argv0 = argc > 0 ? argv[0] : program->name;
  int32_t inputs = program->num_inputs, ports = inputs + program->num_outputs;
  size_t words = (size_t)(argc > 0 ? argc : 1);
  parser p = {.program = program,
              .options = options,
              .argv = argv,
              .argc = argc,
              .next = 1,
              .inputs = calloc(words, sizeof *p.inputs),
              .outputs = calloc(words, sizeof *p.outputs)};
  options->files = calloc((size_t)ports + 1, sizeof *options->files);
  options->dims = calloc(words, sizeof *options->dims);
  int status = ATTN_RT_FAILED;
  if (!p.inputs || !p.outputs || !options->files || !options->dims)
    fprintf(stderr, "%s: out of memory\n", options->argv0);
  else
    status = parse_words(&p);
  if (!status && !options->help) {
    status =
        assign_in_order(&p, p.inputs, p.num_inputs, 0, inputs, "arguments");
    if (!status)
      status = assign_in_order(&p, p.outputs, p.num_outputs, inputs, ports,
                               "results");
    if (!status)
      status = check_options(&p);
  }
  free(p.inputs);
  free(p.outputs);
  return status;
}

void attn_rt_free_options(attn_rt_options *options) {
  free(options->files);
  free(options->dims);
}
