// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ExplainFacts.h"

using namespace mlir;
using namespace attn;

GradientFacts attn::factsOf(SdpaGradOp op, const SymbolSizes &sizes) {
  OpBuilder b(op);
  SdpaOp attention = op.attention(b);
  GradientFacts facts;
  facts.attention = factsOf(attention, sizes).front();
  attention.erase();
  auto [byKey, byValue] = op.products();
  facts.attention.features =
      byKey * op.getQuery().getType().getDimSize(op.queryDims().feature) +
      byValue * op.getValue().getType().getDimSize(op.valueDims().feature);
  for (StringAttr name : op.getWrt().getAsRange<StringAttr>())
    facts.by.push_back(name);
  facts.products = {"scores", "cotangents of weights", "query", "key", "value"};
  for (StringRef name : {"query", "key", "value"})
    if (!op.gradientBy(name))
      facts.dropped.push_back(name);
  return facts;
}

std::vector<ResidualFacts> attn::residualsOf(func::FuncOp function,
                                             const SymbolSizes &sizes) {
  std::vector<ResidualFacts> residuals;
  for (auto [i, port] : llvm::enumerate(PortAttr::of(function))) {
    if (i >= function.getNumArguments() ||
        !function.getArgAttr(i, PortAttr::residualAttr))
      continue;
    int64_t known = port.getElementType().getIntOrFloatBitWidth() / 8;
    std::string unknown;
    for (int64_t dim = 0; dim < port.getRank(); ++dim) {
      StringRef symbol = port.getSymbols()[dim];
      int64_t size = port.getSizes()[dim];
      for (const auto &[name, value] : sizes)
        if (size < 0 && name == symbol)
          size = value;
      if (size >= 0)
        known *= size;
      else
        unknown += "*" + symbol.str();
    }
    residuals.push_back(
        {port.getName().str(), std::to_string(known) + unknown,
         unknown.empty() ? std::optional<int64_t>(known) : std::nullopt});
  }
  return residuals;
}
