// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Literal evaluation of a function at any phase before the fork into CPU and
// GPU: one scalar step after the other, in f64, as docs/Spec.md words it. It is
// what every other way of computing the same is compared with, so it shares no
// code with any of them and is written to be read, not to be fast.
#ifndef ATTN_REFERENCE_REFERENCE_H
#define ATTN_REFERENCE_REFERENCE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

namespace attn::reference {

/// One element or scalar. The IR's type says which member it is: a float of any
/// width is `real`; an index or integer is `integer`, sign-extended, an i1
/// being 0 or 1. (One vector of doubles would not hold every i64.)
union Number {
  double real;
  int64_t integer;
  static Number ofReal(double value) { return {value}; }
  static Number ofInteger(int64_t value) {
    Number number{0.0};
    number.integer = value;
    return number;
  }
};

/// A tensor's elements in row-major order.
struct Tensor {
  llvm::SmallVector<int64_t> shape;
  std::vector<Number> elements;

  /// Elements are NaN, so that reading what nobody wrote shows.
  explicit Tensor(llvm::ArrayRef<int64_t> shape);

  int64_t rank() const { return shape.size(); }
  int64_t size() const { return elements.size(); }
  /// Position in `elements`.
  int64_t offset(llvm::ArrayRef<int64_t> indices) const;
  Number &at(llvm::ArrayRef<int64_t> i) { return elements[offset(i)]; }
  const Number &at(llvm::ArrayRef<int64_t> i) const {
    return elements[offset(i)];
  }
};

/// What `!attn.state` holds, one entry or row per query.
struct State {
  int64_t rows = 0, keyDim = 0, valueDim = 0;
  std::vector<double> query;   ///< rows x keyDim, scaled
  std::vector<double> maximum; ///< m
  std::vector<double> sum;     ///< l
  std::vector<double> context; ///< acc, rows x valueDim
};

/// The value of an SSA value. Tensors and states are shared, never changed.
using Datum = std::variant<Number, std::shared_ptr<const Tensor>,
                           std::shared_ptr<const State>>;

Datum makeDatum(Tensor tensor);
Datum makeDatum(State state);

struct Options {
  /// Round every op's result, and a state's statistics, to its element type,
  /// and weights to that of the values that they are multiplied with. Without
  /// it all is computed in f64 and never rounded.
  bool narrow = false;
};

/// The number of `type` that is nearest to `value`, ties to even.
double roundTo(mlir::FloatType type, double value);

/// The bytes of an element of `type` in the memory of a kernel's caller: a
/// float, an integer of up to 64 bits, or an i1, which takes a byte.
int64_t bytesOf(mlir::Type type);

/// The element of `type` at `from`, which need not be aligned.
Number load(mlir::Type type, const void *from);

/// Writes the element of `type` that is nearest to `number`.
void store(mlir::Type type, Number number, void *to);

/// Evaluates `function`. Whatever cannot be evaluated (an unknown op, arguments
/// that do not fit, an index out of bounds) is an error at the op.
mlir::FailureOr<llvm::SmallVector<Datum>>
evaluate(mlir::func::FuncOp function, llvm::ArrayRef<Datum> arguments,
         const Options &options = {});

} // namespace attn::reference

#endif
