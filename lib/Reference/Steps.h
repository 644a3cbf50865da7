// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arithmetic of single scores, and tensors read by head.
#ifndef ATTN_LIB_REFERENCE_STEPS_H
#define ATTN_LIB_REFERENCE_STEPS_H

#include "Interpreter.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include <cmath>
#include <limits>
#include <utility>

namespace attn::reference {

/// The score of an excluded pair.
constexpr double excluded = -std::numeric_limits<double>::infinity();

/// A bias of -inf excludes the pair, even where the score is NaN or +inf.
inline double addBias(double score, double bias) {
  return bias == excluded ? excluded : score + bias;
}

/// Like std::max, but a NaN in either comes through.
inline double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  return a < b ? b : a;
}

/// exp(score - m); an excluded score has none, whatever m is.
inline double exponential(double score, double m) {
  return score == excluded ? 0 : std::exp(score - m);
}

/// What a sink adds to the sum: 1 where it is the maximum, also if that is
/// +inf.
inline double sinkTerm(double sink, double m) {
  return sink == m && sink != excluded ? 1 : exponential(sink, m);
}

/// The weight by sigmoid; an excluded score has none.
inline double sigmoid(double score) { return 1 / (1 + std::exp(-score)); }

/// factor * value, where a factor of 0 contributes nothing, even if the value
/// is not finite.
inline double weigh(double factor, double value) {
  return factor == 0 ? 0 : factor * value;
}

/// A tensor of rank 2 to 4 as [batch][head][row][column]; the dimensions that
/// it lacks have size 1.
struct HeadView {
  const Tensor *tensor;
  int64_t sizes[4] = {1, 1, 1, 1};
  int64_t strides[4] = {0, 0, 0, 0};

  explicit HeadView(const Tensor &tensor, Layout layout = Layout::HeadMajor)
      : tensor(&tensor) {
    int64_t stride = 1;
    for (int64_t d = tensor.rank(), place = 3; d-- > 0; --place) {
      int64_t role = place; // what bhsd has at this place
      if (layout == Layout::SequenceMajor && tensor.rank() >= 3 &&
          (place == 1 || place == 2))
        role = 3 - place;
      sizes[role] = tensor.shape[d];
      strides[role] = stride;
      stride *= tensor.shape[d];
    }
  }

  int64_t batches() const { return sizes[0]; }
  int64_t heads() const { return sizes[1]; }
  int64_t rows() const { return sizes[2]; }
  int64_t columns() const { return sizes[3]; }

  int64_t offset(int64_t b, int64_t h, int64_t row, int64_t column) const {
    return b * strides[0] + h * strides[1] + row * strides[2] +
           column * strides[3];
  }
  double operator()(int64_t b, int64_t h, int64_t row, int64_t column) const {
    return tensor->elements[offset(b, h, row, column)].real;
  }
};

/// Whether consecutive groups of `heads` query heads can share `shared` heads.
inline bool sharesHeads(int64_t heads, int64_t shared) {
  return shared == 0 ? heads == 0 : heads % shared == 0;
}

/// The sizes of an attention's query, key and value, by its definition.
llvm::LogicalResult requireHeadsThatFit(mlir::Operation *op, const HeadView &q,
                                        const HeadView &k, const HeadView &v);

/// The shared head of query head `head`.
inline int64_t sharedHead(int64_t head, int64_t heads, int64_t shared) {
  return head / (heads / shared);
}

/// The factor of a second map: one number, or one per head.
inline llvm::LogicalResult requireLambda(mlir::Operation *op,
                                         const Tensor &lambda, int64_t heads) {
  return require(op, lambda.size() == 1 || lambda.size() == heads,
                 "one lambda, or one per head");
}
inline double lambdaOf(const Tensor &lambda, int64_t head) {
  return lambda.elements[lambda.size() == 1 ? 0 : head].real;
}

} // namespace attn::reference

#endif
