// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The language after `where`:
//   mask  ::= and (`or` and)*          and ::= unary (`and` unary)*
//   unary ::= `not` unary | `(` mask `)` | %operand `:` type | keyword ...
#include "attn/Dialect/Attn/IR/Mask/MaskProgram.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace attn;

namespace {
/// Parses what follows a keyword.
using TermParser = Attribute (*)(MaskOperandParser &);

/// The keywords that begin a term: the mnemonics of all attributes that have a
/// parseTerm.
struct Keywords : llvm::StringMap<TermParser> {
  Keywords() {
    addAll<
#define GET_ATTRDEF_LIST
#include "attn/Dialect/Attn/IR/AttnAttributes.cpp.inc"
        >();
  }
  std::string names() const {
    std::vector<StringRef> names(keys().begin(), keys().end());
    llvm::sort(names);
    return llvm::join(names, ", ");
  }

private:
  template <typename... Attrs> void addAll() {
    (add<Attrs>(/*preferred=*/0), ...);
  }
  template <typename Attr> auto add(int) -> decltype(&Attr::parseTerm) {
    return (*this)[Attr::getMnemonic()] = &Attr::parseTerm;
  }
  template <typename Attr> void add(long) {}
};
} // namespace

FailureOr<unsigned> MaskOperandParser::parseOperand(Type ifAbsent) {
  OpAsmParser::UnresolvedOperand operand;
  if (parser.parseOperand(operand))
    return failure();
  Type type = ifAbsent;
  if (succeeded(parser.parseOptionalColon())) {
    if (parser.parseType(type))
      return failure();
  } else if (!ifAbsent) {
    return parser.emitError(parser.getCurrentLocation(),
                            "expects ': type' after a mask operand");
  }
  operands.push_back(operand);
  types.push_back(type);
  return operands.size() - 1;
}

namespace {
struct MaskParser : MaskOperandParser {
  Attribute parseOr() {
    return parseList(
        "or", [&] { return parseAnd(); },
        [&](ArrayRef<Attribute> terms) -> Attribute {
          return AnyOfAttr::get(parser.getContext(), terms);
        });
  }

private:
  Attribute parseAnd() {
    return parseList(
        "and", [&] { return parseUnary(); },
        [&](ArrayRef<Attribute> terms) -> Attribute {
          return AllOfAttr::get(parser.getContext(), terms);
        });
  }

  Attribute parseList(StringRef word, function_ref<Attribute()> parseItem,
                      function_ref<Attribute(ArrayRef<Attribute>)> combine) {
    SmallVector<Attribute> terms;
    do {
      Attribute item = parseItem();
      if (!item)
        return {};
      terms.push_back(item);
    } while (succeeded(parser.parseOptionalKeyword(word)));
    return terms.size() == 1 ? terms.front() : combine(terms);
  }

  Attribute parseUnary() {
    if (succeeded(parser.parseOptionalKeyword("not"))) {
      Attribute inner = parseUnary();
      return inner ? NotAttr::get(parser.getContext(), inner) : Attribute();
    }
    if (succeeded(parser.parseOptionalLParen())) {
      Attribute inner = parseOr();
      return inner && succeeded(parser.parseRParen()) ? inner : Attribute();
    }
    SMLoc loc = parser.getCurrentLocation();
    StringRef word;
    if (failed(parser.parseOptionalKeyword(&word))) {
      FailureOr<unsigned> position = parseOperand();
      return succeeded(position)
                 ? AllowedAttr::get(parser.getContext(), *position)
                 : Attribute();
    }
    static const Keywords keywords;
    if (TermParser parseTerm = keywords.lookup(word))
      return parseTerm(*this);
    parser.emitError(loc, "unknown mask term '")
        << word << "', expects " << keywords.names() << " or a boolean operand";
    return {};
  }
};
} // namespace

ParseResult
attn::parseMask(OpAsmParser &parser, Attribute &mask,
                SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                SmallVectorImpl<Type> &types) {
  MaskParser maskParser{{parser, operands, types}};
  mask = maskParser.parseOr();
  return success(static_cast<bool>(mask));
}

void attn::printMask(OpAsmPrinter &printer, Attribute mask,
                     OperandRange operands) {
  cast<MaskTermInterface>(mask).printTerm(printer, operands);
}

Attribute attn::conjoinMasks(Attribute first, unsigned firstOperands,
                             Attribute second) {
  Attribute moved = cast<MaskTermInterface>(second).mapOperands(
      [&](unsigned position) { return position + firstOperands; });
  SmallVector<Attribute> terms;
  for (Attribute mask : {first, moved}) {
    if (auto all = dyn_cast<AllOfAttr>(mask))
      llvm::append_range(terms, all.getTerms());
    else
      terms.push_back(mask);
  }
  return AllOfAttr::get(first.getContext(), terms);
}

static SmallVector<Attribute> innerTerms(Attribute mask) {
  if (auto all = dyn_cast<AllOfAttr>(mask))
    return llvm::to_vector(all.getTerms());
  if (auto any = dyn_cast<AnyOfAttr>(mask))
    return llvm::to_vector(any.getTerms());
  if (auto negation = dyn_cast<NotAttr>(mask))
    return {negation.getTerm()};
  return {};
}

SmallVector<Attribute> attn::leafTerms(Attribute mask) {
  SmallVector<Attribute> leaves;
  if (!mask)
    return leaves;
  SmallVector<Attribute> inner = innerTerms(mask);
  if (inner.empty())
    leaves.push_back(mask);
  for (Attribute term : inner)
    llvm::append_range(leaves, leafTerms(term));
  return leaves;
}

/// The first attribute in `mask` that is no term; null if there is none.
static Attribute findNonTerm(Attribute mask) {
  if (!mask || !isa<MaskTermInterface>(mask))
    return mask;
  for (Attribute term : innerTerms(mask))
    if (Attribute found = findNonTerm(term))
      return found;
  return {};
}

bool attn::standsInDocument(Attribute mask) {
  auto isInDocument = [](auto term) {
    return term.getInDocument() ? WalkResult::interrupt()
                                : WalkResult::advance();
  };
  return mask
      .walk([&](CausalAttr causal) { return isInDocument(causal); },
            [&](PositionAttr position) { return isInDocument(position); })
      .wasInterrupted();
}

SmallVector<Attribute> attn::conjunctionOf(Attribute mask) {
  if (auto all = dyn_cast<AllOfAttr>(mask))
    return llvm::to_vector(all.getTerms());
  return {mask};
}

static int64_t countDocuments(Attribute mask) {
  return llvm::count_if(conjunctionOf(mask), llvm::IsaPred<DocumentAttr>);
}

/// Whether each row of the mask belongs to one document whose lengths are
/// known: `cumulative`, or by tables if that is how positions count in it.
static bool hasOneDocument(Attribute mask, bool byTables) {
  return countDocuments(mask) == 1 &&
         llvm::any_of(conjunctionOf(mask), [&](Attribute term) {
           auto document = dyn_cast<DocumentAttr>(term);
           return document && (byTables ? !document.getSpans().empty()
                                        : document.getCumulative());
         });
}

bool attn::hasNumberedDocuments(Attribute mask) {
  auto found = [](bool isNumbered) {
    return isNumbered ? WalkResult::interrupt() : WalkResult::advance();
  };
  return mask
      .walk(
          [&](DocumentAttr document) {
            return found(!document.getSpans().empty());
          },
          [&](CausalAttr causal) {
            return found(causal.getInDocument() && causal.getOperand() >= 0);
          },
          [&](PositionAttr position) {
            return found(position.getInDocument() && position.getOffset());
          })
      .wasInterrupted();
}

/// Whether some position in a document has no table.
static bool countsInDocument(Attribute mask) {
  auto found = [](bool hasNone) {
    return hasNone ? WalkResult::interrupt() : WalkResult::advance();
  };
  return mask
      .walk(
          [&](CausalAttr causal) {
            return found(causal.getInDocument() && causal.getOperand() < 0);
          },
          [&](PositionAttr position) {
            return found(position.getInDocument() && !position.getOffset());
          })
      .wasInterrupted();
}

static bool countsFromLastKey(Attribute mask) {
  auto isBottomRight = [](auto term) {
    return term.getAlignment() == Alignment::BottomRight &&
                   !term.getInDocument()
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  return mask
      .walk([&](CausalAttr causal) { return isBottomRight(causal); },
            [&](PositionAttr position) { return isBottomRight(position); },
            [](TreeAttr) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// How many terms of the conjunction that `mask` is are key_length.
static int64_t countKeyLengths(Attribute mask) {
  return llvm::count_if(conjunctionOf(mask), llvm::IsaPred<KeyLengthAttr>);
}

StringRef attn::whyNotConjoin(Attribute first, Attribute second) {
  auto oneOf = [&](function_ref<bool(Attribute, Attribute)> conflict) {
    return conflict(first, second) || conflict(second, first);
  };
  if (oneOf([](Attribute a, Attribute b) {
        return countsFromLastKey(a) && countKeyLengths(b);
      }))
    return "causal(bottom_right) and key_length stand in separate masks; write "
           "them in one mask if the last key is the one that key_length says";
  if (oneOf([](Attribute a, Attribute b) {
        return standsInDocument(a) && countDocuments(b);
      }))
    return "a position in document and another document stand in separate "
           "masks";
  return "";
}

LogicalResult attn::verifyMask(function_ref<InFlightDiagnostic()> emitError,
                               Attribute mask, TypeRange operandTypes,
                               ArrayRef<int64_t> scoresShape) {
  if (Attribute other = findNonTerm(mask)) // C1
    return emitError() << "expects a mask term, but got " << other;
  auto term = cast<MaskTermInterface>(mask);
  llvm::SmallVector<bool> used(operandTypes.size(), false);
  for (unsigned position : term.operandPositions()) {
    if (position >= operandTypes.size()) // C2
      return emitError() << "expects mask operand " << position << ", but got "
                         << operandTypes.size() << " mask operands";
    used[position] = true;
  }
  if (!llvm::all_of(used, [](bool b) { return b; })) // C2
    return emitError() << "expects every mask operand to be read by a term";
  if (countsFromLastKey(mask) && countKeyLengths(mask) > 1) // C8
    return emitError() << "expects at most one key_length beside a term that "
                          "counts from the last live key";
  if (standsInDocument(mask)) { // C15
    bool byTables = hasNumberedDocuments(mask);
    if (!hasOneDocument(mask, byTables))
      return emitError() << "expects document("
                         << (byTables ? ".. spans" : "cumulative")
                         << "), and no other document, in the conjunction at "
                            "the top of a mask with a position in document";
    if (byTables && countsInDocument(mask))
      return emitError() << "expects a table for each position in a document "
                            "with spans";
  }
  return term.verifyOperands(emitError, operandTypes, scoresShape);
}

LogicalResult
attn::verifyPerBatchOperand(function_ref<InFlightDiagnostic()> emitError,
                            StringRef term, Type type,
                            ArrayRef<int64_t> scoresShape) {
  // C3
  if (type.isIndex())
    return success();
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank() || shaped.getRank() > 1 ||
      !(shaped.getElementType().isInteger(32) ||
        shaped.getElementType().isInteger(64)))
    return emitError()
           << "expects the operand of " << term
           << " to be a tensor of i32 or i64, of rank 0 or with one "
              "element per batch entry, but got "
           << type;
  if (shaped.getRank() == 0)
    return success();
  if (scoresShape.size() < 3)
    return emitError() << "expects the operand of " << term
                       << " to have rank 0 where the scores have no batch "
                          "dimension, but got "
                       << type;
  if (!broadcastsTo(shaped.getShape(), scoresShape.take_front(1)))
    return emitError() << "expects the operand of " << term
                       << " to have one element per batch entry ("
                       << scoresShape.front() << "), but got " << type;
  return success();
}

bool attn::broadcastsTo(ArrayRef<int64_t> shape, ArrayRef<int64_t> target) {
  if (shape.size() > target.size())
    return false;
  for (auto [have, want] : llvm::zip(shape, target.take_back(shape.size()))) {
    bool unknown = ShapedType::isDynamic(have) || ShapedType::isDynamic(want);
    if (have != 1 && have != want && !unknown)
      return false;
  }
  return true;
}

LogicalResult attn::verifyItemMask(function_ref<InFlightDiagnostic()> emitError,
                                   Attribute mask) {
  for (Attribute term : leafTerms(mask)) {
    auto predicate = dyn_cast<PredicateAttr>(term);
    if (!predicate)
      continue;
    for (StepAttr step : predicate.getProgram().getSteps())
      for (int64_t value : step.getOperands().asArrayRef())
        if (value == ProgramValue::Batch || value == ProgramValue::Head)
          return emitError() << "expects a predicate of one batch entry and "
                                "head, which reads neither of both";
  }
  MaskContext context;
  Formula formula = maskFormula(context, mask);
  for (auto [i, symbol] : llvm::enumerate(context.symbols())) {
    int id = Variable::FirstSymbol + i;
    if (symbol.kind == MaskContext::SymbolKind::Free &&
        context.dependsOn(formula, [&](int other) { return other == id; }))
      return emitError() << "expects a mask of one tile, which needs nothing "
                            "but positions, lengths and operands, but it "
                            "needs '"
                         << symbol.name << "'";
  }
  return success();
}

Formula attn::maskFormula(MaskContext &context, Attribute mask) {
  if (!mask)
    return truth(true);
  for (Attribute term : conjunctionOf(mask))
    if (auto length = dyn_cast<KeyLengthAttr>(term))
      context.setLiveKeys(context.operandSymbol(length.getOperand(),
                                                "key_length",
                                                /*nonNegative=*/false));
  return cast<MaskTermInterface>(mask).formula(context);
}
