// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices that exporters write out although they only count: a slice that a
// model assigns to is, in ONNX, a tensor of the places of all its elements.
#ifndef ATTN_LIB_IMPORT_ONNX_OPERATORS_COUNTING_H
#define ATTN_LIB_IMPORT_ONNX_OPERATORS_COUNTING_H

#include "mlir/IR/Value.h"
#include <optional>

namespace attn::onnx {

/// A tensor of integers whose elements are `first`, and one more with each step
/// along dimension `dim`; everywhere `first` without `dim`.
struct Counting {
  int64_t first;
  std::optional<int64_t> dim;
};

/// None: `integers` holds others, or what it holds cannot be seen.
std::optional<Counting> readCounting(mlir::Value integers);

} // namespace attn::onnx

#endif
