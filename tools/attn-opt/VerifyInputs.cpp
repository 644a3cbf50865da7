// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "VerifyInputs.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Dialect/Attn/IR/SizeText.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace attn;
using namespace attn::tool;
using reference::Number;

void Array::store(int64_t i, Number number) {
  reference::store(element(), number, bytes.data() + i * width());
}

Number Array::load(int64_t i) const {
  return reference::load(element(), bytes.data() + i * width());
}

attn_tensor Array::tensor() {
  return attn_contiguous(bytes.data(), shape.size(), shape.data());
}

reference::Tensor Array::numbers() const {
  reference::Tensor tensor(shape);
  for (int64_t i = 0; i < size(); ++i)
    tensor.elements[i] = load(i);
  return tensor;
}

static constexpr int64_t choices[] = {1, 2, 7, 16, 33, 70};

size_t tool::levels() { return std::size(choices); }

Sizes tool::chooseSizes(const Kernel &kernel, const Options &options,
                        std::mt19937_64 &random, size_t level, bool allEqual) {
  Sizes sizes;
  for (PortAttr port : kernel.ports)
    for (StringAttr symbol : port.getSymbols())
      if (port.getInput() && !symbol.empty())
        sizes.try_emplace(symbol,
                          choices[allEqual ? level - 1 : random() % level]);
  for (auto &[name, size] : options.dims)
    sizes[name] = size;
  return sizes;
}

/// A size below 0 is refused by the function.
static int64_t valueOf(StringAttr text, const Sizes &sizes) {
  MLIRContext *context = text.getContext();
  SmallVector<SizeSymbol> symbols;
  AffineExpr size = parseSizeText(text, context, symbols);
  int64_t value = evaluateSize<int64_t>(
      size, symbols, [&](StringRef name) { return sizes.lookup(name); },
      [](bool isMax, int64_t a, int64_t b) {
        return isMax ? std::max(a, b) : std::min(a, b);
      },
      [&](AffineExpr sum, ArrayRef<int64_t> values) -> int64_t {
        auto numbers = llvm::map_to_vector(values, [&](int64_t number) {
          return getAffineConstantExpr(number, context);
        });
        auto known = dyn_cast<AffineConstantExpr>(sum.replaceSymbols(numbers));
        return known ? known.getValue() : 0;
      });
  return std::max<int64_t>(value, 0);
}

SmallVector<int64_t> tool::shapeOf(PortAttr port, const Sizes &sizes) {
  SmallVector<int64_t> shape;
  for (auto [given, symbol] : llvm::zip(port.getSizes(), port.getSymbols())) {
    int64_t size = given;
    if (size < 0) {
      size = valueOf(symbol, sizes);
    }
    shape.push_back(size);
  }
  return shape;
}

Array tool::makeArray(PortAttr port, SmallVector<int64_t> shape,
                      const Sizes &sizes, std::mt19937_64 &random) {
  Array array{port, std::move(shape), {}};
  // Memory is never null, even without elements.
  array.bytes.resize(std::max<int64_t>(1, array.size() * array.width()));
  if (!port.getInput())
    return array;
  if (isa<FloatType>(array.element()))
    return array;
  int64_t largest = 1;
  for (auto &entry : sizes)
    largest = std::max(largest, entry.second);
  std::vector<int64_t> numbers(array.size());
  for (int64_t &number : numbers)
    number = random() % (array.element().isInteger(1) ? 2 : largest + 1);
  if (!array.element().isInteger(1))
    llvm::sort(numbers);
  for (auto [i, number] : llvm::enumerate(numbers))
    array.store(i, Number::ofInteger(number));
  return array;
}

/// The dimension of a weight that a product sums over, also in a function that
/// gets it, and of the tensor that it is a part of.
static std::optional<unsigned> summedDimension(Value weight) {
  for (OpOperand &use : weight.getUses()) {
    Operation *op = use.getOwner();
    unsigned rank = cast<ShapedType>(weight.getType()).getRank();
    auto project = dyn_cast<ProjectOp>(op);
    bool isProduct =
        project || isa<linalg::MatmulOp, linalg::BatchMatmulOp>(op);
    if (isProduct && use.getOperandNumber() == 1)
      return rank - (project && project.getTransposed() ? 1 : 2);
    std::optional<unsigned> summed;
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto called = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          op, call.getCalleeAttr());
      if (called && !called.isExternal())
        summed = summedDimension(called.getArgument(use.getOperandNumber()));
    } else if (auto part = dyn_cast<tensor::ExtractSliceOp>(op)) {
      summed = summedDimension(part.getResult());
      llvm::SmallBitVector dropped = part.getDroppedDims();
      for (unsigned axis = 0; summed && axis <= *summed; ++axis)
        *summed += dropped[axis];
    }
    if (summed)
      return summed;
  }
  return std::nullopt;
}

SmallVector<std::optional<unsigned>>
tool::summedDimensions(func::FuncOp function) {
  return llvm::map_to_vector(function.getArguments(), [](Value argument) {
    return summedDimension(argument);
  });
}

void tool::fillFloats(Array &array, std::optional<unsigned> summed,
                      std::mt19937_64 &random) {
  if (!array.port.getInput() || !isa<FloatType>(array.element()))
    return;
  int64_t terms = summed ? array.shape[*summed] : 1;
  std::normal_distribution<double> normal(
      0, 1 / std::sqrt(double(std::max<int64_t>(1, terms))));
  for (int64_t i = 0; i < array.size(); ++i)
    array.store(i, Number::ofReal(normal(random)));
}

std::vector<uint64_t> tool::makeArgs(std::vector<Array> &arrays) {
  size_t size = sizeof(size_t) + arrays.size() * sizeof(attn_tensor) +
                sizeof(attn_rt_call);
  std::vector<uint64_t> args(size / sizeof(uint64_t));
  args[0] = size;
  for (auto [i, array] : llvm::enumerate(arrays)) {
    attn_tensor tensor = array.tensor();
    std::memcpy(reinterpret_cast<char *>(args.data()) + sizeof(size_t) +
                    i * sizeof(attn_tensor),
                &tensor, sizeof(tensor));
  }
  return args;
}
