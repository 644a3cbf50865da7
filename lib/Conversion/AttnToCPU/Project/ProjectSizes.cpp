// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ProjectSizes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// Rows of the weight that are worth a step.
static constexpr int64_t leastDepth = 8;

/// Panels of pairs that a step packs, and their bytes in a level-2 cache.
static constexpr int64_t panelsOfPairs = 8, bytesOfPairs = 256 << 10;

ProjectSizes::ProjectSizes(CPUScheduleAttr schedule, Value input, Value weight,
                           bool transposed, Type element, bool hasEpilogue,
                           RowBounds bounds)
    : rows(std::min(schedule.getQueryTile(), bounds.most)),
      panel(schedule.getQueryBlock()),
      depth(schedule.getPanelRows(schedule.getKeyTile())),
      unit(schedule.getRowsPerProduct()), packed(0),
      fewRows(schedule.getFewRows()), shallowRows(bounds.shallow) {
  panels = schedule.getColumnTile() / panel;
  bool inPanels = cast<MemRefType>(weight.getType()).getRank() == 3;
  if (!inPanels && schedule.usesDot()) {
    packed = std::min<int64_t>(panelsOfPairs, panels);
    int64_t fits = bytesOfPairs / (packed * panel * 4) / unit * unit;
    depth = std::max(unit, std::min(depth, fits));
  } else if (!inPanels) {
    packed = std::min<int64_t>(4, panels);
    depth = std::max<int64_t>(depth / packed, leastDepth);
  }
  int64_t known = cast<MemRefType>(input.getType()).getDimSize(1);
  if (!ShapedType::isDynamic(known))
    known = schedule.getPanelRows(known);
  bool once = !ShapedType::isDynamic(known) && known <= depth;
  if (!ShapedType::isDynamic(known))
    depth = evenSteps(known, depth);
  // An odd number of cache lines.
  int64_t line = 64 * 8 / element.getIntOrFloatBitWidth();
  int64_t distance = (llvm::divideCeil(depth, line) | 1) * line;
  inputs = MemRefType::get({rows, distance}, element);
  if (hasEpilogue || schedule.usesAmx())
    block = MemRefType::get({schedule.getRows(), panel}, element);
  int64_t waiting =
      std::max(rows * panels, fewRows * (schedule.getWideColumnTile() / panel));
  if (!inPanels || !once)
    sums =
        MemRefType::get({inPanels ? rows * panels : waiting, panel}, element);
  else if (shallowRows)
    shallow = MemRefType::get({std::min(rows, shallowRows), panel}, element);
  if (!inPanels)
    panelsHere = MemRefType::get({packed * depth, panel}, element);
  if (!inPanels && transposed && !schedule.usesDot() && shallowRows) {
    dotRows = std::min(rows, shallowRows);
    dotScratch = 3;
    dots = MemRefType::get({dotRows, panel}, element);
    dotParts =
        MemRefType::get({dotRows * dotColumns, schedule.getLanes()}, element);
  }
}

int64_t ProjectSizes::evenSteps(int64_t total, int64_t most) const {
  int64_t count = std::max<int64_t>(1, llvm::divideCeil(total, most));
  auto size = static_cast<uint64_t>(llvm::divideCeil(total, count));
  return std::max<int64_t>(unit, llvm::alignTo(size, unit));
}

SmallVector<MemRefType> ProjectSizes::scratch() const {
  SmallVector<MemRefType> types{inputs};
  for (MemRefType type : {sums, shallow, panelsHere, dots, dotParts, block})
    if (type)
      types.push_back(type);
  return types;
}
