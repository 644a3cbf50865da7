// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LinearLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace attn::gpucode;

namespace {
/// Bits that move by `step`, 2 `step`, .. as long as it is below `end`.
void addRows(llvm::SmallVectorImpl<Place> &bits, int64_t step, int64_t end) {
  for (; step < end; step *= 2)
    bits.push_back({step, 0});
}
void addColumns(llvm::SmallVectorImpl<Place> &bits, int64_t step, int64_t end) {
  for (; step < end; step *= 2)
    bits.push_back({0, step});
}
} // namespace

LinearLayout LinearLayout::sums(int64_t rows, int64_t columns, int64_t warps,
                                int64_t columnWarps) {
  LinearLayout layout;
  int64_t ownRows = rows * columnWarps / warps, own = columns / columnWarps;
  addColumns(layout.bases[Register], 1, 2);
  addRows(layout.bases[Register], 8, 16);
  addColumns(layout.bases[Register], 8, llvm::PowerOf2Ceil(own));
  addRows(layout.bases[Register], 16, ownRows);
  addColumns(layout.bases[Lane], 2, 8);
  addRows(layout.bases[Lane], 1, 8);
  addRows(layout.bases[Warp], ownRows, rows);
  addColumns(layout.bases[Warp], own, columns);
  return layout;
}

LinearLayout LinearLayout::leftOperand() { return sums(16, 16, 1); }

LinearLayout LinearLayout::rightOperand() {
  LinearLayout layout;
  addRows(layout.bases[Register], 1, 2);
  addRows(layout.bases[Register], 8, 16);
  addRows(layout.bases[Lane], 2, 8);
  addColumns(layout.bases[Lane], 1, 8);
  return layout;
}

LinearLayout LinearLayout::leftAddresses(int64_t rows, int64_t warps,
                                         int64_t unit) {
  LinearLayout layout;
  addRows(layout.bases[Warp], rows / warps, rows);
  addRows(layout.bases[Lane], 1, 16);
  addColumns(layout.bases[Lane], unit, 2 * unit);
  return layout;
}

LinearLayout LinearLayout::rightAddresses(int64_t unit) {
  LinearLayout layout;
  addRows(layout.bases[Lane], 1, 8);
  addColumns(layout.bases[Lane], unit, 2 * unit);
  addRows(layout.bases[Lane], 8, 16);
  return layout;
}

LinearLayout LinearLayout::transposedAddresses() { return leftAddresses(); }

LinearLayout LinearLayout::rightPairs() {
  LinearLayout layout;
  addRows(layout.bases[Register], 1, 2);
  addRows(layout.bases[Lane], 2, 8);
  addColumns(layout.bases[Lane], 1, 8);
  return layout;
}

LinearLayout LinearLayout::rightRows() {
  LinearLayout layout;
  addRows(layout.bases[Register], 4, 8);
  addRows(layout.bases[Lane], 1, 4);
  addColumns(layout.bases[Lane], 1, 8);
  return layout;
}

LinearLayout LinearLayout::sharing(Place step, int64_t warps,
                                   int64_t columnWarps) const {
  LinearLayout layout = *this;
  layout.bases[Warp].assign(llvm::Log2_64(warps / columnWarps), Place());
  for (int64_t i = 1; i < columnWarps; i *= 2)
    layout.bases[Warp].push_back({i * step.row, i * step.column});
  return layout;
}

LinearLayout LinearLayout::loaded(const LinearLayout &addresses,
                                  bool transposed) {
  llvm::ArrayRef<Place> rowOf = addresses.bases[Lane];
  LinearLayout layout;
  llvm::SmallVector<Place, 8> &lanes = layout.bases[Lane];
  if (!transposed) { // lane 4 g + t has elements 2 t and 2 t + 1 of row g
    layout.bases[Register] = {{0, 1}, rowOf[3], rowOf[4]};
    addColumns(lanes, 2, 8);
    lanes.append(rowOf.begin(), rowOf.begin() + 3);
  } else { // element g of rows 2 t and 2 t + 1
    layout.bases[Register] = {rowOf[0], rowOf[3], rowOf[4]};
    lanes.append(rowOf.begin() + 1, rowOf.begin() + 3);
    addColumns(lanes, 1, 8);
  }
  return layout;
}

Place LinearLayout::at(int64_t reg, int64_t lane, int64_t warp) const {
  Place place;
  int64_t numbers[] = {reg, lane, warp};
  for (auto [number, bits] : llvm::zip_equal(numbers, bases))
    for (auto [i, moved] : llvm::enumerate(bits))
      if (number >> i & 1) {
        place.row ^= moved.row;
        place.column ^= moved.column;
      }
  return place;
}

LinearLayout LinearLayout::transpose() const {
  LinearLayout layout = *this;
  for (auto &bits : layout.bases)
    for (Place &moved : bits)
      std::swap(moved.row, moved.column);
  return layout;
}

int64_t attn::gpucode::bankConflicts(const LinearLayout &addresses,
                                     int64_t pitch) {
  int64_t most = 0;
  for (int64_t phase = 0; phase < 32; phase += 8) {
    std::array<int64_t, 8> count = {}; // of banks, four together
    for (int64_t lane = phase; lane < phase + 8; ++lane) {
      Place place = addresses.at(0, lane);
      int64_t bytes = 2 * (place.row * pitch + place.column);
      most = std::max(most, ++count[bytes / 16 % 8]);
    }
  }
  return most - 1;
}
