// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The element types that a kernel's tensors can have in memory, from the table
// include/attn-rt/elements.inc, which the runtime reads, too.
#ifndef ATTN_INTERFACE_ELEMENTTYPES_H
#define ATTN_INTERFACE_ELEMENTTYPES_H

#include "mlir/IR/Types.h"
#include <string>

namespace attn {

struct ElementType {
  int32_t code;             ///< attn_rt_dtype
  llvm::StringLiteral type; ///< as MLIR writes it
  llvm::StringLiteral cType;
  int64_t bytes;
};

/// Null for a type that no tensor of a caller has.
const ElementType *findElementType(mlir::Type type);

/// All of them: "f32, f64, f16, bf16, i1, i32 or i64".
std::string elementTypeNames();

} // namespace attn

#endif
