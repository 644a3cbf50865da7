// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The k largest elements of an axis, as routers choose experts.
//
// Elements are ordered by their number, and equal ones by their place. Round
// after round gives the first element behind the one before:
//   next = max of x where x < last, or x == last at a later place
// k passes without a buffer of their own: k is small.
#include "OperatorTable.h"
#include "Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn::onnx;

static constexpr int64_t mostRounds = 64;

namespace {
/// One element per row of the axis, and its place.
struct Chosen {
  Tensor number, place;
};

struct Rounds {
  TensorBuilder &t;
  Tensor x, places;
  int64_t axis;
  bool largest;

  /// `predicate` of floats or integers.
  Value compare(Value a, Value b, bool isEqual);
  Chosen next(const std::optional<Chosen> &last);
};
} // namespace

Value Rounds::compare(Value a, Value b, bool isEqual) {
  if (x.isFloat()) {
    auto how = isEqual   ? arith::CmpFPredicate::OEQ
               : largest ? arith::CmpFPredicate::OLT
                         : arith::CmpFPredicate::OGT;
    return arith::CmpFOp::create(t.b, t.loc, how, a, b);
  }
  auto how = isEqual   ? arith::CmpIPredicate::eq
             : largest ? arith::CmpIPredicate::slt
                       : arith::CmpIPredicate::sgt;
  return arith::CmpIOp::create(t.b, t.loc, how, a, b);
}

Chosen Rounds::next(const std::optional<Chosen> &last) {
  Tensor open = x;
  Value isOpen;
  if (last) {
    Tensor number = last->number, place = last->place;
    Value before = t.broadcast(number, x.shape);
    Value later =
        arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::sgt,
                              t.value(places), t.broadcast(place, x.shape));
    Value same = compare(t.value(x), before, /*isEqual=*/true);
    isOpen = arith::OrIOp::create(
        t.b, t.loc, compare(t.value(x), before, /*isEqual=*/false),
        arith::AndIOp::create(t.b, t.loc, same, later));
    Tensor none = t.splat(x.shape, limit(t, x.element, largest));
    open.value =
        arith::SelectOp::create(t.b, t.loc, isOpen, t.value(x), t.value(none));
    open.constant = {};
  }
  Tensor number = largest ? maximumOf(t, open, axis) : minimumOf(t, open, axis);
  Value found = compare(t.value(open), t.broadcast(number, x.shape), true);
  if (isOpen)
    found = arith::AndIOp::create(t.b, t.loc, found, isOpen);
  Tensor far = t.splat(x.shape, limit(t, places.element, /*lowest=*/false));
  Tensor here = places;
  here.value =
      arith::SelectOp::create(t.b, t.loc, found, t.value(places), t.value(far));
  return {number, minimumOf(t, here, axis)};
}

static LogicalResult importTopK(Node &node) {
  TensorBuilder &t = node.build();
  Tensor &x = node.input(0);
  FailureOr<int64_t> axis = node.axis(node.getInt("axis", -1), x.rank());
  auto counts = node.integers(1);
  if (failed(axis) || failed(counts))
    return failure();
  std::optional<int64_t> size = x.shape[*axis].constant();
  if (counts->size() != 1 || x.element.isInteger(1) || !size ||
      counts->front() < 1 || counts->front() > std::min(*size, mostRounds))
    return node.fail(
        "expects numbers, and k of 1 to " + Twine(mostRounds) +
        " and at most the known size of the axis, but got " + describe(x) +
        (counts->size() == 1 ? " for k = " + Twine(counts->front()) : Twine()));
  Type i64 = t.b.getI64Type();
  Tensor places = t.generate(x.shape, i64, [&](OpBuilder &b, ValueRange at) {
    return arith::IndexCastOp::create(b, t.loc, i64, at[*axis]).getResult();
  });
  Rounds rounds{t, x, places, *axis, node.getInt("largest", 1) != 0};
  t.value(rounds.x);
  std::optional<Chosen> last;
  std::vector<Tensor> numbers, indices;
  for (int64_t i = 0; i < counts->front(); ++i) {
    last = rounds.next(last);
    numbers.push_back(last->number);
    indices.push_back(last->place);
  }
  node.setOutput(0, t.concat(numbers, *axis));
  node.setOutput(1, t.concat(indices, *axis));
  return success();
}

ArrayRef<Operator> attn::onnx::topKOperators() {
  static const Operator all[] = {
      {"", "TopK", importTopK, 2, 2, /*since=*/10},
  };
  return all;
}
