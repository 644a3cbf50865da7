// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OperatorTable.h"
#include "llvm/ADT/StringMap.h"

using namespace attn::onnx;
using llvm::StringRef;

static std::string key(StringRef domain, StringRef name) {
  return (domain + ":" + name).str();
}

/// Per name the versions, the latest first.
static const llvm::StringMap<llvm::SmallVector<const Operator *, 1>> &table() {
  static const auto all = [] {
    llvm::StringMap<llvm::SmallVector<const Operator *, 1>> map;
    for (auto group : {activationOperators(),
                       attentionOperators(),
                       causalConvolutionOperators(),
                       channelNormOperators(),
                       constantOperators(),
                       ifOperators(),
                       linearAttentionOperators(),
                       loopOperators(),
                       scanOperators(),
                       convolutionOperators(),
                       cumSumOperators(),
                       einsumOperators(),
                       elementwiseOperators(),
                       enlargingOperators(),
                       flexAttentionOperators(),
                       functionOperators(),
                       gatherOperators(),
                       gridSampleOperators(),
                       normalizationOperators(),
                       groupQueryOperators(),
                       multiHeadOperators(),
                       poolingOperators(),
                       productOperators(),
                       recurrentOperators(),
                       reductionOperators(),
                       rotaryOperators(),
                       resizeOperators(),
                       topKOperators(),
                       scatterOperators(),
                       shapeOperators(),
                       skipNormOperators(),
                       sliceOperators(),
                       padOperators()})
      for (const Operator &one : group)
        map[key(one.domain, one.name)].push_back(&one);
    for (auto &entry : map)
      llvm::sort(entry.second, [](const Operator *a, const Operator *b) {
        return a->since > b->since;
      });
    return map;
  }();
  return all;
}

const Operator *attn::onnx::findOperator(StringRef domain, StringRef name,
                                         int64_t version) {
  auto entry = table().find(key(domain, name));
  if (entry == table().end())
    return nullptr;
  for (const Operator *one : entry->second)
    if (version >= one->since)
      return one;
  return nullptr;
}

bool attn::onnx::knowsOperator(StringRef domain, StringRef name) {
  return table().contains(key(domain, name));
}
