// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every element of every fragment, against the figures of the PTX manual
// (mma.m16n8k16 and ldmatrix), written down again here as it words them.
#include "LinearLayout.h"
#include <cstdio>
#include <set>
#include <utility>

using namespace attn::gpucode;

static int errors = 0;

static void expect(bool holds, const char *what) {
  if (holds)
    return;
  std::printf("%s\n", what);
  ++errors;
}

/// "row = groupID for ci where i < 2, groupID + 8 for i >= 2; col =
/// threadID_in_group * 2 + (i & 1)", for blocks of 16 x 8.
static void checkSums(int64_t rows, int64_t columns, int64_t warps,
                      int64_t columnWarps = 1) {
  LinearLayout layout = LinearLayout::sums(rows, columns, warps, columnWarps);
  int64_t rowWarps = warps / columnWarps, perWarp = rows / rowWarps,
          own = columns / columnWarps;
  std::set<std::pair<int64_t, int64_t>> seen;
  for (int64_t warp = 0; warp < warps; ++warp)
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t reg = 0; reg < layout.size(LinearLayout::Register); ++reg) {
        int64_t i = reg % 4, block = reg / 4, group = lane / 4, t = lane % 4;
        Place wanted{warp % rowWarps * perWarp + block / (own / 8) * 16 +
                         group + (i < 2 ? 0 : 8),
                     warp / rowWarps * own + block % (own / 8) * 8 + t * 2 +
                         (i & 1)};
        expect(layout.at(reg, lane, warp) == wanted, "sums of mma");
        seen.insert({wanted.row, wanted.column});
      }
  expect(seen.size() == size_t(rows * columns), "sums: each element once");
}

static void checkOperands() {
  LinearLayout left = LinearLayout::leftOperand();
  LinearLayout right = LinearLayout::rightOperand();
  for (int64_t lane = 0; lane < 32; ++lane) {
    int64_t group = lane / 4, t = lane % 4;
    // "row = groupID for ai where 0 <= i < 2 || 4 <= i < 6, groupID + 8
    // otherwise; col = threadID_in_group * 2 + (i & 1) (+ 8 where i >= 4)"
    for (int64_t i = 0; i < 8; ++i) {
      bool high = !(i < 2 || (i >= 4 && i < 6));
      Place wanted{group + (high ? 8 : 0), t * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
      expect(left.at(i, lane) == wanted, "left operand of mma");
    }
    // "row = threadID_in_group * 2 + (i & 1) (+ 8 where i >= 2); col =
    // groupID"
    for (int64_t i = 0; i < 4; ++i) {
      Place wanted{t * 2 + (i & 1) + (i >= 2 ? 8 : 0), group};
      expect(right.at(i, lane) == wanted, "right operand of mma");
    }
  }
  // Sums of two blocks are a left operand: nothing moves between products.
  expect(left == LinearLayout::sums(16, 16, 1), "sums are left operands");
}

/// Lanes 8 i to 8 i + 7 give the rows of matrix i; lane l gets elements
/// 2 (l % 4) and the next of row l / 4, or of column l / 4 if transposed.
static void checkLoad(const LinearLayout &addresses, bool transposed) {
  LinearLayout loaded = LinearLayout::loaded(addresses, transposed);
  for (int64_t lane = 0; lane < 32; ++lane)
    for (int64_t reg = 0; reg < 8; ++reg) {
      int64_t matrix = reg / 2, element = lane % 4 * 2 + reg % 2;
      int64_t row = transposed ? element : lane / 4;
      int64_t column = transposed ? lane / 4 : element;
      Place begin = addresses.at(0, 8 * matrix + row);
      expect(loaded.at(reg, lane) == Place{begin.row, begin.column + column},
             "what ldmatrix leaves");
    }
}

/// What is loaded is what mma wants.
static void checkProducts() {
  expect(LinearLayout::loaded(LinearLayout::leftAddresses(), false) ==
             LinearLayout::leftOperand(),
         "ldmatrix of a left operand");
  LinearLayout operand = LinearLayout::rightOperand();
  LinearLayout keys =
      LinearLayout::loaded(LinearLayout::rightAddresses(), false);
  LinearLayout values =
      LinearLayout::loaded(LinearLayout::transposedAddresses(), true);
  for (int64_t lane = 0; lane < 32; ++lane)
    for (int64_t half = 0; half < 2; ++half)
      for (int64_t reg = 0; reg < 4; ++reg) {
        Place wanted = operand.at(reg, lane); // k, n
        wanted.column += 8 * half;
        expect(keys.transpose().at(4 * half + reg, lane) == wanted,
               "ldmatrix of rows of keys");
        expect(values.at(4 * half + reg, lane) == wanted,
               "ldmatrix of rows of values");
      }
}

/// f32 as tf32: "row = groupID for a0 and a2, groupID + 8 for a1 and a3; col =
/// threadID_in_group for a0 and a1, + 4 for a2 and a3", "row =
/// threadID_in_group for b0, + 4 for b1; col = groupID". A matrix of ldmatrix
/// has 8 rows of 4.
static void checkF32() {
  LinearLayout left = LinearLayout::leftAddresses(16, 1, 4),
               right = LinearLayout::rightAddresses(4),
               sums = LinearLayout::sums(16, 8, 1),
               pairs = LinearLayout::rightPairs(),
               rows = LinearLayout::rightRows();
  for (int64_t lane = 0; lane < 32; ++lane) {
    int64_t group = lane / 4, t = lane % 4;
    auto loaded = [&](const LinearLayout &addresses, int64_t matrix) {
      Place begin = addresses.at(0, 8 * matrix + group);
      return Place{begin.row, begin.column + t};
    };
    for (int64_t i = 0; i < 4; ++i) {
      Place ofA{group + i % 2 * 8, t + i / 2 * 4};
      expect(loaded(left, i) == ofA, "ldmatrix of a left operand of f32");
      Place ofB{t + i % 2 * 4, group + i / 2 * 8}; // k, n
      Place keys = loaded(right, i);
      expect(Place{keys.column, keys.row} == ofB, "ldmatrix of keys of f32");
      Place weight = rows.at(i % 2, lane); // of 8 columns
      expect(Place{weight.row, weight.column + i / 2 * 8} == ofB,
             "elements of a weight of f32");
    }
    // Sums as an operand: both factors have the columns in one order.
    constexpr int64_t order[] = {0, 2, 1, 3};
    for (int64_t i = 0; i < 4; ++i) {
      Place sum = sums.at(order[i], lane);
      expect(sum.row == group + i % 2 * 8, "rows of sums as an operand");
      expect(pairs.at(i / 2, lane) == Place{sum.column, group},
             "values of f32 beside sums");
    }
  }
  for (int64_t columns = 16; columns <= 256; columns += 16) {
    std::set<int64_t> banks;
    for (int64_t lane = 0; lane < 32; ++lane) {
      Place place = pairs.at(0, lane);
      banks.insert((place.row * (columns + 4) + place.column) % 32);
    }
    expect(banks.size() == 32, "padded rows of values of f32");
  }
}

/// Rows padded by 16 bytes have no conflicts, unpadded ones have.
static void checkBanks() {
  for (const LinearLayout &addresses :
       {LinearLayout::leftAddresses(), LinearLayout::rightAddresses()})
    for (int64_t columns = 16; columns <= 256; columns += 16) {
      expect(bankConflicts(addresses, columns + 8) == 0, "padded rows");
      if (columns % 64 == 0)
        expect(bankConflicts(addresses, columns) == 7, "rows of whole banks");
    }
}

/// Of 8 warps, 2 one below the other, the pairs have 32 columns each.
static void checkSharing() {
  LinearLayout own = LinearLayout::rightAddresses(),
               shared = own.sharing({32, 0}, 8, 4);
  for (int64_t warp = 0; warp < 8; ++warp)
    for (int64_t lane = 0; lane < 32; ++lane) {
      Place wanted = own.at(0, lane);
      wanted.row += warp / 2 * 32;
      expect(shared.at(0, lane, warp) == wanted, "columns of a warp");
    }
}

int main() {
  for (int64_t warps : {1, 2, 4, 8, 16})
    for (int64_t blocks : {1, 2, 4})
      for (int64_t columns : {8, 16, 32, 64, 128, 256})
        for (int64_t beside = 1; beside <= warps && 16 * beside <= columns;
             beside *= 2)
          checkSums(16 * blocks * warps / beside, columns, warps, beside);
  checkSharing();
  checkOperands();
  for (const LinearLayout &addresses :
       {LinearLayout::leftAddresses(), LinearLayout::rightAddresses()})
    for (bool transposed : {false, true})
      checkLoad(addresses, transposed);
  checkProducts();
  checkF32();
  checkBanks();
  return errors != 0;
}
