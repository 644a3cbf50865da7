// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A linalg op on buffers, as the loops that it stands for.
#ifndef ATTN_CONVERSION_LINALGTOVECTOR_LOOPNEST_H
#define ATTN_CONVERSION_LINALGTOVECTOR_LOOPNEST_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace attn::cpu {

/// Where one operand lies: its element for a point of the loops.
struct Access {
  mlir::Value buffer; ///< null for a number
  mlir::AffineMap map;
  bool isRead = false, isWritten = false;

  bool uses(unsigned dim) const { return buffer && map.isFunctionOfDim(dim); }
  /// Whether neighbours along the loop `dim` are neighbours in memory.
  bool isContiguous(unsigned dim) const;
};

/// Adds up (or the like) into one element. Sums of 16 bits are kept in f32.
struct Reduction {
  mlir::Operation *combiner;
  mlir::Value addend;    ///< the operand that is not the running value
  mlir::Operation *post; ///< arith.truncf behind the combiner, or null
  mlir::Type type;       ///< of the running value
};

enum class NestKind {
  Elementwise,     ///< every point by itself, lanes along the last dimension
  RowReduction,    ///< lanes along what is added up, then across lanes
  ColumnReduction, ///< lanes along the last dimension of the result
  Scalar           ///< one number after the other
};

/// The loops of one op. `parallel` are those of its results, in the order of
/// the results' dimensions; `reduced` the others.
struct LoopNest {
  explicit LoopNest(mlir::linalg::GenericOp op);

  mutable mlir::linalg::GenericOp op; ///< a handle: its functions are not const
  llvm::SmallVector<unsigned> parallel, reduced;
  llvm::SmallVector<Access> accesses; ///< one per operand
  NestKind kind;
  unsigned lane = 0; ///< the loop that lanes lie along
  std::optional<Reduction> reduction;

  /// How many of the outermost parallel loops may be those of a group.
  unsigned fewestOuter() const;
  unsigned mostOuter() const;
  /// Buffers that the body reads by itself.
  llvm::SmallVector<mlir::Value> captures() const;
  const Access &output(unsigned i) const {
    return accesses[op.getNumDpsInputs() + i];
  }
  mlir::BlockArgument argument(unsigned i) const {
    return op.getBody()->getArgument(i);
  }

private:
  void orderLoops();
  bool hasVectorBody() const;
  void chooseKind();
  int contiguity(unsigned dim) const;
};

/// What says that two sizes are the same: a number, or where it comes from.
using SizeKey = std::pair<const void *, int64_t>;

/// Keys of the size of a loop; two loops with a common one have the same size.
llvm::SmallVector<SizeKey> sizeKeys(const LoopNest &nest, unsigned loop);

/// The size of a loop of `nest`, in front of `b`.
mlir::Value loopSize(mlir::OpBuilder &b, const LoopNest &nest, unsigned loop);

/// The buffer that a view is of; null if it may be several.
mlir::Value rootOf(mlir::Value buffer);

} // namespace attn::cpu

#endif
