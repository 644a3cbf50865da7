// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which operators can be imported, and by what.
#ifndef ATTN_LIB_IMPORT_ONNX_OPERATORTABLE_H
#define ATTN_LIB_IMPORT_ONNX_OPERATORTABLE_H

#include "Node.h"

namespace attn::onnx {

/// Gives the node's outputs, or reports why it cannot.
using ImportFunction = mlir::LogicalResult (*)(Node &);

struct Operator {
  llvm::StringRef domain, name;
  ImportFunction import;
  unsigned leastInputs, mostInputs;
  int64_t since = 1; ///< The first version that has this meaning.
};

/// Of one operator there may be several, for different versions.
const Operator *findOperator(llvm::StringRef domain, llvm::StringRef name,
                             int64_t version);
/// Whether any version of it is known.
bool knowsOperator(llvm::StringRef domain, llvm::StringRef name);

constexpr unsigned anyNumber = 1u << 20;

// One file of Operators/ each.
llvm::ArrayRef<Operator> activationOperators();
llvm::ArrayRef<Operator> attentionOperators();
llvm::ArrayRef<Operator> constantOperators();
llvm::ArrayRef<Operator> ifOperators();
llvm::ArrayRef<Operator> linearAttentionOperators();
llvm::ArrayRef<Operator> loopOperators();
llvm::ArrayRef<Operator> scanOperators();
llvm::ArrayRef<Operator> causalConvolutionOperators();
llvm::ArrayRef<Operator> channelNormOperators();
llvm::ArrayRef<Operator> convolutionOperators();
llvm::ArrayRef<Operator> cumSumOperators();
llvm::ArrayRef<Operator> einsumOperators();
llvm::ArrayRef<Operator> elementwiseOperators();
llvm::ArrayRef<Operator> enlargingOperators();
llvm::ArrayRef<Operator> flexAttentionOperators();
llvm::ArrayRef<Operator> functionOperators();
llvm::ArrayRef<Operator> gatherOperators();
llvm::ArrayRef<Operator> normalizationOperators();
llvm::ArrayRef<Operator> gridSampleOperators();
llvm::ArrayRef<Operator> groupQueryOperators();
llvm::ArrayRef<Operator> multiHeadOperators();
llvm::ArrayRef<Operator> poolingOperators();
llvm::ArrayRef<Operator> productOperators();
llvm::ArrayRef<Operator> recurrentOperators();
llvm::ArrayRef<Operator> reductionOperators();
llvm::ArrayRef<Operator> resizeOperators();
llvm::ArrayRef<Operator> rotaryOperators();
llvm::ArrayRef<Operator> scatterOperators();
llvm::ArrayRef<Operator> shapeOperators();
llvm::ArrayRef<Operator> skipNormOperators();
llvm::ArrayRef<Operator> sliceOperators();
llvm::ArrayRef<Operator> padOperators();
llvm::ArrayRef<Operator> topKOperators();

} // namespace attn::onnx

#endif
