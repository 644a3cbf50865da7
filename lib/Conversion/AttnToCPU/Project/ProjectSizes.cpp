// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ProjectSizes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// Rows of the weight that are worth a step.
static constexpr int64_t leastDepth = 8;

ProjectSizes::ProjectSizes(CPUScheduleAttr schedule, Value input, Value weight,
                           bool transposed, Type element, bool hasEpilogue)
    : rows(schedule.getQueryTile()), panel(schedule.getQueryBlock()),
      depth(schedule.getKeyTile()), packed(0), fewRows(schedule.getFewRows()) {
  panels = schedule.getColumnTile() / panel;
  bool inPanels = cast<MemRefType>(weight.getType()).getRank() == 3;
  if (!inPanels) {
    packed = std::min<int64_t>(4, panels);
    depth = std::max<int64_t>(depth / packed, leastDepth);
  }
  int64_t known = cast<MemRefType>(input.getType()).getDimSize(1);
  bool once = !ShapedType::isDynamic(known) && known <= depth;
  if (!ShapedType::isDynamic(known)) {
    int64_t count = std::max<int64_t>(1, llvm::divideCeil(known, depth));
    depth = std::max<int64_t>(1, llvm::divideCeil(known, count));
  }
  // An odd number of cache lines.
  int64_t line = 64 * 8 / element.getIntOrFloatBitWidth();
  int64_t distance = (llvm::divideCeil(depth, line) | 1) * line;
  inputs = MemRefType::get({rows, distance}, element);
  if (hasEpilogue)
    block = MemRefType::get({schedule.getRows(), panel}, element);
  int64_t waiting =
      std::max(rows * panels, fewRows * (schedule.getWideColumnTile() / panel));
  if (!inPanels || !once)
    sums =
        MemRefType::get({inPanels ? rows * panels : waiting, panel}, element);
  if (!inPanels)
    panelsHere = MemRefType::get({packed * depth, panel}, element);
  if (!inPanels && transposed) {
    dotRows = std::min(rows, 2 * schedule.getRows());
    dotScratch = 3;
    dots = MemRefType::get({dotRows, panel}, element);
  }
}

SmallVector<MemRefType> ProjectSizes::scratch() const {
  SmallVector<MemRefType> types{inputs};
  for (MemRefType type : {sums, panelsHere, dots, block})
    if (type)
      types.push_back(type);
  return types;
}
