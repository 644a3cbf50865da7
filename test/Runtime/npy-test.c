// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define _GNU_SOURCE
#include "test.h"

#include "Runtime.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char error[ATTN_RT_LINE];

// Writes a .npy file with a header as given; returns where its data begins.
static size_t write_npy(const char *path, int version, const char *header,
                        const void *data, size_t size) {
  unsigned char file[4096] = "\x93NUMPY";
  size_t start = version == 1 ? 10 : 12, length = strlen(header);
  file[6] = (unsigned char)version;
  file[8] = (unsigned char)length;
  file[9] = (unsigned char)(length >> 8);
  memcpy(file + start, header, length);
  memcpy(file + start + length, data, size);
  write_file(path, file, start + length + size);
  return start + length;
}

static int read_npy(const char *path, attn_rt_array *array) {
  *error = 0;
  return attn_rt_npy_read(path, array, error, sizeof error);
}

static const struct {
  attn_rt_dtype dtype;
  const char *descr;
} types[] = {{ATTN_F32, "<f4"},  {ATTN_F64, "<f8"}, {ATTN_F16, "<f2"},
             {ATTN_BF16, "<V2"}, {ATTN_I32, "<i4"}, {ATTN_I64, "<i8"},
             {ATTN_BOOL, "|b1"}};

// The bytes of element i.
static void element(size_t size, int64_t i, unsigned char *bytes) {
  for (size_t b = 0; b < size; ++b)
    bytes[b] = size == 1 ? i % 3 == 0 : (unsigned char)(i * 8 + (int64_t)b + 1);
}

static void check_variant(attn_rt_dtype dtype, const char *descr, int version,
                          bool big, bool fortran) {
  enum { Rows = 3, Columns = 4 };
  size_t size = attn_rt_dtype_size(dtype);
  unsigned char data[Rows * Columns * 8], expected[8], header[128];
  for (int64_t i = 0; i < Rows; ++i)
    for (int64_t j = 0; j < Columns; ++j) {
      unsigned char *to =
          data + (size_t)(fortran ? j * Rows + i : i * Columns + j) * size;
      element(size, i * Columns + j, expected);
      for (size_t b = 0; b < size; ++b)
        to[b] = expected[big ? size - 1 - b : b];
    }
  snprintf((char *)header, sizeof header,
           "{'descr': '%c%s', 'fortran_order': %s, 'shape': (%d, %d), }\n",
           big ? '>' : *descr, descr + 1, fortran ? "True" : "False", Rows,
           Columns);
  write_npy("variant.npy", version, (char *)header, data,
            size * Rows * Columns);
  attn_rt_array array;
  CHECK(read_npy("variant.npy", &array) == 0);
  if (*error) {
    fprintf(stderr, "%s: %s\n", header, error);
    return;
  }
  CHECK(array.dtype == dtype && array.rank == 2 && array.shape[0] == Rows &&
        array.shape[1] == Columns && (uintptr_t)array.data % 64 == 0);
  for (int64_t i = 0; i < Rows * Columns; ++i) {
    element(size, i, expected);
    CHECK(memcmp((char *)array.data + (size_t)i * size, expected, size) == 0);
  }
  attn_rt_array_free(&array);
}

static void test_variants(void) {
  for (size_t t = 0; t < sizeof types / sizeof *types; ++t)
    for (int version = 1; version <= 3; ++version)
      for (int flags = 0; flags < 4; ++flags)
        check_variant(types[t].dtype, types[t].descr, version, flags & 1,
                      flags & 2);
}

// What write makes is what NumPy makes, byte for byte, and reads back.
static void test_write(void) {
  for (size_t t = 0; t < sizeof types / sizeof *types; ++t)
    for (int32_t rank = 0; rank <= ATTN_MAX_RANK; ++rank) {
      attn_rt_array array = {types[t].dtype, rank, {2, 1, 3, 1, 2, 2}, NULL},
                    back;
      CHECK(attn_rt_array_allocate(&array, error, sizeof error) == 0);
      int64_t bytes = attn_rt_array_bytes(&array);
      for (int64_t i = 0; i < bytes; ++i)
        ((char *)array.data)[i] = types[t].dtype == ATTN_BOOL ? i % 2 : (char)i;
      CHECK(attn_rt_npy_write("w.npy", &array, error, sizeof error) == 0);
      CHECK(read_npy("w.npy", &back) == 0);
      CHECK(back.dtype == array.dtype && back.rank == rank &&
            !memcmp(back.shape, array.shape, sizeof(int64_t) * (size_t)rank) &&
            !memcmp(back.data, array.data, (size_t)bytes));
      attn_rt_array_free(&array);
      attn_rt_array_free(&back);
    }
  // np.save(f, np.array([1.5, -2], np.float32)) of NumPy 2.4.6.
  static const char expected[] =
      "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, "
      "'shape': (2,), }                                                       "
      "     \n\x00\x00\xc0?\x00\x00\x00\xc0";
  float values[2] = {1.5f, -2};
  attn_rt_array array = {ATTN_F32, 1, {2}, values};
  CHECK(attn_rt_npy_write("w.npy", &array, error, sizeof error) == 0);
  size_t size = 0;
  char *text = read_text("w.npy", &size);
  CHECK(size == sizeof expected - 1 && memcmp(text, expected, size) == 0);
  free(text);
}

static void check_rejected(const char *path, const char *expected) {
  attn_rt_array array;
  CHECK(read_npy(path, &array) == -1);
  CHECK(array.data == NULL);
  CHECK_CONTAINS(error, expected);
}

static void test_hostile_headers(void) {
  static const struct {
    const char *header, *expected;
  } cases[] = {
      {"", "malformed header"},
      {"{", "malformed header"},
      {"{}", "malformed header"},
      {"{'descr': '<f4', 'fortran_order': False}", "malformed header"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}",
       "malformed header"},
      {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
       "malformed header"},
      {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
       "malformed header"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2)}",
       "malformed header"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
       "malformed header"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} junk",
       "malformed header"},
      {"{'descr': '<f4", "malformed header"},
      {"{'descr': '\\n<f4', 'fortran_order': False, 'shape': (2,)}",
       "malformed header"},
      {"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,)}",
       "structured element types"},
      {"{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}",
       "element type '<c8' is not supported"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': (2,)}",
       "element type '|O' is not supported"},
      {"{'descr': '', 'fortran_order': False, 'shape': (2,)}",
       "element type '' is not supported"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1)}",
       "more than 6 dimensions"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': "
       "(99999999999999999999,)}",
       "the shape is too large"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': "
       "(4294967296, 4294967296)}",
       "the shape is too large"},
      {"{'descr': '<f4', 'fortran_order': True, 'shape': "
       "(0, 4294967296, 4294967296)}",
       "the shape is too large"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': "
       "(1152921504606846975,)}",
       "the shape is too large"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}",
       "truncated: 8 bytes of data, expected 4000000000000"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}",
       "truncated: 8 bytes of data, expected 12"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    for (int version = 1; version <= 3; ++version) {
      write_npy("bad.npy", version, cases[i].header, "12345678", 8);
      check_rejected("bad.npy", cases[i].expected);
    }
}

static void test_unusual_headers(void) {
  static const char *headers[] = {
      "{\"shape\":(2,),\"descr\":\"<f4\",\"fortran_order\":False}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2L,), }   \n",
      "{'descr': '=f4', 'fortran_order': True, 'shape': (1, 2)}",
      "{'descr': 'bfloat16', 'fortran_order': False, 'shape': (2, 2)}",
      "{'descr': '|V2', 'fortran_order': False, 'shape': (2, 2)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': ()}",
      "{'descr': '<f4', 'fortran_order': True, 'shape': (0, 3)}",
  };
  for (size_t i = 0; i < sizeof headers / sizeof *headers; ++i) {
    attn_rt_array array;
    write_npy("odd.npy", 1, headers[i], "12345678", 8);
    CHECK(read_npy("odd.npy", &array) == 0);
    CHECK_TEXT(error, "");
    attn_rt_array_free(&array);
  }
}

static void test_damaged_files(void) {
  attn_rt_array array;
  char good[256], bad[256];
  size_t start = write_npy(
      "good.npy", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
      "12345678", 8);
  char *text = read_text("good.npy", NULL);
  memcpy(good, text, start + 8);
  free(text);
  for (size_t size = 0; size < start + 8; ++size) {
    write_file("bad.npy", good, size);
    check_rejected("bad.npy", size < 8       ? "not a .npy file"
                              : size < start ? "truncated in the header"
                                             : "truncated: ");
  }
  // Whatever byte is changed: an error, or some array; never a crash.
  for (size_t i = 0; i < start; ++i)
    for (int bit = 0; bit < 8; ++bit) {
      memcpy(bad, good, start + 8);
      bad[i] ^= (char)(1 << bit);
      write_file("bad.npy", bad, start + 8);
      if (read_npy("bad.npy", &array) == 0)
        attn_rt_array_free(&array);
    }
  check_rejected("absent.npy", "cannot open: No such file");
  check_rejected(".", "cannot read: Is a directory");
  memcpy(bad, good, start + 8);
  bad[6] = 4;
  write_file("bad.npy", bad, start + 8);
  check_rejected("bad.npy", ".npy version 4 is not supported");
}

// A pipe tells no size; a header that claims much must not allocate much.
static void test_pipe(void) {
  attn_rt_array array;
  enum { Count = 700000 };
  int32_t *values = malloc(Count * sizeof *values);
  for (int32_t i = 0; i < Count; ++i)
    values[i] = i;
  attn_rt_array whole = {ATTN_I32, 1, {Count}, values};
  CHECK(attn_rt_npy_write("big.npy", &whole, error, sizeof error) == 0);
  CHECK(mkfifo("pipe", 0600) == 0);
  CHECK(system("cat big.npy > pipe &") == 0);
  CHECK(read_npy("pipe", &array) == 0);
  CHECK(array.data && memcmp(array.data, values, Count * sizeof *values) == 0);
  attn_rt_array_free(&array);
  free(values);
  write_npy("huge.npy", 1,
            "{'descr': '<f8', 'fortran_order': False, 'shape': "
            "(100000000000000000,)}",
            "12345678", 8);
  CHECK(system("cat huge.npy > pipe &") == 0);
  check_rejected("pipe", "truncated: 8 bytes of data");
}

static void test_atomic_write(void) {
  remove_files();
  float values[2] = {1, 2};
  attn_rt_array array = {ATTN_F32, 1, {2}, values}, back;
  attn_rt_npy_file file;
  write_file("a.npy", "old", 3);
  CHECK(attn_rt_npy_stage("a.npy", &array, &file, error, sizeof error) == 0);
  char *text = read_text("a.npy", NULL);
  CHECK_TEXT(text, "old");
  free(text);
  attn_rt_npy_discard(&file);
  CHECK(count_files() == 1);
  CHECK(symlink("a.npy", "link.npy") == 0);
  CHECK(attn_rt_npy_write("link.npy", &array, error, sizeof error) == 0);
  CHECK(read_npy("a.npy", &back) == 0);
  attn_rt_array_free(&back);
  CHECK(count_files() == 2);
  CHECK(attn_rt_npy_write("no/a.npy", &array, error, sizeof error) == -1);
  CHECK_CONTAINS(error, "cannot write: No such file or directory");
  CHECK(attn_rt_npy_write(".", &array, error, sizeof error) == -1);
  CHECK(attn_rt_npy_write("/dev/full", &array, error, sizeof error) == -1);
  CHECK_CONTAINS(error, "No space left");
  CHECK(attn_rt_npy_write("/dev/null", &array, error, sizeof error) == 0);
  CHECK(count_files() == 2);
}

// Several files take their places, or none does.
static void test_commit_all(void) {
  remove_files();
  float values[2] = {1, 2};
  attn_rt_array array = {ATTN_F32, 1, {2}, values};
  const char *paths[] = {"old.npy", "new.npy", "/dev/null", "last.npy"};
  attn_rt_npy_file files[4];
  for (int taken = 1; taken >= 0; --taken) {
    write_file("old.npy", "old", 3);
    for (int i = 0; i < 4; ++i)
      CHECK(attn_rt_npy_stage(paths[i], &array, &files[i], error,
                              sizeof error) == 0);
    // Someone else takes the last place.
    if (taken)
      CHECK(mkdir("last.npy", 0700) == 0);
    int32_t failed = attn_rt_npy_commit_all(files, 4, error, sizeof error);
    CHECK(failed == (taken ? 3 : -1));
    char *text = read_text("old.npy", NULL);
    if (taken) {
      CHECK_TEXT(error, "cannot write: File exists");
      CHECK_TEXT(text, "old");
      CHECK(access("new.npy", F_OK) != 0 && rmdir("last.npy") == 0);
      CHECK(count_files() == 1);
    } else {
      CHECK_CONTAINS(text, "\x93NUMPY");
      CHECK(count_files() == 3);
    }
    free(text);
  }
  // A rename that fails when others were done: its folder is gone.
  write_file("old.npy", "old", 3);
  remove("new.npy");
  CHECK(mkdir("folder", 0700) == 0);
  paths[3] = "folder/last.npy";
  for (int i = 0; i < 4; ++i)
    CHECK(attn_rt_npy_stage(paths[i], &array, &files[i], error, sizeof error) ==
          0);
  CHECK(unlink(files[3].temporary) == 0 && rmdir("folder") == 0);
  CHECK(attn_rt_npy_commit_all(files, 4, error, sizeof error) == 3);
  CHECK_TEXT(error, "cannot write: No such file or directory");
  char *text = read_text("old.npy", NULL);
  CHECK_TEXT(text, "old");
  free(text);
  CHECK(access("new.npy", F_OK) != 0);
  CHECK(count_files() == 2);
}

static void test_long_name(void) {
  remove_files();
  float values[2] = {1, 2};
  attn_rt_array array = {ATTN_F32, 1, {2}, values};
  char path[256];
  memset(path, 'x', 255);
  path[255] = 0;
  CHECK(attn_rt_npy_write(path, &array, error, sizeof error) == 0);
  CHECK(access(path, F_OK) == 0);
}

static void test_rounding(void) {
  static const struct {
    double value;
    uint16_t f16, bf16;
  } cases[] = {
      {0, 0, 0},
      {-0.0, 0x8000, 0x8000},
      {1, 0x3c00, 0x3f80},
      {-2.5, 0xc100, 0xc020},
      {65504, 0x7bff, 0x4780},
      {65519.99, 0x7bff, 0x4780},
      {65520, 0x7c00, 0x4780},
      {1.0 + 0x1p-11, 0x3c00, 0x3f80},           // a tie of f16: to even
      {1.0 + 0x3p-11, 0x3c02, 0x3f80},           // a tie of f16: to even
      {1.0 + 0x1p-11 + 0x1p-40, 0x3c01, 0x3f80}, // not a tie
      {1.0 + 0x1p-8, 0x3c04, 0x3f80},            // a tie of bf16
      {1.0 + 0x3p-8, 0x3c0c, 0x3f82},            // a tie of bf16
      {0x1p-24, 0x0001, 0x3380},
      {0x1p-25, 0x0000, 0x3300},
      {0x1.8p-25, 0x0001, 0x3340},
      {0x1.ffcp-15, 0x0400, 0x3880},
      {0x1p-133, 0, 0x0001},
      {0x1p-134, 0, 0x0000},
      {1e39, 0x7c00, 0x7f80},
      {0x1.fep127, 0x7c00, 0x7f7f},
      {INFINITY, 0x7c00, 0x7f80},
      {-INFINITY, 0xfc00, 0xff80},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    CHECK(attn_rt_f16_from_double(cases[i].value) == cases[i].f16);
    CHECK(attn_rt_bf16_from_double(cases[i].value) == cases[i].bf16);
  }
  CHECK(isnan(attn_rt_round_to(ATTN_F16, NAN)));
  CHECK(isnan(attn_rt_round_to(ATTN_BF16, NAN)));
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    uint16_t in = (uint16_t)bits, out;
    for (int type = ATTN_F16; type <= ATTN_BF16; ++type) {
      double value = attn_rt_load_float((attn_rt_dtype)type, &in, 0);
      attn_rt_store_float((attn_rt_dtype)type, &out, 0, value);
      if (!isnan(value) && in != out)
        CHECK(!"every 16-bit value is itself when rounded");
    }
  }
}

void test_npy(void) {
  test_variants();
  test_write();
  test_hostile_headers();
  test_unusual_headers();
  test_damaged_files();
  test_pipe();
  test_atomic_write();
  test_commit_all();
  test_long_name();
  test_rounding();
  remove_files();
}
