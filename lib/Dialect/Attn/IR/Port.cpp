// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// #attn.port: its text, and the function's attribute that holds ports.
#include "attn/Dialect/Attn/IR/AttnAttributes.h"
#include "attn/Dialect/Attn/IR/SizeText.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace attn;

namespace {
/// The parameters, as far as they have been read.
struct PortText {
  std::string name;
  SmallVector<int64_t> sizes;
  SmallVector<StringAttr> symbols, overlaps;
  SmallVector<ArrayAttr> notEmpty;
  bool optional = false;
};
} // namespace

/// A size, or the name of one.
static ParseResult parseSize(AsmParser &parser, PortText &port) {
  int64_t size = -1;
  std::string symbol;
  OptionalParseResult known = parser.parseOptionalInteger(size);
  if (known.has_value() ? failed(*known)
                        : failed(parser.parseKeywordOrString(&symbol)))
    return failure();
  port.sizes.push_back(size);
  port.symbols.push_back(StringAttr::get(parser.getContext(), symbol));
  return success();
}

static ParseResult parseNames(AsmParser &parser,
                              SmallVectorImpl<StringAttr> &names) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    std::string name;
    if (failed(parser.parseKeywordOrString(&name)))
      return failure();
    names.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  });
}

static ParseResult parseNotEmpty(AsmParser &parser, PortText &port) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    SmallVector<StringAttr> names;
    if (failed(parseNames(parser, names)))
      return failure();
    port.notEmpty.push_back(
        ArrayAttr::get(parser.getContext(),
                       SmallVector<Attribute>(names.begin(), names.end())));
    return success();
  });
}

Attribute PortAttr::parse(AsmParser &parser, Type) {
  PortText port;
  RankedTensorType type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseString(&port.name) ||
      parser.parseComma())
    return {};
  bool input = succeeded(parser.parseOptionalKeyword("input"));
  if ((!input && parser.parseKeyword("output", " or 'input'")) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parseSize(parser, port); }) ||
      parser.parseColonType(type))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("not_empty"))) {
      if (parseNotEmpty(parser, port))
        return {};
    } else if (succeeded(parser.parseOptionalKeyword("optional"))) {
      port.optional = true;
    } else if (parser.parseKeyword("overlaps", ", 'not_empty' or 'optional'") ||
               parseNames(parser, port.overlaps)) {
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return PortAttr::getChecked(
      [&] { return parser.emitError(loc); }, parser.getContext(),
      StringAttr::get(parser.getContext(), port.name), input,
      ArrayRef(port.sizes), ArrayRef(port.symbols), type,
      ArrayRef(port.notEmpty), ArrayRef(port.overlaps), port.optional);
}

static void printNames(AsmPrinter &printer, ArrayRef<StringAttr> names) {
  printer << '[';
  llvm::interleaveComma(names, printer, [&](StringAttr name) {
    printer.printKeywordOrString(name);
  });
  printer << ']';
}

void PortAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printString(getName());
  printer << (getInput() ? ", input [" : ", output [");
  llvm::interleaveComma(llvm::seq(getRank()), printer, [&](int64_t dim) {
    if (getSizes()[dim] >= 0)
      printer << getSizes()[dim];
    else
      printer.printKeywordOrString(getSymbols()[dim]);
  });
  printer << "] : " << getType();
  if (!getNotEmpty().empty()) {
    printer << ", not_empty [";
    llvm::interleaveComma(getNotEmpty(), printer, [&](ArrayAttr sizes) {
      printNames(printer, llvm::to_vector(sizes.getAsRange<StringAttr>()));
    });
    printer << ']';
  }
  if (!getOverlaps().empty()) {
    printer << ", overlaps ";
    printNames(printer, getOverlaps());
  }
  if (getOptional())
    printer << ", optional";
  printer << '>';
}

// TableGen gives a verifier as many parameters as the attribute has.
LogicalResult PortAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               StringAttr, bool input, ArrayRef<int64_t> sizes,
                               ArrayRef<StringAttr> symbols,
                               RankedTensorType type,
                               ArrayRef<ArrayAttr> notEmpty,
                               ArrayRef<StringAttr>, bool optional) {
  size_t rank = type.getRank();
  if (sizes.size() != rank || symbols.size() != rank)
    return emitError() << "expects a size for each of " << rank
                       << " dimensions, but got " << sizes.size();
  SmallVector<SizeSymbol> read;
  for (auto [size, symbol] : llvm::zip(sizes, symbols))
    if (size < 0 && !parseSizeText(symbol, type.getContext(), read))
      return emitError() << "expects sizes of at least 0, names, and what is "
                            "computed of them, but got "
                         << (symbol.empty() ? std::to_string(size)
                                            : symbol.str());
  for (ArrayAttr readers : notEmpty)
    if (!llvm::all_of(readers, llvm::IsaPred<StringAttr>))
      return emitError() << "expects names of sizes, but got " << readers;
  if (optional && !input)
    return emitError() << "expects 'optional' of an argument";
  return success();
}

std::string PortAttr::sizeText(int64_t dim) const {
  int64_t size = getSizes()[dim];
  return size >= 0 ? std::to_string(size) : getSymbols()[dim].str();
}

std::vector<PortAttr> PortAttr::of(Operation *function) {
  std::vector<PortAttr> ports;
  if (auto all = function->getAttrOfType<ArrayAttr>(functionAttr))
    llvm::append_range(ports, all.getAsRange<PortAttr>());
  return ports;
}

LogicalResult AttnDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  if (attribute.getName() == lowestExcludesAttr &&
      !isa<UnitAttr>(attribute.getValue()))
    return op->emitError() << "expects " << attribute.getName()
                           << " to have no value, but got "
                           << attribute.getValue();
  if (attribute.getName() != PortAttr::functionAttr)
    return success();
  auto ports = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!ports || !llvm::all_of(ports, llvm::IsaPred<PortAttr>))
    return op->emitError() << "expects " << attribute.getName()
                           << " to be an array of #attn.port, but got "
                           << attribute.getValue();
  return success();
}
