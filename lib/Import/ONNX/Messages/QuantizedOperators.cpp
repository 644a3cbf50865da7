// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each quantized operator becomes, by ONNX's Operators.md and ONNX
// Runtime's ContribOperators.md.
#include "QuantizedOperators.h"
#include "Graph.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace attn::onnx;
using ::onnx::AttributeProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

namespace {
class QuantizedOperator : QuantizedWriter {
public:
  using QuantizedWriter::QuantizedWriter;

  /// Whether the node was one; failure after a report.
  FailureOr<bool> run();

private:
  LogicalResult expandDequantize();
  LogicalResult expandQuantize();
  LogicalResult expandDynamic();
  LogicalResult expandIntegerProduct();
  LogicalResult expandIntegerConv();
  LogicalResult expandProductToFloat();
  LogicalResult expandDynamicProduct();
  LogicalResult expandProduct();
  LogicalResult expandGemm();
  LogicalResult expandConv();
  LogicalResult expandAttention();
  LogicalResult expandBlockedProduct();
  LogicalResult expandBlockedGather();
  LogicalResult expandFunction();
  LogicalResult expandConcat();

  FailureOr<StoredNumbers> blockedWeights(int64_t bits, int64_t block,
                                          int64_t size);
  FailureOr<std::string> product(const Quantized &a, const Quantized &b);
  LogicalResult give(const std::string &x);
  LogicalResult giveIntegers(const std::string &sums);
  LogicalResult giveScaled(const std::string &sums, const std::string &scale,
                           int bias);
  void copyAttributes(NodeProto &to);
};
} // namespace

//===----------------------------------------------------------------------===//
// What expansions share
//===----------------------------------------------------------------------===//

/// Under the name of the node's output.
LogicalResult QuantizedOperator::give(const std::string &x) {
  add("result", "Identity", {x}, output(0));
  return success();
}

/// Whole numbers as INT32, if anything wants them so.
LogicalResult QuantizedOperator::giveIntegers(const std::string &sums) {
  bool isFloat = scope.castToFloat.contains(output(0));
  return give(isFloat ? sums : cast("integers", sums, TensorProto::INT32));
}

LogicalResult QuantizedOperator::giveScaled(const std::string &sums,
                                            const std::string &scale,
                                            int bias) {
  std::string y = add("scaled", "Mul", {sums, scale});
  return give(input(bias).empty() ? y : add("sum", "Add", {y, input(bias)}));
}

void QuantizedOperator::copyAttributes(NodeProto &to) {
  for (const AttributeProto &one : node.attribute())
    *to.add_attribute() = one;
}

/// The product of whole numbers; rows of `a` and columns of `b` may have zeros
/// of their own.
FailureOr<std::string> QuantizedOperator::product(const Quantized &a,
                                                  const Quantized &b) {
  if (isConstant(a.zero) && !isOne(a.zero))
    return fail("expects one zero for all rows");
  FailureOr<std::string> left = centered(a.tensor, a.zero, 0),
                         right = centered(b.tensor, b.zero, -1);
  if (failed(left) || failed(right))
    return failure();
  return add("product", "MatMul", {*left, *right});
}

//===----------------------------------------------------------------------===//
// From and to real numbers
//===----------------------------------------------------------------------===//

LogicalResult QuantizedOperator::expandDequantize() {
  int64_t axis = getInt("axis", 1), block = getInt("block_size", 0);
  FailureOr<std::string> x = block
                                 ? folded({0, 1, 2}, axis, block, floatType(1))
                                 : dequantized({0, 1, 2}, axis);
  return failed(x) ? failure() : give(*x);
}

LogicalResult QuantizedOperator::expandQuantize() {
  return quantize(input(0), 1, 2, output(0));
}

LogicalResult QuantizedOperator::expandDynamic() {
  auto named = [&](int i, StringRef part) {
    return output(i).empty() ? name(part) : output(i);
  };
  quantizeDynamically(named(0, "quantized"), named(1, "scale"),
                      named(2, "zero"));
  return success();
}

//===----------------------------------------------------------------------===//
// Products and convolutions of integers
//===----------------------------------------------------------------------===//

LogicalResult QuantizedOperator::expandIntegerProduct() {
  FailureOr<std::string> sums = product({0, -1, 2}, {1, -1, 3});
  return failed(sums) ? failure() : giveIntegers(*sums);
}

LogicalResult QuantizedOperator::expandIntegerConv() {
  FailureOr<std::string> x = centered(0, 2, 1), w = centered(1, 3, 0);
  if (failed(x) || failed(w))
    return failure();
  copyAttributes(add("product", "Conv", {*x, *w}, name("product")));
  return giveIntegers(name("product"));
}

LogicalResult QuantizedOperator::expandProductToFloat() {
  FailureOr<std::string> sums = product({0, 2, 4}, {1, 3, 5});
  if (failed(sums))
    return failure();
  return giveScaled(*sums, add("scale", "Mul", {input(2), input(3)}), 6);
}

LogicalResult QuantizedOperator::expandDynamicProduct() {
  quantizeDynamically(name("quantized"), name("step of rows"), name("zero"));
  FailureOr<std::string> w = centered(1, 3, -1);
  if (failed(w))
    return failure();
  std::string x = add("centered", "Sub", {name("quantized"), name("zero")}),
              sums = add("product", "MatMul", {x, *w});
  return giveScaled(
      sums, add("scale of all", "Mul", {name("step of rows"), input(2)}), 4);
}

LogicalResult QuantizedOperator::expandProduct() {
  if (!isOne(1))
    return fail("expects one scale for all rows");
  FailureOr<std::string> sums = product({0, 1, 2}, {3, 4, 5});
  if (failed(sums))
    return failure();
  std::string scale = add("scale", "Mul", {input(1), input(4)});
  return quantize(add("scaled", "Mul", {*sums, scale}), 6, 7, output(0));
}

LogicalResult QuantizedOperator::expandGemm() {
  bool isTransposed = getInt("transB", 0);
  FailureOr<std::string> a = centered(0, 2, 0),
                         b = centered(3, 5, isTransposed ? 0 : 1);
  if (failed(a) || failed(b))
    return failure();
  NodeProto &made = add("product", "Gemm", {*a, *b}, name("product"));
  for (StringRef side : {"transA", "transB"})
    setInt(made, side, getInt(side, 0));
  std::string sums = name("product");
  if (!input(6).empty())
    sums =
        add("sum", "Add", {sums, cast("bias", input(6), TensorProto::FLOAT)});
  const AttributeProto *alpha = find("alpha");
  std::string scale = add("scale", "Mul", {input(1), input(4)});
  if (alpha)
    scale = add("factor", "Mul", {scale, number("alpha", alpha->f())});
  std::string y = add("scaled", "Mul", {sums, scale});
  return input(7).empty() ? give(y) : quantize(y, 7, 8, output(0));
}

LogicalResult QuantizedOperator::expandConv() {
  const TensorProto *weights = scope.constant(input(3));
  if (!weights || weights->dims_size() < 3)
    return fail("expects weights that are a constant of 3 dimensions or more");
  FailureOr<std::string> x = centered(0, 2, 1), w = centered(3, 5, 0),
                         scales =
                             unsqueezed("steps", 4, weights->dims_size() - 2);
  if (failed(x) || failed(w) || failed(scales))
    return failure();
  std::vector<std::string> inputs = {*x, *w};
  if (!input(8).empty())
    inputs.push_back(cast("bias", input(8), TensorProto::FLOAT));
  copyAttributes(add("product", "Conv", inputs, name("product")));
  std::string scale = add("scale", "Mul", {input(1), *scales});
  return quantize(add("scaled", "Mul", {name("product"), scale}), 6, 7,
                  output(0));
}

LogicalResult QuantizedOperator::expandAttention() {
  FailureOr<std::string> x = dequantized({0, 3, 6}, 0),
                         w = dequantized({1, 4, 7}, 1);
  if (failed(x) || failed(w))
    return failure();
  NodeProto &made = add("attention", "Attention",
                        {*x, *w, input(2), input(5), input(8)}, output(0));
  made.set_domain(node.domain());
  for (int i = 1; i < node.output_size(); ++i)
    made.add_output(output(i));
  copyAttributes(made);
  return success();
}

//===----------------------------------------------------------------------===//
// Weights in blocks
//===----------------------------------------------------------------------===//

/// Packed rows with a scale and a zero for each block, inputs 1, 2 and 3, as
/// [rows, `size`].
FailureOr<StoredNumbers>
QuantizedOperator::blockedWeights(int64_t bits, int64_t block, int64_t size) {
  FailureOr<StoredNumbers> w = numbers(1), scale = numbers(2);
  if (failed(w) || failed(scale))
    return failure();
  StoredNumbers zero{{}, {float(1 << (bits - 1))}};
  int64_t rows = w->dims.empty() ? 0 : w->dims[0];
  int64_t blocks = (size + block - 1) / block;
  bool fits = unpack(*w, bits, block) &&
              static_cast<int64_t>(w->values.size()) == rows * blocks * block;
  if (fits && !input(3).empty()) {
    FailureOr<StoredNumbers> given = numbers(3);
    if (failed(given))
      return failure();
    zero = std::move(*given);
    if (scope.type(input(3)) == TensorProto::UINT8) {
      int64_t bytes = (blocks * bits + 7) / 8;
      fits = static_cast<int64_t>(zero.values.size()) == rows * bytes;
      zero.dims = {rows, bytes};
      fits = fits && unpack(zero, bits, blocks);
    }
  }
  w->dims = {rows, blocks * block};
  if (!fits || !dequantize(*w, {&*scale, &zero, /*axis=*/1, block}))
    return fail("expects weights of " + Twine(rows) + " x " + Twine(size) +
                " in blocks of " + Twine(block) +
                ", with a scale and a zero for each");
  if (blocks * block != size) { // the last block ends behind the row
    for (int64_t row = 1; row < rows; ++row)
      std::copy_n(w->values.begin() + row * blocks * block, size,
                  w->values.begin() + row * size);
    w->values.resize(rows * size);
    w->dims[1] = size;
  }
  return w;
}

LogicalResult QuantizedOperator::expandBlockedProduct() {
  int64_t bits = getInt("bits", 4), block = getInt("block_size", 0),
          size = getInt("K", 0);
  if ((bits != 2 && bits != 4 && bits != 8) || block < 1 || block > 1 << 20 ||
      size < 1 || size > INT32_MAX)
    return fail("expects blocks of numbers of 2, 4 or 8 bits");
  if (!input(4).empty())
    return fail("expects blocks of neighbours, without g_idx");
  FailureOr<StoredNumbers> w = blockedWeights(bits, block, size);
  if (failed(w))
    return failure();
  transpose(*w);
  std::string y = add("product", "MatMul",
                      {input(0), constant("weights", *w, floatType(2))});
  return give(input(5).empty() ? y : add("sum", "Add", {y, input(5)}));
}

/// Inputs: table, indices, scales, zeros.
LogicalResult QuantizedOperator::expandBlockedGather() {
  int64_t bits = getInt("bits", 4), block = getInt("block_size", 128),
          axis = getInt("quantize_axis", 1);
  if ((bits != 4 && bits != 8) || block < 1)
    return fail("expects blocks of numbers of 4 or 8 bits");
  FailureOr<StoredNumbers> table = numbers(0), scale = numbers(2);
  if (failed(table) || failed(scale))
    return failure();
  bool isPacked = scope.type(input(0)) == TensorProto::UINT8;
  StoredNumbers zero{{}, {isPacked ? float(1 << (bits - 1)) : 0}};
  if (!input(3).empty()) {
    FailureOr<StoredNumbers> given = numbers(3);
    if (failed(given))
      return failure();
    zero = std::move(*given);
  }
  auto unpacked = [&](StoredNumbers &x, int64_t size) {
    return !isPacked || bits == 8 || x.dims.empty() || unpack(x, bits, size);
  };
  bool fits = !table->dims.empty() &&
              unpacked(*table, table->dims.back() * 8 / bits) &&
              unpacked(zero, scale->dims.empty() ? 0 : scale->dims.back()) &&
              dequantize(*table, {&*scale, &zero, axis, block});
  if (!fits)
    return fail("expects blocks of " + Twine(block) +
                " with a scale and a zero for each");
  NodeProto &made =
      add("gather", "Gather",
          {constant("table", *table, floatType(2)), input(1)}, output(0));
  setInt(made, "axis", getInt("gather_axis", 0));
  return success();
}

//===----------------------------------------------------------------------===//
// Others, between dequantized inputs and a quantized output
//===----------------------------------------------------------------------===//

static StringRef functionOf(StringRef op) {
  return llvm::StringSwitch<StringRef>(op)
      .Case("QLinearAdd", "Add")
      .Case("QLinearMul", "Mul")
      .Case("QLinearSigmoid", "Sigmoid")
      .Case("QLinearLeakyRelu", "LeakyRelu")
      .Case("QLinearSoftmax", "Softmax")
      .Case("QLinearAveragePool", "AveragePool")
      .Case("QLinearGlobalAveragePool", "GlobalAveragePool")
      .Default("");
}

LogicalResult QuantizedOperator::expandFunction() {
  StringRef op = functionOf(node.op_type());
  if (getInt("channels_last", 0))
    return fail("expects channels in front of places, but channels_last is 1");
  if (getInt("opset", 13) < 13 && getInt("axis", -1) != -1)
    return fail("expects a softmax along its axis alone, but opset is " +
                Twine(getInt("opset", 13)));
  std::vector<std::string> inputs;
  int operands = op == "Add" || op == "Mul" ? 2 : 1;
  for (int i = 0; i < operands; ++i) {
    FailureOr<std::string> x = dequantized({3 * i, 3 * i + 1, 3 * i + 2}, 0);
    if (failed(x))
      return failure();
    inputs.push_back(*x);
  }
  copyAttributes(add("function", op, inputs, name("function")));
  return quantize(name("function"), 3 * operands, 3 * operands + 1, output(0));
}

/// Inputs: the result's scale and zero, then three for each part.
LogicalResult QuantizedOperator::expandConcat() {
  std::vector<std::string> parts;
  for (int i = 2; i < node.input_size(); i += 3) {
    FailureOr<std::string> x = dequantized({i, i + 1, i + 2}, 0);
    if (failed(x))
      return failure();
    parts.push_back(*x);
  }
  copyAttributes(add("parts", "Concat", parts, name("parts")));
  return quantize(name("parts"), 0, 1, output(0));
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

FailureOr<bool> QuantizedOperator::run() {
  using Expand = LogicalResult (QuantizedOperator::*)();
  struct Row {
    StringRef op;
    Expand expand;
    int leastInputs;
  };
  static constexpr Row rows[] = {
      {"DequantizeLinear", &QuantizedOperator::expandDequantize, 2},
      {"QuantizeLinear", &QuantizedOperator::expandQuantize, 2},
      {"DynamicQuantizeLinear", &QuantizedOperator::expandDynamic, 1},
      {"MatMulInteger", &QuantizedOperator::expandIntegerProduct, 2},
      {"ConvInteger", &QuantizedOperator::expandIntegerConv, 2},
      {"MatMulIntegerToFloat", &QuantizedOperator::expandProductToFloat, 4},
      {"DynamicQuantizeMatMul", &QuantizedOperator::expandDynamicProduct, 3},
      {"QLinearMatMul", &QuantizedOperator::expandProduct, 8},
      {"QGemm", &QuantizedOperator::expandGemm, 6},
      {"QLinearConv", &QuantizedOperator::expandConv, 8},
      {"QAttention", &QuantizedOperator::expandAttention, 5},
      {"MatMulNBits", &QuantizedOperator::expandBlockedProduct, 3},
      {"GatherBlockQuantized", &QuantizedOperator::expandBlockedGather, 3},
      {"QLinearConcat", &QuantizedOperator::expandConcat, 5},
      {"QLinearAdd", &QuantizedOperator::expandFunction, 7},
      {"QLinearMul", &QuantizedOperator::expandFunction, 7},
      {"QLinearSigmoid", &QuantizedOperator::expandFunction, 4},
      {"QLinearLeakyRelu", &QuantizedOperator::expandFunction, 4},
      {"QLinearSoftmax", &QuantizedOperator::expandFunction, 4},
      {"QLinearAveragePool", &QuantizedOperator::expandFunction, 4},
      {"QLinearGlobalAveragePool", &QuantizedOperator::expandFunction, 4},
  };
  std::string domain = domainOf(node);
  if (node.output_size() == 0 || (!domain.empty() && domain != "com.microsoft"))
    return false;
  const auto *row = llvm::find_if(
      rows, [&](const Row &one) { return one.op == node.op_type(); });
  if (row == std::end(rows))
    return false;
  if (node.input_size() < row->leastInputs)
    return fail("expects " + Twine(row->leastInputs) +
                " inputs or more, but got " + Twine(node.input_size()));
  if (failed((this->*row->expand)()))
    return failure();
  return true;
}

FailureOr<bool> attn::onnx::expandQuantizedNode(const NodeProto &node,
                                                Nodes &into,
                                                QuantizedScope &scope,
                                                TensorReader &reader,
                                                Location loc) {
  return QuantizedOperator(node, into, scope, reader, loc).run();
}
