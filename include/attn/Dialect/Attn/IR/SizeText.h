// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes of results as callers read them: "past+new", "(t+1)/2", "b*s".
//
// A text has names, whole numbers, + - * /, and parentheses, with the meaning
// of Python's integers: a quotient is rounded down. lib/Runtime/Symbols.c and
// python/attn/_call.py read it, too.
#ifndef ATTN_DIALECT_ATTN_IR_SIZETEXT_H
#define ATTN_DIALECT_ATTN_IR_SIZETEXT_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace attn {

/// Of more characters no one can make sense.
constexpr size_t maxSizeText = 200;

/// The text of `size`, whose symbol i is called names[i].
std::string sizeText(mlir::AffineExpr size, llvm::ArrayRef<std::string> names);

/// What `text` stands for: its symbol i is called names[i]. Null where it is no
/// such text, or a longer one than sizeText is asked for.
mlir::AffineExpr parseSizeText(llvm::StringRef text, mlir::MLIRContext *context,
                               llvm::SmallVectorImpl<llvm::StringRef> &names);

} // namespace attn

#endif
