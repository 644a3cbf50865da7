// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RNN, GRU and LSTM, as ONNX defines them (operator sets 7, 14, 22): one step
// after the other, the first or the last first.
//   gates  X = x W + b, of all steps in one product
//   step   h, c = cell(X[i] + h R, c)
// LSTM: S. Hochreiter and J. Schmidhuber, "Long Short-Term Memory", 1997; GRU:
// K. Cho and others, "Learning Phrase Representations using RNN
// Encoder-Decoder", 2014.
#include "OperatorTable.h"
#include "Operators/Products.h"
#include "Operators/Reductions.h"
#include "Operators/Turns.h"
#include "Operators/Whole.h"

using namespace mlir;
using namespace attn::onnx;

namespace {
/// What a step reads of the one before, and gives to the next.
struct State {
  Tensor hidden; ///< (batch, hidden)
  Tensor cell;   ///< The same, of an LSTM.
};

/// What the states of one direction are, and that of each step.
struct Direction {
  Tensor all; ///< (steps, batch, hidden)
  State last;
};

/// The weights of one direction.
struct DirectionWeights {
  Tensor input;     ///< (features, gates * hidden)
  Tensor recurrent; ///< (hidden, gates * hidden)
  std::optional<Tensor> bias;
  /// (hidden), of a GRU's new state where its reset comes behind the product.
  std::optional<Tensor> resetBias;
};

/// One direction of the operator.
struct Recurrence {
  TensorBuilder &t;
  StringRef kind;
  int64_t gates, hidden;
  Size steps, batch;
  bool resetsLater, isReverse;
  SmallVector<StringRef> activations;
  DirectionWeights weights;
  Value lengths; ///< (batch), or null.

  Direction run(Tensor &x, State first);
  State step(Tensor &x, State &last, Value index);
  State lstm(Tensor &x, State &last);
  Tensor gru(Tensor &x, Tensor &last);
  Tensor gate(Tensor &all, int64_t i) {
    return t.slice(all, 1, i * hidden, hidden);
  }
  Tensor parts(Tensor &all, int64_t first, int64_t count) {
    return t.slice(all, 1, first * hidden, count * hidden);
  }
  Tensor activated(unsigned which, Tensor x);
  Tensor whileItLasts(Tensor &next, Tensor *last, Value index);
};
} // namespace

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

Tensor Recurrence::activated(unsigned which, Tensor x) {
  Whole w{t, x.shape};
  StringRef name = activations[which];
  Value value = t.value(x);
  if (name.equals_insensitive("Sigmoid"))
    value = w.sigmoid(value);
  else if (name.equals_insensitive("Tanh"))
    value = w.op<math::TanhOp>(value);
  else
    value = w.op<arith::MaximumFOp>(value, w.number(value, 0));
  return t.made(value, x.shape);
}

/// Elements of sequences that are longer than `index`, else those of `last`, or
/// 0 without it.
Tensor Recurrence::whileItLasts(Tensor &next, Tensor *last, Value index) {
  return t.map(next, [&](OpBuilder &b, Value element, ValueRange at) -> Value {
    Value given = tensor::ExtractOp::create(b, t.loc, lengths, at.front());
    Value length =
        arith::IndexCastOp::create(b, t.loc, b.getIndexType(), given);
    Value lasts = arith::CmpIOp::create(b, t.loc, arith::CmpIPredicate::slt,
                                        index, length);
    Value other =
        last ? tensor::ExtractOp::create(b, t.loc, last->value, at).getResult()
             : arith::ConstantOp::create(b, t.loc, t.number(next.element, 0));
    return arith::SelectOp::create(b, t.loc, lasts, element, other);
  });
}

/// The gates are input, output, forget and new cell.
State Recurrence::lstm(Tensor &x, State &last) {
  Tensor later = project(t, last.hidden, weights.recurrent, nullptr);
  Tensor sums = combine<arith::AddFOp>(t, x, later);
  Tensor in = activated(0, gate(sums, 0)), out = activated(0, gate(sums, 1)),
         keep = activated(0, gate(sums, 2)),
         fresh = activated(1, gate(sums, 3));
  Tensor kept = combine<arith::MulFOp>(t, keep, last.cell),
         added = combine<arith::MulFOp>(t, in, fresh);
  Tensor cell = combine<arith::AddFOp>(t, kept, added);
  Tensor seen = activated(2, cell);
  return {combine<arith::MulFOp>(t, out, seen), cell};
}

/// The gates are update, reset and new state.
Tensor Recurrence::gru(Tensor &x, Tensor &last) {
  Tensor later, fresh = gate(x, 2), front = parts(x, 0, 2), frontLater;
  if (resetsLater) {
    later = project(t, last, weights.recurrent, nullptr);
    frontLater = parts(later, 0, 2);
  } else {
    Tensor ofGates = parts(weights.recurrent, 0, 2);
    frontLater = project(t, last, ofGates, nullptr);
  }
  front = activated(0, combine<arith::AddFOp>(t, front, frontLater));
  Tensor update = gate(front, 0), reset = gate(front, 1), read;
  if (resetsLater) {
    Tensor all = gate(later, 2);
    if (weights.resetBias)
      all = combine<arith::AddFOp>(t, all, *weights.resetBias);
    read = combine<arith::MulFOp>(t, reset, all);
  } else {
    Tensor kept = combine<arith::MulFOp>(t, reset, last);
    Tensor ofState = gate(weights.recurrent, 2);
    read = project(t, kept, ofState, nullptr);
  }
  fresh = activated(1, combine<arith::AddFOp>(t, fresh, read));
  Tensor change = combine<arith::SubFOp>(t, last, fresh);
  Tensor part = combine<arith::MulFOp>(t, update, change);
  return combine<arith::AddFOp>(t, fresh, part);
}

/// A sequence that has ended keeps its state.
State Recurrence::step(Tensor &x, State &last, Value index) {
  State next = last;
  if (kind == "LSTM") {
    next = lstm(x, last);
  } else if (kind == "GRU") {
    next.hidden = gru(x, last.hidden);
  } else {
    Tensor later = project(t, last.hidden, weights.recurrent, nullptr);
    next.hidden = activated(0, combine<arith::AddFOp>(t, x, later));
  }
  if (!lengths)
    return next;
  next.hidden = whileItLasts(next.hidden, &last.hidden, index);
  if (kind == "LSTM")
    next.cell = whileItLasts(next.cell, &last.cell, index);
  return next;
}

//===----------------------------------------------------------------------===//
// A direction
//===----------------------------------------------------------------------===//

Direction Recurrence::run(Tensor &x, State first) {
  bool hasCell = kind == "LSTM";
  Tensor all =
      project(t, x, weights.input, weights.bias ? &*weights.bias : nullptr);
  // What the loop reads stands in front of it.
  t.value(weights.recurrent);
  if (weights.resetBias)
    t.value(*weights.resetBias);
  Tensors states{first.hidden};
  if (hasCell)
    states.push_back(first.cell);
  Course course = inTurns(
      t, steps, states, {isReverse}, [&](Value index, ArrayRef<Tensor> given) {
        if (isReverse)
          index = fromTheEnd(t, steps, index);
        State before{given[0], hasCell ? given[1] : Tensor()};
        Tensor own = partOf(t, all, index);
        State next = step(own, before, index);
        Turn turn{{next.hidden}, {next.hidden}};
        if (hasCell)
          turn.states.push_back(next.cell);
        if (lengths)
          turn.results[0] = whileItLasts(next.hidden, nullptr, index);
        return std::optional(turn);
      });
  return {course.results[0],
          {course.states[0], hasCell ? course.states[1] : Tensor()}};
}

//===----------------------------------------------------------------------===//
// The operator
//===----------------------------------------------------------------------===//

namespace {
/// Sizes that all directions share.
struct Form {
  int64_t directions, gates, hidden;
  bool batchFirst;
};
} // namespace

/// (directions, ..) without its first dimension.
static Tensor ofDirection(TensorBuilder &t, Tensor &all, int64_t direction) {
  Tensor one = t.slice(all, 0, direction, 1);
  return *t.reshaped(one, ArrayRef(one.shape).drop_front());
}

/// Biases of the input and of the state, added up where they can be.
static void addBiases(TensorBuilder &t, Tensor bias, const Form &form,
                      bool resetsLater, DirectionWeights &weights) {
  int64_t all = form.gates * form.hidden;
  Tensor input = t.slice(bias, 0, 0, all), state = t.slice(bias, 0, all, all);
  if (resetsLater) {
    int64_t gates = all - form.hidden;
    weights.resetBias = t.slice(state, 0, gates, form.hidden);
    Tensor parts[] = {t.slice(state, 0, 0, gates),
                      t.splat({form.hidden}, state.element, 0)};
    state = t.concat(parts, 0);
  }
  weights.bias = combine<arith::AddFOp>(t, input, state);
}

/// So many that products of sizes have no overflow.
static constexpr int64_t mostHidden = int64_t(1) << 24;

static FailureOr<Form> formOf(Node &node) {
  Tensor &x = node.input(0), &w = node.input(1), &r = node.input(2);
  std::string direction = node.getString("direction", "forward");
  Form form{direction == "bidirectional" ? 2 : 1,
            node.op() == "LSTM"  ? 4
            : node.op() == "GRU" ? 3
                                 : 1,
            r.rank() == 3 ? r.shape.back().constant().value_or(0) : 0,
            node.getInt("layout", 0) != 0};
  int64_t rows = form.gates * form.hidden;
  auto fits = [&](const Tensor &tensor, ArrayRef<Size> shape) {
    return tensor.element == x.element && ArrayRef(tensor.shape).equals(shape);
  };
  Size directions = form.directions;
  if (!x.isFloat() || x.rank() != 3 || form.hidden < 1 ||
      form.hidden > mostHidden ||
      !fits(w, {directions, rows, x.shape.back()}) ||
      !fits(r, {directions, rows, form.hidden}) ||
      (node.hasInput(3) && !fits(node.input(3), {directions, 2 * rows})))
    return node.fail("expects an input of rank 3 and weights that fit it, but "
                     "got " +
                     describe(x) + ", " + describe(w) + " and " + describe(r));
  if (!llvm::is_contained({"forward", "reverse", "bidirectional"}, direction))
    return node.fail("expects direction forward, reverse or bidirectional, but "
                     "got " +
                     direction);
  if (node.find("clip") || node.getInt("input_forget", 0) || node.hasInput(7))
    return node.fail("does not support clip, input_forget and peepholes");
  return form;
}

/// Names of functions, for all directions.
static FailureOr<SmallVector<StringRef>> activationsOf(Node &node,
                                                       const Form &form) {
  SmallVector<StringRef> each{"Sigmoid", "Tanh", "Tanh"};
  if (node.op() == "GRU")
    each.pop_back();
  if (node.op() == "RNN")
    each = {"Tanh"};
  SmallVector<StringRef> all = node.getStrings("activations");
  if (all.empty())
    for (int64_t i = 0; i < form.directions; ++i)
      llvm::append_range(all, each);
  bool isKnown = llvm::all_of(all, [](StringRef name) {
    return name.equals_insensitive("Sigmoid") ||
           name.equals_insensitive("Tanh") || name.equals_insensitive("Relu");
  });
  if (!isKnown || all.size() != each.size() * form.directions)
    return node.fail("expects " + Twine(each.size()) +
                     " activations per direction out of Sigmoid, Tanh and "
                     "Relu, but got " +
                     llvm::join(all, ", "));
  return all;
}

/// The states that input `i` gives, (directions, batch, hidden), or zeros.
static FailureOr<Tensor> firstStates(Node &node, unsigned i, const Form &form,
                                     Tensor &x) {
  TensorBuilder &t = node.build();
  Shape shape{form.directions, x.shape[1], form.hidden};
  if (!node.hasInput(i))
    return t.splat(shape, x.element, 0);
  Tensor given = node.input(i);
  if (form.batchFirst && given.rank() == 3)
    given = t.transpose(given, {1, 0, 2});
  std::string wrong = "expects states that fit the input, but got " +
                      describe(given) + " for " + describe(x);
  if (given.rank() != 3 || !(given.shape[0] == shape[0]) ||
      !(given.shape[2] == shape[2]))
    return node.fail(wrong);
  if (failed(node.expectEqual(given.shape[1], x.shape[1],
                              "each sequence has a first state", wrong)))
    return failure();
  return t.cast(given, x.element);
}

/// How long each sequence is, in i32; null where all have all steps.
static FailureOr<Value> lengthsOf(Node &node, Tensor &x) {
  if (!node.hasInput(4))
    return Value();
  Tensor &lengths = node.input(4);
  std::string wrong = "expects a length of INT32 per sequence, but got " +
                      describe(lengths) + " for " + describe(x);
  if (lengths.rank() != 1 || !lengths.element.isInteger(32))
    return node.fail(wrong);
  if (failed(node.expectEqual(lengths.shape[0], x.shape[1],
                              "each sequence has a length", wrong)))
    return failure();
  return node.build().value(lengths);
}

/// The states of all directions as an output (directions, batch, hidden).
static void setStates(Node &node, unsigned i, const Form &form,
                      MutableArrayRef<Tensor> each) {
  TensorBuilder &t = node.build();
  for (Tensor &one : each) {
    Shape shape = one.shape;
    shape.insert(shape.begin(), 1);
    one = *t.reshaped(one, shape);
  }
  Tensor all = t.concat(each, 0);
  if (form.batchFirst)
    all = t.transpose(all, {1, 0, 2});
  node.setOutput(i, t.cast(all, node.input(0).element));
}

/// (steps, batch, hidden) of each direction, as (steps, directions, batch,
/// hidden), or with the batch first as (batch, steps, directions, hidden).
static void setSteps(Node &node, const Form &form,
                     MutableArrayRef<Tensor> each) {
  TensorBuilder &t = node.build();
  for (Tensor &one : each) {
    Shape shape = one.shape;
    shape.insert(shape.begin() + 1, 1);
    one = *t.reshaped(one, shape);
  }
  Tensor all = t.concat(each, 1);
  if (form.batchFirst)
    all = t.transpose(all, {2, 0, 1, 3});
  node.setOutput(0, t.cast(all, node.input(0).element));
}

static LogicalResult importRecurrent(Node &node) {
  TensorBuilder &t = node.build();
  FailureOr<Form> form = formOf(node);
  if (failed(form))
    return failure();
  auto activations = activationsOf(node, *form);
  Tensor x = wide(t, node.input(0)), w = t.cast(node.input(1), x.element),
         r = t.cast(node.input(2), x.element);
  if (form->batchFirst)
    x = t.transpose(x, {1, 0, 2});
  FailureOr<Value> lengths = lengthsOf(node, x);
  FailureOr<Tensor> hidden = firstStates(node, 5, *form, x), cell = hidden;
  if (node.op() == "LSTM" && succeeded(hidden))
    cell = firstStates(node, 6, *form, x);
  if (failed(activations) || failed(lengths) || failed(hidden) || failed(cell))
    return failure();
  bool resetsLater =
      node.op() == "GRU" && node.getInt("linear_before_reset", 0) != 0;
  unsigned functions = activations->size() / form->directions;
  std::vector<Tensor> all, lastHidden, lastCell;
  for (int64_t i = 0; i < form->directions; ++i) {
    Tensor input = ofDirection(t, w, i), recurrent = ofDirection(t, r, i);
    DirectionWeights weights{
        t.transpose(input, {1, 0}), t.transpose(recurrent, {1, 0}), {}, {}};
    if (node.hasInput(3)) {
      Tensor bias = t.cast(node.input(3), x.element);
      addBiases(t, ofDirection(t, bias, i), *form, resetsLater, weights);
    }
    bool isReverse = i == 1 || node.getString("direction", "") == "reverse";
    auto names = ArrayRef(*activations).slice(i * functions, functions);
    Recurrence one{t,
                   node.op(),
                   form->gates,
                   form->hidden,
                   x.shape[0],
                   x.shape[1],
                   resetsLater,
                   isReverse,
                   SmallVector<StringRef>(names),
                   weights,
                   *lengths};
    Direction course =
        one.run(x, {ofDirection(t, *hidden, i), ofDirection(t, *cell, i)});
    all.push_back(course.all);
    lastHidden.push_back(course.last.hidden);
    lastCell.push_back(course.last.cell);
  }
  setSteps(node, *form, all);
  setStates(node, 1, *form, lastHidden);
  if (node.op() == "LSTM")
    setStates(node, 2, *form, lastCell);
  return success();
}

ArrayRef<Operator> attn::onnx::recurrentOperators() {
  static const Operator all[] = {
      {"", "RNN", importRecurrent, 3, 6, /*since=*/7},
      {"", "GRU", importRecurrent, 3, 6, /*since=*/7},
      {"", "LSTM", importRecurrent, 3, 8, /*since=*/7},
  };
  return all;
}
