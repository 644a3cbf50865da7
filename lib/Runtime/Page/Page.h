/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files that make a page share. */
#ifndef ATTN_LIB_RUNTIME_PAGE_PAGE_H
#define ATTN_LIB_RUNTIME_PAGE_PAGE_H
#include "Runtime.h"
#include "attn-rt/picture.h"

/* PageJson.c: numbers of six digits, and texts, as JSON in a script element. */
void attn_rt_json_text(FILE *file, const char *text);
/* -inf is null, and what JSON cannot write is a text. */
void attn_rt_json_number(FILE *file, double value);

void attn_rt_json_integers(FILE *file, const int64_t *values, int64_t count);
/* Texts, or numbers from 0 where `labels` is null. */
void attn_rt_json_labels(FILE *file, const char *const *labels, int64_t count);

/* Nested lists of numbers, or, `packed`, base64 of little-endian ones: 2, f16
 * in a unit that keeps them in range, or 4, f32. */
typedef struct {
  int32_t rank, packed; /* 0: lists */
  int64_t shape[4];
  double *data;
} attn_rt_numbers;
void attn_rt_json_numbers(FILE *file, const attn_rt_numbers *numbers);

/* PageData.c: writes the page's data. False: there is no memory. */
bool attn_rt_write_page_data(FILE *file, const attn_rt_picture *picture,
                             const attn_rt_page *page);

#endif
