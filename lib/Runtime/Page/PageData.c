// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The data of a page, as `describe` of python/attn/_lab.py makes it, which says
// what every field is. Up to 64 tokens every pair is there; beyond, a map of
// the largest weights per block, and the rows of a few queries.
#define _GNU_SOURCE
#include "Page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  WHOLE = 64,           // tokens up to which every pair is on the page
  FEATURES = 8,         // of each vector, where all would make the page large
  FEW_NUMBERS = 16384,  // what counts as large for vectors
  TEXT_NUMBERS = 20000, // from here on arrays are packed
  MOST_PAIRS = 118000,  // numbers of pairs where every pair is on the page
  MAP_CELLS = 131072,   // of all heads
  MAP_SIDE = 256,
  POOLED_HEADS = 8,
  POOLED_ROWS = 16, // of all heads
  STRONGEST = 16    // keys of a row
};

// (head, row, column) of the first entry of a batch.
typedef struct {
  const attn_rt_array *array;
  int64_t heads, rows, columns;
} view;

typedef struct {
  FILE *file;
  const attn_rt_picture *picture;
  const attn_rt_page *page;
  view steps[ATTN_RT_NUM_STEPS];
  int64_t heads, queries, keys;
  int64_t kept;        // heads on the page
  int64_t *rows, *top; // queries on the page; [kept][row][num_top] keys
  int64_t num_rows, num_top, features;
  bool is_pooled, has_masked;
  int32_t packed;
  double *numbers; // room for the largest array
} writer;

static view view_of(const attn_rt_array *array) {
  const int64_t *last = array->shape + array->rank - 2;
  return (view){array, array->rank > 2 ? last[-1] : 1, last[0], last[1]};
}

static double load(const view *v, int64_t head, int64_t row, int64_t column) {
  return attn_rt_load_float(v->array->dtype, v->array->data,
                            (head * v->rows + row) * v->columns + column);
}

static double load_pair(const writer *w, attn_rt_step step, int64_t head,
                        int64_t query, int64_t key) {
  return load(&w->steps[step], head, query, key);
}

static bool sees(const writer *w, int64_t head, int64_t query, int64_t key) {
  return load_pair(w, ATTN_RT_MASKED, head, query, key) != -INFINITY;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t greatest(int64_t a, int64_t b) { return a > b ? a : b; }

//===-- What is on the page -----------------------------------------------===//

// All queries, or some that are evenly spread.
static bool choose_rows(writer *w) {
  int64_t count = w->queries;
  if (w->is_pooled)
    count = least(count, greatest(2, POOLED_ROWS / w->kept));
  w->rows = calloc((size_t)count, sizeof *w->rows);
  if (!w->rows)
    return false;
  double step = count > 1 ? (double)(w->queries - 1) / (double)(count - 1) : 0;
  for (int64_t i = 0; i < count; ++i) {
    int64_t row = i == count - 1 && count > 1 ? w->queries - 1
                                              : (int64_t)(step * (double)i);
    if (w->num_rows == 0 || w->rows[w->num_rows - 1] != row)
      w->rows[w->num_rows++] = row;
  }
  return true;
}

static bool contains(const int64_t *list, int64_t count, int64_t value) {
  for (int64_t i = 0; i < count; ++i)
    if (list[i] == value)
      return true;
  return false;
}

// The keys of the largest weights of a row; of equal ones, the first.
static void choose_top(const writer *w, int64_t head, int64_t query,
                       int64_t *top) {
  for (int64_t i = 0; i < w->num_top; ++i) {
    int64_t best = -1;
    double largest = -INFINITY;
    for (int64_t key = 0; key < w->keys; ++key) {
      double weight = load_pair(w, ATTN_RT_WEIGHTS, head, query, key);
      if ((best < 0 || weight > largest) && !contains(top, i, key)) {
        best = key;
        largest = isnan(weight) ? -INFINITY : weight;
      }
    }
    top[i] = best;
  }
  for (int64_t i = 1; i < w->num_top; ++i)
    for (int64_t j = i; j > 0 && top[j - 1] > top[j]; --j) {
      int64_t key = top[j];
      top[j] = top[j - 1];
      top[j - 1] = key;
    }
}

static bool choose_keys(writer *w) {
  w->num_top = least(STRONGEST, w->keys);
  w->top = calloc((size_t)(w->kept * w->num_rows * w->num_top), sizeof *w->top);
  for (int64_t i = 0; w->top && i < w->kept * w->num_rows; ++i)
    choose_top(w, i / w->num_rows, w->rows[i % w->num_rows],
               w->top + i * w->num_top);
  return w->top;
}

// Whether more than an exclusion stands between scaled and masked scores.
static bool is_changed(const writer *w) {
  for (int64_t h = 0; h < w->kept; ++h)
    for (int64_t r = 0; r < w->num_rows; ++r)
      for (int64_t k = 0; k < w->keys; ++k) {
        double before = load_pair(w, ATTN_RT_SCALED, h, w->rows[r], k);
        double after = load_pair(w, ATTN_RT_MASKED, h, w->rows[r], k);
        if (after != -INFINITY && before != after &&
            !(isnan(before) && isnan(after)))
          return true;
      }
  return false;
}

// The first heads, whole groups of those that share keys, where all would make
// the page large.
static int64_t heads_that_fit(const writer *w) {
  int64_t group = w->heads / w->steps[ATTN_RT_KEY].heads;
  int64_t numbers = w->queries * w->keys * (is_changed(w) ? 4 : 3);
  int64_t kept = least(w->heads, greatest(1, MOST_PAIRS / numbers));
  return kept < group ? kept : kept / group * group;
}

// Heads of keys, or of values, on a page with every pair.
static int64_t kept_key_heads(const writer *w, const view *v) {
  int64_t group = w->heads / v->heads;
  return (w->kept + group - 1) / group;
}

static int64_t side_of_map(const writer *w) {
  int64_t side = 0, most = MAP_CELLS / w->kept;
  while (side < MAP_SIDE && (side + 1) * (side + 1) <= most)
    ++side;
  return side;
}

// Which queries, keys and heads are on the page.
static bool choose_pairs(writer *w) {
  w->heads = w->kept = w->steps[ATTN_RT_QUERY].heads;
  w->queries = w->steps[ATTN_RT_QUERY].rows;
  w->keys = w->steps[ATTN_RT_KEY].rows;
  w->is_pooled = greatest(w->queries, w->keys) > WHOLE;
  if (w->is_pooled)
    w->kept = least(w->heads, POOLED_HEADS);
  if (!choose_rows(w) || (w->is_pooled && !choose_keys(w)))
    return false;
  if (!w->is_pooled)
    w->kept = heads_that_fit(w);
  w->has_masked = is_changed(w);
  return true;
}

static bool choose(writer *w) {
  for (int i = 0; i < ATTN_RT_NUM_STEPS; ++i)
    w->steps[i] = view_of(w->page->steps[i]);
  if (!choose_pairs(w))
    return false;
  const view *key = &w->steps[ATTN_RT_KEY], *value = &w->steps[ATTN_RT_VALUE];
  int64_t vectors = w->kept * w->queries + kept_key_heads(w, key) * w->keys;
  bool is_large =
      w->is_pooled || vectors * (key->columns + value->columns) > FEW_NUMBERS;
  w->features = is_large ? FEATURES : INT64_MAX;
  int64_t features =
      least(key->columns, w->features) + least(value->columns, w->features);
  int64_t of_pairs = w->kept * w->num_rows * w->keys;
  int64_t of_queries = w->kept * w->num_rows * features;
  int64_t of_keys = w->is_pooled ? of_queries * w->num_top
                                 : kept_key_heads(w, key) * w->keys * features;
  int64_t all = of_pairs * (w->has_masked ? 4 : 3) + of_queries + of_keys;
  w->packed = w->is_pooled ? 4 : all > TEXT_NUMBERS ? 2 : 0;
  int64_t room = greatest(all, w->is_pooled ? MAP_CELLS : 0);
  w->numbers = malloc(sizeof *w->numbers * (size_t)room);
  return w->numbers;
}

//===-- Its fields --------------------------------------------------------===//

static void begin_field(writer *w, const char *name) {
  fprintf(w->file, ",\"%s\":", name);
}

static void write_text(writer *w, const char *name, const char *text) {
  begin_field(w, name);
  attn_rt_json_text(w->file, text);
}

static void write_integer(writer *w, const char *name, int64_t value) {
  begin_field(w, name);
  fprintf(w->file, "%lld", (long long)value);
}

static void write_pairs(writer *w, const char *name, attn_rt_step step) {
  begin_field(w, name);
  attn_rt_numbers numbers = {
      3, w->packed, {w->kept, w->num_rows, w->keys}, w->numbers};
  double *to = w->numbers;
  for (int64_t h = 0; h < w->kept; ++h)
    for (int64_t r = 0; r < w->num_rows; ++r)
      for (int64_t k = 0; k < w->keys; ++k)
        *to++ = load_pair(w, step, h, w->rows[r], k);
  attn_rt_json_numbers(w->file, &numbers);
}

// A vector for each query of the page.
static void write_queries(writer *w, const char *name, attn_rt_step step) {
  const view *v = &w->steps[step];
  int64_t features = least(v->columns, w->features);
  attn_rt_numbers numbers = {
      3, w->packed, {w->kept, w->num_rows, features}, w->numbers};
  double *to = w->numbers;
  for (int64_t h = 0; h < w->kept; ++h)
    for (int64_t r = 0; r < w->num_rows; ++r)
      for (int64_t f = 0; f < features; ++f)
        *to++ = load(v, h, w->rows[r], f);
  begin_field(w, name);
  attn_rt_json_numbers(w->file, &numbers);
}

// A vector for each key; in a large page, for the strongest of each row.
static void write_keys(writer *w, const char *name, attn_rt_step step) {
  const view *v = &w->steps[step];
  int64_t features = least(v->columns, w->features);
  attn_rt_numbers numbers = {
      3, w->packed, {kept_key_heads(w, v), w->keys, features}, w->numbers};
  double *to = w->numbers;
  begin_field(w, name);
  if (w->is_pooled)
    numbers = (attn_rt_numbers){
        4, w->packed, {w->kept, w->num_rows, w->num_top, features}, w->numbers};
  int64_t per_head = w->is_pooled ? w->num_rows * w->num_top : w->keys;
  int64_t heads = w->is_pooled ? w->kept : kept_key_heads(w, v);
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t i = 0; i < per_head; ++i)
      for (int64_t f = 0; f < features; ++f)
        *to++ = w->is_pooled ? load(v, h / (w->heads / v->heads),
                                    w->top[h * per_head + i], f)
                             : load(v, h, i, f);
  attn_rt_json_numbers(w->file, &numbers);
}

// Whether the first `heads` see the same pairs of these queries.
static bool heads_agree(const writer *w, int64_t heads, const int64_t *rows,
                        int64_t num_rows) {
  for (int64_t h = 1; h < heads; ++h)
    for (int64_t r = 0; r < num_rows; ++r)
      for (int64_t k = 0; k < w->keys; ++k) {
        int64_t row = rows ? rows[r] : r;
        if (sees(w, h, row, k) != sees(w, 0, row, k))
          return false;
      }
  return true;
}

static bool sees_all(const writer *w, int64_t heads) {
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t r = 0; r < w->num_rows; ++r)
      for (int64_t k = 0; k < w->keys; ++k)
        if (!sees(w, h, w->rows[r], k))
          return false;
  return true;
}

static void write_mask(writer *w) {
  int64_t heads = heads_agree(w, w->kept, w->rows, w->num_rows) ? 1 : w->kept;
  begin_field(w, "mask");
  if (sees_all(w, heads)) {
    fputs("null", w->file);
    return;
  }
  for (int64_t h = 0; h < heads; ++h) {
    putc(h ? ',' : '[', w->file);
    for (int64_t r = 0; r < w->num_rows; ++r) {
      fputs(r ? ",\"" : "[\"", w->file);
      for (int64_t k = 0; k < w->keys; ++k)
        putc(sees(w, h, w->rows[r], k) ? '1' : '0', w->file);
      putc('"', w->file);
    }
    putc(']', w->file);
  }
  putc(']', w->file);
}

// 0 skipped, 1 full, 2 on the edge.
static int class_of_tile(const writer *w, int64_t query, int64_t key) {
  int64_t end = least(w->queries, query + w->picture->query_tile);
  int64_t end_key = least(w->keys, key + w->picture->key_tile);
  int64_t seen = 0;
  for (int64_t q = query; q < end; ++q)
    for (int64_t k = key; k < end_key; ++k)
      seen += sees(w, 0, q, k);
  return seen == 0 ? 0 : seen == (end - query) * (end_key - key) ? 1 : 2;
}

static void write_bounds(FILE *file, const char *lines) {
  putc('[', file);
  for (const char *comma = ""; *lines; comma = ",") {
    size_t length = strcspn(lines, "\n");
    char *line = strndup(lines, length);
    if (line) {
      fputs(comma, file);
      attn_rt_json_text(file, line);
    }
    free(line);
    lines += length + (lines[length] != 0);
  }
  putc(']', file);
}

static void write_tiles(writer *w) {
  int64_t rows = w->picture->query_tile, columns = w->picture->key_tile;
  begin_field(w, "tiles");
  // A GPU's kernel has tiles that no attention of the picture was told of.
  if (!rows || !columns || !heads_agree(w, w->heads, NULL, w->queries)) {
    fputs("null", w->file);
    return;
  }
  fprintf(w->file,
          "{\"rows\":%lld,\"columns\":%lld,\"classes\":", (long long)rows,
          (long long)columns);
  for (int64_t q = 0; q < w->queries; q += rows) {
    putc(q ? ',' : '[', w->file);
    for (int64_t k = 0; k < w->keys; k += columns)
      fprintf(w->file, "%c%d", k ? ',' : '[', class_of_tile(w, q, k));
    putc(']', w->file);
  }
  fputs("],\"bounds\":", w->file);
  write_bounds(w->file, w->picture->bounds);
  putc('}', w->file);
}

// The largest weight of each block.
static void write_pooled(writer *w) {
  begin_field(w, "pooled");
  if (!w->is_pooled) {
    fputs("null", w->file);
    return;
  }
  int64_t side = side_of_map(w);
  int64_t block[] = {(w->queries + side - 1) / side,
                     (w->keys + side - 1) / side};
  int64_t rows = (w->queries + block[0] - 1) / block[0];
  int64_t columns = (w->keys + block[1] - 1) / block[1];
  attn_rt_numbers map = {3, 2, {w->kept, rows, columns}, w->numbers};
  for (int64_t i = 0; i < w->kept * rows * columns; ++i)
    w->numbers[i] = -INFINITY;
  for (int64_t h = 0; h < w->kept; ++h)
    for (int64_t q = 0; q < w->queries; ++q)
      for (int64_t k = 0; k < w->keys; ++k) {
        double weight = load_pair(w, ATTN_RT_WEIGHTS, h, q, k);
        double *cell =
            &w->numbers[(h * rows + q / block[0]) * columns + k / block[1]];
        if (isnan(weight) || weight > *cell)
          *cell = weight;
      }
  fputs("{\"rows\":", w->file);
  attn_rt_json_integers(w->file, w->rows, w->num_rows);
  fputs(",\"block\":", w->file);
  attn_rt_json_integers(w->file, block, 2);
  fputs(",\"keys\":[", w->file);
  for (int64_t i = 0; i < w->kept * w->num_rows; ++i) {
    fputs(i % w->num_rows ? "," : i ? "],[" : "[", w->file);
    attn_rt_json_integers(w->file, w->top + i * w->num_top, w->num_top);
  }
  fputs("]],\"map\":", w->file);
  attn_rt_json_numbers(w->file, &map);
  putc('}', w->file);
}

static void write_fields(writer *w) {
  fputs("{\"entry\":", w->file);
  attn_rt_json_text(w->file, w->page->title);
  write_text(w, "title", w->page->title);
  write_text(w, "specification", w->picture->specification);
  write_text(w, "normalization", w->picture->normalization);
  begin_field(w, "tokens");
  fputs("{\"queries\":", w->file);
  attn_rt_json_labels(w->file, w->page->queries, w->queries);
  fputs(",\"keys\":", w->file);
  attn_rt_json_labels(w->file, w->page->keys, w->keys);
  putc('}', w->file);
  write_integer(w, "heads", w->kept);
  write_integer(w, "heads_of_all", w->heads);
  write_integer(w, "dim", w->steps[ATTN_RT_QUERY].columns);
  write_integer(w, "value_dim", w->steps[ATTN_RT_VALUE].columns);
  begin_field(w, "scale");
  fprintf(w->file, "%.17g", w->picture->scale);
  write_tiles(w);
  write_pooled(w);
  write_mask(w);
  write_queries(w, "query", ATTN_RT_QUERY);
  write_keys(w, "key", ATTN_RT_KEY);
  write_keys(w, "value", ATTN_RT_VALUE);
  write_pairs(w, "scores", ATTN_RT_SCORES);
  write_pairs(w, "scaled", ATTN_RT_SCALED);
  if (w->has_masked)
    write_pairs(w, "masked", ATTN_RT_MASKED);
  write_pairs(w, "weights", ATTN_RT_WEIGHTS);
  write_queries(w, "out", ATTN_RT_OUT);
  putc('}', w->file);
}

bool attn_rt_write_page_data(FILE *file, const attn_rt_picture *picture,
                             const attn_rt_page *page) {
  writer w = {.file = file, .picture = picture, .page = page};
  bool ok = choose(&w);
  if (ok)
    write_fields(&w);
  free(w.rows);
  free(w.top);
  free(w.numbers);
  return ok;
}
