/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* train [sgd|adam], in the folder data: what train.py does, in C and f32. */
#include "model.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 32, HALF = 8, TOKENS = 15, WIDTH = 32, LETTERS = 16 };
enum { ROWS = BATCH * TOKENS, ROOM = WIDTH * WIDTH, ALL = 7 * ROOM };
static float w[ALL], d[ALL], m[ALL], s[ALL], x[ROWS * WIDTH], dx[ROWS * WIDTH],
    kept[6][ROWS * WIDTH], logits[ROWS * LETTERS], dlogits[ROWS * LETTERS];
static unsigned char text[200][BATCH][HALF]; /* each is read twice */
/* The elements of a file of NumPy, behind a header of 128 bytes. */
static void load(const char *name, void *to, size_t size) {
  FILE *file = fopen(name, "rb");
  if (!file || fseek(file, 128, SEEK_SET) || !fread(to, 1, size, file))
    exit(fprintf(stderr, "cannot read %s\n", name) > 0);
  fclose(file);
}
/* Where the tables of letters and places have feature i of all rows. */
static int letterOf(int step, int i) {
  int row = i / WIDTH, letter = text[step][row / TOKENS][row % TOKENS % HALF];
  return 5 * ROOM + letter * WIDTH + i % WIDTH;
}
static int placeOf(int i) { return 6 * ROOM + i % (TOKENS * WIDTH); }
/* The mean cross entropy of the letters that can be known; its derivative. */
static double loss(int step) {
  double sum = 0, known = BATCH * HALF, total;
  for (int n = 0; n < BATCH * HALF; ++n) {
    int first = (n / HALF * TOKENS + HALF - 1 + n % HALF) * LETTERS;
    int right = first + text[step][n / HALF][n % HALF];
    for (int i = total = 0; i < LETTERS; ++i)
      total += exp(logits[first + i]);
    for (int i = first; i < first + LETTERS; ++i)
      dlogits[i] = (float)((exp(logits[i]) / total - (i == right)) / known);
    sum += (log(total) - logits[right]) / known;
  }
  return sum;
}
static void update(int i, int adam, int step) {
  m[i] = 0.9f * m[i] + (adam ? 0.1f : 1) * d[i];
  s[i] = 0.999f * s[i] + 0.001f * d[i] * d[i];
  double root = sqrt(s[i] / (1 - pow(0.999, step))) + 1e-8;
  w[i] -= (float)(m[i] * (adam ? 0.01 / (1 - pow(0.9, step)) / root : 0.05));
}
#define T(data, rank, ...) attn_contiguous(data, rank, (int64_t[]){__VA_ARGS__})
#define X(data, columns) T(data, 3, BATCH, TOKENS, columns)
#define SET(name, tensor) f.name = g.name = tensor
#define W(n, name, columns)                                                    \
  load(#name ".npy", w + n * ROOM, 4 * ROOM),                                  \
      SET(name, T(w + n * ROOM, 2, WIDTH, columns)),                           \
      g.d_##name = T(d + n * ROOM, 2, WIDTH, columns)
#define KEEP(n) SET(residual_##n, X(kept[n], WIDTH))
int main(int argc, char **argv) {
  int adam = argc > 1 && !strcmp(argv[1], "adam"), status = 0;
  load("tokens.npy", text, sizeof text);
  load("embed.npy", w + 5 * ROOM, 4 * LETTERS * WIDTH);
  load("place.npy", w + 6 * ROOM, 4 * TOKENS * WIDTH);
  model_forward_args f = {.size = sizeof f, .logits = X(logits, LETTERS)};
  model_gradient_args g = {.size = sizeof g, .d_logits = X(dlogits, LETTERS)};
  SET(x, X(x, WIDTH)), g.d_x = X(dx, WIDTH), KEEP(5);
  W(0, wq, WIDTH), W(1, wk, WIDTH), W(2, wv, WIDTH), W(3, wo, WIDTH);
  W(4, out, LETTERS), SET(residual_3, T(kept[3], 4, BATCH, 4, TOKENS, 8));
  SET(residual_4, T(kept[4], 3, BATCH, 4, TOKENS)), KEEP(0), KEEP(1), KEEP(2);
  for (int step = 0; step < 200 && !status; ++step) {
    for (int i = 0; i < ROWS * WIDTH; ++i)
      x[i] = w[letterOf(step, i)] + w[placeOf(i)];
    status = model_forward(&f);
    printf("%d %.9f\n", step, loss(step));
    status = status ? status : model_gradient(&g);
    memset(d + 5 * ROOM, 0, 2 * ROOM * sizeof *d);
    for (int i = 0; i < ROWS * WIDTH; ++i)
      d[letterOf(step, i)] += dx[i], d[placeOf(i)] += dx[i];
    for (int i = 0; i < ALL; ++i)
      update(i, adam, step + 1);
  }
  return fputs(status ? model_gradient_strerror(status) : "", stderr), !!status;
}
