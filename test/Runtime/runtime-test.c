// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define _GNU_SOURCE
#include "test.h"

#include "attn-rt/peak.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int failures;

void check_text(const char *file, int line, const char *found,
                const char *expected) {
  if (found && strcmp(found, expected) == 0)
    return;
  ++failures;
  fprintf(stderr, "%s:%d: expected\n%s\nfound\n%s\n", file, line, expected,
          found ? found : "(nothing)");
}

void check_contains(const char *file, int line, const char *found,
                    const char *expected) {
  if (found && strstr(found, expected))
    return;
  ++failures;
  fprintf(stderr, "%s:%d: expected something with\n%s\nfound\n%s\n", file, line,
          expected, found ? found : "(nothing)");
}

void write_file(const char *path, const void *data, size_t size) {
  FILE *file = fopen(path, "wb");
  CHECK(file && fwrite(data, 1, size, file) == size);
  if (file)
    fclose(file);
}

char *read_text(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return NULL;
  enum { Max = 1 << 20 };
  char *text = calloc(Max + 1, 1);
  size_t length = text ? fread(text, 1, Max, file) : 0;
  fclose(file);
  if (size)
    *size = length;
  return text;
}

static int for_each_file(void (*visit)(const char *name)) {
  int count = 0;
  DIR *directory = opendir(".");
  struct dirent *entry;
  while (directory && (entry = readdir(directory)))
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
      ++count;
      if (visit)
        visit(entry->d_name);
    }
  if (directory)
    closedir(directory);
  return count;
}

int count_files(void) { return for_each_file(NULL); }

static void remove_file(const char *name) { remove(name); }

void remove_files(void) { for_each_file(remove_file); }

static void test_peak(void) {
  char name[128];
  CHECK(attn_rt_peak_gflops() > 0.1);
  CHECK(attn_rt_read_bandwidth(1 << 22) > 0.01);
  CHECK(attn_rt_read_bandwidth(0) == 0);
  CHECK(strlen(attn_rt_cpu_name(name, sizeof name)) > 0);
  CHECK(strlen(attn_rt_cpu_name(name, 4)) < 4);
  CHECK(strlen(attn_rt_peak_isa()) > 0);
}

int main(void) {
  const char *parent = getenv("TMPDIR");
  char directory[4096];
  snprintf(directory, sizeof directory, "%s/attn-rt-XXXXXX",
           parent && *parent ? parent : "/tmp");
  if (!mkdtemp(directory) || chdir(directory) != 0) {
    perror(directory);
    return 1;
  }
  test_pool();
  test_tiles();
  test_weights();
  test_workspace();
  test_peak();
  test_npy();
  test_print();
  test_main();
  test_dlpack();
  remove_files();
  CHECK(chdir("/") == 0 && rmdir(directory) == 0);
  printf("%d failures\n", failures);
  return failures != 0;
}
