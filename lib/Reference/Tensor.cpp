// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors, shapes, and rounding.
#include "Interpreter.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <limits>

using namespace mlir;
using namespace attn::reference;

/// More elements than that are a mistake in a test, not a test.
static constexpr int64_t maxElements = int64_t(1) << 28;

static int64_t product(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Tensor::Tensor(ArrayRef<int64_t> shape)
    : shape(shape),
      elements(product(shape),
               Number::ofReal(std::numeric_limits<double>::quiet_NaN())) {}

int64_t Tensor::offset(ArrayRef<int64_t> indices) const {
  int64_t position = 0;
  for (auto [index, size] : llvm::zip_equal(indices, shape))
    position = position * size + index;
  return position;
}

Datum attn::reference::makeDatum(Tensor tensor) {
  return std::make_shared<const Tensor>(std::move(tensor));
}
Datum attn::reference::makeDatum(State state) {
  return std::make_shared<const State>(std::move(state));
}

FailureOr<Tensor> attn::reference::makeTensor(Operation *op,
                                              ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size < 0)
      return op->emitOpError() << "has a tensor of negative size " << size;
    // A product with 0 must not hide that the others overflow.
    count *= std::max<int64_t>(size, 1);
    if (size > maxElements || count > maxElements)
      return op->emitOpError()
             << "has a tensor of more than " << maxElements << " elements";
  }
  return Tensor(shape);
}

bool attn::reference::advance(MutableArrayRef<int64_t> indices,
                              ArrayRef<int64_t> shape) {
  for (size_t d = shape.size(); d-- > 0;) {
    if (++indices[d] < shape[d])
      return true;
    indices[d] = 0;
  }
  return false;
}

int64_t attn::reference::broadcastOffset(const Tensor &tensor,
                                         ArrayRef<int64_t> indices) {
  int64_t position = 0;
  for (auto [size, index] :
       llvm::zip_equal(tensor.shape, indices.take_back(tensor.rank())))
    position = position * size + (size == 1 ? 0 : index);
  return position;
}

bool attn::reference::broadcasts(ArrayRef<int64_t> shape,
                                 ArrayRef<int64_t> target) {
  if (shape.size() > target.size())
    return false;
  return llvm::all_of(llvm::zip_equal(shape, target.take_back(shape.size())),
                      [](auto pair) {
                        auto [have, want] = pair;
                        return have == 1 || have == want;
                      });
}

double attn::reference::roundTo(FloatType type, double value) {
  bool losesInfo;
  llvm::APFloat number(value);
  number.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                 &losesInfo);
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

int64_t attn::reference::bytesOf(Type type) {
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

Number attn::reference::load(Type type, const void *from) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, bytesOf(type));
  llvm::APInt value(8 * bytesOf(type), bits);
  auto floatType = dyn_cast<FloatType>(type);
  if (!floatType)
    return Number::ofInteger(type.isInteger(1) ? bits != 0
                                               : value.getSExtValue());
  llvm::APFloat number(floatType.getFloatSemantics(), value);
  bool losesInfo;
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return Number::ofReal(number.convertToDouble());
}

void attn::reference::store(Type type, Number number, void *to) {
  auto floatType = dyn_cast<FloatType>(type);
  if (!floatType) {
    std::memcpy(to, &number.integer, bytesOf(type));
    return;
  }
  llvm::APFloat value(number.real);
  bool losesInfo;
  value.convert(floatType.getFloatSemantics(),
                llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  std::memcpy(to, value.bitcastToAPInt().getRawData(), bytesOf(type));
}

std::optional<int64_t>
attn::reference::evaluateAffine(AffineExpr expression, ArrayRef<int64_t> dims,
                                ArrayRef<int64_t> symbols) {
  switch (expression.getKind()) {
  case AffineExprKind::Constant:
    return cast<AffineConstantExpr>(expression).getValue();
  case AffineExprKind::DimId:
    return dims[cast<AffineDimExpr>(expression).getPosition()];
  case AffineExprKind::SymbolId:
    return symbols[cast<AffineSymbolExpr>(expression).getPosition()];
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(expression);
  auto left = evaluateAffine(binary.getLHS(), dims, symbols);
  auto right = evaluateAffine(binary.getRHS(), dims, symbols);
  if (!left || !right)
    return std::nullopt;
  if (expression.getKind() == AffineExprKind::Add)
    return *left + *right;
  if (expression.getKind() == AffineExprKind::Mul)
    return *left * *right;
  // The other three are defined for positive divisors only.
  if (*right <= 0)
    return std::nullopt;
  if (expression.getKind() == AffineExprKind::FloorDiv)
    return llvm::divideFloorSigned(*left, *right);
  if (expression.getKind() == AffineExprKind::CeilDiv)
    return llvm::divideCeilSigned(*left, *right);
  return *left - *right * llvm::divideFloorSigned(*left, *right);
}
