/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Weights in a file beside the kernel (attn-opt --weights=FILE): what generated
 * code and the runtime share. C programs call NAME_load_weights of the
 * kernel's header. */
#ifndef ATTN_RT_WEIGHTS_H
#define ATTN_RT_WEIGHTS_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One per object. */
typedef struct {
  const char *path;  /* as the compiler was given it */
  const char *begin; /* what the file begins with: it tells this compile's */
  int64_t begin_bytes;
  int64_t bytes; /* of the file */
  /* Where the file is mapped, which is written once; null before. */
  void *data;
} attn_rt_weights;

enum {
  ATTN_RT_WEIGHTS_MISSING = 1, /* no file can be opened */
  ATTN_RT_WEIGHTS_OTHER = 2,   /* what was found has not this compile's bytes */
  ATTN_RT_WEIGHTS_UNMAPPED = 3 /* the system does not map it */
};

/* Maps the file for all threads, once: 0, or one of the above, and then a later
 * call tries again. It is looked for at `path`; if that is null, at the path in
 * the environment variable ATTN_WEIGHTS; without one as the compiler was given
 * it, and then beside the program or library. A path that is a folder has the
 * file under its own name. */
int32_t attn_rt_map_weights(attn_rt_weights *weights, const char *path);

#ifdef __cplusplus
}
#endif
#endif
