// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "QuantizedWriter.h"
#include "Graph.h"

using namespace mlir;
using namespace attn::onnx;
using ::onnx::AttributeProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

const TensorProto *QuantizedScope::constant(StringRef name) const {
  if (const TensorProto *own = constants.lookup(name))
    return own;
  return outer ? outer->constant(name) : nullptr;
}

int32_t QuantizedScope::type(StringRef name) const {
  if (const TensorProto *own = constant(name))
    return own->data_type();
  if (int32_t own = types.lookup(name))
    return own;
  return outer ? outer->type(name) : 0;
}

LogicalResult QuantizedWriter::fail(const Twine &reason) const {
  return emitError(nodeLocation(node, loc)) << reason;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

FailureOr<StoredNumbers> QuantizedWriter::numbers(int i) const {
  const TensorProto *tensor = scope.constant(input(i));
  if (!tensor)
    return fail("expects '" + input(i) + "' to be a constant");
  auto found = readNumbers(reader, *tensor, [&](const Twine &reason) {
    (void)fail("'" + input(i) + "': " + reason);
  });
  if (!found)
    return failure();
  return std::move(*found);
}

bool QuantizedWriter::isZero(int i) const {
  if (input(i).empty())
    return true;
  if (!isConstant(i))
    return false;
  FailureOr<StoredNumbers> found = numbers(i);
  return succeeded(found) && found->areAll(0);
}

bool QuantizedWriter::isOne(int i) const {
  const TensorProto *tensor = scope.constant(input(i));
  return tensor &&
         llvm::all_of(tensor->dims(), [](int64_t n) { return n == 1; });
}

int32_t QuantizedWriter::floatType(int i) const {
  int32_t type = scope.type(input(i));
  return type ? type : static_cast<int32_t>(TensorProto::FLOAT);
}

std::string QuantizedWriter::constant(StringRef part, const StoredNumbers &of,
                                      int32_t type) {
  AttributeProto &value =
      *add(part, "Constant", {}, name(part)).add_attribute();
  value.set_name("value");
  value.set_type(AttributeProto::TENSOR);
  writeNumbers(of, type, *value.mutable_t());
  return name(part);
}

//===----------------------------------------------------------------------===//
// Quantized tensors
//===----------------------------------------------------------------------===//

std::string QuantizedWriter::cast(StringRef part, const std::string &x,
                                  int32_t type) {
  NodeProto &made = add(part, "Cast", {x}, name(part));
  setInt(made, "to", type);
  return made.output(0);
}

FailureOr<std::string> QuantizedWriter::folded(const Quantized &of,
                                               int64_t axis, int64_t block,
                                               int32_t type) {
  FailureOr<StoredNumbers> x = numbers(of.tensor);
  std::optional<StoredNumbers> scale, zero;
  for (auto [i, into] : {std::pair(of.scale, &scale), {of.zero, &zero}}) {
    if (i < 0 || input(i).empty())
      continue;
    FailureOr<StoredNumbers> found = numbers(i);
    if (failed(found))
      return failure();
    *into = std::move(*found);
  }
  if (failed(x))
    return failure();
  if (!dequantize(*x, {scale ? &*scale : nullptr, zero ? &*zero : nullptr, axis,
                       block}))
    return fail("expects scales and zeros of '" + input(of.tensor) +
                "' for all of it, or for each place of dimension " +
                Twine(axis) + (block ? " in blocks" : ""));
  return constant("weight" + std::to_string(of.tensor), *x, type);
}

FailureOr<std::string> QuantizedWriter::unsqueezed(StringRef part, int i,
                                                   int64_t behind) {
  FailureOr<StoredNumbers> row = numbers(i);
  if (failed(row))
    return failure();
  if (row->values.size() > 1)
    row->dims.insert(row->dims.end(), behind, 1);
  return constant(part, *row, TensorProto::FLOAT);
}

FailureOr<std::string> QuantizedWriter::centered(int i, int zero,
                                                 int64_t axis) {
  if (isZero(zero))
    return isConstant(i) ? input(i)
                         : cast("whole" + std::to_string(i), input(i),
                                TensorProto::FLOAT);
  if (isConstant(i) && isConstant(zero))
    return folded({i, -1, zero}, axis, 0, TensorProto::FLOAT);
  return add("centered" + std::to_string(i), "Sub",
             {cast("whole" + std::to_string(i), input(i), TensorProto::FLOAT),
              input(zero)});
}

FailureOr<std::string> QuantizedWriter::dequantized(const Quantized &of,
                                                    int64_t axis) {
  int32_t type = floatType(of.scale);
  bool hasZero = !input(of.zero).empty();
  if (isConstant(of.tensor) && isConstant(of.scale) &&
      (!hasZero || isConstant(of.zero)))
    return folded(of, axis, 0, type);
  if (isConstant(of.scale) && !isOne(of.scale))
    return fail("expects one scale for '" + input(of.tensor) +
                "', which is computed");
  FailureOr<std::string> x = centered(of.tensor, of.zero, axis);
  if (failed(x))
    return failure();
  std::string part = std::to_string(of.tensor);
  std::string scale = cast("scale" + part, input(of.scale), TensorProto::FLOAT);
  return cast("real" + part, add("scaled" + part, "Mul", {*x, scale}), type);
}

LogicalResult QuantizedWriter::quantize(const std::string &x,
                                        const std::string &scale,
                                        const std::string &zero, StringRef to,
                                        int32_t type) {
  std::optional<IntegerRange> range = rangeOf(type);
  if (!range)
    return fail("quantized numbers of type " + elementTypeName(type) +
                " are not supported");
  std::string wide = cast("wide", x, TensorProto::FLOAT),
              step = cast("step", scale, TensorProto::FLOAT),
              whole = add("rounded", "Round",
                          {add("divided", "Div", {wide, step})});
  if (!zero.empty())
    whole = add("shifted", "Add", {whole, zero});
  add("saturated", "Clip",
      {whole, number("least", range->least), number("largest", range->largest)},
      to);
  scope.types[to] = type;
  return success();
}

LogicalResult QuantizedWriter::quantize(const std::string &x, int scale,
                                        int zero, StringRef to) {
  if (!isOne(scale))
    return fail("expects one scale, which is a constant");
  auto type = static_cast<int32_t>(getInt("output_dtype", 0));
  if (!input(zero).empty())
    type = scope.type(input(zero));
  if (type == 0)
    type = TensorProto::UINT8;
  return quantize(x, input(scale), isZero(zero) ? "" : input(zero), to, type);
}

void QuantizedWriter::quantizeDynamically(StringRef to, StringRef scale,
                                          StringRef zero) {
  constexpr int32_t largest = 255;
  auto reduced = [&](StringRef part, StringRef op) {
    NodeProto &made = add(part, op, {input(0)}, name(part));
    setInt(made, "keepdims", 0);
    return made.output(0);
  };
  std::string none = number("none", 0), most = number("most", largest),
              top = add("top", "Max", {reduced("maximum", "ReduceMax"), none}),
              low = add("low", "Min", {reduced("minimum", "ReduceMin"), none}),
              span =
                  add("span", "Div", {add("range", "Sub", {top, low}), most}),
              empty = add("empty", "Equal", {span, none});
  add("scale", "Where", {empty, number("one", 1), span}, scale);
  std::string shift =
      add("shift", "Div", {add("under", "Neg", {low}), scale.str()});
  add("zero", "Round", {add("limited", "Clip", {shift, none, most})}, zero);
  scope.types[zero] = TensorProto::UINT8;
  (void)quantize(input(0), scale.str(), zero.str(), to, TensorProto::UINT8);
}
