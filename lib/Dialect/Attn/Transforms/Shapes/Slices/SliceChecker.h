// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What must hold of sizes and places for a function to stay inside of its
// tensors.
#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_SHAPES_SLICES_SLICECHECKER_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_SHAPES_SLICES_SLICECHECKER_H

#include "Shapes/ShapeConstraints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/ADT/MapVector.h"

namespace attn {

/// Collects what must hold of the slices of one function.
class SliceChecker {
public:
  SliceChecker(mlir::func::FuncOp function)
      : function(function), b(function.getContext()), requirements(classes) {
    function.walk([&](mlir::Operation *op) { requirements.collect(op); });
    for (mlir::BlockArgument argument : function.getArguments())
      if (auto type =
              llvm::dyn_cast<mlir::RankedTensorType>(argument.getType()))
        for (int64_t i = 0; i < type.getRank(); ++i)
          arguments.try_emplace(classes.find({argument, i}), Dim{argument, i});
  }

  void check(mlir::OffsetSizeAndStrideOpInterface slice, mlir::Value whole);
  /// What a loop writes or reads at `indices`.
  void checkTurns(mlir::Operation *op, mlir::Value tensor,
                  mlir::ValueRange indices);
  void checkSizes(mlir::Operation *op);
  void checkParts(mlir::tensor::ExpandShapeOp expand);
  void checkLookup(mlir::tensor::ExtractOp lookup);
  /// Whether `index` was made the nearest place of a dimension of unknown size
  /// (ClampLookups.cpp).
  bool isClamped(Dim dim, mlir::Value index);
  /// Whether `op`, a tensor.extract or tensor.insert, takes the nearest element
  /// of a tensor where `index` lies outside of its dimension `dim`: elements
  /// tell the place, or a body computes one of which no comparison tells.
  bool takesNearest(mlir::Operation *op, Dim dim, mlir::Value index);
  /// What an op that is no slice reads and writes.
  void checkAccess(mlir::Operation *op);
  /// What must hold, by what is wrong where it does not.
  llvm::MapVector<mlir::StringAttr, mlir::Value> all;
  /// Which of these is the first that does not hold, from 1, or 0: i32; and
  /// the texts.
  std::pair<mlir::Value, mlir::ArrayAttr> firstBroken();

private:
  enum class Rule { Place, Size };
  /// A slice in one dimension.
  struct Range {
    mlir::OpFoldResult offset, size, stride;
    Dim whole;
  };
  bool isInside(const Range &range);
  void check(mlir::Operation *op, const Range &range);
  void checkSize(mlir::Operation *op, Dim dim, mlir::Value size);
  mlir::Value bound(mlir::Operation *op, mlir::presburger::BoundType type,
                    mlir::Value value);
  mlir::Value sizeOf(mlir::Operation *op, Dim dim);
  mlir::Value knownSize(mlir::Operation *op, Dim dim);
  mlir::FailureOr<mlir::Value> hasTurns(mlir::Operation *op);
  mlir::Value inTurn(mlir::Operation *op, mlir::Value value,
                     mlir::IRMapping &turn);
  mlir::Value holdsInTurn(mlir::Operation *op, const Range &range,
                          mlir::Value whole, mlir::IRMapping &turn);
  mlir::Value holdsInTurns(llvm::ArrayRef<mlir::Operation *> around,
                           mlir::Operation *op, const Range &range,
                           mlir::IRMapping &turn);
  /// Asks for every turn, unless `holds`, which may be null, says it of all.
  void checkTurns(mlir::Operation *op, const Range &range, mlir::Value holds);
  bool isInFront(mlir::Operation *op) {
    return op->getBlock() == &function.front();
  }
  void checkElement(mlir::Operation *op, mlir::Value tensor,
                    mlir::ValueRange indices);
  void checkInserted(mlir::tensor::InsertSliceOp insert);
  void checkConcat(mlir::tensor::ConcatOp joined);
  void checkPad(mlir::tensor::PadOp pad);
  void checkMaps(mlir::linalg::LinalgOp loop);
  /// Whether knownSize has an answer.
  bool isTold(Dim dim);
  std::pair<mlir::Value, mlir::Value> ends(mlir::linalg::LinalgOp loop,
                                           mlir::Value index);
  void checkBody(mlir::tensor::ExtractOp element);
  /// `op` stays inside of its tensors, or takes the sizes that it is given,
  /// only if `condition` holds.
  void require(mlir::Operation *op, Rule rule, mlir::Value condition);
  mlir::Value both(mlir::Location loc, mlir::Value a, mlir::Value c) {
    return a ? mlir::arith::AndIOp::create(b, loc, a, c).getResult() : c;
  }
  mlir::Value compare(mlir::Location loc, mlir::arith::CmpIPredicate predicate,
                      mlir::Value left, mlir::Value right) {
    return mlir::arith::CmpIOp::create(b, loc, predicate, left, right);
  }

  mlir::func::FuncOp function;
  mlir::OpBuilder b;
  SizeClasses classes;
  ShapeConstraints requirements;
  llvm::DenseMap<unsigned, Dim> arguments;
  /// What is computed for sizes that no argument tells.
  llvm::DenseMap<unsigned, mlir::Value> computed;
};

/// Shows `visit` the elements of tensors on which `value` depends; what it
/// returns, unless null, is looked at as well.
void eachElement(
    mlir::Value value,
    llvm::function_ref<mlir::Value(mlir::tensor::ExtractOp)> visit);
/// Whether the element is of neither an argument nor a constant.
bool isComputed(mlir::tensor::ExtractOp element);
/// Whether `value` takes elements of a tensor that is computed, which not every
/// check can have.
bool needsComputed(mlir::Value value);

/// Whether no sizes of tensors make it negative, as far as `steps` tell.
bool isNeverNegative(mlir::Value size, unsigned steps = 16);

} // namespace attn

#endif
