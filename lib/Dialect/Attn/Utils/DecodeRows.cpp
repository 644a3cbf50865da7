// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Dialect/Attn/Utils/DecodeRows.h"
#include "attn/Dialect/Attn/IR/MaskTerms.h"

using namespace mlir;
using namespace attn;

/// Whether `operand`, which broadcasts to the scores, is the same for all
/// heads.
static bool sameForAllHeads(SdpaOp op, Value operand) {
  auto type = cast<RankedTensorType>(operand.getType());
  int64_t rank = type.getRank(), scoresRank = op.scoresShape().size();
  return rank < 3 || scoresRank < 3 || type.getDimSize(rank - 3) == 1;
}

/// The same for an integer, of which scores without a batch have one per head.
static bool sameIntegerForAllHeads(SdpaOp op, Value operand) {
  auto type = cast<RankedTensorType>(operand.getType());
  return op.queryDims().batch >= 0 || type.getRank() == 0 ||
         type.getDimSize(0) == 1;
}

int64_t attn::packedHeads(SdpaOp op) {
  SmallVector<Attribute> terms = leafTerms(op.getMaskAttr());
  // Rows of one document each read fewer keys in kernels of kind prefill, which
  // take them apart.
  if (op.getWeights() || op.getScores() || op.isSigmoid() ||
      op.isDifferential() || llvm::any_of(terms, llvm::IsaPred<DocumentAttr>))
    return 0;
  if (op.queryDims().head < 0)
    return 1;
  if (llvm::any_of(terms, llvm::IsaPred<PredicateAttr>))
    return 1; // may look at the head
  for (Value operand : op.getMaskOperands()) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (type.getElementType().isInteger(1)
            ? !sameForAllHeads(op, operand)
            : !sameIntegerForAllHeads(op, operand))
      return 1;
  }
  if (op.getBias() && !sameForAllHeads(op, op.getBias()))
    return 1;
  int64_t heads = op.getQuery().getType().getDimSize(op.queryDims().head);
  int64_t keyHeads = op.getKey().getType().getDimSize(op.keyDims().head);
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(keyHeads) ||
      keyHeads == 0)
    return 1;
  return std::max<int64_t>(heads / keyHeads, 1);
}

int64_t attn::mostDecodeQueries(SdpaOp op) {
  int64_t heads = packedHeads(op);
  return heads ? op.getDecodeScheduleAttr().getQueryTile() / heads : 0;
}
