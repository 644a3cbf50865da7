// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header of a .npy file is a Python dictionary:
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
#include "Runtime.h"

#include <string.h>

static const struct {
  attn_rt_dtype dtype;
  const char *descr; // the byte order, which may be another one, and the code
} types[] = {
#define ATTN_ELEMENT(enumerator, code, type, name, bytes, c_type, descr)       \
  {enumerator, descr},
#include "attn-rt/elements.inc"
    {ATTN_BOOL, "|?"},
};

const char *attn_rt_npy_descr(attn_rt_dtype dtype) {
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i)
    if (types[i].dtype == dtype)
      return types[i].descr;
  return "?";
}

typedef struct {
  const char *at;
  char *error;
  size_t error_size;
} parser;

static void skip_space(parser *p) { p->at += strspn(p->at, " \t\r\n"); }

static bool accept(parser *p, const char *token) {
  skip_space(p);
  size_t length = strlen(token);
  if (strncmp(p->at, token, length) != 0)
    return false;
  p->at += length;
  return true;
}

static int malformed(parser *p) {
  return attn_rt_error(p->error, p->error_size,
                       "not a .npy file: malformed header");
}

// A quoted string without escapes.
static int parse_string(parser *p, char *text, size_t size) {
  skip_space(p);
  char quote = *p->at;
  if (quote != '\'' && quote != '"')
    return malformed(p);
  const char *begin = ++p->at;
  const char *end = strchr(begin, quote);
  if (!end || (size_t)(end - begin) >= size)
    return malformed(p);
  for (; p->at < end; ++p->at) {
    if (*p->at < ' ' || *p->at > '~' || *p->at == '\\')
      return malformed(p);
    *text++ = *p->at;
  }
  *text = 0;
  ++p->at;
  return 0;
}

static int parse_descr(parser *p, attn_rt_npy_header *header) {
  char text[32];
  skip_space(p);
  if (*p->at == '[')
    return attn_rt_error(p->error, p->error_size,
                         "structured element types are not supported");
  if (parse_string(p, text, sizeof text))
    return -1;
  if (strcmp(text, "bfloat16") == 0) {
    header->dtype = ATTN_BF16;
    return 0;
  }
  const char *code = text + (strchr("<>|=", *text) && *text ? 1 : 0);
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    if (strcmp(code, types[i].descr + 1) != 0)
      continue;
    header->dtype = types[i].dtype;
    header->big_endian = *text == '>';
    return 0;
  }
  return attn_rt_error(p->error, p->error_size,
                       "element type '%s' is not supported", text);
}

static int parse_dimension(parser *p, int64_t *size) {
  skip_space(p);
  if (*p->at < '0' || *p->at > '9')
    return malformed(p);
  for (*size = 0; *p->at >= '0' && *p->at <= '9'; ++p->at)
    if (__builtin_mul_overflow(*size, 10, size) ||
        __builtin_add_overflow(*size, *p->at - '0', size))
      return attn_rt_error(p->error, p->error_size, "the shape is too large");
  // Python 2 wrote long integers so.
  if (*p->at == 'L')
    ++p->at;
  return 0;
}

static int parse_shape(parser *p, attn_rt_npy_header *header) {
  header->rank = 0;
  if (!accept(p, "("))
    return malformed(p);
  while (!accept(p, ")")) {
    int64_t size = 0;
    if (parse_dimension(p, &size))
      return -1;
    if (header->rank == ATTN_MAX_RANK)
      return attn_rt_error(p->error, p->error_size,
                           "the array has more than %d dimensions",
                           ATTN_MAX_RANK);
    header->shape[header->rank++] = size;
    if (!accept(p, ",")) {
      // (2) is a number, not a tuple.
      if (header->rank == 1 || !accept(p, ")"))
        return malformed(p);
      break;
    }
  }
  return 0;
}

int attn_rt_npy_parse_header(const char *text, attn_rt_npy_header *header,
                             char *error, size_t error_size) {
  parser p = {text, error, error_size};
  unsigned seen = 0;
  memset(header, 0, sizeof *header);
  if (!accept(&p, "{"))
    return malformed(&p);
  while (!accept(&p, "}")) {
    char key[32];
    unsigned bit;
    if (parse_string(&p, key, sizeof key))
      return -1;
    if (!accept(&p, ":"))
      return malformed(&p);
    if (strcmp(key, "descr") == 0) {
      bit = 1;
      if (parse_descr(&p, header))
        return -1;
    } else if (strcmp(key, "fortran_order") == 0) {
      bit = 2;
      header->fortran_order = accept(&p, "True");
      if (!header->fortran_order && !accept(&p, "False"))
        return malformed(&p);
    } else if (strcmp(key, "shape") == 0) {
      bit = 4;
      if (parse_shape(&p, header))
        return -1;
    } else {
      return malformed(&p);
    }
    if (seen & bit)
      return malformed(&p);
    seen |= bit;
    if (!accept(&p, ",")) {
      if (!accept(&p, "}"))
        return malformed(&p);
      break;
    }
  }
  skip_space(&p);
  return seen == 7 && *p.at == 0 ? 0 : malformed(&p);
}
