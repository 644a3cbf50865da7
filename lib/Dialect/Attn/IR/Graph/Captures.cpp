// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Captures.h"

using namespace mlir;

ParseResult
attn::parseCaptures(OpAsmParser &parser,
                    SmallVectorImpl<OpAsmParser::Argument> &arguments,
                    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &captures,
                    SmallVectorImpl<Type> &types) {
  auto parseCapture = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    if (parser.parseArgument(argument) || parser.parseEqual() ||
        parser.parseOperand(captures.emplace_back()) ||
        parser.parseColonType(argument.type))
      return failure();
    types.push_back(argument.type);
    return success();
  };
  if (failed(parser.parseOptionalKeyword("with")))
    return success();
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                        parseCapture);
}

void attn::printCaptures(OpAsmPrinter &printer,
                         ArrayRef<BlockArgument> arguments,
                         OperandRange captures) {
  if (captures.empty())
    return;
  printer << " with (";
  llvm::interleaveComma(
      llvm::zip_equal(arguments, captures), printer, [&](auto pair) {
        auto [argument, value] = pair;
        printer << argument << " = " << value << " : " << value.getType();
      });
  printer << ")";
}
