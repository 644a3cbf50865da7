// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes of results as callers read them: "past+new", "(t+1)/2", "max(s-4,0)".
//
// A text has names, whole numbers, + - * /, max and min of two, and
// parentheses, with the meaning of Python's integers: a quotient is rounded
// down. lib/Runtime/Symbols.c and python/attn/_call.py read it, too.
#ifndef ATTN_DIALECT_ATTN_IR_SIZETEXT_H
#define ATTN_DIALECT_ATTN_IR_SIZETEXT_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace attn {

/// Of more names, numbers and sums, products and extremes of them no one can
/// make sense.
constexpr int64_t maxSizeParts = 100;

enum class SizeSymbolKind { Name, Max, Min };

/// A symbol of a size's expression: what it is called, or the greater or the
/// smaller one of two sizes in symbols in front of this one.
struct SizeSymbol {
  SizeSymbolKind kind = SizeSymbolKind::Name;
  llvm::StringRef name;
  mlir::AffineExpr left, right;

  bool operator==(const SizeSymbol &other) const {
    return kind == other.kind && name == other.name && left == other.left &&
           right == other.right;
  }
};

/// The text of `size`, whose symbol i is symbols[i].
std::string sizeText(mlir::AffineExpr size, llvm::ArrayRef<SizeSymbol> symbols);

/// Number of `symbol` among `symbols`, where it is added if it is not there.
mlir::AffineExpr symbolExpr(const SizeSymbol &symbol,
                            mlir::MLIRContext *context,
                            llvm::SmallVectorImpl<SizeSymbol> &symbols);

/// What `text` stands for: its symbol i is symbols[i]. Null where it is no such
/// text, or has more parts than one may have.
mlir::AffineExpr parseSizeText(llvm::StringRef text, mlir::MLIRContext *context,
                               llvm::SmallVectorImpl<SizeSymbol> &symbols);

/// The value of `size`, in `Value`s: `named(name)`, `extreme(isMax, a, b)` and
/// `sum(expr, values)`, in which symbol i is values[i], make them.
template <typename Value>
Value evaluateSize(
    mlir::AffineExpr size, llvm::ArrayRef<SizeSymbol> symbols,
    llvm::function_ref<Value(llvm::StringRef name)> named,
    llvm::function_ref<Value(bool isMax, Value, Value)> extreme,
    llvm::function_ref<Value(mlir::AffineExpr, llvm::ArrayRef<Value>)> sum) {
  llvm::SmallVector<Value> values;
  for (const SizeSymbol &symbol : symbols) {
    if (symbol.kind == SizeSymbolKind::Name)
      values.push_back(named(symbol.name));
    else
      values.push_back(extreme(symbol.kind == SizeSymbolKind::Max,
                               sum(symbol.left, values),
                               sum(symbol.right, values)));
  }
  return sum(size, values);
}

} // namespace attn

#endif
