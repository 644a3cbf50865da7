// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides whether a softmax stands in an attention, and reads that.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_RAISE_ATTENTIONREADER_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_RAISE_ATTENTIONREADER_H

#include "ScorePath.h"
#include "Sinks.h"

namespace attn {

/// All that is known about one attention before anything changes.
struct Raised {
  mlir::linalg::SoftmaxOp softmax;
  SoftmaxParts parts;
  unsigned rank;
  llvm::SmallVector<int64_t>
      sizes; ///< of the loops: scores, query and value features
  ScorePath path;
  double operandScale = 1; ///< of queries times keys
  TensorView query, key, value;
  std::optional<double> sink; ///< of all heads, where `parts` have one
  TensorView sinks;           ///< one per head, or one, where it is no constant
  mlir::Value context;        ///< what is replaced
  TensorView shape;           ///< how it shows the context
  /// What the values need of what stands behind the softmax, in order.
  llvm::SmallVector<mlir::Operation *> earlier;
  unsigned queryFeature() const { return rank; }
  unsigned valueFeature() const { return rank + 1; }

  /// (.., S, D) of the loops in front, `sequence` and `feature`.
  Arrangement arrangement(unsigned sequence, unsigned feature) const {
    Arrangement wanted;
    for (unsigned loop = 0; loop + 2 < rank; ++loop)
      wanted.loops.push_back(loop);
    wanted.loops.append({sequence, feature});
    wanted.sizes = sizes;
    return wanted;
  }
  Arrangement keysArrangement(unsigned feature) const {
    Arrangement wanted = arrangement(rank - 1, feature);
    wanted.head = rank >= 3 ? rank - 3 : -1;
    return wanted;
  }
  Arrangement headsArrangement() const {
    return {{rank - 3}, sizes, /*head=*/-1};
  }
};

/// Decides about one softmax.
class AttentionReader {
public:
  AttentionReader(mlir::linalg::SoftmaxOp softmax, bool lowestExcludes)
      : lowestExcludes(lowestExcludes) {
    raised.softmax = softmax;
    raised.parts = partsOf(softmax);
  }
  /// False: `reason` says why not; it is empty where there is no attention.
  bool read();
  Raised raised;
  std::string reason;

private:
  bool no(const llvm::Twine &why) {
    reason = why.str();
    return false;
  }
  bool readValues();
  bool checkGuard();
  bool checkReaders();
  mlir::Value rowGuardOf(mlir::Value weights, mlir::Operation *user);
  bool readOperands();
  bool readSinks();
  bool findContext(const TensorView &weights, unsigned depth);
  bool noContext();
  bool readContext(const TensorView &weights, mlir::Operation *user);
  TensorView deepest(TensorView view, const Arrangement &wanted, double *factor,
                     int64_t heads = 0);
  int64_t headsOf(const TensorView &view) const;

  bool lowestExcludes;
  /// The last reader of weights beyond which no product was looked for.
  mlir::Operation *stopsAt = nullptr;
  /// The sum of masks at which a guard of rows without keys looks, if any.
  mlir::Value guardedBy;
};

} // namespace attn

#endif
