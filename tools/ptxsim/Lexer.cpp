// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lexer.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace attn::ptx {

static bool isWordCharacter(char c) {
  return isAlnum(c) || c == '_' || c == '$' || c == '%' || c == '.';
}

bool Token::isWord() const { return !text.empty() && isWordCharacter(text[0]); }

/// Characters of the token at the front of `text`, which no space begins.
static size_t lengthOfToken(StringRef text) {
  if (text[0] == '"')
    return std::max<size_t>(text.find('"', 1) + 1, 1);
  size_t length = 0;
  while (length < text.size()) {
    if (isWordCharacter(text[length]))
      ++length;
    else if (length > 0 && text.substr(length).starts_with("::"))
      length += 2;
    else
      break;
  }
  return std::max<size_t>(length, 1);
}

std::vector<Token> lex(StringRef text) {
  std::vector<Token> tokens;
  unsigned line = 1;
  auto skip = [&](size_t length) {
    line += text.take_front(length).count('\n');
    text = text.drop_front(std::min(length, text.size()));
  };
  while (!text.empty()) {
    if (isSpace(text[0])) {
      skip(1);
    } else if (text.starts_with("//")) {
      skip(std::min(text.find('\n'), text.size()));
    } else if (text.starts_with("/*")) {
      size_t end = text.find("*/", 2);
      skip(end == StringRef::npos ? text.size() : end + 2);
    } else {
      size_t length = lengthOfToken(text);
      tokens.push_back({text.take_front(length), line});
      skip(length);
    }
  }
  tokens.push_back({text, line});
  return tokens;
}

} // namespace attn::ptx
