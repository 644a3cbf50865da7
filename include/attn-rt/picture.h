/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The page that explains one attention (docs/lab), made by a generated
 * executable. python/attn/_lab.py makes the same page of the same arrays, and
 * says what its data is. */
#ifndef ATTN_RT_PICTURE_H
#define ATTN_RT_PICTURE_H
#include "attn-rt/npy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The tensors of an attention that a page shows. */
typedef enum {
  ATTN_RT_QUERY,
  ATTN_RT_KEY,
  ATTN_RT_VALUE,
  ATTN_RT_SCORES, /* products of queries and keys */
  ATTN_RT_SCALED, /* times the scale */
  ATTN_RT_MASKED, /* after score function, bias and mask */
  ATTN_RT_WEIGHTS,
  ATTN_RT_OUT,
  ATTN_RT_NUM_STEPS
} attn_rt_step;

/* The tensors as arrays (S, D), (H, S, D) or (B, H, S, D), of whose batch the
 * first entry is shown. Labels are UTF-8; null: numbers. */
typedef struct {
  const char *title;
  const attn_rt_array *steps[ATTN_RT_NUM_STEPS];
  const char *const *queries, *const *keys;
} attn_rt_page;

/* How the page of a program is made. The compiler emits one constant. */
typedef struct attn_rt_picture {
  /* Takes the program's arguments and returns the tensors that are none. */
  const attn_rt_program *kernel;
  int32_t ports[ATTN_RT_NUM_STEPS]; /* of `kernel`, which may have several */
  /* Queries and keys of the program's tiles. */
  int32_t query_tile, key_tile;
  double scale;
  const char *normalization; /* softmax or sigmoid */
  const char *specification;
  const char *bounds; /* of the loops over tiles: lines */
  /* attn_rt_render_page: programs without a picture do not hold it. */
  char *(*render)(const struct attn_rt_picture *picture,
                  const attn_rt_page *page, size_t *size);
} attn_rt_picture;

/* The page, HTML of `size` bytes, to be freed. Null: there is no memory. No
 * dimension of the arrays is 0. */
char *attn_rt_render_page(const attn_rt_picture *picture,
                          const attn_rt_page *page, size_t *size);

#ifdef __cplusplus
}
#endif
#endif
