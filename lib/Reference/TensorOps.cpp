// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tensor dialect: shapes, slices and single elements.
#include "Slices.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;
using namespace attn::reference;

FailureOr<SmallVector<int64_t>>
attn::reference::slicePositions(Frame &frame, OffsetSizeAndStrideOpInterface op,
                                const Tensor &whole) {
  SmallVector<int64_t> offsets = frame.integers(op.getMixedOffsets());
  SmallVector<int64_t> sizes = frame.integers(op.getMixedSizes());
  SmallVector<int64_t> strides = frame.integers(op.getMixedStrides());
  int64_t count = 1;
  for (auto [d, size] : llvm::enumerate(sizes)) {
    // An empty slice may begin right behind the last element.
    int64_t last = offsets[d] + std::max<int64_t>(size - 1, 0) * strides[d];
    if (size < 0 || offsets[d] < 0 || last < 0 || offsets[d] > whole.shape[d] ||
        (size > 0 && (offsets[d] >= whole.shape[d] || last >= whole.shape[d])))
      return op->emitOpError()
             << "leaves its tensor in dimension " << d << ": offset "
             << offsets[d] << ", size " << size << ", stride " << strides[d]
             << ", but the tensor has size " << whole.shape[d];
    count *= size;
  }
  SmallVector<int64_t> positions, at(sizes.size(), 0);
  for (int64_t n = 0; n < count; ++n) {
    int64_t position = 0;
    for (size_t d = 0; d < at.size(); ++d)
      position = position * whole.shape[d] + offsets[d] + at[d] * strides[d];
    positions.push_back(position);
    advance(at, sizes);
  }
  return positions;
}

LogicalResult attn::reference::insertSlice(Frame &frame,
                                           OffsetSizeAndStrideOpInterface op,
                                           const Tensor &source,
                                           Tensor &target) {
  auto positions = slicePositions(frame, op, target);
  if (failed(positions) ||
      failed(require(op, source.elements.size() == positions->size(),
                     "as many elements as the slice has (" +
                         Twine(positions->size()) + "), but got " +
                         Twine(source.elements.size()))))
    return failure();
  // Dimensions that the source lacks have size 1: the order is the same.
  for (auto [position, number] : llvm::zip_equal(*positions, source.elements))
    target.elements[position] = number;
  return success();
}

static LogicalResult evaluateOp(Frame &frame, tensor::ExtractSliceOp op) {
  const Tensor &source = frame.tensor(op.getSource());
  auto positions = slicePositions(frame, op, source);
  if (failed(positions))
    return failure();
  SmallVector<int64_t> sizes = frame.integers(op.getMixedSizes()), shape;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  for (auto [d, size] : llvm::enumerate(sizes))
    if (!dropped.test(d))
      shape.push_back(size);
  Tensor result(shape);
  for (auto [number, position] : llvm::zip_equal(result.elements, *positions))
    number = source.elements[position];
  return frame.setTensor(op->getResult(0), std::move(result));
}

static LogicalResult evaluateOp(Frame &frame, tensor::InsertSliceOp op) {
  Tensor result = frame.tensor(op.getDest());
  if (failed(insertSlice(frame, op, frame.tensor(op.getSource()), result)))
    return failure();
  return frame.setTensor(op->getResult(0), std::move(result));
}

static LogicalResult evaluateOp(Frame &frame, tensor::ConcatOp op) {
  int64_t along = static_cast<int64_t>(op.getDim());
  SmallVector<int64_t> shape = frame.tensor(op.getInputs()[0]).shape;
  shape[along] = 0;
  for (Value value : op.getInputs()) {
    const Tensor &input = frame.tensor(value);
    for (int64_t d = 0; d < input.rank(); ++d)
      if (failed(require(op, d == along || input.shape[d] == shape[d],
                         "inputs whose other sizes agree")))
        return failure();
    shape[along] += input.shape[along];
  }
  FailureOr<Tensor> result = makeTensor(op, shape);
  if (failed(result))
    return failure();
  int64_t begin = 0;
  for (Value value : op.getInputs()) {
    const Tensor &input = frame.tensor(value);
    SmallVector<int64_t> at(input.rank(), 0);
    for (const Number &number : input.elements) {
      SmallVector<int64_t> to(at);
      to[along] += begin;
      result->elements[result->offset(to)] = number;
      advance(at, input.shape);
    }
    begin += input.shape[along];
  }
  return frame.setTensor(op->getResult(0), std::move(*result));
}

static LogicalResult evaluateOp(Frame &frame, tensor::DimOp op) {
  if (!isa<RankedTensorType>(op.getSource().getType()))
    return op.emitOpError("cannot be evaluated by the reference");
  const Tensor &source = frame.tensor(op.getSource());
  int64_t d = frame.integer(op.getIndex());
  if (failed(require(op, d >= 0 && d < source.rank(), "a valid dimension")))
    return failure();
  frame.setInteger(op, source.shape[d]);
  return success();
}

/// Position of the element at `indices`. A score function or a predicate, whose
/// steps stand in a block of their own, gets the nearest one, so that it needs
/// no care with pairs that the mask excludes.
static FailureOr<int64_t> elementOffset(Frame &frame, Operation *op,
                                        const Tensor &tensor,
                                        OperandRange indices) {
  SmallVector<int64_t> at;
  Operation *parent = op->getParentOp();
  bool nearest = !parent || isa_and_nonnull<AttnDialect>(parent->getDialect());
  for (auto [index, size] : llvm::zip_equal(indices, tensor.shape)) {
    at.push_back(frame.integer(index));
    if (nearest && size > 0)
      at.back() = std::clamp<int64_t>(at.back(), 0, size - 1);
    if (at.back() < 0 || at.back() >= size)
      return op->emitOpError()
             << "has index " << at.back() << " in a dimension of size " << size;
  }
  return tensor.offset(at);
}

static LogicalResult evaluateOp(Frame &frame, tensor::ExtractOp op) {
  const Tensor &tensor = frame.tensor(op.getTensor());
  auto offset = elementOffset(frame, op, tensor, op.getIndices());
  if (failed(offset))
    return failure();
  frame.set(op, tensor.elements[*offset]);
  return success();
}

static LogicalResult evaluateOp(Frame &frame, tensor::InsertOp op) {
  Tensor result = frame.tensor(op.getDest());
  auto offset = elementOffset(frame, op, result, op.getIndices());
  if (failed(offset))
    return failure();
  result.elements[*offset] = frame.scalar(op.getScalar());
  return frame.setTensor(op->getResult(0), std::move(result));
}

/// The elements of `source` in the same order under another shape.
static LogicalResult reshape(Frame &frame, Operation *op, const Tensor &source,
                             ArrayRef<int64_t> shape) {
  FailureOr<Tensor> result = makeTensor(op, shape);
  if (failed(result) || failed(require(op, result->size() == source.size(),
                                       "as many elements as before")))
    return failure();
  result->elements = source.elements;
  return frame.setTensor(op->getResult(0), std::move(*result));
}

static LogicalResult evaluateOp(Frame &frame, tensor::ExpandShapeOp op) {
  return reshape(frame, op, frame.tensor(op.getSrc()),
                 frame.integers(op.getMixedOutputShape()));
}

static LogicalResult evaluateOp(Frame &frame, tensor::CollapseShapeOp op) {
  const Tensor &source = frame.tensor(op.getSrc());
  SmallVector<int64_t> shape;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    int64_t size = 1;
    for (int64_t d : group)
      size *= source.shape[d];
    shape.push_back(size);
  }
  return reshape(frame, op, source, shape);
}

static LogicalResult evaluateOp(Frame &frame, tensor::CastOp op) {
  if (!isa<RankedTensorType>(op.getSource().getType()))
    return op.emitOpError("cannot be evaluated by the reference");
  return frame.setTensor(op->getResult(0), frame.tensor(op.getSource()));
}

/// A tensor of the type's static sizes and these dynamic ones.
static FailureOr<Tensor> makeDynamic(Frame &frame, Operation *op,
                                     RankedTensorType type,
                                     OperandRange dynamicSizes) {
  SmallVector<int64_t> shape(type.getShape());
  unsigned next = 0;
  for (int64_t &size : shape)
    if (ShapedType::isDynamic(size))
      size = frame.integer(dynamicSizes[next++]);
  return makeTensor(op, shape);
}

static LogicalResult evaluateOp(Frame &frame, tensor::EmptyOp op) {
  auto result = makeDynamic(frame, op, op.getType(), op.getDynamicSizes());
  if (failed(result))
    return failure();
  return frame.setTensor(op->getResult(0), std::move(*result));
}

static LogicalResult evaluateOp(Frame &frame, tensor::SplatOp op) {
  auto result = makeDynamic(frame, op, op.getType(), op.getDynamicSizes());
  if (failed(result))
    return failure();
  for (Number &number : result->elements)
    number = frame.scalar(op.getInput());
  return frame.setTensor(op->getResult(0), std::move(*result));
}

static LogicalResult evaluateOp(Frame &frame, tensor::FromElementsOp op) {
  Tensor result(op.getType().getShape());
  for (auto [number, element] :
       llvm::zip_equal(result.elements, op.getElements()))
    number = frame.scalar(element);
  return frame.setTensor(op->getResult(0), std::move(result));
}

/// What the body of `op` yields at `indices`.
static FailureOr<Number> yieldedAt(Frame &frame, Operation *op,
                                   ArrayRef<int64_t> indices) {
  SmallVector<Datum> arguments;
  for (int64_t index : indices)
    arguments.push_back(Number::ofInteger(index));
  FailureOr<SmallVector<Datum>> yielded =
      frame.run(op->getRegion(0).front(), arguments);
  if (failed(yielded))
    return failure();
  return std::get<Number>(yielded->front());
}

static LogicalResult evaluateOp(Frame &frame, tensor::GenerateOp op) {
  auto result = makeDynamic(frame, op, op.getType(), op.getDynamicExtents());
  if (failed(result))
    return failure();
  SmallVector<int64_t> at(result->rank(), 0);
  for (Number &number : result->elements) {
    FailureOr<Number> made = yieldedAt(frame, op, at);
    if (failed(made))
      return failure();
    number = *made;
    advance(at, result->shape);
  }
  return frame.setTensor(op->getResult(0), std::move(*result));
}

static LogicalResult evaluateOp(Frame &frame, tensor::PadOp op) {
  const Tensor &source = frame.tensor(op.getSource());
  SmallVector<int64_t> low = frame.integers(op.getMixedLowPad()),
                       high = frame.integers(op.getMixedHighPad());
  SmallVector<int64_t> shape;
  for (auto [size, before, behind] : llvm::zip_equal(source.shape, low, high)) {
    if (failed(require(op, before >= 0 && behind >= 0,
                       "sizes of at least 0 to pad by")))
      return failure();
    shape.push_back(size + before + behind);
  }
  FailureOr<Tensor> result = makeTensor(op, shape);
  if (failed(result))
    return failure();
  SmallVector<int64_t> at(shape.size(), 0);
  for (Number &number : result->elements) {
    int64_t position = 0;
    bool isInside = true;
    for (auto [d, size] : llvm::enumerate(source.shape)) {
      int64_t own = at[d] - low[d];
      isInside &= own >= 0 && own < size;
      position = position * size + own;
    }
    FailureOr<Number> found = isInside
                                  ? FailureOr<Number>(source.elements[position])
                                  : yieldedAt(frame, op, at);
    if (failed(found))
      return failure();
    number = *found;
    advance(at, shape);
  }
  return frame.setTensor(op->getResult(0), std::move(*result));
}

Outcome attn::reference::evaluateTensorOp(Frame &frame, Operation *op) {
  return TypeSwitch<Operation *, Outcome>(op)
      .Case<tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ConcatOp,
            tensor::DimOp, tensor::ExtractOp, tensor::InsertOp,
            tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
            tensor::EmptyOp, tensor::SplatOp, tensor::FromElementsOp,
            tensor::GenerateOp, tensor::PadOp>(
          [&](auto typed) -> Outcome { return evaluateOp(frame, typed); })
      .Default([](Operation *) { return Outcome(); });
}
