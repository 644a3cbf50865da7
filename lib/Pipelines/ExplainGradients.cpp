// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ExplainGradients.h"

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
    for (auto [size, symbol] : llvm::zip(port.getSizes(), port.getSymbols())) {
      const auto *given = llvm::find_if(
          sizes, [&](const auto &named) { return named.first == symbol; });
      if (size >= 0)
        known *= size;
      else if (given != sizes.end())
        known *= given->second;
      else
        unknown += "*" + symbol.str();
    }
    residuals.push_back(
        {port.getName().str(), std::to_string(known) + unknown,
         unknown.empty() ? std::optional<int64_t>(known) : std::nullopt});
  }
  return residuals;
}
