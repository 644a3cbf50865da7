// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace attn::ptx {

/// The body ends with its own brace; scopes within it are those of inline
/// assembly.
bool Parser::parseBody() {
  if (!expect("{"))
    return false;
  scopes.emplace_back();
  mentions.emplace_back();
  size_t outermost = scopes.size();
  while (scopes.size() >= outermost)
    if (!parseStatement())
      return false;
  return true;
}

const Parser::Symbol *Parser::lookUp(StringRef name) const {
  for (const Scope &scope : reverse(scopes))
    if (auto found = scope.find(name); found != scope.end())
      return &found->second;
  return nullptr;
}

/// Finds the labels that were mentioned in the innermost scope, there or
/// further out.
bool Parser::closeScope() {
  std::vector<Mention> open = std::move(mentions.back());
  mentions.pop_back();
  for (Mention &mention : open) {
    auto found = scopes.back().find(mention.label);
    if (found != scopes.back().end() && found->second.kind == Symbol::Label)
      entry->instructions[mention.instruction].target = found->second.index;
    else if (!mentions.empty())
      mentions.back().push_back(std::move(mention));
    else
      return fail("label '" + Twine(mention.label) + "' is not declared",
                  mention.line);
  }
  scopes.pop_back();
  return true;
}

bool Parser::parseStatement() {
  if (peek().text.empty())
    return fail("expected '}' before the end of the file");
  if (accept("{")) {
    scopes.emplace_back();
    mentions.emplace_back();
    return true;
  }
  if (accept("}"))
    return closeScope();
  if (accept(";"))
    return true;
  if (accept(".reg"))
    return parseRegisters();
  if (accept(".shared"))
    return parseVariable(Space::Shared);
  if (accept(".local"))
    return parseVariable(Space::Local);
  if (peek().is(".loc") || peek().is(".pragma")) {
    skipLine();
    return true;
  }
  if (peek().isWord() && peek(1).is(":")) {
    int index = entry->instructions.size();
    if (!scopes.back()
             .try_emplace(peek().text, Symbol{Symbol::Label, index, 0})
             .second)
      return fail("'" + peek().text + "' is declared twice");
    next();
    next();
    return true;
  }
  return parseInstruction();
}

/// The rest of `.reg .b32 %r<9>, %x;`.
bool Parser::parseRegisters() {
  std::optional<Type> type;
  if (peek().text.starts_with("."))
    type = parseType(next().text.drop_front());
  if (!type)
    return fail("a register's type is not known");
  do {
    std::string name = next().text.str();
    uint64_t count = 0;
    bool many = accept("<");
    if (many && (!parseNumber(count) || !expect(">")))
      return false;
    if (entry->registers.size() + count > 1'000'000)
      return fail("more than a million registers");
    for (uint64_t i = 0; i < (many ? count : 1); ++i) {
      std::string whole = many ? name + utostr(i) : name;
      int index = entry->registers.size();
      scopes.back()[whole] = {Symbol::Register, index, 0};
      entry->registers.push_back({whole, type->bits});
    }
  } while (accept(","));
  return expect(";");
}

bool Parser::parseInstruction() {
  Instruction instruction;
  instruction.line = peek().line;
  const char *begin = peek().text.data();
  if (accept("@")) {
    instruction.guardNegated = accept("!");
    const Symbol *guard = lookUp(peek().text);
    if (!guard || guard->kind != Symbol::Register)
      return fail("expected a predicate, found '" + peek().text + "'");
    instruction.guard = guard->index;
    next();
  }
  if (!peek().isWord())
    return fail("expected an instruction, found '" + peek().text + "'");
  SmallVector<StringRef> parts;
  next().text.split(parts, '.');
  instruction.opcode = parts[0].str();
  for (StringRef part : ArrayRef(parts).drop_front())
    instruction.modifiers.push_back(part.str());
  if (!peek().is(";"))
    do {
      Operand operand;
      if (!parseOperand(operand, instruction))
        return false;
      instruction.operands.push_back(std::move(operand));
    } while (accept(","));
  const char *end = peek().text.data();
  if (!expect(";"))
    return false;
  SmallVector<StringRef> words;
  SplitString(StringRef(begin, end - begin), words);
  instruction.text = join(words, " ");
  entry->instructions.push_back(std::move(instruction));
  return true;
}

bool Parser::parseOperand(Operand &operand, Instruction &instruction) {
  if (accept("!")) {
    if (!parseOperand(operand, instruction))
      return false;
    operand.negated = true;
    return true;
  }
  if (accept("{")) {
    operand.kind = Operand::List;
    do {
      operand.elements.emplace_back();
      if (!parseOperand(operand.elements.back(), instruction))
        return false;
    } while (accept(","));
    return expect("}");
  }
  if (accept("["))
    return parseAddress(operand);
  bool negative = accept("-");
  if (!peek().isWord())
    return fail("expected an operand, found '" + peek().text + "'");
  if (negative || isDigit(peek().text[0]))
    return parseNumberOperand(operand, negative);
  return parseName(operand, instruction);
}

bool Parser::parseNumberOperand(Operand &operand, bool negative) {
  StringRef text = peek().text;
  bool single = text.starts_with_insensitive("0f");
  operand.kind = Operand::Immediate;
  if (single || text.starts_with_insensitive("0d")) {
    if (text.drop_front(2).getAsInteger(16, operand.value))
      return fail("expected digits of a float, found '" + text + "'");
    if (negative)
      operand.value ^= uint64_t(1) << (single ? 31 : 63);
    next();
    return true;
  }
  if (text.contains('.')) {
    operand.kind = Operand::Real;
    if (text.getAsDouble(operand.real))
      return fail("expected a number, found '" + text + "'");
    operand.real = negative ? -operand.real : operand.real;
    next();
    return true;
  }
  if (!parseNumber(operand.value))
    return false;
  operand.value = negative ? -operand.value : operand.value;
  return true;
}

bool Parser::parseName(Operand &operand, Instruction &instruction) {
  StringRef name = peek().text;
  if (accept("_"))
    return true;
  if (const Symbol *symbol = lookUp(name);
      symbol && symbol->kind != Symbol::Label) {
    next();
    if (symbol->kind == Symbol::Register) {
      operand.kind = Operand::Register;
      operand.index = symbol->index;
    } else {
      operand.kind = Operand::Immediate;
      operand.value = symbol->value;
    }
  } else if (const auto *special = find(specialRegisters(), name);
             special != specialRegisters().end()) {
    next();
    operand.kind = Operand::Special;
    operand.index = special - specialRegisters().begin();
  } else if (name[0] == '%') {
    return fail("register '" + name + "' is not declared");
  } else {
    operand.kind = Operand::Label;
    mentions.back().push_back(
        {entry->instructions.size(), name.str(), peek().line});
    next();
  }
  if (!accept("|"))
    return true;
  const Symbol *second = lookUp(peek().text);
  if (!second || second->kind != Symbol::Register)
    return fail("expected a register, found '" + peek().text + "'");
  operand.second = second->index;
  next();
  return true;
}

/// The rest of `[%rd1+16]` or `[name]`.
bool Parser::parseAddress(Operand &operand) {
  operand.kind = Operand::Address;
  if (const Symbol *symbol = lookUp(peek().text)) {
    if (symbol->kind == Symbol::Label)
      return fail("expected an address, found label '" + peek().text + "'");
    if (symbol->kind == Symbol::Register)
      operand.index = symbol->index;
    operand.value = symbol->value;
    next();
  } else if (peek().text.empty() || !isDigit(peek().text[0])) {
    return fail("expected an address, found '" + peek().text + "'");
  } else if (!parseNumber(operand.value)) {
    return false;
  }
  if (accept("+") || peek().is("-")) {
    uint64_t offset;
    bool minus = accept("-");
    if (!parseNumber(offset))
      return false;
    operand.value += minus ? -offset : offset;
  }
  return expect("]");
}

} // namespace attn::ptx
