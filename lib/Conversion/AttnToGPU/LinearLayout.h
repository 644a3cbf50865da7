// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the elements of a matrix lie in the registers of a block: linear maps
// over GF(2) from the bits of register, lane and warp to those of row and
// column.
//
// Every bit of an input moves the element by a power of two of rows or of
// columns, and no two by the same one, so that sums without carry, XORs and
// sums of integers are one: an address in a matrix with padded rows is a sum,
// too. Fragments are those of the PTX manual (mma.m16n8k16, ldmatrix).
#ifndef ATTN_LIB_CONVERSION_ATTNTOGPU_LINEARLAYOUT_H
#define ATTN_LIB_CONVERSION_ATTNTOGPU_LINEARLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <cstdint>

namespace attn::gpucode {

/// Row and column of an element, or how far a bit moves them.
struct Place {
  int64_t row = 0, column = 0;
  friend bool operator==(Place a, Place b) {
    return a.row == b.row && a.column == b.column;
  }
};

class LinearLayout {
public:
  enum Input { Register, Lane, Warp };

  /// Sums of mma.m16n8k16 for a matrix whose rows warps share: registers hold
  /// neighbours of a row, then row + 8, then the next 8 columns, then the next
  /// 16 rows. Rows, warps and rows of a warp are powers of two; columns are a
  /// multiple of 8, of which registers count up to the next power of two. So
  /// many warps as `columnWarps` share the columns of their rows, which are a
  /// power of two then.
  static LinearLayout sums(int64_t rows, int64_t columns, int64_t warps,
                           int64_t columnWarps = 1);
  /// The left operand of one mma.m16n8k16, m16 x k16.
  static LinearLayout leftOperand();
  /// The right operand, k16 x n8, as row k and column n.
  static LinearLayout rightOperand();
  /// Which row of 16 bytes, which are `unit` elements, a lane gives the address
  /// of, for ldmatrix.x4 of a left operand, of two right operands from the rows
  /// of a matrix N x K, and of two from a matrix K x N, transposed.
  /// Warps share the left one's rows as they share those of the sums, of which
  /// `warps` lie one below the other.
  static LinearLayout leftAddresses(int64_t rows = 16, int64_t warps = 1,
                                    int64_t unit = 8);
  static LinearLayout rightAddresses(int64_t unit = 8);
  static LinearLayout transposedAddresses();
  /// Row and column that a lane reads of a matrix K x N of f32, and the row
  /// behind: the right operand of mma.m16n8k8, of which k and k + 4 stand for
  /// columns 2 k and 2 k + 1 of a left operand that is a block of sums.
  static LinearLayout rightPairs();
  /// The same for a left operand from memory: rows k and k + 4.
  static LinearLayout rightRows();
  /// The same where of `warps` warps as many as `columnWarps` share the columns
  /// of a right operand, each of which has `step` of them.
  LinearLayout sharing(Place step, int64_t warps, int64_t columnWarps) const;
  /// What ldmatrix.x4 leaves: registers count both halves, then the four
  /// matrices. Row and column are those in memory.
  static LinearLayout loaded(const LinearLayout &addresses, bool transposed);

  Place at(int64_t reg, int64_t lane, int64_t warp = 0) const;
  llvm::ArrayRef<Place> bits(Input input) const { return bases[input]; }
  int64_t size(Input input) const { return int64_t(1) << bases[input].size(); }
  /// Rows become columns.
  LinearLayout transpose() const;
  friend bool operator==(const LinearLayout &a, const LinearLayout &b) {
    return a.bases == b.bases;
  }

private:
  std::array<llvm::SmallVector<Place, 8>, 3> bases;
};

/// The most lanes of a phase of 8 that read different words of one of the 32
/// banks of shared memory, less one; each lane reads 16 bytes at the place that
/// it gives, in a matrix of 16 bits with so many elements from row to row.
int64_t bankConflicts(const LinearLayout &addresses, int64_t pitch);

} // namespace attn::gpucode

#endif
