// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file of weights is found, compared and mapped; whatever else there is, is
// refused.
#define _GNU_SOURCE
#include "test.h"

#include "attn-rt/weights.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BEGIN "the begin of one file"
enum { BYTES = 5000 };

static void write_weights(const char *path, const char *begin, size_t bytes) {
  char data[2 * BYTES] = {0};
  memcpy(data, begin, strlen(begin));
  write_file(path, data, bytes);
}

static attn_rt_weights weights_at(const char *path) {
  return (attn_rt_weights){path, BEGIN, sizeof BEGIN - 1, BYTES, NULL};
}

static int32_t map(const char *given, const char *path) {
  attn_rt_weights weights = weights_at(given);
  int32_t status = attn_rt_map_weights(&weights, path);
  CHECK((status == 0) == (weights.data != NULL));
  return status;
}

static void test_files(void) {
  write_weights("right", BEGIN, BYTES);
  write_weights("short", BEGIN, BYTES - 1);
  write_weights("long", BEGIN, BYTES + 1);
  write_weights("other", "the begin of two files", BYTES);
  write_weights("empty", "", 0);
  CHECK(mkfifo("pipe", 0600) == 0 && mkdir("folder", 0700) == 0);
  CHECK(map("right", NULL) == 0);
  CHECK(map("there is none", NULL) == ATTN_RT_WEIGHTS_MISSING);
  for (const char *const *name =
           (const char *const[]){"short", "long", "other", "empty", "pipe",
                                 "folder", NULL};
       *name; ++name)
    CHECK(map(*name, NULL) == ATTN_RT_WEIGHTS_OTHER);
}

static void test_places(void) {
  // A path of the caller's, or one in the environment, is the only one.
  CHECK(map("there is none", "right") == 0);
  CHECK(map("right", "there is none") == ATTN_RT_WEIGHTS_MISSING);
  CHECK(map("right", "other") == ATTN_RT_WEIGHTS_OTHER);
  setenv("ATTN_WEIGHTS", "right", 1);
  CHECK(map("there is none", NULL) == 0);
  CHECK(map("there is none", "other") == ATTN_RT_WEIGHTS_OTHER);
  setenv("ATTN_WEIGHTS", "there is none", 1);
  CHECK(map("right", NULL) == ATTN_RT_WEIGHTS_MISSING);
  setenv("ATTN_WEIGHTS", "", 1);
  CHECK(map("right", NULL) == 0);
  unsetenv("ATTN_WEIGHTS");
  // A folder has the file under its own name.
  write_weights("folder/inside", BEGIN, BYTES);
  CHECK(map("elsewhere/inside", "folder") == 0);
  CHECK(map("inside", "folder/") == 0);
  CHECK(map("right", "folder") == ATTN_RT_WEIGHTS_MISSING);
  char longest[8000];
  memset(longest, 'x', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  CHECK(map(longest, NULL) == ATTN_RT_WEIGHTS_MISSING);
  CHECK(map(longest, "folder") == ATTN_RT_WEIGHTS_MISSING);
}

static void test_again(void) {
  attn_rt_weights weights = weights_at("late");
  CHECK(attn_rt_map_weights(&weights, NULL) == ATTN_RT_WEIGHTS_MISSING);
  write_weights("late", BEGIN, BYTES);
  CHECK(attn_rt_map_weights(&weights, NULL) == 0);
  void *data = weights.data;
  CHECK(memcmp(data, BEGIN, sizeof BEGIN - 1) == 0);
  // What is mapped stays, whatever becomes of the file.
  CHECK(unlink("late") == 0);
  CHECK(attn_rt_map_weights(&weights, "other") == 0 && weights.data == data);
}

static void *map_in_thread(void *weights) {
  CHECK(attn_rt_map_weights(weights, NULL) == 0);
  return ((attn_rt_weights *)weights)->data;
}

static void test_threads(void) {
  attn_rt_weights weights = weights_at("right");
  pthread_t threads[8];
  for (int i = 0; i < 8; ++i)
    CHECK(pthread_create(&threads[i], NULL, map_in_thread, &weights) == 0);
  for (int i = 0; i < 8; ++i) {
    void *data = NULL;
    CHECK(pthread_join(threads[i], &data) == 0 && data == weights.data);
  }
}

void test_weights(void) {
  test_files();
  test_places();
  test_again();
  test_threads();
  CHECK(unlink("folder/inside") == 0 && rmdir("folder") == 0);
  remove_files();
}
