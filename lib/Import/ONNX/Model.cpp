// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Everything here looks at bytes that someone else wrote: sizes are compared
// before they are used, and no file outside of the model's folder is opened.
#include "Model.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

using namespace mlir;
using namespace attn::onnx;
using ::onnx::TensorProto;

/// Messages inside each other: a graph in a node in a graph takes three.
static constexpr int maxNesting = 64;

FailureOr<std::unique_ptr<::onnx::ModelProto>>
attn::onnx::readModel(StringRef path, Location loc) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return emitError(loc) << "cannot be read: " << buffer.getError().message();
  // The parser has one of its own.
  google::protobuf::SetLogHandler(nullptr);
  if ((*buffer)->getBufferSize() > INT_MAX)
    return emitError(loc) << "expects a model of less than 2 GiB, as every "
                             "protobuf message, but got "
                          << (*buffer)->getBufferSize()
                          << " bytes; keep its weights as external data";
  google::protobuf::io::ArrayInputStream bytes(
      (*buffer)->getBufferStart(),
      static_cast<int>((*buffer)->getBufferSize()));
  google::protobuf::io::CodedInputStream stream(&bytes);
  stream.SetTotalBytesLimit(INT_MAX);
  stream.SetRecursionLimit(maxNesting);
  auto model = std::make_unique<::onnx::ModelProto>();
  if (!model->ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    return emitError(loc) << "is no ONNX model: its protobuf message is "
                             "malformed or truncated";
  if (!model->has_graph())
    return emitError(loc) << "is no ONNX model: it has no graph";
  return model;
}

Type attn::onnx::elementType(MLIRContext *context, int32_t type) {
  Builder b(context);
  switch (type) {
  case TensorProto::FLOAT:
    return b.getF32Type();
  case TensorProto::DOUBLE:
    return b.getF64Type();
  case TensorProto::FLOAT16:
    return b.getF16Type();
  case TensorProto::BFLOAT16:
    return b.getBF16Type();
  case TensorProto::BOOL:
    return b.getI1Type();
  case TensorProto::INT8:
    return b.getI8Type();
  case TensorProto::INT16:
    return b.getI16Type();
  case TensorProto::INT32:
    return b.getI32Type();
  case TensorProto::INT64:
    return b.getI64Type();
  default:
    return {};
  }
}

std::string attn::onnx::elementTypeName(int32_t type) {
  static constexpr StringLiteral names[] = {
      "UNDEFINED",      "FLOAT",        "UINT8",          "INT8",
      "UINT16",         "INT16",        "INT32",          "INT64",
      "STRING",         "BOOL",         "FLOAT16",        "DOUBLE",
      "UINT32",         "UINT64",       "COMPLEX64",      "COMPLEX128",
      "BFLOAT16",       "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2",
      "FLOAT8E5M2FNUZ", "UINT4",        "INT4",           "FLOAT4E2M1"};
  if (type >= 0 && static_cast<size_t>(type) < std::size(names))
    return names[type].str();
  return "number " + std::to_string(type);
}

TensorReader::TensorReader(StringRef path, std::vector<std::string> *filesRead)
    : folder(llvm::sys::path::parent_path(path)), filesRead(filesRead) {
  if (folder.empty())
    folder = ".";
}

namespace {
using Fail = llvm::function_ref<void(const Twine &)>;

/// Where external data lies.
struct Place {
  std::string file;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};
} // namespace

static FailureOr<Place> placeOf(const TensorProto &tensor, Fail fail) {
  Place place;
  for (const auto &entry : tensor.external_data()) {
    StringRef value = entry.value();
    uint64_t number = 0;
    bool isNumber = !value.getAsInteger(10, number);
    if (entry.key() == "location")
      place.file = value.str();
    else if (entry.key() == "offset" && isNumber)
      place.offset = number;
    else if (entry.key() == "length" && isNumber)
      place.length = number;
    else if (entry.key() == "offset" || entry.key() == "length")
      return fail("expects the " + entry.key() +
                  " of external data to be a number, but got '" + value + "'"),
             failure();
  }
  namespace path = llvm::sys::path;
  bool climbs = llvm::any_of(
      llvm::make_range(path::begin(place.file), path::end(place.file)),
      [](StringRef part) { return part == ".."; });
  if (place.file.empty() || path::is_absolute(place.file) || climbs ||
      StringRef(place.file).contains('\0'))
    return fail("expects external data in a file below the model's folder, but "
                "got '" +
                Twine(place.file) + "'"),
           failure();
  return place;
}

/// The bytes of external data. Links that lead out of the folder are not
/// followed.
static std::unique_ptr<llvm::MemoryBuffer>
readExternal(StringRef folder, const TensorProto &tensor, uint64_t wanted,
             std::vector<std::string> *filesRead, Fail fail) {
  FailureOr<Place> place = placeOf(tensor, fail);
  if (failed(place))
    return nullptr;
  SmallString<256> file(folder), real, top;
  llvm::sys::path::append(file, place->file);
  if (std::error_code error = llvm::sys::fs::real_path(file, real))
    return fail("external data '" + Twine(place->file) +
                "' cannot be read: " + error.message()),
           nullptr;
  if (llvm::sys::fs::real_path(folder, top) ||
      !StringRef(real).starts_with((top + (top == "/" ? "" : "/")).str()))
    return fail("expects external data in a file below the model's folder, but "
                "'" +
                Twine(place->file) + "' is a link to another place"),
           nullptr;
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(real, status) ||
      !llvm::sys::fs::is_regular_file(status))
    return fail("external data '" + Twine(place->file) + "' is no file"),
           nullptr;
  if (filesRead && !llvm::is_contained(*filesRead, real))
    filesRead->push_back(real.str().str());
  uint64_t size = status.getSize();
  if (place->length.value_or(wanted) != wanted)
    return fail("expects external data of " + Twine(wanted) +
                " bytes, but its length is " + Twine(*place->length)),
           nullptr;
  if (place->offset > size || size - place->offset < wanted)
    return fail("expects " + Twine(wanted) + " bytes at offset " +
                Twine(place->offset) + " of external data '" +
                Twine(place->file) + "', which has " + Twine(size)),
           nullptr;
  if (wanted == 0)
    return llvm::MemoryBuffer::getMemBuffer("");
  auto buffer = llvm::MemoryBuffer::getFileSlice(real, wanted, place->offset);
  if (!buffer)
    return fail("external data '" + Twine(place->file) +
                "' cannot be read: " + buffer.getError().message()),
           nullptr;
  return std::move(*buffer);
}

/// Elements of a field as `bytes` little-endian bytes each.
template <typename Field>
static std::string packed(const Field &field, unsigned bytes) {
  std::string data;
  for (auto element : field) {
    char raw[8];
    if constexpr (std::is_same_v<decltype(element), float>)
      llvm::support::endian::write32le(raw, llvm::bit_cast<uint32_t>(element));
    else if constexpr (std::is_same_v<decltype(element), double>)
      llvm::support::endian::write64le(raw, llvm::bit_cast<uint64_t>(element));
    else
      llvm::support::endian::write64le(raw, static_cast<uint64_t>(element));
    data.append(raw, bytes);
  }
  return data;
}

/// What a tensor without raw and external data holds, as little-endian bytes.
static std::string packedFields(const TensorProto &tensor, unsigned bytes) {
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
    return packed(tensor.float_data(), bytes);
  case TensorProto::DOUBLE:
    return packed(tensor.double_data(), bytes);
  case TensorProto::INT64:
    return packed(tensor.int64_data(), bytes);
  default: // 16-bit floats as well
    return packed(tensor.int32_data(), bytes);
  }
}

static ElementsAttr makeAttr(RankedTensorType type, StringRef data) {
  // Up to here a constant is worth folding; beyond, its bytes are kept once and
  // are neither hashed nor printed.
  constexpr size_t mostInline = 1024;
  if (type.getElementType().isInteger(1)) {
    SmallVector<bool> bits(
        llvm::map_range(data, [](char c) { return c != 0; }));
    return DenseElementsAttr::get(type, bits);
  }
  ArrayRef<char> bytes(data.data(), data.size());
  if (data.size() <= mostInline)
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  return DenseResourceElementsAttr::get(
      type, "onnx",
      HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, /*align=*/64,
                                                    /*dataIsMutable=*/false));
}

bool TensorReader::withBytes(const TensorProto &tensor, unsigned bits,
                             Fail fail,
                             llvm::function_ref<void(StringRef)> take) {
  uint64_t count = 1;
  bool tooLarge = false;
  for (int64_t size : tensor.dims()) {
    if (size < 0)
      return fail("expects sizes of at least 0, but got " + Twine(size)), false;
    bool overflows = false;
    count = llvm::SaturatingMultiply(count, static_cast<uint64_t>(size),
                                     &overflows);
    tooLarge |= overflows;
  }
  // What the compiler takes as a constant.
  if (tooLarge || count >= (uint64_t(1) << 31) * 8 / bits)
    return fail("expects a constant of less than 2^31 bytes"), false;
  uint64_t wanted = llvm::divideCeil(count * bits, 8);
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    auto buffer = readExternal(folder, tensor, wanted, filesRead, fail);
    return buffer && (take(buffer->getBuffer()), true);
  }
  std::string fields;
  if (!tensor.has_raw_data())
    fields = packedFields(tensor, llvm::divideCeil(bits, 8));
  StringRef data =
      tensor.has_raw_data() ? StringRef(tensor.raw_data()) : StringRef(fields);
  if (data.size() != wanted)
    return fail("expects " + Twine(count) + " elements of " +
                elementTypeName(tensor.data_type()) + ", but got " +
                Twine(data.size()) + " bytes of them"),
           false;
  take(data);
  return true;
}

ElementsAttr TensorReader::read(MLIRContext *context, const TensorProto &tensor,
                                Fail fail) {
  Type element = elementType(context, tensor.data_type());
  if (!element)
    return fail("elements of type " + elementTypeName(tensor.data_type()) +
                " are not supported"),
           ElementsAttr();
  ElementsAttr contents;
  unsigned bits = std::max(8u, element.getIntOrFloatBitWidth());
  withBytes(tensor, bits, fail, [&](StringRef data) {
    SmallVector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
    contents = makeAttr(RankedTensorType::get(shape, element), data);
  });
  return contents;
}
