// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays as text, by the rules of NumPy 2.4 under its default print options.
// bf16, which NumPy itself does not have, follows the rules of f16.
#include "Runtime.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { Precision = 8, Threshold = 1000, EdgeItems = 3, LineWidth = 75 };
// More digits than any scalar has.
enum { MaxPrecision = 30 };

// A number's text up to its exponent, and where its point is.
typedef struct {
  char text[48];
  int before_point, after_point; // digits and sign; digits
  int exponent;
  bool finite;
} element;

typedef struct {
  FILE *file;
  const attn_rt_array *array;
  bool summarise, scientific;
  element *elements; // those that are printed, in their order
  int64_t count, next;
  int pad_left, pad_right, exponent_digits;
  char line[256];
} printer;

static bool has_gap(const printer *p, int64_t size) {
  return p->summarise && size > 2 * EdgeItems;
}

// How many entries of a dimension are printed, "..." among them.
static int64_t printed_entries(const printer *p, int64_t size) {
  return has_gap(p, size) ? 2 * EdgeItems + 1 : size;
}

// The index of the i-th of them, or -1 for "...".
static int64_t printed_entry(const printer *p, int64_t size, int64_t i) {
  if (!has_gap(p, size) || i < EdgeItems)
    return i;
  return i == EdgeItems ? -1 : size - (2 * EdgeItems + 1) + i;
}

static double smallest_scientific(attn_rt_dtype dtype) {
  return dtype == ATTN_F64 ? 1e8 : dtype == ATTN_F32 ? 1e6 : 1e3;
}

static void strip_zeros(char *text) {
  size_t length = strlen(text);
  while (length && text[length - 1] == '0')
    text[--length] = 0;
}

// The exact value rounded to `digits` after the point, before an exponent.
static void format_digits(double value, int digits, element *e) {
  snprintf(e->text, sizeof e->text, "%.*e", digits, value);
  char *end = strchr(e->text, 'e');
  e->exponent = atoi(end + 1);
  *end = 0;
}

// Shortest digits, at most `precision` after the point, no zeros at the end.
static void format_number(attn_rt_dtype dtype, double value, bool scientific,
                          int precision, element *e) {
  attn_rt_decimal d = attn_rt_shortest(dtype, value);
  int exponent = scientific ? 0 : d.exponent;
  char *number = e->text;
  if (d.count - 1 - exponent <= precision) {
    char *out = number;
    if (d.negative)
      *out++ = '-';
    int first = exponent < 0 ? exponent : 0;
    int last = exponent > d.count - 1 ? exponent : d.count - 1;
    for (int i = first; i <= last; ++i) {
      *out++ = i >= 0 && i < d.count ? d.digits[i] : '0';
      if (i == exponent)
        *out++ = '.';
    }
    *out = 0;
    e->exponent = d.exponent;
  } else if (scientific) {
    format_digits(value, precision, e);
  } else {
    snprintf(number, sizeof e->text, "%.*f", precision, value);
  }
  if (strchr(number, '.'))
    strip_zeros(number);
  e->before_point = (int)strcspn(e->text, ".");
  e->after_point = (int)strlen(e->text) - e->before_point - 1;
}

static double load(const printer *p, int64_t offset) {
  return attn_rt_load_float(p->array->dtype, p->array->data, offset);
}

static bool needs_exponent(attn_rt_dtype dtype, double smallest,
                           double largest) {
  if (largest == 0)
    return false;
  return largest >= smallest_scientific(dtype) ||
         smallest < attn_rt_round_to(dtype, 1e-4) ||
         attn_rt_round_to(dtype, largest / smallest) > 1000;
}

static int max_int(int a, int b) { return a > b ? a : b; }

static void format_floats(printer *p, const int64_t *offsets) {
  attn_rt_dtype dtype = p->array->dtype;
  double smallest = INFINITY, largest = 0;
  for (int64_t i = 0; i < p->count; ++i) {
    double magnitude = fabs(load(p, offsets[i]));
    if (!isfinite(magnitude) || magnitude == 0)
      continue;
    smallest = fmin(smallest, magnitude);
    largest = fmax(largest, magnitude);
  }
  p->scientific = needs_exponent(dtype, smallest, largest);
  int special = 0;
  for (int64_t i = 0; i < p->count; ++i) {
    double value = load(p, offsets[i]);
    element *e = &p->elements[i];
    e->finite = isfinite(value);
    if (!e->finite) {
      snprintf(e->text, sizeof e->text, "%s",
               isnan(value) ? "nan"
               : value < 0  ? "-inf"
                            : "inf");
      special = max_int(special, (int)strlen(e->text));
      continue;
    }
    format_number(dtype, value, p->scientific, Precision, e);
    p->pad_left = max_int(p->pad_left, e->before_point);
    p->pad_right = max_int(p->pad_right, e->after_point);
    p->exponent_digits =
        max_int(p->exponent_digits, abs(e->exponent) >= 100 ? 3 : 2);
  }
  // Exponents stand below each other: numbers with fewer digits show more of
  // their exact value, not zeros.
  for (int64_t i = 0; p->scientific && i < p->count; ++i)
    if (p->elements[i].finite && p->elements[i].after_point < p->pad_right)
      format_digits(load(p, offsets[i]), p->pad_right, &p->elements[i]);
  // A special value is as wide as a number: digits, point, digits, exponent.
  int width = p->pad_right + 1;
  if (p->scientific)
    width += p->exponent_digits + 2;
  p->pad_left = max_int(p->pad_left, special - width);
}

static void format_integers(printer *p, const int64_t *offsets) {
  for (int64_t i = 0; i < p->count; ++i) {
    element *e = &p->elements[i];
    int64_t value =
        attn_rt_load_int(p->array->dtype, p->array->data, offsets[i]);
    if (p->array->dtype == ATTN_BOOL)
      snprintf(e->text, sizeof e->text, "%s", value ? " True" : "False");
    else
      snprintf(e->text, sizeof e->text, "%" PRId64, value);
    p->pad_left = max_int(p->pad_left, (int)strlen(e->text));
  }
}

static void format_word(const printer *p, const element *e, char *word,
                        size_t size) {
  if (!attn_rt_is_float(p->array->dtype)) {
    snprintf(word, size, "%*s", p->pad_left, e->text);
    return;
  }
  int exponent_width = p->scientific ? p->exponent_digits + 2 : 0;
  if (!e->finite) {
    snprintf(word, size, "%*s", p->pad_left + p->pad_right + 1 + exponent_width,
             e->text);
    return;
  }
  int left = p->pad_left - e->before_point;
  if (p->scientific)
    snprintf(word, size, "%*s%se%c%0*d", left, "", e->text,
             e->exponent < 0 ? '-' : '+', p->exponent_digits, abs(e->exponent));
  else
    snprintf(word, size, "%*s%s%*s", left, "", e->text,
             p->pad_right - e->after_point, "");
}

static void append_word(printer *p, const char *word, int indent, int width) {
  size_t length = strlen(p->line);
  if (length > 0 && indent + (int)(length + strlen(word)) > width) {
    while (length > 0 && p->line[length - 1] == ' ')
      p->line[--length] = 0;
    fprintf(p->file, "%s\n%*s", p->line, indent, "");
    length = 0;
  }
  snprintf(p->line + length, sizeof p->line - length, "%s", word);
}

static void print_row(printer *p, int32_t axis) {
  int64_t size = p->array->shape[axis], entries = printed_entries(p, size);
  int indent = axis + 1, width = LineWidth - axis - 1;
  p->line[0] = 0;
  fputc('[', p->file);
  for (int64_t i = 0; i < entries; ++i) {
    char word[96] = "...";
    if (printed_entry(p, size, i) >= 0)
      format_word(p, &p->elements[p->next++], word, sizeof word);
    append_word(p, word, indent, width);
    if (i + 1 < entries)
      strcat(p->line, " ");
  }
  fprintf(p->file, "%s]", p->line);
}

static void print_axis(printer *p, int32_t axis) {
  int32_t rest = p->array->rank - axis - 1;
  if (rest == 0) {
    print_row(p, axis);
    return;
  }
  int64_t size = p->array->shape[axis], entries = printed_entries(p, size);
  fputc('[', p->file);
  for (int64_t i = 0; i < entries; ++i) {
    if (i > 0) {
      for (int32_t j = 0; j < rest; ++j)
        fputc('\n', p->file);
      fprintf(p->file, "%*s", axis + 1, "");
    }
    if (printed_entry(p, size, i) < 0)
      fputs("...", p->file);
    else
      print_axis(p, axis + 1);
  }
  fputc(']', p->file);
}

// Appends the offsets of the printed elements below `offset`, in order.
static void collect(printer *p, int32_t axis, int64_t offset,
                    int64_t *offsets) {
  if (axis == p->array->rank) {
    offsets[p->count++] = offset;
    return;
  }
  int64_t size = p->array->shape[axis];
  for (int64_t i = 0; i < printed_entries(p, size); ++i) {
    int64_t entry = printed_entry(p, size, i);
    if (entry >= 0)
      collect(p, axis + 1, offset * size + entry, offsets);
  }
}

// str(x) of a NumPy scalar.
static void print_scalar(FILE *file, const attn_rt_array *array) {
  attn_rt_dtype dtype = array->dtype;
  if (!attn_rt_is_float(dtype)) {
    int64_t value = attn_rt_load_int(dtype, array->data, 0);
    if (dtype == ATTN_BOOL)
      fputs(value ? "True" : "False", file);
    else
      fprintf(file, "%" PRId64, value);
    return;
  }
  double value = attn_rt_load_float(dtype, array->data, 0);
  double magnitude = fabs(value);
  double limit = dtype == ATTN_F64 ? 1e16 : smallest_scientific(dtype);
  bool scientific = magnitude != 0 && (magnitude < 1e-4 || magnitude >= limit);
  if (!isfinite(value)) {
    fputs(isnan(value) ? "nan" : value < 0 ? "-inf" : "inf", file);
    return;
  }
  element e;
  format_number(dtype, value, scientific, MaxPrecision, &e);
  if (scientific)
    fprintf(file, "%.*se%+03d",
            e.before_point + (e.after_point ? 1 + e.after_point : 0), e.text,
            e.exponent);
  else
    fprintf(file, "%s%s", e.text, e.after_point ? "" : "0");
}

void attn_rt_print_array(FILE *file, const attn_rt_array *array) {
  int64_t count = attn_rt_array_count(array), shown = 1;
  printer p = {.file = file, .array = array, .summarise = count > Threshold};
  if (array->rank == 0) {
    print_scalar(file, array);
    return;
  }
  if (count == 0) {
    fputs("[]", file);
    return;
  }
  for (int32_t i = 0; i < array->rank; ++i)
    shown *= printed_entries(&p, array->shape[i]);
  int64_t *offsets = malloc((size_t)shown * sizeof *offsets);
  p.elements = malloc((size_t)shown * sizeof *p.elements);
  if (offsets && p.elements) {
    collect(&p, 0, 0, offsets);
    if (attn_rt_is_float(array->dtype))
      format_floats(&p, offsets);
    else
      format_integers(&p, offsets);
    print_axis(&p, 0);
  }
  free(offsets);
  free(p.elements);
}
