// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page: the template of the Python package, python/attn/lab, with the data
// of one call.
#define _GNU_SOURCE
#include "Page.h"

#include <stdlib.h>
#include <string.h>

// PAGE_HTML, PAGE_CSS, PAGE_JS: the bytes of the three files.
#include "PageTemplate.inc"

static void write_html(FILE *file, const char *text) {
  for (; *text; ++text) {
    const char *name = *text == '<'   ? "&lt;"
                       : *text == '>' ? "&gt;"
                       : *text == '&' ? "&amp;"
                       : *text == '"' ? "&quot;"
                                      : NULL;
    if (name)
      fputs(name, file);
    else
      putc(*text, file);
  }
}

static bool write_part(FILE *file, const char *name,
                       const attn_rt_picture *picture,
                       const attn_rt_page *page) {
  if (strncmp(name, "data}}", 6) == 0)
    return attn_rt_write_page_data(file, picture, page);
  if (strncmp(name, "title}}", 7) == 0)
    write_html(file, page->title);
  else if (strncmp(name, "style}}", 7) == 0)
    fwrite(PAGE_CSS, 1, sizeof PAGE_CSS, file);
  else
    fwrite(PAGE_JS, 1, sizeof PAGE_JS, file);
  return true;
}

// The template between its {{parts}}.
static bool write_page(FILE *file, const attn_rt_picture *picture,
                       const attn_rt_page *page) {
  const char *at = PAGE_HTML, *end = PAGE_HTML + sizeof PAGE_HTML;
  while (at < end) {
    const char *part = memmem(at, (size_t)(end - at), "{{", 2);
    fwrite(at, 1, (size_t)((part ? part : end) - at), file);
    if (!part)
      return true;
    part += 2;
    if (!write_part(file, part, picture, page))
      return false;
    at = (const char *)memmem(part, (size_t)(end - part), "}}", 2) + 2;
  }
  return true;
}

char *attn_rt_render_page(const attn_rt_picture *picture,
                          const attn_rt_page *page, size_t *size) {
  char *text = NULL;
  FILE *file = open_memstream(&text, size);
  if (!file)
    return NULL;
  bool ok = write_page(file, picture, page);
  ok = !ferror(file) && ok;
  ok = fclose(file) == 0 && ok;
  if (ok)
    return text;
  free(text);
  return NULL;
}
