// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_TOOLS_PTXSIM_PARSER_H
#define ATTN_TOOLS_PTXSIM_PARSER_H

#include "Lexer.h"
#include "Program.h"
#include "llvm/ADT/StringMap.h"

namespace attn::ptx {

/// Recursive descent. What can fail returns false after the first message.
class Parser {
public:
  Parser(std::vector<Token> tokens, llvm::StringRef file);

  bool parse();

  Module module;
  std::string message;

private:
  struct Symbol {
    enum Kind { Register, Label, Variable } kind;
    int index;
    uint64_t value;
  };
  using Scope = llvm::StringMap<Symbol>;
  /// An operand that names a label that may come later.
  struct Mention {
    size_t instruction;
    std::string label;
    unsigned line;
  };

  const Token &peek(unsigned ahead = 0) const;
  Token next();
  bool accept(llvm::StringRef text);
  bool expect(llvm::StringRef text);
  bool fail(const llvm::Twine &what, unsigned line = 0); // 0: the next one's
  bool parseNumber(uint64_t &number);
  void skipLine();
  bool skipBraces();

  // Parser.cpp: what stands outside of bodies, and declarations.
  bool parseDirective();
  bool parseVariable(Space space);
  bool parseInitial(Type type, Variable &variable);
  bool parseEntry();
  bool parseParameter(Entry &entry);
  bool parseLimits(Entry &entry);

  // ParseBody.cpp
  bool parseBody();
  bool parseStatement();
  bool parseRegisters();
  bool parseInstruction();
  bool parseOperand(Operand &operand, Instruction &instruction);
  bool parseAddress(Operand &operand);
  bool parseNumberOperand(Operand &operand, bool negative);
  bool parseName(Operand &operand, Instruction &instruction);
  bool closeScope();
  const Symbol *lookUp(llvm::StringRef name) const;

  std::vector<Token> tokens;
  size_t position = 0;
  std::vector<Scope> scopes;
  std::vector<std::vector<Mention>> mentions; // of each scope of the body
  Entry *entry = nullptr;
  uint64_t globalBytes = 0, constBytes = 0, sharedBytes = 0;
};

} // namespace attn::ptx

#endif
