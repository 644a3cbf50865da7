// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files come from anywhere: every number is checked before it is used.
#include "File.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn::safetensors;

/// As many bytes the format allows a header.
static constexpr uint64_t mostHeaderBytes = 100'000'000;
/// A header has objects of arrays in an object. LLVM's parser calls itself for
/// each level.
static constexpr unsigned deepest = 8;

static llvm::Error fail(const Twine &reason) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), reason);
}

static bool isTooDeep(StringRef text) {
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      i += c == '\\';
      inString = c != '"';
    } else if (c == '"') {
      inString = true;
    } else if (c == '{' || c == '[') {
      if (++depth > deepest)
        return true;
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return false;
}

llvm::Expected<File> File::open(StringRef path) {
  auto read = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!read)
    return fail(read.getError().message());
  File file;
  file.buffer = std::move(*read);
  StringRef bytes = file.buffer->getBuffer();
  if (bytes.size() < 8)
    return fail(
        "expects 8 bytes for the size of the header, but the file has " +
        Twine(bytes.size()));
  uint64_t size = llvm::support::endian::read64le(bytes.data());
  bytes = bytes.drop_front(8);
  if (size > bytes.size() || size > mostHeaderBytes)
    return fail("expects a header of at most " +
                Twine(std::min<uint64_t>(bytes.size(), mostHeaderBytes)) +
                " bytes, but got " + Twine(size));
  StringRef text = bytes.take_front(size);
  file.data = bytes.drop_front(size);
  if (isTooDeep(text))
    return fail("expects a header of at most " + Twine(deepest) + " levels");
  auto parsed = llvm::json::parse(text);
  if (!parsed)
    return fail("the header is no JSON: " + llvm::toString(parsed.takeError()));
  llvm::json::Object *object = parsed->getAsObject();
  if (!object)
    return fail("expects the header to be a JSON object");
  file.header = std::move(*object);
  return file;
}

/// What the format calls the type; empty if it has no such.
static StringRef typeName(Type element) {
  if (element.isF64())
    return "F64";
  if (element.isF32())
    return "F32";
  if (element.isF16())
    return "F16";
  if (element.isBF16())
    return "BF16";
  if (!element.isSignlessInteger())
    return "";
  switch (element.getIntOrFloatBitWidth()) {
  case 1:
    return "BOOL";
  case 8:
    return "I8";
  case 16:
    return "I16";
  case 32:
    return "I32";
  case 64:
    return "I64";
  default:
    return "";
  }
}

/// Natural numbers below 2^63.
static std::optional<SmallVector<int64_t>>
numbers(const llvm::json::Array *array) {
  if (!array)
    return std::nullopt;
  SmallVector<int64_t> all;
  for (const llvm::json::Value &value : *array) {
    std::optional<int64_t> number = value.getAsInteger();
    if (!number || *number < 0)
      return std::nullopt;
    all.push_back(*number);
  }
  return all;
}

llvm::Expected<ArrayRef<char>> File::find(StringRef name,
                                          RankedTensorType type) const {
  const llvm::json::Object *entry =
      name == "__metadata__" ? nullptr : header.getObject(name);
  if (!entry)
    return fail("has no tensor '" + name + "'");
  std::string about = ("its tensor '" + name + "' ").str();
  StringRef wanted = typeName(type.getElementType()),
            dtype = entry->getString("dtype").value_or("");
  if (wanted.empty() || (dtype != wanted && !(wanted == "I8" && dtype == "U8")))
    return fail(about + "has elements of '" + dtype + "', but " +
                (wanted.empty() ? "there are none of this type"
                                : "expected " + wanted));
  auto shape = numbers(entry->getArray("shape"));
  if (!shape || ArrayRef(*shape) != type.getShape()) {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (shape)
      llvm::interleave(*shape, os, "x");
    return fail(about + (shape ? "has the shape '" + text + "'"
                               : std::string("has no shape")));
  }
  auto place = numbers(entry->getArray("data_offsets"));
  if (!place || place->size() != 2 || (*place)[0] > (*place)[1] ||
      uint64_t((*place)[1]) > data.size())
    return fail(about + "lies outside of the file's " + Twine(data.size()) +
                " bytes of data");
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  for (int64_t size : *shape)
    if (llvm::MulOverflow(bytes, size, bytes))
      return fail(about + "has more bytes than there are addresses");
  if ((*place)[1] - (*place)[0] != bytes)
    return fail(about + "has " + Twine((*place)[1] - (*place)[0]) +
                " bytes, but its shape takes " + Twine(bytes));
  StringRef found = data.substr((*place)[0], bytes);
  if (wanted == "BOOL" && llvm::any_of(found, [](char c) { return c & ~1; }))
    return fail(about + "has booleans that are neither 0 nor 1");
  return ArrayRef<char>(found.data(), found.size());
}
