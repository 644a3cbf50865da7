// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Dialect/Attn/IR/SizeText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::StringRef;

namespace {
/// How tightly what stands in parentheses would bind otherwise.
enum class Level { Sum, Product };

struct Text {
  std::string text;
  Level level;

  std::string within(Level outer) const {
    return level < outer ? "(" + text + ")" : text;
  }
};

struct Writer {
  llvm::ArrayRef<SizeSymbol> symbols;

  Text write(AffineExpr expr) const;
  Text writeSum(AffineExpr left, AffineExpr right) const;
  Text writeProduct(AffineExpr left, char sign, AffineExpr right) const;
  Text writeSymbol(const SizeSymbol &symbol) const;
};
} // namespace

Text Writer::writeSum(AffineExpr left, AffineExpr right) const {
  std::string first = write(left).text;
  if (auto number = dyn_cast<AffineConstantExpr>(right);
      number && number.getValue() < 0)
    return {first + std::to_string(number.getValue()), Level::Sum};
  if (auto product = dyn_cast<AffineBinaryOpExpr>(right);
      product && product.getKind() == AffineExprKind::Mul)
    if (auto count = dyn_cast<AffineConstantExpr>(product.getRHS());
        count && count.getValue() < 0)
      return {first + "-" +
                  write(product.getLHS() * -count.getValue())
                      .within(Level::Product),
              Level::Sum};
  return {first + "+" + write(right).text, Level::Sum};
}

Text Writer::writeProduct(AffineExpr left, char sign, AffineExpr right) const {
  std::string last = write(right).text;
  if (isa<AffineBinaryOpExpr>(right))
    last = "(" + last + ")";
  return {write(left).within(Level::Product) + sign + last, Level::Product};
}

Text Writer::writeSymbol(const SizeSymbol &symbol) const {
  if (symbol.kind == SizeSymbolKind::Name)
    return {symbol.name.str(), Level::Product};
  std::string name = symbol.kind == SizeSymbolKind::Max ? "max(" : "min(";
  return {name + write(symbol.left).text + "," + write(symbol.right).text + ")",
          Level::Product};
}

Text Writer::write(AffineExpr expr) const {
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return writeSymbol(symbols[symbol.getPosition()]);
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return {std::to_string(number.getValue()),
            number.getValue() < 0 ? Level::Sum : Level::Product};
  auto two = cast<AffineBinaryOpExpr>(expr);
  AffineExpr left = two.getLHS(), right = two.getRHS();
  switch (two.getKind()) {
  case AffineExprKind::Add:
    return writeSum(left, right);
  case AffineExprKind::Mul:
    // A number stands in front of what it counts; a quotient that is
    // multiplied is rounded first.
    if (isa<AffineConstantExpr>(right))
      std::swap(left, right);
    return writeProduct(left, '*', right);
  case AffineExprKind::FloorDiv:
    return writeProduct(left, '/', right);
  case AffineExprKind::CeilDiv:
    return write((left + right - 1).floorDiv(right));
  default:
    // As an expression, MLIR would make a remainder of this again.
    return {write(left).text + "-" +
                writeProduct(left.floorDiv(right), '*', right).text,
            Level::Sum};
  }
}

std::string attn::sizeText(AffineExpr size,
                           llvm::ArrayRef<SizeSymbol> symbols) {
  return Writer{symbols}.write(size).text;
}

AffineExpr attn::symbolExpr(const SizeSymbol &symbol, MLIRContext *context,
                            llvm::SmallVectorImpl<SizeSymbol> &symbols) {
  size_t place = llvm::find(symbols, symbol) - symbols.begin();
  if (place == symbols.size())
    symbols.push_back(symbol);
  return getAffineSymbolExpr(place, context);
}

namespace {
/// sum = product {(+|-) product}; product = atom {(*|/) atom};
/// atom = number | name | ( sum ) | (max|min)( sum , sum ).
struct Parser {
  StringRef rest;
  MLIRContext *context;
  llvm::SmallVectorImpl<SizeSymbol> &symbols;

  AffineExpr sum();
  AffineExpr product();
  AffineExpr atom();
  AffineExpr extreme(SizeSymbolKind kind);
};
} // namespace

/// Behind its first parenthesis.
AffineExpr Parser::extreme(SizeSymbolKind kind) {
  AffineExpr left = sum();
  if (!left || !rest.consume_front(","))
    return {};
  AffineExpr right = sum();
  if (!right || !rest.consume_front(")"))
    return {};
  return symbolExpr({kind, {}, left, right}, context, symbols);
}

AffineExpr Parser::atom() {
  if (rest.consume_front("max("))
    return extreme(SizeSymbolKind::Max);
  if (rest.consume_front("min("))
    return extreme(SizeSymbolKind::Min);
  if (rest.consume_front("(")) {
    AffineExpr inner = sum();
    return rest.consume_front(")") ? inner : AffineExpr();
  }
  int64_t number;
  if (!rest.empty() && llvm::isDigit(rest.front()))
    return rest.consumeInteger(10, number)
               ? AffineExpr()
               : getAffineConstantExpr(number, context);
  StringRef name =
      rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (name.empty())
    return {};
  rest = rest.drop_front(name.size());
  return symbolExpr({SizeSymbolKind::Name, name, {}, {}}, context, symbols);
}

AffineExpr Parser::product() {
  AffineExpr left = atom();
  while (left && !rest.empty() && StringRef("*/").contains(rest.front())) {
    bool isQuotient = rest.front() == '/';
    rest = rest.drop_front();
    AffineExpr right = atom();
    if (!right || (isQuotient && right == 0))
      return {};
    left = isQuotient ? left.floorDiv(right) : left * right;
  }
  return left;
}

AffineExpr Parser::sum() {
  bool isNegative = rest.consume_front("-");
  AffineExpr left = product();
  if (left && isNegative)
    left = -left;
  while (left && !rest.empty() && StringRef("+-").contains(rest.front())) {
    bool isDifference = rest.front() == '-';
    rest = rest.drop_front();
    AffineExpr right = product();
    if (!right)
      return {};
    left = isDifference ? left - right : left + right;
  }
  return left;
}

AffineExpr attn::parseSizeText(StringRef text, MLIRContext *context,
                               llvm::SmallVectorImpl<SizeSymbol> &symbols) {
  auto isSign = [](char c) { return StringRef("+-*/(,").contains(c); };
  // As many as the parts that are written, and they do not end the stack.
  if (llvm::count_if(text, isSign) > 5 * maxSizeParts)
    return {};
  Parser parser{text, context, symbols};
  AffineExpr size = parser.sum();
  return parser.rest.empty() ? size : AffineExpr();
}
