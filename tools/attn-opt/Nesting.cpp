// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Nesting.h"
#include <algorithm>

using llvm::StringRef;

/// The place behind the string that begins at `at`. Strings end with the line.
static size_t skipString(StringRef text, size_t at) {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    if (text[at] == '\\')
      ++at;
  return at + 1;
}

/// Bytes of the sign or word at the beginning of `text` that stands before what
/// it is applied to; 0 if there is none.
static size_t prefixLength(StringRef text) {
  if (text.starts_with("-"))
    return 1;
  bool isWord = text.consume_front("not") &&
                (text.empty() || text.front() == ' ' || text.front() == '\n' ||
                 text.front() == '\t' || text.front() == '(');
  return isWord ? 3 : 0;
}

const char *attn::tool::findTooDeep(StringRef text) {
  unsigned brackets = 0, prefixes = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    StringRef rest = text.substr(i);
    if (StringRef(" \t\r\n").contains(rest.front()))
      continue;
    if (rest.starts_with("//")) {
      i += std::min(rest.find_first_of("\n\r"), rest.size());
      continue;
    }
    size_t prefix = prefixLength(rest);
    prefixes = prefix ? prefixes + 1 : 0;
    if (rest.front() == '"') {
      i = skipString(text, i) - 1;
    } else if (rest.starts_with("->") || rest.starts_with("<=") ||
               rest.starts_with(">=")) {
      ++i; // no brackets
    } else if (prefix) {
      i += prefix - 1;
    } else if (StringRef("([{<").contains(rest.front())) {
      ++brackets;
    } else if (StringRef(")]}>").contains(rest.front()) && brackets > 0) {
      --brackets;
    }
    if (brackets + prefixes > maxNesting)
      return rest.data();
  }
  return nullptr;
}
