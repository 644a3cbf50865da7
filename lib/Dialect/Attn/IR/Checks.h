// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the verifiers of several graph ops ask.
#ifndef ATTN_LIB_DIALECT_ATTN_IR_CHECKS_H
#define ATTN_LIB_DIALECT_ATTN_IR_CHECKS_H

#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace attn {

inline bool compatible(int64_t a, int64_t b) {
  return mlir::ShapedType::isDynamic(a) || mlir::ShapedType::isDynamic(b) ||
         a == b;
}

/// The size as a reader knows it.
inline std::string sizeText(int64_t size) {
  return mlir::ShapedType::isDynamic(size) ? "?" : std::to_string(size);
}

inline llvm::LogicalResult expectRank(mlir::Operation *op, llvm::StringRef name,
                                      mlir::RankedTensorType type) {
  if (type.getRank() < 2 || type.getRank() > 4)
    return op->emitOpError()
           << "expects " << name << " to have rank 2, 3 or 4, but got " << type;
  return mlir::success();
}

inline llvm::LogicalResult
expectSize(mlir::Operation *op, const llvm::Twine &what, int64_t a, int64_t b) {
  if (!compatible(a, b))
    return op->emitOpError() << "expects " << what << ", but got "
                             << sizeText(a) << " and " << sizeText(b);
  return mlir::success();
}

inline llvm::LogicalResult expectElement(mlir::Operation *op,
                                         llvm::StringRef what, mlir::Type a,
                                         mlir::Type b) {
  if (a != b)
    return op->emitOpError()
           << "expects " << what << " to have the same element type, but got "
           << a << " and " << b;
  return mlir::success();
}

/// The probability and the seed of a dropout of weights.
inline llvm::LogicalResult verifyDropout(mlir::Operation *op,
                                         const llvm::APFloat &probability,
                                         mlir::Type seed) {
  double p = probability.convertToDouble();
  if (!(p >= 0 && p < 1))
    return op->emitOpError()
           << "expects a probability of at least 0 and below 1, but got " << p;
  auto type = llvm::cast<mlir::RankedTensorType>(seed);
  if (type.getRank() != 0 || !type.getElementType().isSignlessInteger(64))
    return op->emitOpError()
           << "expects a seed of type tensor<i64>, but got " << seed;
  return mlir::success();
}

/// What a tile op knows of a dropout: the seed, the batch entry, the head.
template <typename TileOp> llvm::LogicalResult verifyTileDropout(TileOp op) {
  mlir::OperandRange place = op.getDropped();
  if (!op.getDropout())
    return place.empty() ? mlir::success()
                         : op.emitOpError("expects a dropout where there is a "
                                          "seed");
  if (place.size() == 3 && place[0].getType().isSignlessInteger(64) &&
      place[1].getType().isIndex() && place[2].getType().isIndex())
    return mlir::success();
  return op.emitOpError("expects a dropout of a seed of type i64, a batch "
                        "entry and a head of type index");
}

/// Products of pairs, and of tiles of them, are those of bf16.
inline llvm::LogicalResult expectPairs(mlir::Operation *op,
                                       ScheduleInterface schedule,
                                       mlir::ValueRange matrices) {
  if (!schedule.usesDot())
    return mlir::success();
  for (mlir::Type type : matrices.getTypes())
    if (!llvm::cast<mlir::ShapedType>(type).getElementType().isBF16())
      return op->emitOpError() << "expects elements of bf16 for products = "
                               << stringifyProducts(schedule.getProducts())
                               << ", but got " << type;
  return mlir::success();
}

/// Some kernels read whole vectors of features.
inline llvm::LogicalResult expectWholePairs(mlir::Operation *op,
                                            ScheduleInterface schedule,
                                            int64_t keyDim, int64_t valueDim) {
  int64_t numbers = schedule.getFeatureMultiple();
  if (keyDim % numbers == 0 && valueDim % numbers == 0)
    return mlir::success();
  return op->emitOpError() << "expects head dimensions to be multiples of "
                           << numbers << " for its schedule, but got " << keyDim
                           << " and " << valueDim;
}

/// Type of the scores of queries of type `element`: f64 stays, all else is f32.
inline mlir::Type scoresElement(mlir::Type element) {
  return element.isF64() ? element
                         : mlir::Float32Type::get(element.getContext());
}

/// Checks a tensor with one number per head of `shape`, the shape of scores.
llvm::LogicalResult verifyPerHead(mlir::Operation *op, llvm::StringRef name,
                                  mlir::RankedTensorType type,
                                  llvm::ArrayRef<int64_t> shape,
                                  mlir::Type element);

/// Refuses what is there of `parts`, which does not go with `other`.
llvm::LogicalResult
refuseParts(mlir::Operation *op,
            llvm::ArrayRef<std::pair<llvm::StringRef, bool>> parts,
            llvm::StringRef other);

/// Checks a matrix of a tile op; `columns` may be unknown.
llvm::LogicalResult expectMatrix(mlir::Operation *op, llvm::StringRef name,
                                 mlir::Value value, int64_t columns);

/// Checks the second map of scores of `shape` and type `element`, if there is
/// one.
llvm::LogicalResult verifySecondMap(SdpaOp op, llvm::ArrayRef<int64_t> shape,
                                    mlir::Type element);
llvm::LogicalResult verifySecondMap(SdpaGradOp op,
                                    llvm::ArrayRef<int64_t> shape,
                                    mlir::Type element);
llvm::LogicalResult verifySecondMap(OnlineOp op);

/// Lanes hold in a state what they hold in the kernels that touch it.
llvm::LogicalResult expectKind(mlir::Operation *op, StateType state,
                               ScheduleInterface schedule);

/// Checks saved states of parts of the keys: (parts x rows x value_dim + 2).
llvm::LogicalResult expectParts(mlir::Operation *op, mlir::ShapedType parts);

/// A tile op reads its memrefs and writes its destinations; on tensors it is
/// pure.
void tileEffects(mlir::Operation *op, mlir::MutableOperandRange inits,
                 llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<
                     mlir::MemoryEffects::Effect>> &effects);

inline mlir::LogicalResult expectSameRank(mlir::Operation *op,
                                          llvm::StringRef first,
                                          mlir::RankedTensorType a,
                                          llvm::StringRef second,
                                          mlir::RankedTensorType b) {
  if (a.getRank() != b.getRank())
    return op->emitOpError()
           << "expects " << first << " and " << second
           << " to have the same rank, but got " << a << " and " << b;
  return mlir::success();
}

/// Query heads share key heads in groups.
inline mlir::LogicalResult expectGroups(mlir::Operation *op, int64_t queryHeads,
                                        int64_t keyHeads) {
  if (mlir::ShapedType::isDynamic(queryHeads) ||
      mlir::ShapedType::isDynamic(keyHeads))
    return mlir::success();
  if (keyHeads == 0 ? queryHeads != 0 : queryHeads % keyHeads != 0)
    return op->emitOpError() << "expects the number of query heads to be a "
                                "multiple of the number of key heads, but got "
                             << queryHeads << " and " << keyHeads;
  return mlir::success();
}

} // namespace attn

#endif
