// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line, run in this process with the programs of programs.c.
#define _GNU_SOURCE
#include "programs.h"
#include "test.h"

#include "Runtime.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char *out, *err;

// Runs "./add WORDS...".
static int call_main(const attn_rt_program *program, const char *words) {
  char line[1024], *argv[64] = {"./add"};
  int argc = 1;
  snprintf(line, sizeof line, "%s", words);
  for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
    argv[argc++] = word;
  return attn_rt_main(program, argc, argv);
}

// The same with stdout and stderr caught.
static int run_words(const attn_rt_program *program, const char *words) {
  int saved[2], flags = O_WRONLY | O_CREAT | O_TRUNC;
  fflush(NULL);
  for (int fd = 1; fd <= 2; ++fd) {
    saved[fd - 1] = dup(fd);
    int file = open(fd == 1 ? ".out" : ".err", flags, 0600);
    dup2(file, fd);
    close(file);
  }
  int status = call_main(program, words);
  fflush(NULL);
  for (int fd = 1; fd <= 2; ++fd) {
    dup2(saved[fd - 1], fd);
    close(saved[fd - 1]);
  }
  free(out);
  free(err);
  out = read_text(".out", NULL);
  err = read_text(".err", NULL);
  remove(".out");
  remove(".err");
  return status;
}

static int run(const char *words) { return run_words(&add_program, words); }

// One line on stderr, nothing on stdout, no new file.
static void check_fails(const attn_rt_program *program, const char *words,
                        int status, const char *expected) {
  int files = count_files();
  int found = run_words(program, words);
  if (found != status)
    fprintf(stderr, "%s: status %d, expected %d\n", words, found, status);
  CHECK(found == status);
  CHECK_TEXT(err, expected);
  CHECK_TEXT(out, "");
  CHECK(count_files() == files);
}

static void save(const char *path, attn_rt_dtype dtype, int32_t rank,
                 const int64_t *shape, void *data) {
  char error[ATTN_RT_LINE];
  attn_rt_array array = {dtype, rank, {0}, data};
  memcpy(array.shape, shape, sizeof(int64_t) * (size_t)rank);
  CHECK(attn_rt_npy_write(path, &array, error, sizeof error) == 0);
}

static void check_floats(const char *path, int64_t count, const float *values) {
  char error[ATTN_RT_LINE] = "";
  attn_rt_array array;
  CHECK(attn_rt_npy_read(path, &array, error, sizeof error) == 0);
  CHECK_TEXT(error, "");
  CHECK(array.data && array.dtype == ATTN_F32 &&
        attn_rt_array_count(&array) == count &&
        memcmp(array.data, values, (size_t)count * sizeof(float)) == 0);
  attn_rt_array_free(&array);
}

static const float sums[] = {11, 22, 33, 44, 55, 66};

static void make_inputs(void) {
  float a[] = {1, 2, 3, 4, 5, 6}, b[] = {10, 20, 30, 40, 50, 60};
  float bad[] = {99, 2, 3, 4, 5, 6};
  double wide[] = {1, 2, 3, 4, 5, 6};
  save("a.npy", ATTN_F32, 2, (int64_t[]){2, 3}, a);
  save("b.npy", ATTN_F32, 2, (int64_t[]){2, 3}, b);
  save("turned.npy", ATTN_F32, 2, (int64_t[]){3, 2}, b);
  save("flat.npy", ATTN_F32, 1, (int64_t[]){6}, b);
  save("bad.npy", ATTN_F32, 2, (int64_t[]){2, 3}, bad);
  save("wide.npy", ATTN_F64, 2, (int64_t[]){2, 3}, wide);
  size_t size;
  char *text = read_text("b.npy", &size);
  write_file("short.npy", text, size - 4);
  free(text);
  write_file("text.npy", "hello\n", 6);
}

static void test_runs(void) {
  static const float differences[] = {-9, -18, -27, -36, -45, -54};
  CHECK(run("a.npy b.npy") == 0);
  CHECK_TEXT(out, "sum =\n[[11. 22. 33.]\n [44. 55. 66.]]\n"
                  "difference =\n[[ -9. -18. -27.]\n [-36. -45. -54.]]\n");
  CHECK_TEXT(err, "");
  static const char *words[] = {
      "a.npy b.npy -o s.npy -o d.npy",
      "-o s.npy a.npy -od.npy b.npy",
      "--b b.npy --a=a.npy -o difference=d.npy -o s.npy",
      "--b=b.npy a.npy -o d.npy -o sum=s.npy",
      "--threads 3 -o s.npy -o d.npy -- a.npy b.npy",
      "--threads=1 --repeat=2 a.npy b.npy -o s.npy -o d.npy"};
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
    remove("s.npy");
    remove("d.npy");
    CHECK(run(words[i]) == 0);
    CHECK_TEXT(err, "");
    check_floats("s.npy", 6, sums);
    check_floats("d.npy", 6, differences);
  }
  CHECK(last_threads == 1);
  remove("d.npy");
  CHECK(run("a.npy b.npy -o s.npy") == 0);
  CHECK_TEXT(out, "");
  CHECK(access("d.npy", F_OK) != 0);
  remove("s.npy");
}

static void test_names_of_options(void) {
  static const char *words[] = {
      "-i threads=b.npy -i help=a.npy -o s.npy",
      "-ithreads=b.npy a.npy -o s.npy --threads 2",
      "-i a.npy -i b.npy -o s.npy",
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
    remove("s.npy");
    CHECK(run_words(&named_program, words[i]) == 0);
    CHECK_TEXT(err, "");
    check_floats("s.npy", 6, sums);
  }
  CHECK(run("-i a=a.npy --b b.npy -o s.npy") == 0);
  check_floats("s.npy", 6, sums);
  remove("s.npy");
  CHECK(run_words(&named_program, "--help") == 0);
  CHECK_CONTAINS(out, "or -i NAME=FILE, also where NAME is that of an option.");
}

// The standard output of a process of its own: closed where `path` is null.
static int run_printing_to(const char *path, const char *words) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    int file = open(".err", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDERR_FILENO);
    if (path)
      dup2(open(path, O_WRONLY), STDOUT_FILENO);
    else
      close(STDOUT_FILENO);
    _exit(call_main(&add_program, words));
  }
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  free(err);
  err = read_text(".err", NULL);
  remove(".err");
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_standard_output(void) {
  const char *full = "./add: cannot write to standard output: No space left on "
                     "device\n";
  const char *closed = "./add: cannot write to standard output: Bad file "
                       "descriptor\n";
  CHECK(run_printing_to("/dev/full", "a.npy b.npy") == 1);
  CHECK_TEXT(err, full);
  CHECK(run_printing_to("/dev/full", "--random --dim a0=9 --dim a1=99") == 1);
  CHECK_TEXT(err, full);
  CHECK(run_printing_to("/dev/full", "--help") == 1);
  CHECK_TEXT(err, full);
  CHECK(run_printing_to(NULL, "a.npy b.npy") == 1);
  CHECK_TEXT(err, closed);
  // No file takes the place of the output.
  CHECK(run_printing_to(NULL, "a.npy b.npy -o s.npy -o d.npy") == 0);
  CHECK_TEXT(err, "");
  check_floats("s.npy", 6, sums);
  remove("d.npy");
  CHECK(run_printing_to(NULL, "a.npy b.npy -o s.npy --repeat 1") == 1);
  CHECK_TEXT(err, closed);
  check_floats("s.npy", 6, sums);
  remove("s.npy");
}

// A limit of size ends the write, not the process, which cleans up.
static void test_size_limit(void) {
  struct rlimit before, limit;
  CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
  limit = before;
  limit.rlim_cur = 1024;
  int files = count_files();
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  int status = run("--random --dim a0=99 --dim a1=99 -o s.npy");
  CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(status == 1);
  CHECK_TEXT(err, "./add: s.npy: result 'sum': cannot write: File too large\n");
  CHECK(count_files() == files);
}

static void test_repeat(void) {
  add_calls = 0;
  CHECK(run("a.npy b.npy --repeat 5 --threads 2") == 0);
  CHECK(add_calls == 6 && last_threads == 2);
  CHECK_CONTAINS(out, "sum =\n[[11. 22. 33.]");
  CHECK_CONTAINS(out, "\n5 runs, 2 threads: minimum ");
  CHECK_CONTAINS(out, " GFLOP/s, ");
  CHECK_CONTAINS(out, "% of the measured peak (2 x ");
}

static void test_help(void) {
  CHECK(run("--help") == 0);
  CHECK_CONTAINS(out, "usage: ./add a.npy b.npy [-o FILE]... [options]\n");
  CHECK_CONTAINS(out, "arguments:\n"
                      "  a           f32[a0, a1]\n"
                      "  b           f32[a0, a1]\n"
                      "results:\n"
                      "  sum         f32[a0, a1]\n");
  CHECK(run_words(&mixed_program, "-h") == 0);
  CHECK_CONTAINS(out, "  x     bf16[4]\n  h     f16[4]\n  i     i32[i0]\n"
                      "  m     bool[i0]\n");
}

static void test_random(void) {
  CHECK(run("--random --dim a0=2 --dim a1=5 -o 1.npy") == 0);
  CHECK(run("--random=0 --dim=a1=5 --dim=a0=2 -o 2.npy --threads 7") == 0);
  CHECK(run("--random=1 --dim a0=2 --dim a1=5 -o 3.npy") == 0);
  size_t size;
  char *text[3] = {read_text("1.npy", &size), read_text("2.npy", NULL),
                   read_text("3.npy", NULL)};
  CHECK(text[0] && text[1] && text[2] && size == 128 + 40);
  CHECK(memcmp(text[0], text[1], size) == 0);
  CHECK(memcmp(text[0], text[2], size) != 0);
  for (int i = 0; i < 3; ++i)
    free(text[i]);
  // Files bind dimensions, the rest is random.
  CHECK(run("--random --b b.npy -o 1.npy") == 0);
  CHECK(run("--random --dim a0=0 --dim a1=3") == 0);
  CHECK_TEXT(out, "sum =\n[]\ndifference =\n[]\n");
  CHECK(run_words(&mixed_program, "--random --dim i0=4") == 0);
  for (int i = 1; i <= 3; ++i)
    remove((char[]){(char)('0' + i), '.', 'n', 'p', 'y', 0});

  attn_rt_array array = {ATTN_F64, 1, {100000}, NULL};
  char error[ATTN_RT_LINE];
  CHECK(attn_rt_array_allocate(&array, error, sizeof error) == 0);
  attn_rt_fill_random(&array, 0, 0, 1);
  double mean = 0, square = 0;
  for (int i = 0; i < 100000; ++i) {
    double x = ((double *)array.data)[i];
    mean += x / 100000;
    square += x * x / 100000;
  }
  CHECK(mean > -0.02 && mean < 0.02 && square > 0.97 && square < 1.03);
  array.dtype = ATTN_I64;
  attn_rt_fill_random(&array, 0, 0, 7);
  for (int i = 0; i < 100000; ++i)
    CHECK((uint64_t)((int64_t *)array.data)[i] < 7);
  attn_rt_array_free(&array);
}

static void test_wrong_inputs(void) {
  static const char *cases[][2] = {
      {"a.npy none.npy",
       "none.npy: argument 'b': cannot open: No such file or directory"},
      {"a.npy turned.npy",
       "turned.npy: argument 'b': dimension 0 is 3, expected 2 (a0, from 'a')"},
      {"a.npy flat.npy",
       "flat.npy: argument 'b': rank is 1, expected 2 (f32[a0, a1])"},
      {"a.npy wide.npy",
       "wide.npy: argument 'b': element type is f64, expected f32"},
      {"a.npy short.npy",
       "short.npy: argument 'b': truncated: 20 bytes of data, expected 24"},
      {"a.npy text.npy", "text.npy: argument 'b': not a .npy file"},
      {"bad.npy b.npy", "argument 'a' begins with 99"},
      {"a.npy --random --dim a0=3",
       "a.npy: argument 'a': dimension 0 is 2, expected 3 (a0, from --dim)"},
      {"--random --dim a0=4611686018427387904 --dim a1=1024",
       "argument 'a': the shape is too large"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char words[256], line[512];
    snprintf(words, sizeof words, "%s -o s.npy -o d.npy", cases[i][0]);
    snprintf(line, sizeof line, "./add: %s\n", cases[i][1]);
    check_fails(&add_program, words, 1, line);
  }
}

static void test_wrong_outputs(void) {
  check_fails(&add_program, "a.npy b.npy -o s.npy -o no/d.npy", 1,
              "./add: no/d.npy: result 'difference': cannot write: No such "
              "file or directory\n");
  check_fails(&add_program, "a.npy b.npy -o s.npy -o /dev/full", 1,
              "./add: /dev/full: result 'difference': cannot write: No space "
              "left on device\n");
  // A file of an earlier run stays as it was.
  write_file("s.npy", "old", 3);
  CHECK(run("a.npy b.npy -o s.npy -o no/d.npy") == 1);
  char *text = read_text("s.npy", NULL);
  CHECK_TEXT(text, "old");
  free(text);
  remove("s.npy");
}

static void test_usage(void) {
  CHECK(symlink("a.npy", "link.npy") == 0);
  static const char *cases[][2] = {
      {"", "argument 'a' is missing, expected a file with f32[a0, a1]"},
      {"a.npy", "argument 'b' is missing, expected a file with f32[a0, a1]"},
      {"a.npy b.npy c.npy",
       "'c.npy' is one more file than there are arguments"},
      {"a.npy b.npy -o 1 -o 2 -o 3",
       "'3' is one more file than there are results"},
      {"a.npy b.npy -o x -o x", "'x' is the file of two results"},
      {"a.npy b.npy -o x -o ./x", "'./x' is the file of two results"},
      {"a.npy b.npy -o a.npy -o link.npy",
       "'link.npy' is the file of two results"},
      {"a.npy b.npy -o sum=", "option -o needs a file after 'sum='"},
      {"b.npy -i a=", "option -i needs a file after 'a='"},
      {"a.npy b.npy -o summ=c.npy",
       "no result 'summ'; a file of that name is './summ=c.npy'"},
      {"b.npy -i c=a.npy",
       "no argument 'c'; a file of that name is './c=a.npy'"},
      {"a.npy -i", "option -i needs a file"},
      {"a.npy b.npy -i a=a.npy",
       "'b.npy' is one more file than there are arguments"},
      {"a.npy b.npy -o sum=x -o sum=y", "result 'sum' is given twice"},
      {"--a a.npy --a a.npy", "argument 'a' is given twice"},
      {"--c c.npy", "no option or argument '--c'"},
      {"--a", "argument --a needs a file"},
      {"-x", "no option '-x'"},
      {"a.npy b.npy -o", "option -o needs a file"},
      {"--help=1", "option --help takes no value"},
      {"--repeat", "option --repeat needs a value"},
      {"--repeat 0", "--repeat needs a positive number, not '0'"},
      {"--repeat 3x", "--repeat needs a positive number, not '3x'"},
      {"--threads -1", "--threads needs a number from 1 to 65536, not '-1'"},
      {"--random=x", "--random needs a number as seed, not 'x'"},
      {"--random --dim a0", "--dim needs NAME=N, not 'a0'"},
      {"--random --dim a0=-1", "--dim needs NAME=N, not 'a0=-1'"},
      {"--random --dim z=1", "no argument has a dimension 'z'"},
      {"--random --dim a0=1 --dim a0=1", "--dim a0 is given twice"},
      {"--random --dim a0=1", "argument 'a' needs --dim a1=N"},
      {"a.npy b.npy --dim a0=2", "--dim is for --random"},
      {"a.npy b.npy --tokens x", "--tokens and --key-tokens are for --lab"},
      {"a.npy b.npy --tokens=\xc0\x80", "--tokens expects UTF-8"},
      {"a.npy b.npy --lab=x.html",
       "--lab: this program was made without a picture; make it with attn-opt "
       "--emit=exe --with-lab"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char line[512];
    snprintf(line, sizeof line, "./add: %s; see './add --help'\n", cases[i][1]);
    check_fails(&add_program, cases[i][0], 2, line);
  }
}

static void test_types(void) {
  float x[] = {1, 1.00390625f, 0.1f, -3}, h[] = {0.1f, 70000, 2, 3};
  int32_t i[] = {-1, 0, 7, 8};
  uint8_t m[] = {1, 0, 1, 1};
  save("x.npy", ATTN_F32, 1, (int64_t[]){4}, x);
  save("h.npy", ATTN_F32, 1, (int64_t[]){4}, h);
  save("i.npy", ATTN_I32, 1, (int64_t[]){4}, i);
  save("m.npy", ATTN_BOOL, 1, (int64_t[]){4}, m);
  CHECK(run_words(&mixed_program, "x.npy h.npy i.npy m.npy") == 0);
  CHECK_TEXT(err, "./add: x.npy: argument 'x': f32 is rounded to bf16\n");
  CHECK_TEXT(out, "copy =\n"
                  "[ 1.          1.          0.10009766 -3.          0.09997559"
                  "         inf\n"
                  "  2.          3.         -1.          0.          7."
                  "          8.\n"
                  "  1.          0.          1.          1.        ]\n");
  check_fails(&mixed_program, "x.npy h.npy h.npy m.npy", 1,
              "./add: x.npy: argument 'x': f32 is rounded to bf16\n"
              "./add: h.npy: argument 'i': element type is f32, expected "
              "i32\n");
  check_fails(&mixed_program, "i.npy h.npy i.npy m.npy", 1,
              "./add: i.npy: argument 'x': element type is i32, expected "
              "bf16\n");
  check_fails(&mixed_program, "--x a.npy", 2,
              "./add: argument 'h' is missing, expected a file with f16[4]; "
              "see './add --help'\n");
}

void test_main(void) {
  make_inputs();
  test_runs();
  test_names_of_options();
  test_standard_output();
  test_size_limit();
  test_repeat();
  test_help();
  test_random();
  test_wrong_inputs();
  test_wrong_outputs();
  test_usage();
  test_types();
  free(out);
  free(err);
}
