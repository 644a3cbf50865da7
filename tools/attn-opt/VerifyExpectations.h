// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel that --verify runs must compute.
#ifndef ATTN_OPT_VERIFYEXPECTATIONS_H
#define ATTN_OPT_VERIFYEXPECTATIONS_H

#include "VerifyInputs.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

namespace attn::tool {

/// The error of a result.
struct ResultError {
  double error;     ///< negative: nothing is said of it
  double tolerance; ///< what the error may be
};

class Expectation {
public:
  virtual ~Expectation() = default;

  /// What the specification calls it, whose arguments come first.
  virtual mlir::func::FuncOp specification() const = 0;
  /// Forward passes of the reference per call.
  virtual double passes() const { return 1; }
  /// Gives inputs that follow from others their numbers. A failure here and
  /// below has been reported.
  virtual llvm::LogicalResult complete(std::vector<Array> &) {
    return mlir::success();
  }
  /// Of each result of a call.
  virtual mlir::FailureOr<std::vector<ResultError>>
  compare(const std::vector<Array> &arrays) = 0;
  /// What it is a share of.
  virtual llvm::StringRef unit() const = 0;
};

/// Whether results of the op are rounded: others are elements of its operands.
inline bool computes(mlir::Operation *op) {
  return op->getName().getDialectNamespace() != "tensor" &&
         !llvm::isa<attn::SplitHeadsOp, attn::MergeHeadsOp>(op);
}

inline const reference::Tensor &tensorOf(const reference::Datum &datum) {
  return *std::get<std::shared_ptr<const reference::Tensor>>(datum);
}

/// Whether an op in `function` has a result of 16 bits, or sums up values of 16
/// bits, whose weights may be rounded.
inline bool roundsTo16Bits(mlir::func::FuncOp function) {
  auto isNarrow = [](mlir::Type type) {
    mlir::Type element = mlir::getElementTypeOrSelf(type);
    return element.isF16() || element.isBF16();
  };
  return function
      .walk([&](mlir::Operation *op) {
        bool weighs = llvm::isa<attn::SdpaOp, attn::ContextOp>(op) &&
                      llvm::any_of(op->getOperandTypes(), isNarrow);
        return weighs || llvm::any_of(op->getResultTypes(), isNarrow)
                   ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

/// The largest `tolerance` of what a step of the function rounds to and another
/// step reads, at least that of `element`: a sum in f32 of numbers that have
/// been rounded to 16 bits is no better than these. Errors of several steps of
/// 16 bits add up as random numbers do.
template <typename Tolerance>
double toleranceOfSteps(mlir::func::FuncOp function, mlir::Type element,
                        Tolerance tolerance) {
  double most = tolerance(element);
  unsigned rounded = 0;
  if (!llvm::isa<mlir::FloatType>(element))
    return most;
  function.walk([&](mlir::Operation *op) {
    for (mlir::Value value : op->getResults())
      if (auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
          type && llvm::isa<mlir::FloatType>(type.getElementType()) &&
          llvm::any_of(value.getUsers(), [](mlir::Operation *user) {
            return !llvm::isa<mlir::func::ReturnOp>(user);
          })) {
        most = std::max(most, tolerance(type.getElementType()));
        rounded += computes(op) && type.getElementTypeBitWidth() < 32;
      }
  });
  return most * std::sqrt(1 + rounded);
}

/// The results of `function`, and if there are more those of `whole`, which has
/// the same arguments, in full.
std::unique_ptr<Expectation> expectResults(mlir::func::FuncOp function,
                                           mlir::func::FuncOp whole = {});

/// The gradient of `function`, whose @NAME_forward `forward` returns what the
/// gradient takes, and whose @NAME_gradient is `backward`. `ports` are those of
/// the gradient.
std::unique_ptr<Expectation> expectGradient(mlir::func::FuncOp function,
                                            mlir::func::FuncOp forward,
                                            mlir::func::FuncOp backward,
                                            llvm::ArrayRef<PortAttr> ports,
                                            std::mt19937_64 &random);

} // namespace attn::tool

#endif
