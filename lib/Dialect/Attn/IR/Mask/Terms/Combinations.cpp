// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `and`, `or` and `not` of mask terms. Their operands and checks are those of
// the terms they hold; only the formula and the syntax differ.
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attn;

static MaskTermInterface term(Attribute attribute) {
  return cast<MaskTermInterface>(attribute);
}

static SmallVector<Formula> formulas(MaskContext &context,
                                     ArrayRef<Attribute> terms) {
  return llvm::map_to_vector(
      terms, [&](Attribute t) { return term(t).formula(context); });
}

static SmallVector<unsigned> positions(ArrayRef<Attribute> terms) {
  SmallVector<unsigned> all;
  for (Attribute t : terms)
    llvm::append_range(all, term(t).operandPositions());
  return all;
}

static SmallVector<Attribute> mapped(ArrayRef<Attribute> terms,
                                     function_ref<unsigned(unsigned)> map) {
  return llvm::map_to_vector(
      terms, [&](Attribute t) { return term(t).mapOperands(map); });
}

static LogicalResult verifyAll(ArrayRef<Attribute> terms,
                               function_ref<InFlightDiagnostic()> emitError,
                               TypeRange types, ArrayRef<int64_t> shape) {
  return success(llvm::all_of(terms, [&](Attribute t) {
    return succeeded(term(t).verifyOperands(emitError, types, shape));
  }));
}

/// `not` binds tighter than `and`, and `and` tighter than `or`.
static void printTerms(OpAsmPrinter &printer, ArrayRef<Attribute> terms,
                       StringRef word, bool parenthesizeAnd,
                       OperandRange operands) {
  llvm::interleave(
      terms,
      [&](Attribute t) {
        bool parentheses =
            isa<AnyOfAttr>(t) || (parenthesizeAnd && isa<AllOfAttr>(t));
        printer << (parentheses ? "(" : "");
        term(t).printTerm(printer, operands);
        printer << (parentheses ? ")" : "");
      },
      [&] { printer << " " << word << " "; });
}

Formula AllOfAttr::formula(MaskContext &context) const {
  return allOf(formulas(context, getTerms()));
}
void AllOfAttr::printTerm(OpAsmPrinter &printer, OperandRange operands) const {
  printTerms(printer, getTerms(), "and", /*parenthesizeAnd=*/true, operands);
}
SmallVector<unsigned> AllOfAttr::operandPositions() const {
  return positions(getTerms());
}
Attribute AllOfAttr::mapOperands(function_ref<unsigned(unsigned)> map) const {
  return get(getContext(), mapped(getTerms(), map));
}
LogicalResult
AllOfAttr::verifyOperands(function_ref<InFlightDiagnostic()> emitError,
                          TypeRange types, ArrayRef<int64_t> shape) const {
  return verifyAll(getTerms(), emitError, types, shape);
}

Formula AnyOfAttr::formula(MaskContext &context) const {
  return anyOf(formulas(context, getTerms()));
}
void AnyOfAttr::printTerm(OpAsmPrinter &printer, OperandRange operands) const {
  printTerms(printer, getTerms(), "or", /*parenthesizeAnd=*/false, operands);
}
SmallVector<unsigned> AnyOfAttr::operandPositions() const {
  return positions(getTerms());
}
Attribute AnyOfAttr::mapOperands(function_ref<unsigned(unsigned)> map) const {
  return get(getContext(), mapped(getTerms(), map));
}
LogicalResult
AnyOfAttr::verifyOperands(function_ref<InFlightDiagnostic()> emitError,
                          TypeRange types, ArrayRef<int64_t> shape) const {
  return verifyAll(getTerms(), emitError, types, shape);
}

Formula NotAttr::formula(MaskContext &context) const {
  return negate(term(getTerm()).formula(context));
}
void NotAttr::printTerm(OpAsmPrinter &printer, OperandRange operands) const {
  printer << "not ";
  printTerms(printer, getTerm(), "", /*parenthesizeAnd=*/true, operands);
}
SmallVector<unsigned> NotAttr::operandPositions() const {
  return positions(getTerm());
}
Attribute NotAttr::mapOperands(function_ref<unsigned(unsigned)> map) const {
  return get(getContext(), term(getTerm()).mapOperands(map));
}
LogicalResult
NotAttr::verifyOperands(function_ref<InFlightDiagnostic()> emitError,
                        TypeRange types, ArrayRef<int64_t> shape) const {
  return verifyAll(getTerm(), emitError, types, shape);
}
