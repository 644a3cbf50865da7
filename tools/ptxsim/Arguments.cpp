// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Arguments.h"
#include "Decoder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace attn::ptx {

static Type typeOf(attn_rt_dtype dtype) {
  if (dtype == ATTN_BOOL)
    return {Type::Unsigned, 8};
  if (dtype == ATTN_I32 || dtype == ATTN_I64)
    return {Type::Signed, dtype == ATTN_I32 ? 32u : 64u};
  return *parseType(attn_rt_dtype_name(dtype));
}

static std::optional<attn_rt_dtype> dtypeOf(StringRef text) {
#define ATTN_ELEMENT(enumerator, code, type, name, bytes, c_type, descr)       \
  if (text == name)                                                            \
    return enumerator;
#include "attn-rt/elements.inc"
  return std::nullopt;
}

static ArrayRef<uint8_t> bytesOf(const attn_rt_array &array) {
  return {static_cast<const uint8_t *>(array.data),
          size_t(attn_rt_array_count(&array)) *
              attn_rt_dtype_size(array.dtype)};
}

Error Arguments::read(Device &device, ArrayRef<std::string> texts) {
  const std::vector<Parameter> &parameters = device.entry.parameters;
  if (texts.size() != parameters.size())
    return createStringError("'" + device.entry.name + "' has " +
                             Twine(parameters.size()) + " parameters, but " +
                             Twine(texts.size()) + " arguments are given");
  device.parameters.resize(device.entry.parameterBytes);
  for (auto [text, parameter] : zip_equal(texts, parameters))
    if (Error error = readOne(device, text, parameter))
      return createStringError("argument '" + text +
                               "': " + toString(std::move(error)));
  return Error::success();
}

Error Arguments::readOne(Device &device, StringRef text,
                         const Parameter &parameter) {
  unsigned bytes = 8;
  Expected<uint64_t> value = readNumber(text, bytes);
  if (value && bytes == 0) {
    bytes = 8;
    value = readPointer(device, text);
  }
  if (!value)
    return value.takeError();
  if (bytes != parameter.bytes)
    return createStringError("has " + Twine(bytes) + " bytes, but '" +
                             parameter.name + "' has " +
                             Twine(parameter.bytes));
  for (unsigned i = 0; i < bytes; ++i)
    device.parameters[parameter.offset + i] = *value >> (8 * i);
  return Error::success();
}

/// `type:number`; no bytes if it is not of this form.
Expected<uint64_t> Arguments::readNumber(StringRef text, unsigned &bytes) {
  auto [name, number] = text.split(':');
  std::optional<Type> type = parseType(
      name.starts_with("i") ? ("s" + name.drop_front()).str() : name.str());
  bytes = 0;
  if (!type || number.empty())
    return 0;
  bytes = type->bytes();
  if (type->isReal()) {
    double value;
    if (number.getAsDouble(value))
      return createStringError("expected a number");
    return bitsOf(type->element(), value);
  }
  int64_t value;
  uint64_t large;
  if (!number.getAsInteger(0, value))
    return uint64_t(value);
  if (!number.getAsInteger(0, large))
    return large;
  return createStringError("expected an integer of 64 bits");
}

Expected<uint64_t> Arguments::readPointer(Device &device, StringRef text) {
  auto [kind, rest] = text.split('=');
  if (kind == "raw")
    return readRaw(device, rest);
  if (kind == "out" || kind == "zeros")
    return makeArray(device, rest, kind == "zeros");
  if (kind == "inout") {
    auto [from, to] = rest.split(':');
    if (to.empty())
      return createStringError("expected inout=FILE:RESULT");
    return readArray(device, from, to);
  }
  return readArray(device, text, "");
}

Expected<uint64_t> Arguments::readArray(Device &device, StringRef path,
                                        StringRef result) {
  attn_rt_array array = {};
  char error[512];
  if (attn_rt_npy_read(path.str().c_str(), &array, error, sizeof(error)))
    return createStringError(error);
  uint64_t address =
      device.memory.add(path, next, bytesOf(array), !result.empty());
  next += windowBytes;
  attn_rt_array_free(&array);
  array.data = nullptr;
  if (!result.empty())
    results.push_back({result.str(), array, address, false});
  return address;
}

Expected<uint64_t> Arguments::readRaw(Device &device, StringRef path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError(buffer.getError().message());
  uint64_t address = device.memory.add(
      path, next, arrayRefFromStringRef((*buffer)->getBuffer()), false);
  next += windowBytes;
  return address;
}

/// `FILE:TYPE:SHAPE`.
Expected<uint64_t> Arguments::makeArray(Device &device, StringRef text,
                                        bool zeros) {
  auto [head, shape] = text.rsplit(':');
  auto [path, element] = head.rsplit(':');
  std::optional<attn_rt_dtype> dtype = dtypeOf(element);
  if (path.empty() || !dtype)
    return createStringError("expected FILE:TYPE:SHAPE");
  attn_rt_array array = {};
  array.dtype = *dtype;
  uint64_t bytes = attn_rt_dtype_size(*dtype);
  for (StringRef size : split(shape, 'x')) {
    if (array.rank == ATTN_MAX_RANK ||
        size.getAsInteger(10, array.shape[array.rank]) ||
        array.shape[array.rank] < 0)
      return createStringError("'" + shape + "' is no shape");
    bytes *= array.shape[array.rank++];
    if (bytes >= windowBytes)
      return createStringError("the array has more than 4 GiB");
  }
  uint64_t address =
      zeros ? device.memory.add(path, next, std::vector<uint8_t>(bytes), true)
            : device.memory.addUnwritten(path, next, bytes);
  next += windowBytes;
  results.push_back({path.str(), array, address, !zeros});
  return address;
}

static void printArray(raw_ostream &stream, const attn_rt_array &array) {
  Type type = typeOf(array.dtype);
  int64_t row = array.rank ? array.shape[array.rank - 1] : 1;
  int64_t count = attn_rt_array_count(&array);
  const uint8_t *data = static_cast<const uint8_t *>(array.data);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    for (unsigned byte = 0; byte < type.bytes(); ++byte)
      bits |= uint64_t(data[i * type.bytes() + byte]) << (8 * byte);
    if (type.isReal())
      stream << format("%.9g", realOf(type, bits));
    else
      stream << int64_t(extend(type, bits));
    stream << ((i + 1) % row == 0 ? "\n" : " ");
  }
}

Error Arguments::write(Device &device, raw_ostream &stream) {
  std::vector<attn_rt_npy_file> files;
  char error[512] = "";
  std::string problem;
  for (Result &result : results) {
    Segment *segment = device.memory.find(result.address);
    auto unwritten = find(segment->known, 0);
    if (result.whole && unwritten != segment->known.end())
      problem = ("byte " + Twine(unwritten - segment->known.begin()) + " of " +
                 result.path + " is never written")
                    .str();
    result.array.data = segment->data.data();
    attn_rt_npy_file file = {};
    if (problem.empty() && result.path != "-") {
      if (attn_rt_npy_stage(result.path.c_str(), &result.array, &file, error,
                            sizeof(error)))
        problem = result.path + ": " + error;
      else
        files.push_back(file);
    }
  }
  if (!problem.empty()) {
    for (attn_rt_npy_file &file : files)
      attn_rt_npy_discard(&file);
    return createStringError(problem);
  }
  if (attn_rt_npy_commit_all(files.data(), files.size(), error,
                             sizeof(error)) >= 0)
    return createStringError(error);
  for (Result &result : results)
    if (result.path == "-")
      printArray(stream, result.array);
  return Error::success();
}

} // namespace attn::ptx
