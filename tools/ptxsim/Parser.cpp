// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Parser.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace attn::ptx {

std::optional<Type> parseType(StringRef name) {
  if (name == "pred")
    return Type{Type::Predicate, 1};
  if (name == "tf32")
    return Type{Type::TFloat, 32};
  if (name == "bf16" || name == "bf16x2")
    return Type{Type::BFloat, 16, name == "bf16" ? 1u : 2u};
  if (name == "f16x2")
    return Type{Type::Float, 16, 2};
  if (name.size() < 2 || !StringRef("busf").contains(name[0]))
    return std::nullopt;
  unsigned bits;
  if (name.drop_front().getAsInteger(10, bits) || bits < 8 || bits > 64 ||
      !isPowerOf2_32(bits) || (name[0] == 'f' && bits == 8))
    return std::nullopt;
  switch (name[0]) {
  case 'b':
    return Type{Type::Bits, bits};
  case 'u':
    return Type{Type::Unsigned, bits};
  case 's':
    return Type{Type::Signed, bits};
  default:
    return Type{Type::Float, bits};
  }
}

Parser::Parser(std::vector<Token> tokens, StringRef file)
    : tokens(std::move(tokens)) {
  module.file = file.str();
  scopes.emplace_back();
}

const Token &Parser::peek(unsigned ahead) const {
  return tokens[std::min(position + ahead, tokens.size() - 1)];
}

Token Parser::next() {
  Token token = peek();
  position = std::min(position + 1, tokens.size() - 1);
  return token;
}

bool Parser::accept(StringRef text) {
  if (!peek().is(text))
    return false;
  next();
  return true;
}

bool Parser::fail(const Twine &what, unsigned line) {
  if (message.empty())
    message = (module.file + ":" + Twine(line ? line : peek().line) +
               ": error: " + what)
                  .str();
  return false;
}

bool Parser::expect(StringRef text) {
  if (accept(text))
    return true;
  return fail("expected '" + text + "', found '" + peek().text + "'");
}

bool Parser::parseNumber(uint64_t &number) {
  StringRef text = peek().text;
  text.consume_back("U");
  if (text.getAsInteger(0, number))
    return fail("expected a number, found '" + peek().text + "'");
  next();
  return true;
}

void Parser::skipLine() {
  unsigned line = peek().line;
  while (!peek().text.empty() && peek().line == line)
    next();
}

/// Skips what lies between braces, after the first one.
bool Parser::skipBraces() {
  for (unsigned depth = 1; depth > 0;) {
    if (peek().text.empty())
      return fail("expected '}' before the end of the file");
    Token token = next();
    depth += token.is("{");
    depth -= token.is("}");
  }
  return true;
}

bool Parser::parse() {
  while (!peek().text.empty())
    if (!parseDirective())
      return false;
  if (module.entries.empty())
    return fail("there is no .entry");
  return true;
}

bool Parser::parseDirective() {
  if (accept(".version")) {
    next();
    return true;
  }
  if (accept(".target")) {
    module.target = next().text.str();
    while (accept(","))
      next();
    return true;
  }
  uint64_t size;
  if (accept(".address_size")) {
    if (!parseNumber(size))
      return false;
    return size == 64 || fail("only addresses of 64 bits are known");
  }
  if (accept(".visible") || accept(".extern") || accept(".weak") ||
      accept(".common"))
    return true;
  if (accept(".global"))
    return parseVariable(Space::Global);
  if (accept(".const"))
    return parseVariable(Space::Const);
  if (accept(".shared"))
    return parseVariable(Space::Shared);
  if (accept(".entry"))
    return parseEntry();
  if (peek().is(".file") || peek().is(".pragma")) {
    skipLine();
    return true;
  }
  // Functions that nothing calls, and what debuggers read.
  if (accept(".func") || accept(".section")) {
    while (!peek().is("{") && !peek().is(";") && !peek().text.empty())
      next();
    return next().is("{") ? skipBraces() : true;
  }
  return fail("'" + peek().text + "' is not known here");
}

/// The rest of `.shared .align 16 .b8 name[64] = {1, 2};`.
bool Parser::parseVariable(Space space) {
  uint64_t align = 1, count = 1;
  if (accept(".align") && !parseNumber(align))
    return false;
  uint64_t vector = accept(".v2") ? 2 : accept(".v4") ? 4 : 1;
  std::optional<Type> type;
  if (peek().text.starts_with("."))
    type = parseType(next().text.drop_front());
  if (!type)
    return fail("a variable's type is not known");
  Variable variable;
  variable.name = next().text.str();
  if (accept("[")) {
    count = 0; // of the launch
    if (!peek().is("]") && !parseNumber(count))
      return false;
    if (!expect("]"))
      return false;
  }
  if (align == 0 || align > (1 << 20) || count > windowBytes / 64)
    return fail("'" + variable.name + "' is too large for any memory");
  uint64_t &used = space == Space::Shared
                       ? entry ? entry->sharedBytes : sharedBytes
                   : space == Space::Local  ? entry->localBytes
                   : space == Space::Global ? globalBytes
                                            : constBytes;
  variable.space = space;
  variable.bytes = count * vector * type->bytes();
  variable.offset =
      alignTo(used, std::max<uint64_t>(align, type->bytes() * vector));
  if (space == Space::Shared && count == 0)
    variable.offset = dynamicShared;
  else
    used = variable.offset + variable.bytes;
  if (accept("=") && !parseInitial(*type, variable))
    return false;
  uint64_t window = space == Space::Global  ? globalWindow
                    : space == Space::Const ? constWindow
                                            : 0;
  scopes.back()[variable.name] = {Symbol::Variable, 0,
                                  window + variable.offset};
  if (!entry)
    module.variables.push_back(std::move(variable));
  return expect(";");
}

/// The numbers behind `=`; what they leave is zero.
bool Parser::parseInitial(Type type, Variable &variable) {
  bool list = accept("{");
  do {
    uint64_t number = 0;
    bool negative = accept("-");
    StringRef text = peek().text;
    if (text.consume_front("0f") || text.consume_front("0F") ||
        text.consume_front("0d") || text.consume_front("0D")) {
      if (text.getAsInteger(16, number))
        return fail("expected digits of a float");
      next();
    } else if (!parseNumber(number)) {
      return false;
    }
    number = negative ? -number : number;
    for (unsigned i = 0; i < type.bytes(); ++i)
      variable.initial.push_back(number >> (8 * i));
  } while (list && accept(","));
  if (variable.initial.size() > variable.bytes)
    return fail("more numbers than '" + variable.name + "' has");
  return !list || expect("}");
}

bool Parser::parseEntry() {
  module.entries.emplace_back();
  entry = &module.entries.back();
  entry->name = next().text.str();
  scopes.emplace_back();
  if (accept("("))
    while (!accept(")"))
      if (!parseParameter(*entry) || (!peek().is(")") && !expect(",")))
        return false;
  entry->sharedBytes = sharedBytes;
  if (!parseLimits(*entry) || !parseBody())
    return false;
  scopes.pop_back();
  entry = nullptr;
  return true;
}

/// `.param .u64 .ptr .global .align 16 name` or `.param .align 8 .b8 name[16]`.
bool Parser::parseParameter(Entry &entry) {
  uint64_t align = 1, count = 1, ignored;
  if (!expect(".param"))
    return false;
  if (accept(".align") && !parseNumber(align))
    return false;
  std::optional<Type> type;
  if (peek().text.starts_with("."))
    type = parseType(next().text.drop_front());
  if (!type)
    return fail("a parameter's type is not known");
  while (peek().text.starts_with("."))
    if (next().is(".align") && !parseNumber(ignored))
      return false;
  Parameter parameter;
  parameter.name = next().text.str();
  if (accept("[") && (!parseNumber(count) || !expect("]")))
    return false;
  if (align == 0 || align > 4096 || count > 32768)
    return fail("a kernel's parameters have at most 32764 bytes");
  parameter.bytes = count * type->bytes();
  parameter.offset =
      alignTo(entry.parameterBytes, std::max<uint64_t>(align, type->bytes()));
  entry.parameterBytes = parameter.offset + parameter.bytes;
  scopes.back()[parameter.name] = {Symbol::Variable, 0, parameter.offset};
  entry.parameters.push_back(std::move(parameter));
  return true;
}

/// What stands between the parameters and the body.
bool Parser::parseLimits(Entry &entry) {
  while (!peek().is("{")) {
    if (peek().text.empty())
      return fail("expected the kernel's body");
    Token directive = next();
    if (!directive.is(".reqntid") && !directive.is(".maxntid"))
      continue;
    auto &limit = directive.is(".reqntid") ? entry.required : entry.maximum;
    limit = {1, 1, 1};
    for (unsigned d = 0; d < 3 && (d == 0 || accept(",")); ++d) {
      uint64_t number;
      if (!parseNumber(number))
        return false;
      limit[d] = number;
    }
  }
  return true;
}

Expected<Module> parseModule(StringRef text, StringRef file) {
  Parser parser(lex(text), file);
  if (!parser.parse())
    return createStringError(parser.message);
  return std::move(parser.module);
}

} // namespace attn::ptx
