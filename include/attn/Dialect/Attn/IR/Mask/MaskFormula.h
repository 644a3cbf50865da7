// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks as formulas over q, k and scalars.
//
// A mask answers one question for each pair (q, k): does query row q see key
// k?  Here the answer is a formula: linear constraints over q, k, the lengths
// Sq and Skv and run-time scalars (window widths, prefix lengths, ...), floor
// divisions by constants, and / or / not, and opaque literals for predicates
// that have no linear reading (document ids, tables, bitmaps).
//
// Every mask term and every user predicate becomes such a formula, so that one
// analysis (attn/Analysis/MaskBounds.h) serves both, and a window written as a
// predicate gets the same loops as the built-in one.
//
// Units: q counts query rows from 0 to Sq, k counts keys from 0 to Skv; both
// are positions in the sequence, never bytes or tiles.  Tile sizes do not occur
// here: one formula can be analyzed at several.
//
// This file depends on LLVM's ADT and Support only.
//
// Source of the method: Pugh, "The Omega test" (1991); DESIGN: negation normal
// form, so that only literals are ever negated.

#ifndef ATTN_DIALECT_ATTN_IR_MASKFORMULA_H
#define ATTN_DIALECT_ATTN_IR_MASKFORMULA_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace attn {

/// The variables of a Linear are small integers.  The first three range over
/// pairs and tiles, then come symbols (one value per query tile), then floor
/// divisions, which stand for their value.
struct Variable {
  enum : int {
    Query = 0,       ///< q, a query row
    Key = 1,         ///< k, a key
    KeyTile = 2,     ///< kt, a key tile: holds the keys [kt*TK, kt*TK + TK)
    FirstSymbol = 3, ///< symbols from here on
    QueryBegin = 3,  ///< first query row of the tile
    QueryEnd = 4,    ///< one behind the last query row of the tile
    QueryLength = 5, ///< Sq
    KeyLength = 6,   ///< Skv
    FirstScalar = 7, ///< scalars in the order in which they were requested
    FirstDivision = 1 << 20 ///< floor divisions in the order of creation
  };
  static bool isDivision(int id) { return id >= FirstDivision; }
};

/// An integer combination of variables plus a constant.  No term has
/// coefficient 0, so equal values compare equal.
struct Linear {
  std::map<int, int64_t> terms; ///< variable -> coefficient
  int64_t constant = 0;
  /// A coefficient or the constant does not fit: the value is unknown, and so
  /// is what is computed from it.
  bool overflow = false;

  Linear(int64_t constant = 0) : constant(constant) {}
  static Linear variable(int id, int64_t coefficient = 1);
  static Linear query() { return variable(Variable::Query); }
  static Linear key() { return variable(Variable::Key); }
  static Linear queryLength() { return variable(Variable::QueryLength); }
  static Linear keyLength() { return variable(Variable::KeyLength); }

  bool isConstant() const { return terms.empty() && !overflow; }
  int64_t coefficient(int id) const;
  /// The same without the term of `id`.
  Linear without(int id) const;

  Linear &operator+=(const Linear &other) { return add(other, 1); }
  Linear &operator-=(const Linear &other) { return add(other, -1); }
  friend Linear operator+(Linear a, const Linear &b) { return a += b; }
  friend Linear operator-(Linear a, const Linear &b) { return a -= b; }
  friend Linear operator*(const Linear &a, int64_t factor) {
    return Linear().add(a, factor);
  }
  friend bool operator==(const Linear &a, const Linear &b) {
    return a.constant == b.constant && a.terms == b.terms &&
           a.overflow == b.overflow;
  }
  /// Any total order, for sets.
  friend bool operator<(const Linear &a, const Linear &b) {
    return std::tie(a.terms, a.constant, a.overflow) <
           std::tie(b.terms, b.constant, b.overflow);
  }

private:
  Linear &add(const Linear &other, int64_t factor);
};

enum class FormulaKind { True, False, Ge, Eq, And, Or, Opaque };

struct FormulaNode;
/// Formulas are immutable and shared.
using Formula = std::shared_ptr<const FormulaNode>;

struct FormulaNode {
  FormulaKind kind = FormulaKind::True;
  Linear linear;                 ///< Ge: linear >= 0.  Eq: linear == 0.
  std::vector<Formula> children; ///< And, Or: at least two.

  /// Opaque: the literal x, or not x if `negated`.  `may` holds wherever this
  /// literal may be true, `mayNot` wherever it may be false; both may use
  /// run-time symbols.  truth(true) is always correct.
  unsigned operand = 0;          ///< Opaque: which operand of the mask x reads.
  std::string name;              ///< Opaque: for printing.
  std::vector<Linear> arguments; ///< Opaque: what x is a function of.
  const void *term = nullptr;    ///< Opaque: whoever answers x, see opaque().
  bool negated = false;
  Formula may, mayNot;
};

// Construction.  Constants are folded; negation reaches the literals at once.
Formula truth(bool value);
Formula isNonNegative(const Linear &linear);                // linear >= 0
Formula isZero(const Linear &linear);                       // linear == 0
Formula lessEqual(const Linear &left, const Linear &right); // left <= right
Formula lessThan(const Linear &left, const Linear &right);  // left < right
Formula allOf(llvm::ArrayRef<Formula> formulas);            // and
Formula anyOf(llvm::ArrayRef<Formula> formulas);            // or
Formula negate(const Formula &formula);                     // not
Formula opaque(unsigned operand, llvm::StringRef name,
               Formula may = truth(true), Formula mayNot = truth(true));
/// A literal that the mask term `term` (an opaque pointer of an attribute)
/// answers, given `arguments` (q and k above).
Formula opaque(const void *term, llvm::StringRef name,
               llvm::ArrayRef<Linear> arguments, Formula may = truth(true),
               Formula mayNot = truth(true));

/// Answers an opaque literal (not negated) for one pair.
using OpaqueCallback =
    llvm::function_ref<bool(unsigned operand, int64_t q, int64_t k)>;

/// Owns what formulas refer to: symbols, floor divisions, and facts about them.
///
/// Facts known from the start: 0 <= QueryBegin < QueryEnd <= Sq, 0 <= Skv.
/// A bound on QueryEnd - QueryBegin belongs to the analysis.
class MaskContext {
public:
  enum class SymbolKind {
    QueryBegin,
    QueryEnd,
    QueryLength,
    KeyLength,
    Operand,
    Free
  };
  /// What a free symbol stands for, for those who compute it: the keys of the
  /// documents of a query tile (of the symbol's term), or of the one document
  /// that positions count in: its first key, and how far its queries are from
  /// the keys that they stand on.
  enum class Role {
    None,
    DocumentBegin,
    DocumentEnd,
    DocumentFullEnd,
    FirstKey,
    ToFirstKey,
    ToEndKey
  };
  struct Symbol {
    std::string name;
    SymbolKind kind;
    unsigned operand; ///< Operand: the mask operand that this symbol loads.
    Role role = Role::None;
    const void *term = nullptr; ///< Free: the term that asks for it, or null.
    /// Its value may lie beyond MaxNumber, and counts as MaxNumber there.
    bool saturates = false;
  };
  /// Symbols lie between -MaxNumber and MaxNumber, positions and lengths below
  /// MaxLength: sums of some of them, and products with the constants of terms,
  /// do not wrap around.
  static constexpr int64_t MaxNumber = int64_t(1) << 40;
  static constexpr int64_t MaxLength = int64_t(1) << 31;
  /// floor(numerator / divisor), divisor > 0.
  struct Division {
    Linear numerator;
    int64_t divisor;
  };

  MaskContext();

  /// The scalar that mask operand `operandIndex` holds for the current batch
  /// and head.  The same operand always gives the same symbol; it counts as
  /// non-negative once any request says so.
  Linear operandSymbol(unsigned operandIndex, llvm::StringRef name,
                       bool nonNegative = false);
  /// A scalar that the emitting pass computes by itself (document bounds).
  Linear freeSymbol(llvm::StringRef name, bool nonNegative = false,
                    Role role = Role::None, const void *term = nullptr);
  /// The one free symbol of this role, made if there is none.
  Linear sharedSymbol(llvm::StringRef name, Role role);
  /// The number of keys that hold data: Skv, or the length of the batch entry
  /// where the mask has one. Masks that count from the last key use it.
  const Linear &liveKeys() const { return live; }
  void setLiveKeys(const Linear &keys) { live = keys; }

  /// The symbol's values are not known to lie within MaxNumber.
  void setSaturates(const Linear &symbol);

  /// States `linear >= 0`, over symbols only.
  void addFact(const Linear &linear) { factList.push_back(linear); }

  /// floor(numerator / divisor) and the remainder in [0, divisor), divisor > 0.
  Linear floorDivide(const Linear &numerator, int64_t divisor);
  Linear modulo(const Linear &numerator, int64_t divisor);

  /// All symbols; symbol i is variable Variable::FirstSymbol + i.
  llvm::ArrayRef<Symbol> symbols() const { return symbolList; }
  llvm::ArrayRef<Linear> facts() const { return factList; }
  const Division &division(int id) const {
    return divisionList[id - Variable::FirstDivision];
  }
  /// Whether the values of `linear`, and all that is computed on the way, are
  /// sure to fit into 64 bits.
  bool fits(const Linear &linear) const;
  /// Length of the vector of values that `evaluate` reads.
  size_t numValues() const { return Variable::FirstSymbol + symbolList.size(); }

  /// Does `linear` use a variable (not a division) that `matches`, directly or
  /// inside a division?
  bool dependsOn(const Linear &linear,
                 llvm::function_ref<bool(int)> matches) const;
  bool dependsOn(const Linear &linear, int variable) const;
  /// The same of all that a formula says, also of what a literal may be.
  bool dependsOn(const Formula &formula,
                 llvm::function_ref<bool(int)> matches) const;

  /// `values` is indexed by variable: q, k, kt, then the symbols.
  int64_t evaluate(const Linear &linear, llvm::ArrayRef<int64_t> values) const;
  bool evaluate(const Formula &formula, llvm::ArrayRef<int64_t> values,
                OpaqueCallback opaque) const;

  /// `q + Skv - Sq`, and `k <= q + Skv - Sq and k < n`.
  std::string toString(const Linear &linear) const;
  std::string toString(const Formula &formula) const;

private:
  double magnitude(const Linear &linear) const;
  Linear addSymbol(llvm::StringRef name, SymbolKind kind, unsigned operand,
                   bool nonNegative);
  std::string nameOf(int variable) const;
  std::string comparison(const Linear &linear, bool equality) const;

  Linear live = Linear::keyLength();
  std::vector<Symbol> symbolList;
  std::vector<Linear> factList;
  std::vector<Division> divisionList;
};

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_MASKFORMULA_H
