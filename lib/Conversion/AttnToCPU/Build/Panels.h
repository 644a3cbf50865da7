// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the queries of a tile lie in panels.
//
// Lengths are mostly multiples of powers of two. Where the vectors of a panel
// are no such number, panels of one vector less come last, as many as it takes
// to leave no vector without a query:
//
//   panels of 3 vectors of 8       32 queries     16 + 16
//                                 128 queries     24 + 24 + 24 + 24 + 16 + 16
//
// All have the place of a whole one in the state.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_BUILD_PANELS_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_BUILD_PANELS_H

#include "KernelBuilder.h"

namespace attn::cpu {

class Panels {
public:
  Panels(KernelBuilder &k, Value queries);

  Value count;

  /// First query of panel p, and the first behind it, counted from the tile's.
  Value first(Value p) const;
  Value end(Value p) const;
  /// Whether panel p has all its vectors; null where all panels do.
  Value isWhole(Value p) const;

private:
  KernelBuilder &k;
  Value queries, whole; // number of whole panels, or null
};

} // namespace attn::cpu

#endif
