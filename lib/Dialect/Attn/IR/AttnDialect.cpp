// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration, and the syntax that several ops share.
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/Graph/ScoreFunction.h"
#include "attn/Dialect/Attn/IR/Mask/MaskProgram.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

#include "attn/Dialect/Attn/IR/AttnDialect.cpp.inc"
#include "attn/Dialect/Attn/IR/AttnEnums.cpp.inc"
#include "attn/Dialect/Attn/IR/AttnInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "attn/Dialect/Attn/IR/AttnAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "attn/Dialect/Attn/IR/AttnTypes.cpp.inc"

void AttnDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attn/Dialect/Attn/IR/AttnAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "attn/Dialect/Attn/IR/AttnTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Attn/IR/AttnOps.cpp.inc"
      >();
}

// TableGen gives a verifier as many parameters as the attribute has.
LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef triple, StringRef processor,
                                 int64_t lanes, int64_t registers,
                                 int64_t chains, int64_t pairChains,
                                 int64_t l1Bytes, Products products,
                                 bool scalef, bool f16, bool bf16, bool amx,
                                 bool laneProducts, int64_t sharedBytes) {
  struct Range {
    StringRef name;
    int64_t value, least, most;
  };
  for (auto [name, value, least, most] :
       {Range{"lanes", lanes, 2, 64}, Range{"registers", registers, 16, 64},
        Range{"chains", chains, 1, 64}, Range{"pair_chains", pairChains, 0, 64},
        Range{"l1_bytes", l1Bytes, 4096, 1 << 24},
        Range{"shared_bytes", sharedBytes, 0, 1 << 24}})
    if (value < least || value > most)
      return emitError() << "expects " << name << " of " << least << " to "
                         << most << ", but got " << value;
  if (!llvm::isPowerOf2_64(lanes))
    return emitError() << "expects lanes to be a power of two, but got "
                       << lanes;
  return success();
}

TargetAttr TargetAttr::of(Operation *op) {
  for (Operation *around = op; around; around = around->getParentOp())
    if (auto target = around->getAttrOfType<TargetAttr>(moduleAttr))
      return target;
  return TargetAttr::get(op->getContext(), /*triple=*/"", /*processor=*/"",
                         /*lanes=*/8, /*registers=*/16, /*chains=*/8,
                         /*pair_chains=*/0, /*l1_bytes=*/32768, Products::Fma,
                         /*scalef=*/false, /*f16=*/false,
                         /*bf16=*/false, /*amx=*/false,
                         /*lane_products=*/false, /*shared_bytes=*/0);
}

// --- custom directives of the assembly formats ---

namespace attn {
static ParseResult parseFactor(OpAsmParser &parser, FloatAttr &factor) {
  double value;
  if (parser.parseFloat(value))
    return failure();
  factor = parser.getBuilder().getF64FloatAttr(value);
  return success();
}
static void printFactor(OpAsmPrinter &printer, Operation *, FloatAttr factor) {
  printer.printFloat(factor.getValue());
}

static void printMask(OpAsmPrinter &printer, Operation *, Attribute mask,
                      OperandRange operands, TypeRange) {
  printMask(printer, mask, operands);
}
static ParseResult
parseOptionalMask(OpAsmParser &parser, Attribute &mask,
                  SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                  SmallVectorImpl<Type> &types) {
  return parseMask(parser, mask, operands, types);
}
static void printOptionalMask(OpAsmPrinter &printer, Operation *,
                              Attribute mask, OperandRange operands,
                              TypeRange) {
  printMask(printer, mask, operands);
}

/// 0.1 seed %seed : type.
static ParseResult
parseOptionalDropout(OpAsmParser &parser, FloatAttr &probability,
                     std::optional<OpAsmParser::UnresolvedOperand> &seed,
                     Type &seedType) {
  return failure(
      parseFactor(parser, probability) || parser.parseKeyword("seed") ||
      parser.parseOperand(seed.emplace()) || parser.parseColonType(seedType));
}
static void printOptionalDropout(OpAsmPrinter &printer, Operation *op,
                                 FloatAttr probability, Value seed,
                                 Type seedType) {
  printFactor(printer, op, probability);
  printer << " seed " << seed << " : " << seedType;
}

static ParseResult parseSecondMap(
    OpAsmParser &parser, std::optional<OpAsmParser::UnresolvedOperand> &state,
    Type &stateType, std::optional<OpAsmParser::UnresolvedOperand> &key,
    Type &keyType, Type &nextType) {
  if (parser.parseOperand(state.emplace()) || parser.parseComma() ||
      parser.parseOperand(key.emplace()) || parser.parseColonType(stateType) ||
      parser.parseComma() || parser.parseType(keyType))
    return failure();
  nextType = stateType;
  return success();
}
static void printSecondMap(OpAsmPrinter &printer, Operation *, Value state,
                           Type stateType, Value key, Type keyType, Type) {
  printer << state << ", " << key << " : " << stateType << ", " << keyType;
}
} // namespace attn

/// [minus %q2, %k2 by %lambda : type]: the second map of differential
/// attention. Query and key have the types of the first ones.
static ParseResult
parseMinus(OpAsmParser &parser,
           SmallVectorImpl<OpAsmParser::UnresolvedOperand> &second,
           SmallVectorImpl<OpAsmParser::UnresolvedOperand> &lambda,
           SmallVectorImpl<Type> &lambdaTypes) {
  if (failed(parser.parseOptionalKeyword("minus")))
    return success();
  return failure(parser.parseOperandList(second, /*requiredOperandCount=*/2) ||
                 parser.parseKeyword("by") ||
                 parser.parseOperand(lambda.emplace_back()) ||
                 parser.parseColonType(lambdaTypes.emplace_back()));
}

/// [word %x : type].
static ParseResult
parseOptionalTensor(OpAsmParser &parser, StringRef word,
                    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                    SmallVectorImpl<Type> &types) {
  if (failed(parser.parseOptionalKeyword(word)))
    return success();
  return failure(parser.parseOperand(operands.emplace_back()) ||
                 parser.parseColonType(types.emplace_back()));
}

/// [dropout 0.1 seed %seed : type].
template <typename Properties>
static ParseResult
parseDropout(OpAsmParser &parser, Properties &properties,
             SmallVectorImpl<OpAsmParser::UnresolvedOperand> &seed,
             SmallVectorImpl<Type> &seedTypes) {
  if (failed(parser.parseOptionalKeyword("dropout")))
    return success();
  FloatAttr probability;
  std::optional<OpAsmParser::UnresolvedOperand> operand;
  if (parseOptionalDropout(parser, probability, operand,
                           seedTypes.emplace_back()))
    return failure();
  properties.setDropout(probability);
  seed.push_back(*operand);
  return success();
}

/// [returning(out, lse, ...)]; says for each result whether it is there.
static ParseResult parseReturning(OpAsmParser &parser,
                                  SmallVectorImpl<int32_t> &present) {
  static constexpr StringRef names[] = {"out", "lse", "weights", "scores",
                                        "state"};
  constexpr unsigned count = std::size(names);
  present.assign({1, 0, 0, 0, 0, 0, 0});
  if (failed(parser.parseOptionalKeyword("returning")))
    return success();
  unsigned next = 0;
  present[0] = 0;
  auto parseName = [&]() -> ParseResult {
    StringRef word;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    while (next < count && names[next] != word)
      ++next;
    if (next == count)
      return parser.emitError(loc, "expects out, lse, weights, scores and "
                                   "state in this order, but got '")
             << word << "'";
    present[next++] = 1;
    return success();
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseName))
    return failure();
  if (!present[0])
    return parser.emitError(loc, "expects out among the results");
  present[5] = present[6] = present[4]; // a state is maximum, sum and acc
  return success();
}

/// The attributes that have no place of their own in the syntax.
static ParseResult parseAttributes(OpAsmParser &parser, OperationState &state) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(state.attributes))
    return failure();
  for (StringRef name : {"scale", "mask", "dropout", "operandSegmentSizes",
                         "resultSegmentSizes"})
    if (state.attributes.get(name))
      return parser.emitError(loc)
             << "'" << name << "' has a place of its own in the syntax";
  return SdpaOp::verifyInherentAttrs(state.name, state.attributes,
                                     [&] { return parser.emitError(loc); });
}

// attn.sdpa %q, %k, %v [minus %q2, %k2 by %l : type] [bias %b : type]
//   scale 0.125 [score_mod FUNCTION] [where MASK] [sinks %s : type]
//   [dropout 0.1 seed %x : type] [returning(out, lse, ...)] attr-dict
//   : (types) -> (types)
ParseResult SdpaOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> inputs, bias, maskOperands,
      captures, sinks, second, lambda;
  SmallVector<Type> biasTypes, maskTypes, captureTypes, sinkTypes, lambdaTypes;
  Region *scoreFunction = state.addRegion();
  FloatAttr scale;
  if (parser.parseOperandList(inputs, /*requiredOperandCount=*/3) ||
      parseMinus(parser, second, lambda, lambdaTypes) ||
      parseOptionalTensor(parser, "bias", bias, biasTypes) ||
      parser.parseKeyword("scale") || parseFactor(parser, scale))
    return failure();
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.setScale(scale);
  if (succeeded(parser.parseOptionalKeyword("score_mod")) &&
      parseScoreFunction(parser, *scoreFunction, captures, captureTypes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("where"))) {
    Attribute mask;
    if (attn::parseMask(parser, mask, maskOperands, maskTypes))
      return failure();
    properties.setMask(mask);
  }
  SmallVector<int32_t> present;
  FunctionType type;
  SmallVector<OpAsmParser::UnresolvedOperand> seed;
  SmallVector<Type> seedTypes;
  if (parseOptionalTensor(parser, "sinks", sinks, sinkTypes) ||
      parseDropout(parser, properties, seed, seedTypes) ||
      parseReturning(parser, present) || parseAttributes(parser, state))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseColonType(type))
    return failure();
  size_t results = llvm::count(present, 1);
  if (type.getNumInputs() != 3 || type.getNumResults() != results)
    return parser.emitError(loc, "expects types for 3 inputs and ")
           << results << " results, but got " << type.getNumInputs() << " and "
           << type.getNumResults();
  int32_t hasSecond = lambda.size();
  llvm::copy(ArrayRef<int32_t>(
                 {1, 1, 1, int32_t(bias.size()), int32_t(maskOperands.size()),
                  int32_t(captures.size()), int32_t(sinks.size()), hasSecond,
                  hasSecond, hasSecond, int32_t(seed.size())}),
             properties.operandSegmentSizes.begin());
  llvm::copy(present, properties.resultSegmentSizes.begin());
  state.addTypes(type.getResults());
  auto resolve = [&](ArrayRef<OpAsmParser::UnresolvedOperand> operands,
                     ArrayRef<Type> types) {
    return parser.resolveOperands(operands, types, loc, state.operands);
  };
  ArrayRef<Type> secondTypes = type.getInputs().take_front(second.size());
  return failure(resolve(inputs, type.getInputs()) ||
                 resolve(bias, biasTypes) || resolve(maskOperands, maskTypes) ||
                 resolve(captures, captureTypes) || resolve(sinks, sinkTypes) ||
                 resolve(second, secondTypes) || resolve(lambda, lambdaTypes) ||
                 resolve(seed, seedTypes));
}

void SdpaOp::print(OpAsmPrinter &printer) {
  printer << " " << getQuery() << ", " << getKey() << ", " << getValue();
  if (isDifferential())
    printer << " minus " << getSecondQuery() << ", " << getSecondKey() << " by "
            << getLambda() << " : " << getLambda().getType();
  if (getBias())
    printer << " bias " << getBias() << " : " << getBias().getType();
  printer << " scale ";
  printer.printFloat(getScale());
  if (!getScoreFunction().empty()) {
    printer << " score_mod ";
    printScoreFunction(printer, *this, getScoreFunction(), getCaptures(), {});
  }
  if (getMask()) {
    printer << " where ";
    attn::printMask(printer, *getMask(), getMaskOperands());
  }
  if (getSinks())
    printer << " sinks " << getSinks() << " : " << getSinks().getType();
  if (getSeed()) {
    printer << " dropout ";
    printOptionalDropout(printer, *this, getDropoutAttr(), getSeed(),
                         getSeed().getType());
  }
  if (getNumResults() > 1)
    printer << " returning(out" << (getLse() ? ", lse" : "")
            << (getWeights() ? ", weights" : "")
            << (getScores() ? ", scores" : "") << (getAcc() ? ", state" : "")
            << ")";
  SmallVector<StringRef> elided{"scale", "mask", "dropout",
                                "operandSegmentSizes", "resultSegmentSizes"};
  auto elideDefault = [&](StringRef name, Layout layout) {
    if (layout == Layout::HeadMajor)
      elided.push_back(name);
  };
  elideDefault("query_layout", getQueryLayout());
  elideDefault("key_layout", getKeyLayout());
  elideDefault("value_layout", getValueLayout());
  elideDefault("out_layout", getOutLayout());
  if (!isSigmoid())
    elided.push_back("normalization");
  printer.printOptionalAttrDict((*this)->getAttrs(), elided);
  printer << " : ";
  printer.printFunctionalType(
      TypeRange{getQuery().getType(), getKey().getType(), getValue().getType()},
      getResultTypes());
}

#define GET_OP_CLASSES
#include "attn/Dialect/Attn/IR/AttnOps.cpp.inc"
