// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Dialect/Attn/Utils/DecodeRows.h"
#include "attn/Dialect/Attn/IR/Mask/MaskTerms.h"

using namespace mlir;
using namespace attn;

/// Whether `operand`, which broadcasts to the scores, is the same for all
/// heads.
static bool sameForAllHeads(SdpaOp op, Value operand) {
  auto type = cast<RankedTensorType>(operand.getType());
  int64_t rank = type.getRank(), scoresRank = op.scoresShape().size();
  return rank < 3 || scoresRank < 3 || type.getDimSize(rank - 3) == 1;
}

/// The direct terms of the mask that are documents.
static SmallVector<DocumentAttr> directDocuments(SdpaOp op) {
  SmallVector<DocumentAttr> documents;
  if (op.getMaskAttr())
    for (Attribute term : conjunctionOf(op.getMaskAttr()))
      if (auto document = dyn_cast<DocumentAttr>(term))
        documents.push_back(document);
  return documents;
}

bool attn::cutsRowsAtDocuments(SdpaOp op) {
  return !directDocuments(op).empty();
}

bool attn::countsDocuments(SdpaOp op) {
  SmallVector<DocumentAttr> documents = directDocuments(op);
  return !documents.empty() && documents.front().getCumulative();
}

/// The same for an operand of the mask. Of numbers and rows, scores without a
/// batch have one per head.
static bool sameForAllHeads(SdpaOp op, const MaskOperand &operand) {
  Value value = op.getMaskOperands()[operand.position];
  auto type = cast<RankedTensorType>(value.getType());
  switch (operand.kind) {
  case MaskOperandKind::Number:
  case MaskOperandKind::OfRow:
    return op.queryDims().batch >= 0 || type.getRank() == 0 ||
           type.getDimSize(0) == 1;
  case MaskOperandKind::Row:
    return op.queryDims().batch >= 0 || type.getRank() == 1 ||
           type.getDimSize(0) == 1;
  case MaskOperandKind::Pairs:
  case MaskOperandKind::Blocks:
    return sameForAllHeads(op, value);
  case MaskOperandKind::Captured:
    return false; // the program may look at the head
  }
  llvm_unreachable("every kind has its case");
}

int64_t attn::packedHeads(SdpaOp op) {
  SmallVector<Attribute> terms = leafTerms(op.getMaskAttr());
  // Where rows stay together, those of documents are looked up pair by pair.
  bool looksUp = !cutsRowsAtDocuments(op) &&
                 llvm::any_of(terms, llvm::IsaPred<DocumentAttr>);
  if (op.getWeights() || op.getScores() || op.isSigmoid() ||
      op.isDifferential() || looksUp)
    return 0;
  if (op.queryDims().head < 0)
    return 1;
  if (llvm::any_of(terms, llvm::IsaPred<PredicateAttr>))
    return 1; // may look at the head
  for (Attribute term : terms)
    for (const MaskOperand &operand :
         cast<MaskTermInterface>(term).describeOperands())
      if (!sameForAllHeads(op, operand))
        return 1;
  if (op.getBias() && !sameForAllHeads(op, op.getBias()))
    return 1;
  int64_t heads = op.getQuery().getType().getDimSize(op.queryDims().head);
  int64_t keyHeads = op.getKey().getType().getDimSize(op.keyDims().head);
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(keyHeads) ||
      keyHeads == 0)
    return 1;
  return std::max<int64_t>(heads / keyHeads, 1);
}

int64_t attn::largestPart(int64_t heads, int64_t most) {
  int64_t part = std::min(heads, most);
  while (part > 1 && heads % part)
    --part;
  return part;
}

int64_t attn::headsOfState(SdpaOp op, ScheduleInterface decode) {
  return largestPart(packedHeads(op), decode.getQueryTile());
}

int64_t attn::mostDecodeQueries(SdpaOp op) {
  int64_t heads = headsOfState(op, op.getDecodeScheduleAttr());
  return heads ? op.getDecodeScheduleAttr().getQueryTile() / heads : 0;
}

std::optional<bool> attn::splitsKeys(SdpaOp op, ScheduleInterface schedule) {
  if (!schedule.getSplitKeys())
    return false;
  int64_t queries = op.getQuery().getType().getDimSize(op.queryDims().sequence),
          keys = op.getKey().getType().getDimSize(op.keyDims().sequence);
  bool queriesKnown = !ShapedType::isDynamic(queries),
       keysKnown = !ShapedType::isDynamic(keys);
  if ((queriesKnown && queries > schedule.getSplitQueries()) ||
      (keysKnown && keys < leastSplitKeys(schedule)))
    return false;
  return queriesKnown && keysKnown ? std::optional(true) : std::nullopt;
}
