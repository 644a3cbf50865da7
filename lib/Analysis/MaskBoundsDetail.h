// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of the mask analysis.
//
// Shared by the files MaskBounds*.cpp, in the order of the work:
//   NormalForm   formula -> conjunctions of linear constraints
//   Projection   conjunction over q, k, kt -> interval of kt
//   Coalescing   intervals -> fewer intervals
//   MaskBounds   the entry points, loop form, printing

#ifndef ATTN_LIB_ANALYSIS_MASKBOUNDSDETAIL_H
#define ATTN_LIB_ANALYSIS_MASKBOUNDSDETAIL_H

#include "attn/Analysis/MaskBounds.h"
#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "llvm/ADT/SmallVector.h"
#include <map>
#include <set>

namespace attn::detail {

/// Beyond these limits the result is a sound over-approximation, marked so.
/// Set by trial on 3200 random masks: 99 % of them take less than 50 ms.
enum Limits : int64_t {
  MaxConjunctions = 32,
  /// Rows of one system before and after removal of redundant ones.
  MaxRowsBefore = 160,
  MaxRowsAfter = 120,
  /// The same once the work budget is spent.
  ThriftyRowsBefore = 48,
  ThriftyRowsAfter = 24,
  /// Symbolic floors introduced per conjunction.
  MaxFloors = 6,
};

/// Sorts by size(element), equal ones in the order they had.  (libstdc++'s
/// stable_sort warns under clang.)
template <typename T, typename Size>
void sortBySize(std::vector<T> &elements, Size size) {
  std::multimap<size_t, T> sorted; // keeps the order of equal keys
  for (T &element : elements) {
    size_t key = size(element);
    sorted.emplace(key, std::move(element));
  }
  elements.clear();
  for (auto &entry : sorted)
    elements.push_back(std::move(entry.second));
}

/// One run of the analysis.  The context is a private copy that collects the
/// divisions which appear in bounds.
struct AnalysisState {
  MaskContext context;
  TileSizes tiles;
  BoundsOptions options;
  int64_t allowed = options.work; ///< of the work, by now
  int64_t work = 0;               ///< done
  /// A constraint was left out, because its numbers do not fit into 64 bits:
  /// sets are larger for it.
  bool overflow = false;

  /// Half of it is done: look for less, and for shorter bounds.
  bool isThrifty() const { return work > allowed / 2; }
  /// All of it is done: decide nothing more.
  bool isSpent() const { return work > allowed; }
};

/// Coefficients of one constraint in the column order of a Polyhedron, the
/// constant last.
using Row = llvm::SmallVector<int64_t, 16>;

/// An integer polyhedron that remembers which variable each column is.
/// Column order is the library's: kt, symbols, locals (q, k, divisions).
class Polyhedron {
public:
  explicit Polyhedron(AnalysisState &state);

  AnalysisState &state() const { return *shared; }
  MaskContext &context() const { return shared->context; }

  /// The column of a variable, added if there is none.  A division brings the
  /// two rows that define it.
  unsigned column(int variable);
  int variableOf(unsigned column) const { return columns[column]; }
  unsigned numColumns() const { return columns.size(); }
  void removeColumn(unsigned column);

  Row rowOf(const Linear &linear);
  Linear linearOf(llvm::ArrayRef<int64_t> row) const;
  Row inequality(unsigned index) const;
  Row equality(unsigned index) const;
  std::vector<Linear> inequalities() const;

  /// States linear >= 0, or linear == 0; nothing of numbers that do not fit.
  void add(const Linear &linear, bool isEquality = false);
  /// States what the context knows about symbols, and qhi - qlo <= TQ.
  void addFacts();

  /// Must q or k be eliminated to get rid of this variable?
  bool isExistential(int variable) const;
  /// Is it kt, or a division that uses kt?
  bool dependsOnTile(int variable) const;

  /// No rational point after rounding: proves emptiness, never searches.
  bool isEmpty() const;
  /// Does linear >= 0 hold everywhere?  "No" may mean "not proved".
  bool implies(const Linear &linear) const;

  mlir::presburger::IntegerPolyhedron constraints;

private:
  std::vector<int> columns;
  AnalysisState *shared;
};

struct Conjunction {
  std::set<Linear> nonNegative, zero;
  bool exact = true;
};

/// The disjunctive normal form of a formula below the constraints of `base`
/// (empty conjunctions are left out); nullopt beyond MaxConjunctions, or where
/// the work is spent.
std::optional<std::vector<Conjunction>> normalForm(const Formula &formula,
                                                   const Polyhedron &base);
/// `base` and the constraints of the conjunction.
Polyhedron restricted(Polyhedron base, const Conjunction &conjunction);

/// The tiles kt for which `system` has a point; nullopt if there are none.
std::optional<KeyInterval> projectToTiles(Polyhedron system, bool exact);
/// Every tile, as an over-approximation.
KeyInterval everyTile();

/// An interval's bounds and guards (not its tests) as rows >= 0, and back.
/// Rows whose values may not fit into 64 bits at run time are left out, which
/// makes the interval larger.
std::vector<Linear> rowsOf(const KeyInterval &interval);
KeyInterval intervalOf(llvm::ArrayRef<Linear> rows, AnalysisState &state);

/// Removes covered intervals and joins pairs whose union is an interval, as
/// long as there is work for it.
void coalesce(AnalysisState &state, KeySet &set);

} // namespace attn::detail

#endif // ATTN_LIB_ANALYSIS_MASKBOUNDSDETAIL_H
