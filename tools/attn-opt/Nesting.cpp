// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Nesting.h"

using llvm::StringRef;

/// The place behind the string that begins at `at`. Strings end with the line.
static size_t skipString(StringRef text, size_t at) {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    if (text[at] == '\\')
      ++at;
  return at + 1;
}

const char *attn::tool::findTooDeep(StringRef text) {
  unsigned depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    StringRef rest = text.substr(i);
    if (rest.front() == '"') {
      i = skipString(text, i) - 1;
    } else if (rest.starts_with("//")) {
      i += rest.find_first_of("\n\r") == StringRef::npos
               ? rest.size()
               : rest.find_first_of("\n\r");
    } else if (rest.starts_with("->") || rest.starts_with("<=") ||
               rest.starts_with(">=")) {
      ++i; // no brackets
    } else if (StringRef("([{<").contains(rest.front())) {
      if (depth++ == maxNesting)
        return rest.data();
    } else if (StringRef(")]}>").contains(rest.front()) && depth > 0) {
      --depth;
    }
  }
  return nullptr;
}
