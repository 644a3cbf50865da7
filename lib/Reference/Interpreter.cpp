// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions and blocks, and who evaluates which op.
#include "Interpreter.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::reference;

/// Calls nested deeper than that are taken for endless recursion.
static constexpr unsigned maxDepth = 256;

static bool isSupportedElement(Type type) {
  return isa<FloatType>(type) || type.isIndex() ||
         (type.isInteger() && type.getIntOrFloatBitWidth() <= 64);
}

/// Whether values of this type can be evaluated.
static bool isSupported(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return isSupportedElement(tensor.getElementType());
  return isSupportedElement(type) || isa<StateType>(type);
}

LogicalResult attn::reference::require(Operation *op, bool holds,
                                       const Twine &what) {
  return holds ? success() : op->emitOpError() << "expects " << what;
}

int64_t Frame::integer(OpFoldResult value) const {
  if (auto ssa = dyn_cast<Value>(value))
    return integer(ssa);
  return cast<IntegerAttr>(cast<Attribute>(value)).getInt();
}

SmallVector<int64_t> Frame::integers(ArrayRef<OpFoldResult> mixed) const {
  return llvm::map_to_vector(mixed, [&](OpFoldResult v) { return integer(v); });
}

SmallVector<Datum> Frame::get(ValueRange range) const {
  return llvm::map_to_vector(range, [&](Value v) { return get(v); });
}

/// The datum rounded to its type's elements.
static Datum narrowed(Type type, Datum datum) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  if (auto state = dyn_cast<StateType>(type)) {
    State copy = *std::get<std::shared_ptr<const State>>(datum);
    if (auto statistics = dyn_cast<FloatType>(state.getElement()))
      for (auto *part : {&copy.query, &copy.maximum, &copy.sum, &copy.context})
        for (double &number : *part)
          number = roundTo(statistics, number);
    return makeDatum(std::move(copy));
  }
  if (!element)
    return datum;
  if (auto *number = std::get_if<Number>(&datum))
    return Number::ofReal(roundTo(element, number->real));
  Tensor copy = *std::get<std::shared_ptr<const Tensor>>(datum);
  for (Number &number : copy.elements)
    number.real = roundTo(element, number.real);
  return makeDatum(std::move(copy));
}

double Frame::besideValues(Value values, double weight) const {
  auto element = cast<FloatType>(getElementTypeOrSelf(values.getType()));
  return options.narrow ? roundTo(element, weight) : weight;
}

void Frame::set(Value value, Datum datum) {
  values[value] =
      options.narrow ? narrowed(value.getType(), std::move(datum)) : datum;
}

static bool fits(RankedTensorType type, const Tensor &tensor) {
  return succeeded(verifyCompatibleShape(type.getShape(), tensor.shape));
}

/// A shape as a reader writes it: 2x3.
static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(shape, stream, "x");
  return shape.empty() ? "rank 0" : text;
}

LogicalResult Frame::setTensor(OpResult result, Tensor tensor) {
  if (!fits(cast<RankedTensorType>(result.getType()), tensor))
    return result.getOwner()->emitOpError()
           << "has a result of type " << result.getType()
           << ", but its shape is " << shapeText(tensor.shape);
  set(result, makeDatum(std::move(tensor)));
  return success();
}

LogicalResult Frame::evaluateOp(Operation *op) {
  auto types = llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                                        llvm::to_vector(op->getResultTypes()));
  for (Type type : types)
    if (!isSupported(type))
      return op->emitOpError()
             << "cannot be evaluated by the reference: it has a value of type "
             << type;
  for (auto evaluateGroup :
       {evaluateArithmetic, evaluateLinalg, evaluateTensorOp, evaluateControl,
        evaluateGraphOp, evaluateProductOp, evaluateScoreOp, evaluateSdpa,
        evaluateSdpaGrad, evaluateStateOp, evaluateTileOp})
    if (Outcome outcome = evaluateGroup(*this, op))
      return *outcome;
  return op->emitOpError("cannot be evaluated by the reference");
}

FailureOr<SmallVector<Datum>> Frame::run(Block &block,
                                         ArrayRef<Datum> arguments) {
  for (auto [argument, datum] :
       llvm::zip_equal(block.getArguments(), arguments))
    values[argument] = datum;
  for (Operation &op : block.without_terminator())
    if (failed(evaluateOp(&op)))
      return failure();
  Operation *terminator = block.getTerminator();
  // Control flow is structured; a branch would have been evaluated above.
  if (terminator->getNumSuccessors())
    return terminator->emitOpError("cannot be evaluated by the reference");
  return get(terminator->getOperands());
}

static LogicalResult checkArgument(func::FuncOp function, unsigned index,
                                   const Datum &datum) {
  Type type = function.getArgumentTypes()[index];
  if (!isSupported(type))
    return function.emitOpError()
           << "cannot be evaluated by the reference: argument " << index
           << " has type " << type;
  if (auto tensorType = dyn_cast<RankedTensorType>(type)) {
    auto *tensor = std::get_if<std::shared_ptr<const Tensor>>(&datum);
    if (!tensor)
      return function.emitOpError()
             << "expects argument " << index << " to be a " << type;
    if (!fits(tensorType, **tensor))
      return function.emitOpError()
             << "expects argument " << index << " to be a " << type
             << ", but its shape is " << shapeText((*tensor)->shape);
    return success();
  }
  bool isState = std::holds_alternative<std::shared_ptr<const State>>(datum);
  bool matches =
      isa<StateType>(type) ? isState : std::holds_alternative<Number>(datum);
  return require(function, matches,
                 "argument " + Twine(index) + " to be a value of its type");
}

FailureOr<SmallVector<Datum>> attn::reference::call(func::FuncOp function,
                                                    ArrayRef<Datum> arguments,
                                                    const Options &options,
                                                    unsigned depth) {
  if (function.isExternal())
    return function.emitOpError("cannot be evaluated: it has no body");
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("cannot be evaluated: it has branches");
  if (depth > maxDepth)
    return function.emitOpError("is called too deeply");
  if (arguments.size() != function.getNumArguments())
    return function.emitOpError() << "expects " << function.getNumArguments()
                                  << " arguments, but got " << arguments.size();
  for (auto [index, datum] : llvm::enumerate(arguments))
    if (failed(checkArgument(function, index, datum)))
      return failure();
  Frame frame(options, depth);
  return frame.run(function.getBody().front(), arguments);
}

FailureOr<SmallVector<Datum>>
attn::reference::evaluate(func::FuncOp function, ArrayRef<Datum> arguments,
                          const Options &options) {
  return call(function, arguments, options, /*depth=*/0);
}
