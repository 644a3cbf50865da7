// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random masks of the dialect's terms, each with its definition.
#ifndef ATTN_TEST_ANALYSIS_TERMMASK_H
#define ATTN_TEST_ANALYSIS_TERMMASK_H

#include "RandomMask.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include <map>

namespace attn::test {
using Sees = std::function<bool(int64_t q, int64_t k)>;

/// A term with its definition. Both refer to the shape that is current.
struct Term {
  mlir::Attribute attribute;
  Sees sees;
};

struct Shape {
  int64_t queries = 0, keys = 0, live = 0;
};

class TermMask {
public:
  TermMask(mlir::MLIRContext &context, Random &random)
      : c(context), random(random) {}

  Term exactTerm(int kind);
  /// One with a position in the query's document.
  Term termInDocument(int kind);
  Term documentTerm();
  Term anyTerm();
  Term tree(int depth);
  void drawShape();
  /// Values of the symbols of `context` for the rows [begin, end).
  std::vector<int64_t> valuesFor(const MaskContext &context, int64_t begin,
                                 int64_t end) const;
  /// [begin, end) in pieces of one document each, if there are documents.
  std::vector<std::pair<int64_t, int64_t>> pieces(int64_t begin,
                                                  int64_t end) const;

  Shape shape;
  /// Half of the numbers are the largest and smallest that terms may have.
  bool extreme = false;
  bool hasDocuments = false;
  int64_t lengthOperand = -1; ///< of the key_length, if there is one

private:
  int64_t draw(int64_t low, int64_t high);
  mlir::Attribute number(int64_t low, int64_t high);
  int64_t valueOf(mlir::Attribute number) const;
  PositionAttr position();
  int64_t standsOn(PositionAttr position, int64_t q) const;
  OperandAttr operand(int64_t low, int64_t high);
  Term blockTerm(bool ofOperand);
  Term treeTerm();
  /// Numbers that are the same for all rows of a document.
  enum OfDocument { ToFirstKey, ToEndKey, FirstKey };
  OperandAttr documentOperand(OfDocument what);
  int64_t ofDocument(OfDocument what, int64_t q) const;

  mlir::MLIRContext &c;
  Random &random;
  std::vector<std::pair<int64_t, int64_t>> limits; ///< of each operand
  std::vector<int64_t> scalars;                    ///< value of each operand
  std::vector<int64_t> queryNumbers, keyNumbers;   ///< of documents
  std::map<unsigned, OfDocument> documentOperands;
};

} // namespace attn::test

#endif
