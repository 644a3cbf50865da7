// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The body of a linalg op on numbers or on vectors of neighbours.
#ifndef ATTN_CONVERSION_LINALGTOVECTOR_BODYEMITTER_H
#define ATTN_CONVERSION_LINALGTOVECTOR_BODYEMITTER_H

#include "LoopNest.h"
#include "mlir/IR/IRMapping.h"

namespace attn::cpu {

/// How a value of the body varies.
enum class Level {
  Row,   ///< the same in the whole row: computed once, in front of its loops
  Turn,  ///< a number per turn of an inner loop
  Lanes, ///< a number per lane
};

/// Where code is made for: one turn of the loops of a nest.
struct Place {
  mlir::OpBuilder &b;
  mlir::Location loc;
  /// The index of each loop; along lanes that of the first.
  llvm::ArrayRef<mlir::Value> point;
  int64_t lanes = 1;
  mlir::Value mask; ///< null where all lanes count
};

/// Memory that the code of a group keeps in registers or in one row.
struct RowMemory {
  unsigned outer = 0;
  /// A number of this row, by buffer, and which element it is.
  llvm::DenseMap<mlir::Value, std::pair<mlir::AffineMap, mlir::Value>> numbers;
  /// A buffer's row, if that is all that is kept of it.
  llvm::DenseMap<mlir::Value, mlir::Value> rows;
  /// Buffers without memory.
  llvm::DenseSet<mlir::Value> registers;
  /// Vectors of this turn, by buffer and map in terms of the group.
  llvm::DenseMap<std::pair<mlir::Value, mlir::AffineMap>, mlir::Value> vectors;
};

/// Makes code of one nest.
class BodyEmitter {
public:
  BodyEmitter(const LoopNest &nest, RowMemory &memory, bool usesLanes);

  /// Makes what is the same in the whole row; `lanes` is how many the vectors
  /// behind it have.
  void prepare(const Place &place);
  /// What the body yields for one turn, as numbers or vectors. `running` are
  /// the values of its results so far, null where they are read.
  llvm::SmallVector<mlir::Value> emit(const Place &place,
                                      llvm::ArrayRef<mlir::Value> running = {});
  /// What a reduction takes in in this turn.
  mlir::Value emitAddend(const Place &place);

  mlir::Value load(const Place &place, const Access &access, Level level);
  /// With `inRegister`, only what reads it in this turn gets the value.
  void store(const Place &place, const Access &access, mlir::Value value,
             bool inRegister = false);
  /// The wider running value of a reduction, and back.
  mlir::Value widen(const Place &place, mlir::Value value) const;
  mlir::Value narrow(const Place &place, mlir::Value value) const;

  Level levelOf(const Access &access) const;
  /// Whether a part of the lanes can be masked where elements of `leastBits`
  /// and more can.
  bool canMask(unsigned leastBits) const;
  /// Bytes of the largest number that each lane has one of.
  int64_t laneBytes() const;

private:
  void findLevels();
  Level levelOf(mlir::Value value) const;
  bool isLinear(mlir::Value index) const;
  mlir::Value indexOf(const Place &place, const mlir::IRMapping &mapping,
                      mlir::Value value) const;
  mlir::Value asLanes(const Place &place, mlir::Value value) const;
  void emitOps(const Place &place, mlir::IRMapping &mapping);
  void emitOp(const Place &place, mlir::Operation &op,
              mlir::IRMapping &mapping);
  mlir::Value emitIndex(const Place &place, unsigned dim);
  mlir::Value emitCapture(const Place &place, mlir::Operation &load,
                          const mlir::IRMapping &mapping);
  llvm::SmallVector<mlir::Value> indices(const Place &place,
                                         const Access &access, bool inRow);

  const LoopNest &nest;
  RowMemory &memory;
  bool usesLanes;
  llvm::DenseMap<mlir::Value, Level> levels;
  mlir::IRMapping ofRow, broadcasts;
};

} // namespace attn::cpu

#endif
