// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Removes q, k and the divisions that contain them from one conjunction.
#ifndef ATTN_LIB_ANALYSIS_MASKBOUNDSELIMINATION_H
#define ATTN_LIB_ANALYSIS_MASKBOUNDSELIMINATION_H

#include "MaskBoundsDetail.h"

namespace attn::detail {

/// A lower row l*v >= L and an upper row u*v <= U of the variable v.
struct BoundPair {
  Row lower, upper;
  int64_t lowerFactor, upperFactor; ///< l and u
  std::optional<Row> shadow;        ///< l*U >= u*L
  bool exact;
};

class Eliminator {
public:
  Eliminator(Polyhedron system, bool exact)
      : exact(exact), system(std::move(system)) {}

  /// False if nothing is left.
  bool run();

  bool exact;
  std::vector<Linear> tests;
  Polyhedron system;

private:
  bool hasOnlySymbols(const Row &row, unsigned except) const;
  bool hasOtherExistential(const Row &row, unsigned except) const;
  int findUnitEquality(unsigned column) const;
  std::vector<BoundPair> boundPairs(unsigned column, bool thorough) const;
  int64_t cost(unsigned column, bool thorough) const;
  int cheapestColumn() const;

  void eliminate(unsigned column);
  void substitute(unsigned column, unsigned equality);
  void splitEqualities(unsigned column);
  void roundSymbolicBounds(unsigned column);
  void replaceByShadows(unsigned column);
  void keepOnly(llvm::ArrayRef<Linear> rows);
  void keepShortest(size_t limit);
  void shrink();

  int numFloors = 0;
};
} // namespace attn::detail

#endif
