// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StoredNumbers.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn::onnx;
using ::onnx::TensorProto;
namespace endian = llvm::support::endian;

/// Of onnx.proto in its newer versions.
static constexpr int32_t uint4Type = 21, int4Type = 22;

std::optional<IntegerRange> attn::onnx::rangeOf(int32_t type) {
  switch (type) {
  case TensorProto::UINT8:
    return IntegerRange{0, UINT8_MAX};
  case TensorProto::INT8:
    return IntegerRange{INT8_MIN, INT8_MAX};
  case TensorProto::UINT16:
    return IntegerRange{0, UINT16_MAX};
  case TensorProto::INT16:
    return IntegerRange{INT16_MIN, INT16_MAX};
  case uint4Type:
    return IntegerRange{0, 15};
  case int4Type:
    return IntegerRange{-8, 7};
  default:
    return std::nullopt;
  }
}

bool StoredNumbers::areAll(float number) const {
  return llvm::all_of(values, [&](float x) { return x == number; });
}

static int64_t countOf(const TensorProto &tensor) {
  int64_t count = 1;
  for (int64_t size : tensor.dims())
    count *= size;
  return count;
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

static float fromHalf(uint16_t bits) {
  return llvm::APFloat(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits))
      .convertToFloat();
}

/// To the nearest, ties to even.
static uint16_t toHalf(float number) {
  uint32_t bits = llvm::bit_cast<uint32_t>(number);
  uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return sign | 0x7e00;
  if (magnitude >= 0x477ff000) // 65520 and more
    return sign | 0x7c00;
  if (magnitude < 0x38800000) { // the last place of 1/2 is that of subnormals
    float half = llvm::bit_cast<float>(magnitude) + 0.5f;
    return sign | (llvm::bit_cast<uint32_t>(half) - 0x3f000000);
  }
  uint32_t rebiased = magnitude - (uint32_t(127 - 15) << 23);
  return sign | ((rebiased + 0xfff + (rebiased >> 13 & 1)) >> 13);
}

static uint16_t toBfloat(float number) {
  uint32_t bits = llvm::bit_cast<uint32_t>(number);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return bits >> 16 | 0x40;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

/// The i-th number of a type.
static float numberAt(const char *data, int64_t i, int32_t type) {
  switch (type) {
  case TensorProto::UINT8:
    return static_cast<uint8_t>(data[i]);
  case TensorProto::INT8:
    return static_cast<int8_t>(data[i]);
  case TensorProto::UINT16:
    return endian::read16le(data + 2 * i);
  case TensorProto::INT16:
    return static_cast<int16_t>(endian::read16le(data + 2 * i));
  case uint4Type:
    return static_cast<uint8_t>(data[i / 2]) >> i % 2 * 4 & 15;
  case int4Type:
    return llvm::SignExtend32<4>(static_cast<uint8_t>(data[i / 2]) >>
                                 i % 2 * 4);
  case TensorProto::INT32:
    return static_cast<float>(
        static_cast<int32_t>(endian::read32le(data + 4 * i)));
  case TensorProto::FLOAT16:
    return fromHalf(endian::read16le(data + 2 * i));
  case TensorProto::BFLOAT16:
    return llvm::bit_cast<float>(uint32_t(endian::read16le(data + 2 * i))
                                 << 16);
  default:
    return llvm::bit_cast<float>(endian::read32le(data + 4 * i));
  }
}

/// 0: not one of those above.
static unsigned bitsOf(int32_t type) {
  if (type == uint4Type || type == int4Type)
    return 4;
  if (type == TensorProto::INT32 || type == TensorProto::FLOAT)
    return 32;
  if (type == TensorProto::UINT8 || type == TensorProto::INT8)
    return 8;
  bool isHalf = type == TensorProto::FLOAT16 || type == TensorProto::BFLOAT16;
  return isHalf || rangeOf(type) ? 16 : 0;
}

std::optional<StoredNumbers>
attn::onnx::readNumbers(TensorReader &reader, const TensorProto &tensor,
                        llvm::function_ref<void(const Twine &)> fail) {
  int32_t type = tensor.data_type();
  unsigned bits = bitsOf(type);
  if (bits == 0)
    return fail("elements of type " + elementTypeName(type) +
                " are not supported here"),
           std::nullopt;
  StoredNumbers numbers{{tensor.dims().begin(), tensor.dims().end()}, {}};
  bool isRead = reader.withBytes(tensor, bits, fail, [&](StringRef data) {
    numbers.values.resize(countOf(tensor));
    for (auto [i, value] : llvm::enumerate(numbers.values))
      value = numberAt(data.data(), static_cast<int64_t>(i), type);
  });
  return isRead ? std::optional(std::move(numbers)) : std::nullopt;
}

void attn::onnx::writeNumbers(const StoredNumbers &numbers, int32_t type,
                              TensorProto &tensor) {
  tensor.set_data_type(type);
  for (int64_t size : numbers.dims)
    tensor.add_dims(size);
  std::string &raw = *tensor.mutable_raw_data();
  size_t width = type == TensorProto::FLOAT ? 4 : 2;
  raw.resize(width * numbers.values.size());
  char *at = raw.data();
  for (float value : numbers.values) {
    if (type == TensorProto::FLOAT)
      endian::write32le(at, llvm::bit_cast<uint32_t>(value));
    else
      endian::write16le(at, type == TensorProto::FLOAT16 ? toHalf(value)
                                                         : toBfloat(value));
    at += width;
  }
}

//===----------------------------------------------------------------------===//
// What they stand for
//===----------------------------------------------------------------------===//

bool attn::onnx::dequantize(StoredNumbers &x, const Scaling &scaling) {
  auto rank = static_cast<int64_t>(x.dims.size());
  int64_t axis = scaling.axis < 0 ? scaling.axis + rank : scaling.axis;
  auto isOne = [](const StoredNumbers *of) {
    return !of || of->values.size() == 1;
  };
  bool isForAll = isOne(scaling.scale) && isOne(scaling.zero);
  if (!isForAll && (axis < 0 || axis >= rank))
    return false;
  int64_t size = isForAll ? 1 : x.dims[axis], inner = 1;
  for (int64_t i = isForAll ? rank : axis + 1; i < rank; ++i)
    inner *= x.dims[i];
  int64_t block = std::max<int64_t>(scaling.block, 1);
  int64_t blocks = llvm::divideCeil(size, block);
  auto count = static_cast<int64_t>(x.values.size());
  // A number for all, for each place of the axis, or for each block and place
  // of the other dimensions.
  int64_t each = !scaling.block ? size : size == 0 ? 0 : count / size * blocks;
  for (const StoredNumbers *of : {scaling.scale, scaling.zero})
    if (!isOne(of) && static_cast<int64_t>(of->values.size()) != each)
      return false;
  auto at = [&](const StoredNumbers *of, int64_t i, float otherwise) {
    if (isOne(of))
      return of ? of->values[0] : otherwise;
    int64_t place = i / inner % size;
    return of
        ->values[scaling.block
                     ? (i / (inner * size) * blocks + place / block) * inner +
                           i % inner
                     : place];
  };
  for (int64_t i = 0; i < count; ++i)
    x.values[i] =
        (x.values[i] - at(scaling.zero, i, 0)) * at(scaling.scale, i, 1);
  return true;
}

bool attn::onnx::unpack(StoredNumbers &x, int64_t bits, int64_t size) {
  if (x.dims.empty() || size < 0 || size > x.dims.back() * 8 ||
      x.dims.back() != static_cast<int64_t>(llvm::divideCeil(size * bits, 8)))
    return false;
  int64_t bytes = std::exchange(x.dims.back(), size), each = 8 / bits;
  int64_t rows = bytes == 0 ? 0 : x.values.size() / bytes;
  std::vector<float> numbers(rows * size);
  for (int64_t i = 0; i < rows * size; ++i) {
    int64_t column = i % size;
    auto byte =
        static_cast<uint8_t>(x.values[i / size * bytes + column / each]);
    numbers[i] = byte >> column % each * bits & ((1 << bits) - 1);
  }
  x.values = std::move(numbers);
  return true;
}

void attn::onnx::transpose(StoredNumbers &matrix) {
  int64_t rows = matrix.dims[0], columns = matrix.dims[1];
  std::vector<float> turned(matrix.values.size());
  constexpr int64_t tile = 64; // for the sake of caches
  for (int64_t top = 0; top < rows; top += tile)
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = top; i < std::min(top + tile, rows); ++i)
        turned[j * rows + i] = matrix.values[i * columns + j];
  matrix = {{columns, rows}, std::move(turned)};
}
