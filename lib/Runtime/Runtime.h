/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of the runtime share, and no one else sees. */
#ifndef ATTN_LIB_RUNTIME_RUNTIME_H
#define ATTN_LIB_RUNTIME_RUNTIME_H
#include "attn-rt/npy.h"
#include "attn-rt/program.h"

#include <stdbool.h>
#include <stdio.h>

enum { ATTN_RT_LINE = 512 };

/* The kernel's argument struct: where its tensors are, after `size`. */
enum {
  ATTN_RT_PORTS_OFFSET = sizeof(size_t) > _Alignof(attn_tensor)
                             ? sizeof(size_t)
                             : _Alignof(attn_tensor)
};

/* Writes an error text; returns -1. */
__attribute__((format(printf, 3, 4))) int
attn_rt_error(char *error, size_t error_size, const char *format, ...);

/* Convert.c. The data's bytes, or -1 if memory cannot hold so many. */
int64_t attn_rt_array_bytes(const attn_rt_array *array);
/* Aligned as attn_rt_array.data; never a null pointer for 0 bytes. Large memory
 * takes up to ATTN_RT_SPARE_BYTES more. */
enum { ATTN_RT_SPARE_BYTES = 1 << 21 };
void *attn_rt_aligned_alloc(int64_t bytes);

/* f16 and bf16 are rounded to nearest, ties to even. */
uint16_t attn_rt_f16_from_double(double value);
uint16_t attn_rt_bf16_from_double(double value);
bool attn_rt_is_float(attn_rt_dtype dtype);
/* Element `index` of floating-point data, exactly. */
double attn_rt_load_float(attn_rt_dtype dtype, const void *data, int64_t index);
void attn_rt_store_float(attn_rt_dtype dtype, void *data, int64_t index,
                         double value);
/* Element `index` of integers or bools. */
int64_t attn_rt_load_int(attn_rt_dtype dtype, const void *data, int64_t index);
void attn_rt_store_int(attn_rt_dtype dtype, void *data, int64_t index,
                       int64_t value);

/* NpyHeader.c: the dictionary of a .npy file. */
typedef struct {
  attn_rt_dtype dtype;
  bool big_endian, fortran_order;
  int32_t rank;
  int64_t shape[ATTN_MAX_RANK];
} attn_rt_npy_header;
int attn_rt_npy_parse_header(const char *text, attn_rt_npy_header *header,
                             char *error, size_t error_size);
const char *attn_rt_npy_descr(attn_rt_dtype dtype);

/* Files.c. What writes the content of a file. */
typedef bool attn_rt_content(int file, const void *what);
bool attn_rt_write_all(int file, const void *data, size_t size);
/* As attn_rt_npy_stage, for any content. */
int attn_rt_stage(const char *path, attn_rt_content *content, const void *what,
                  attn_rt_npy_file *file, char *error, size_t error_size);
/* "cannot write: " and the reason, which is errno; returns -1. */
int attn_rt_cannot_write(char *error, size_t error_size);
/* A new file in the folder of `target`, under a name of its own, which
 * is to be freed; -1 and errno if there can be none. */
int attn_rt_create_beside(const char *target, char **path);
/* Whether both are one regular file, or would be once it is made. */
bool attn_rt_same_file(const char *a, const char *b);
/* Renames each temporary file to its target. If one cannot be renamed, every
 * target is as before; its index is returned, with errno, else -1. */
int32_t attn_rt_replace_all(attn_rt_npy_file *files, int32_t count);

/* Float.c: the shortest digits that mean `value` among the values of `dtype`,
 * as d.ddd... x 10^exponent; 0 has the one digit 0. `value` is finite. */
typedef struct {
  bool negative;
  int count, exponent;
  char digits[24];
} attn_rt_decimal;
attn_rt_decimal attn_rt_shortest(attn_rt_dtype dtype, double value);
/* `value` rounded to a number of `dtype`. */
double attn_rt_round_to(attn_rt_dtype dtype, double value);

/* Print.c: the array as NumPy 2.4 prints it, without a final newline. */
void attn_rt_print_array(FILE *file, const attn_rt_array *array);

/* Random.c: normal, fair, or uniform below `bound`, the same for the same seed
 * and stream. */
void attn_rt_fill_random(attn_rt_array *array, uint64_t seed, uint64_t stream,
                         int64_t bound);

/* What programs with kernels of a GPU can do besides; null: they have none. */
typedef struct {
  size_t settings_size; /* of what is an attn_rt_call in others */
  void (*choose_device)(attn_rt_call *call, int32_t device);
  const char *(*why)(void);
  /* As attn_rt_gpu_time_calls and attn_rt_gpu_seconds. */
  void (*time_calls)(int32_t wanted);
  double (*seconds)(void);
} attn_rt_gpu_hooks;

/* Options.c */
typedef struct {
  const char *symbol;
  int64_t size;
} attn_rt_dim_option;

typedef struct {
  const char *argv0;
  const char **files; /* per input, then per output; null: not given */
  const char *lab, *tokens, *key_tokens; /* null: not given */
  attn_rt_dim_option *dims;
  int32_t num_dims;
  bool help, random;
  bool any_output; /* results are printed where no file is named */
  uint64_t seed;
  int64_t repeat;  /* 0: not given */
  int32_t threads; /* 0: not given */
  const attn_rt_gpu_hooks *gpu;
  int32_t device; /* as attn_rt_gpu_settings */
} attn_rt_options;

/* The process' exit status. */
enum { ATTN_RT_OK = 0, ATTN_RT_FAILED = 1, ATTN_RT_USAGE = 2 };

/* Says what is wrong on stderr and returns ATTN_RT_USAGE. */
int attn_rt_parse_options(const attn_rt_program *program,
                          const attn_rt_gpu_hooks *gpu, int argc, char **argv,
                          attn_rt_options *options);
void attn_rt_free_options(attn_rt_options *options);

/* Help.c */
void attn_rt_print_help(FILE *file, const attn_rt_program *program,
                        const char *argv0, bool with_gpu);
/* The type of a port: "f32[q0, 8, q2, 64]". */
void attn_rt_format_type(const attn_rt_port *port, char *text, size_t size);

/* Symbols.c: what the dimensions of size -1 are. */
typedef struct {
  const char *symbol;
  int64_t size;
  const char *from; /* the argument that gave the size; null: --dim */
} attn_rt_binding;

typedef struct {
  attn_rt_binding *entries;
  int32_t count;
} attn_rt_bindings;

const attn_rt_binding *attn_rt_find_binding(const attn_rt_bindings *bindings,
                                            const char *symbol);
/* The shape must fit the port; its new symbols are bound. */
int attn_rt_bind_shape(attn_rt_bindings *bindings, const attn_rt_port *port,
                       const attn_rt_array *array, char *error,
                       size_t error_size);
/* Sets dtype, rank and shape of `array` from the port; returns the name of a
 * symbol that is not bound, or null. */
const char *attn_rt_port_shape(const attn_rt_bindings *bindings,
                               const attn_rt_port *port, attn_rt_array *array);

/* Inputs.c: reads, checks, or makes up every input. Says what is wrong on
 * stderr and returns the exit status. */
int attn_rt_load_inputs(const attn_rt_program *program,
                        const attn_rt_options *options,
                        attn_rt_bindings *bindings, attn_rt_array *inputs);

/* Call.c: one call of a kernel. */
typedef struct {
  const attn_rt_program *program;
  const char *argv0;
  attn_rt_array *arrays; /* inputs, then outputs */
  void *args, *workspace;
  int32_t threads, device;
  const attn_rt_gpu_hooks *gpu;
  bool borrows_inputs; /* another call frees them */
} attn_rt_call_state;

/* The inputs are there. Allocates the results and what the kernel takes. */
int attn_rt_prepare_call(attn_rt_call_state *call,
                         const attn_rt_bindings *bindings);
int attn_rt_run_call(const attn_rt_call_state *call, double *seconds);
void attn_rt_end_call(attn_rt_call_state *call);

/* Picture.c. */
typedef struct {
  char *data; /* null: there is none */
  size_t size;
} attn_rt_text;

/* With --random, the number of tokens is that of queries and keys. */
void attn_rt_bind_tokens(const attn_rt_program *program,
                         const attn_rt_options *options,
                         attn_rt_bindings *bindings);
/* Where --lab is given: whether a page can show a call of these sizes. */
int attn_rt_check_picture(const attn_rt_program *program,
                          const attn_rt_options *options,
                          const attn_rt_bindings *bindings);
/* Runs the kernel of steps on the inputs of `call`. */
int attn_rt_make_page(const attn_rt_call_state *call,
                      const attn_rt_options *options,
                      const attn_rt_bindings *bindings, attn_rt_text *page);

/* Main.c: attn_rt_main, and that of programs for a GPU. */
int attn_rt_run_program(const attn_rt_program *program,
                        const attn_rt_gpu_hooks *gpu, int argc, char **argv);
/* Says that the standard output takes no more, by errno. */
void attn_rt_cannot_print(const char *argv0);

/* Outputs.c: all files are written, the page among them, or none. */
int attn_rt_write_outputs(const attn_rt_program *program,
                          const attn_rt_options *options,
                          const attn_rt_array *outputs,
                          const attn_rt_text *page);

#endif
