// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_PTXSIM_LEXER_H
#define ATTN_TOOLS_PTXSIM_LEXER_H

#include "llvm/ADT/StringRef.h"
#include <vector>

namespace attn::ptx {

/// A word (`ld.global.L1::evict_last.b32`, `%r`, `0f3F800000`), a string with
/// its quotes, or one character. The last one is empty.
struct Token {
  llvm::StringRef text;
  unsigned line;

  bool is(llvm::StringRef other) const { return text == other; }
  bool isWord() const;
};

std::vector<Token> lex(llvm::StringRef text);

} // namespace attn::ptx

#endif
