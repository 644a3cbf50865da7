// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers that follow from the sizes of the inputs.
//
// Exporters write shapes as arithmetic: Shape, Slice, Mul, Concat, Reshape. To
// know that (batch * seq) * 64 elements are batch, seq and 64 of them, sizes
// are polynomials with whole coefficients in unknown sizes, kept in one normal
// form so that equal ones are equal by comparison.
#ifndef ATTN_LIB_IMPORT_ONNX_SIZES_H
#define ATTN_LIB_IMPORT_ONNX_SIZES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <optional>
#include <vector>

namespace attn::onnx {

/// A polynomial, such as 4*batch*seq + 1.
class Size {
public:
  Size() = default;
  Size(int64_t constant) {
    if (constant)
      terms[{}] = constant;
  }
  static Size symbol(unsigned number) {
    Size size;
    size.terms[{number}] = 1;
    return size;
  }

  std::optional<int64_t> constant() const;
  /// The number that is added to what is unknown.
  int64_t fixed() const;
  bool is(int64_t value) const { return constant() == value; }
  /// Whether it is above 0 for all sizes, which are not negative.
  bool isPositive() const;
  /// False where a coefficient had more than 63 bits.
  bool isValid() const { return valid; }

  Size operator+(const Size &other) const;
  Size operator-(const Size &other) const;
  Size operator*(const Size &other) const;
  /// The quotient where it has no remainder for any sizes: that of
  /// batch*past + batch by past + 1 is batch.
  std::optional<Size> dividedBy(const Size &divisor) const;
  /// A symbol, and the other symbol or the number that it must be for this to
  /// be `other` where no size is 0. None where it is not as simple.
  std::optional<std::pair<Size, Size>> solved(const Size &other) const;
  /// A symbol, and the number of which it must be a multiple for `divisor` to
  /// divide this. None where it is not as simple.
  std::optional<std::pair<Size, int64_t>>
  multipleFor(const Size &divisor) const;
  /// Two symbols that must be one for `divisor` to divide this: batch and
  /// batch_1 in 4*batch*seq by batch_1*seq. None where it is not as simple.
  std::optional<std::pair<Size, Size>> sameFor(const Size &divisor) const;
  /// With `other` for a symbol.
  Size replaced(unsigned symbol, const Size &other) const;
  /// The latest of its symbols, from 1 on, or 0: those of inputs come before
  /// those that are computed.
  unsigned latest() const;
  /// Whether nothing is subtracted.
  bool isSum() const;
  bool operator==(const Size &other) const {
    return valid && other.valid && terms == other.terms;
  }
  bool operator!=(const Size &other) const { return !(*this == other); }

private:
  friend class Sizes;
  using Monomial = std::vector<unsigned>; ///< Symbols, sorted, with repetition.
  void add(const Monomial &monomial, int64_t coefficient);
  /// The largest term, by degree first: an order that products keep.
  const std::pair<const Monomial, int64_t> &leading() const;
  std::map<Monomial, int64_t> terms;
  bool valid = true;
};

/// The unknown sizes of a function, and code that computes with them.
class Sizes {
public:
  /// A new symbol for `value`, of type index.
  Size symbolFor(mlir::Value value) {
    symbols.push_back({value, std::nullopt});
    return Size::symbol(symbols.size() - 1);
  }
  /// The number of whole `divisor`s in `size`, rounded down. Equal ones have
  /// one symbol: (t-1)/2 + 1 is (t+1)/2, and half of that (t+1)/4. None where
  /// quotients of quotients would take too much code.
  std::optional<Size> quotient(const Size &size, int64_t divisor);
  /// From now on `size` is a multiple of `divisor`: divisor * symbol.
  Size multiple(const Size &size, int64_t divisor);
  /// A symbol, and the number of which it must be a multiple for `a` and `b` to
  /// be equal: t and 4 for t and 4*(t/4).
  std::optional<std::pair<Size, int64_t>> multipleFor(const Size &a,
                                                      const Size &b) const;
  /// Whether `a` is not above `b` for any sizes, as far as sums and quotients
  /// tell: 4*(t/4) is at most t, and that at most 4*((t+3)/4).
  bool isAtMost(const Size &a, const Size &b) const;
  /// From now on it is known of `size` that it is one of a tensor: not
  /// negative.
  void noteSize(const Size &size) { ofTensors.push_back(size); }
  bool isOfTensor(const Size &size) const {
    return llvm::is_contained(ofTensors, size);
  }
  /// How many symbols there are: those of a loop's body come behind.
  unsigned count() const { return symbols.size(); }
  /// Whether all that `size` is computed of was there when count() was `mark`.
  bool isOlder(const Size &size, unsigned mark) const;
  /// The size as a value of type index.
  mlir::Value emit(mlir::OpBuilder &b, mlir::Location loc, const Size &size);
  /// A constant where it is known.
  mlir::OpFoldResult emitFolded(mlir::OpBuilder &b, mlir::Location loc,
                                const Size &size);

private:
  struct Quotient {
    Size number;
    int64_t divisor;
    unsigned cost;        ///< Divisions to compute it.
    bool isExact = false; ///< The number is a multiple of the divisor.
  };
  /// The value of a symbol, or the quotient that it is, which is computed where
  /// it is asked for.
  struct Symbol {
    mlir::Value value;
    std::optional<Quotient> quotient;
  };
  mlir::Value emit(mlir::OpBuilder &b, mlir::Location loc, unsigned symbol);
  mlir::Value emit(mlir::OpBuilder &b, mlir::Location loc,
                   const Size::Monomial &monomial, int64_t coefficient);
  std::vector<Symbol> symbols;
  std::vector<Size> ofTensors;
};

/// The product of all.
Size product(llvm::ArrayRef<Size> sizes);

} // namespace attn::onnx

#endif
