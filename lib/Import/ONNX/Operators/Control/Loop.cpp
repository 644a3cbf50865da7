// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loop, as of operator set 11. Where its number of turns is known before it, an
// scf.for; where a turn decides whether there is another, an scf.while; where a
// turn changes the shape of a state, as caches that grow do, and the model says
// how many turns there are, each turn anew.
#include "Body.h"
#include "OperatorTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <limits>

using namespace mlir;
using namespace attn::onnx;

/// So many turns are written out.
static constexpr int64_t mostWrittenOut = 64;

namespace {
class LoopImporter {
public:
  LoopImporter(Node &node, const ::onnx::GraphProto &body)
      : node(node), t(node.build()), body(body) {}
  LogicalResult run();

private:
  LogicalResult readCount();
  Tensors inputs(const Tensor &turn, ArrayRef<Tensor> states);
  Tensor turnOf(const Size &index);
  std::optional<Turn> turn(const Size &index, ArrayRef<Tensor> states,
                           Tensor &goesOn);
  LogicalResult writeOut();
  LogicalResult whileTrue();
  LogicalResult give(ArrayRef<Tensor> all);

  Node &node;
  TensorBuilder &t;
  const ::onnx::GraphProto &body;
  Tensors first;
  std::optional<Size> count; ///< the most turns; none: any number
};
} // namespace

LogicalResult LoopImporter::readCount() {
  for (unsigned i = 0; i < 2; ++i)
    if (node.hasInput(i) && !isOne(node.input(i), i == 0 ? 64 : 1))
      return node.fail(Twine("expects one number of turns in INT64 and one "
                             "BOOL, but got ") +
                       describe(node.input(i)));
  if (!node.hasInput(0))
    return success();
  Tensor &given = node.input(0);
  if (given.numbers) {
    count = given.numbers->front();
    if (std::optional<int64_t> known = count->constant())
      count = std::max<int64_t>(*known, 0);
    if (count->isSum())
      return success();
  }
  Value number = arith::IndexCastOp::create(t.b, t.loc, t.b.getIndexType(),
                                            elementOf(t, given));
  count = t.unknown(
      arith::MaxSIOp::create(t.b, t.loc, number, t.index(0)).getResult());
  return success();
}

/// The number of a turn, of the shape that the body gives it.
Tensor LoopImporter::turnOf(const Size &index) {
  const auto &type = body.input(0).type().tensor_type();
  Shape shape(type.shape().dim_size() == 1 ? 1 : 0, Size(1));
  return t.numbers(shape, {index}, t.b.getI64Type());
}

/// In a turn, the condition is true.
Tensors LoopImporter::inputs(const Tensor &turn, ArrayRef<Tensor> states) {
  const auto &type = body.input(1).type().tensor_type();
  Shape shape(type.shape().dim_size() == 1 ? 1 : 0, Size(1));
  Tensors all{turn, t.splat(shape, t.b.getBoolAttr(true))};
  llvm::append_range(all, states);
  return all;
}

LogicalResult LoopImporter::give(ArrayRef<Tensor> all) {
  for (auto [i, one] : llvm::enumerate(all))
    node.setOutput(i, one);
  return success();
}

/// The states and results of one turn, behind `goesOn`, whether there is
/// another; none after reports.
std::optional<Turn>
LoopImporter::turn(const Size &index, ArrayRef<Tensor> states, Tensor &goesOn) {
  std::optional<Tensors> outputs =
      importBody(node, "body", inputs(turnOf(index), states), /*more=*/1);
  if (!outputs)
    return std::nullopt;
  goesOn = outputs->front();
  if (!isOne(goesOn, 1)) {
    (void)node.fail("expects a graph whose first output is one BOOL, but got " +
                    describe(goesOn));
    return std::nullopt;
  }
  auto begin = std::next(outputs->begin()),
       behind = std::next(begin, first.size());
  if (failed(expectAlike(node, first, {&*begin, first.size()})))
    return std::nullopt;
  return Turn{{begin, behind}, {behind, outputs->end()}};
}

/// Each turn anew, its results one behind the other.
LogicalResult LoopImporter::writeOut() {
  Tensors states = first;
  std::vector<Tensors> results(node.outputs() - first.size());
  for (int64_t i = 0, n = *count->constant(); i < n; ++i) {
    Tensor goesOn;
    std::optional<Turn> made = turn(i, states, goesOn);
    if (!made)
      return failure();
    states = made->states;
    for (auto [all, one] : llvm::zip_equal(results, made->results)) {
      Shape shape = one.shape;
      shape.insert(shape.begin(), 1);
      all.push_back(*t.reshaped(one, shape));
    }
  }
  for (Tensors &all : results) {
    for (const Tensor &one : all)
      if (!ArrayRef(one.shape).equals(all.front().shape))
        return node.fail("expects results of one shape in all turns, but got " +
                         describe(one) + " beside " + describe(all.front()));
    states.push_back(t.concat(all, 0));
  }
  return give(states);
}

/// As long as a turn says so.
LogicalResult LoopImporter::whileTrue() {
  if (node.outputs() != first.size())
    return node.fail("collects results of turns whose number is known only "
                     "when the last has run, which is not supported");
  Value goesOn = arith::ConstantOp::create(t.b, t.loc, t.b.getBoolAttr(true));
  if (node.hasInput(1))
    goesOn = elementOf(t, node.input(1));
  SmallVector<Value> begins{t.index(0), goesOn};
  for (Tensor &state : first)
    begins.push_back(t.value(state));
  Value most = t.index(count.value_or(std::numeric_limits<int64_t>::max()));
  SmallVector<Type> types(ValueRange(begins).getTypes());
  auto loop = scf::WhileOp::create(
      t.b, t.loc, types, begins,
      [&](OpBuilder &b, Location loc, ValueRange at) {
        Value isLeft = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                             at[0], most);
        Value both = arith::AndIOp::create(b, loc, isLeft, at[1]);
        scf::ConditionOp::create(b, loc, both, at);
      },
      nullptr);
  OpBuilder::InsertionGuard guard(t.b);
  Block *block = loop.getAfterBody();
  t.b.setInsertionPointToStart(block);
  Tensors states;
  for (auto [value, state] :
       llvm::zip_equal(block->getArguments().drop_front(2), first))
    states.push_back(computed(value, state.shape));
  Tensor another;
  Value index = block->getArgument(0);
  std::optional<Turn> made = turn(t.unknown(index), states, another);
  if (!made)
    return failure();
  SmallVector<Value> next{arith::AddIOp::create(t.b, t.loc, index, t.index(1)),
                          elementOf(t, another)};
  for (auto [state, one] : llvm::zip_equal(first, made->states)) {
    if (one.element != state.element ||
        !ArrayRef(one.shape).equals(state.shape))
      return node.fail("expects states of one shape in all turns, but got " +
                       describe(one) + " behind " + describe(state));
    next.push_back(t.value(one));
  }
  scf::YieldOp::create(t.b, t.loc, next);
  Tensors last;
  for (auto [value, state] :
       llvm::zip_equal(loop.getResults().drop_front(2), first))
    last.push_back(computed(value, state.shape));
  return give(last);
}

LogicalResult LoopImporter::run() {
  if (failed(readCount()))
    return failure();
  for (unsigned i = 2; i < node.inputs(); ++i) {
    if (!node.hasInput(i))
      return node.fail("expects a first state for each state of its graph");
    first.push_back(node.input(i));
  }
  if (static_cast<size_t>(body.input_size()) != first.size() + 2 ||
      node.outputs() < first.size())
    return node.fail("expects a graph of " + Twine(first.size() + 2) +
                     " inputs and an output for each state");
  if (node.hasInput(1) && count) {
    Tensor &begins = node.input(1);
    if (auto known = dyn_cast_or_null<DenseIntElementsAttr>(begins.constant))
      count = (*known.begin()).isZero() ? Size(0) : *count;
    else
      count = t.unknown(arith::SelectOp::create(
          t.b, t.loc, elementOf(t, begins), t.index(*count), t.index(0)));
  }
  if (!count)
    return whileTrue();
  bool ends = false;
  Course course =
      inTurns(t, *count, first, {}, [&](Value index, ArrayRef<Tensor> states) {
        Tensor goesOn;
        auto made = turn(t.unknown(index), states, goesOn);
        auto known = dyn_cast_or_null<DenseIntElementsAttr>(goesOn.constant);
        ends = !known || (*known.begin()).isZero();
        return made;
      });
  if (course.outcome == Course::Reported)
    return failure();
  if (ends)
    return whileTrue();
  if (course.outcome == Course::Done) {
    llvm::append_range(course.states, course.results);
    return give(course.states);
  }
  int64_t turns = count->constant().value_or(0);
  if (turns > 0 && turns <= mostWrittenOut)
    return writeOut();
  return node.fail("expects states and results of one shape in all turns, or "
                   "a known number of 1 to " +
                   Twine(mostWrittenOut) + " turns");
}

static LogicalResult importLoop(Node &node) {
  const auto *body = node.find("body");
  if (!body || !body->has_g() || body->g().input_size() < 2)
    return node.fail("expects a body of at least 2 inputs");
  return LoopImporter(node, body->g()).run();
}

ArrayRef<Operator> attn::onnx::loopOperators() {
  static const Operator all[] = {
      {"", "Loop", importLoop, 0, anyNumber, /*since=*/11},
  };
  return all;
}
