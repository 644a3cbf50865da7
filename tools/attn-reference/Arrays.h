// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of the reference from and to .npy files, and as text.
#ifndef ATTN_TOOLS_ATTN_REFERENCE_ARRAYS_H
#define ATTN_TOOLS_ATTN_REFERENCE_ARRAYS_H

#include "attn/Reference/Reference.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace attn::reference {

/// Reads an argument of type `type`. Floats of another type are rounded to it.
llvm::Expected<Datum> readArray(const std::string &path, mlir::Type type);

/// Writes all results as f64, or none of them.
llvm::Error writeArrays(llvm::ArrayRef<std::string> paths,
                        mlir::TypeRange types, llvm::ArrayRef<Datum> data);

/// Prints nested lists; 9 digits tell any two f32 apart.
void print(llvm::raw_ostream &stream, mlir::Type type, const Datum &datum);

} // namespace attn::reference

#endif
