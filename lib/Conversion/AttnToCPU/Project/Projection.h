// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits the loops of one tile of a projection. ProjectTile.cpp describes them.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_PROJECT_PROJECTION_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_PROJECT_PROJECTION_H

#include "ProjectBlock.h"

namespace attn::cpu {

class Projection {
public:
  Projection(KernelBuilder &k, const ProjectOperands &operands,
             const ProjectSizes &sizes);

  void emit();

private:
  bool inPanels() const { return sizes.packed == 0; }
  Value times(Value a, Value b) {
    return mlir::arith::MulIOp::create(k.builder, k.loc, a, b);
  }
  void steps(int64_t size, Value total,
             llvm::function_ref<void(Value begin, Value count)> body);

  // Many rows.
  Source panelAt(Value number, Value row);
  Value rowAhead(const SumBlock &part, Value row);
  int64_t rowsInAdvance() const;
  using AheadOf = std::function<std::function<void(Value)>(Value row)>;
  Value endOfBlocks(Value row, int64_t size);
  void blocks(BlockBuilder &block, SumBlock part, Value first,
              const AheadOf &aheadOf);
  void blocksFrom(Value row, BlockBuilder &block, SumBlock part, Value first,
                  const AheadOf &aheadOf);
  Value halfOf(Value row);
  void shallowPanel(SumBlock part);
  void blocksOfPanel(SumBlock part, Source next);
  void tileBlocks(SumBlock part);
  Value sumsOf(Value number);
  Value inputsFrom(Value row, int64_t count);
  void panels(Value begin, Value count);
  void panelsOf(Value begin, Value count, Value first, Value end,
                bool isShallow,
                llvm::function_ref<Source(Value number)> source);
  void packAndMultiply(Value begin, Value count);
  void useAllRoomForOneRow();
  void tall(bool isShallow);
  void tall();

  // In place.
  void inPlace(int64_t size, Value copies,
               llvm::function_ref<void(SumBlock, Value)> blocks);
  void stream(int64_t count);
  void streamBy(int64_t count);

  bool hasNarrowPanels() const;
  std::function<void(Value)> halfOfNextRows(const SumBlock &part, Value half);
  void packByFirstBlock(SumBlock part, Value first);
  void streamBlocks(bool isShallow);
  void streamBlocks();

  void chooseShallow(llvm::function_ref<void(bool isShallow)> emit);
  void prefetch(Source at);
  void prefetch(Source at, int64_t width);
  std::function<void(Value)> rowsBehind(const SumBlock &part);
  std::function<void(Value)> nextRows(Value number, const SumBlock &part,
                                      bool few, Value half = Value());

  KernelBuilder &k;
  Value input, weight;
  bool transposed;
  const ProjectSizes &sizes;
  Value inputs, packed, shallowSums;
  BlockBuilder block;
  Value rows, width, depth;
  int64_t stepDepth;
  /// The panel that blocks fetch evenly; none: as their part says.
  std::optional<Spread> spread;
};

} // namespace attn::cpu

#endif
