/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef ATTN_TEST_RUNTIME_TEST_H
#define ATTN_TEST_RUNTIME_TEST_H
#include <stdio.h>

extern int failures;

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      ++failures;                                                              \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);  \
    }                                                                          \
  } while (0)

/* The texts must be equal, or the first must begin with or contain the second.
 */
void check_text(const char *file, int line, const char *found,
                const char *expected);
void check_contains(const char *file, int line, const char *found,
                    const char *expected);
#define CHECK_TEXT(found, expected)                                            \
  check_text(__FILE__, __LINE__, found, expected)
#define CHECK_CONTAINS(found, expected)                                        \
  check_contains(__FILE__, __LINE__, found, expected)

/* The working directory is a fresh one that is removed at the end. */
void write_file(const char *path, const void *data, size_t size);
/* Null-terminated; null if there is no such file. Free it. */
char *read_text(const char *path, size_t *size);
/* How many files the working directory has. */
int count_files(void);
void remove_files(void);

void test_pool(void);
void test_tiles(void);
void test_weights(void);
void test_workspace(void);
void test_npy(void);
void test_print(void);
void test_main(void);
void test_dlpack(void);

#endif
