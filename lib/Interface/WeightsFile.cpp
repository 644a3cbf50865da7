// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Interface/WeightsFile.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

static constexpr int64_t fileAlignment = 64;
/// Of the module that keeps a file.
static constexpr StringLiteral keptAttr = "attn.weights_file";

/// In front of the hash, as every header of ours begins.
static constexpr StringLiteral beforeHash =
    R"({"__metadata__":{"attn.identity":")";
static constexpr size_t hashDigits = 2 * LLVM_BLAKE3_OUT_LEN;

/// What the format calls the type; empty if it has no such.
static std::string typeName(Type element) {
  bool isKnown = element.isF64() || element.isF32() || element.isF16() ||
                 element.isBF16() || element.isSignlessInteger(8) ||
                 element.isSignlessInteger(16) ||
                 element.isSignlessInteger(32) || element.isSignlessInteger(64);
  if (!isKnown)
    return "";
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return StringRef(text).upper();
}

StringRef WeightsFile::bytesOf(ElementsAttr constant) {
  ArrayRef<char> bytes;
  if (auto dense = dyn_cast<DenseElementsAttr>(constant))
    bytes = dense.isSplat() ? ArrayRef<char>() : dense.getRawData();
  else if (auto resource = dyn_cast<DenseResourceElementsAttr>(constant))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      bytes = blob->getData();
  return {bytes.data(), bytes.size()};
}

bool WeightsFile::takes(ElementsAttr constant) {
  Type element = constant.getElementType();
  return !typeName(element).empty() &&
         static_cast<int64_t>(bytesOf(constant).size()) ==
             constant.getNumElements() * (element.getIntOrFloatBitWidth() / 8);
}

/// Places of the tensors behind each other.
void WeightsFile::place() {
  size = static_cast<int64_t>(header.size());
  offsets.clear();
  for (ElementsAttr value : values) {
    size = static_cast<int64_t>(llvm::alignTo(size, fileAlignment));
    offsets.push_back(size);
    size += static_cast<int64_t>(bytesOf(value).size());
  }
}

static void printEntry(llvm::json::OStream &json, StringRef name,
                       StringRef type, ArrayRef<int64_t> shape, int64_t begin,
                       int64_t end) {
  json.attributeObject(name, [&] {
    json.attribute("dtype", type);
    json.attributeArray("shape", [&] {
      for (int64_t dim : shape)
        json.value(dim);
    });
    json.attributeArray("data_offsets", [&] {
      json.value(begin);
      json.value(end);
    });
  });
}

WeightsFile::WeightsFile(StringRef path, ArrayRef<Tensor> tensors)
    : where(path) {
  for (const Tensor &tensor : tensors)
    values.push_back(tensor.value);
  place();
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os);
  json.object([&] {
    json.attributeObject("__metadata__", [&] {
      json.attribute("attn.identity", std::string(hashDigits, '0'));
    });
    int64_t end = 0;
    for (auto [i, tensor] : llvm::enumerate(tensors)) {
      if (end < offsets[i])
        printEntry(json, "attn.padding." + std::to_string(i), "U8",
                   {offsets[i] - end}, end, offsets[i]);
      ShapedType type = tensor.value.getShapedType();
      end = offsets[i] + static_cast<int64_t>(bytesOf(tensor.value).size());
      printEntry(json, tensor.name, typeName(type.getElementType()),
                 type.getShape(), offsets[i], end);
    }
  });
  // Blanks behind the object: the data begin at a multiple, too.
  text.resize(llvm::alignTo(8 + text.size(), fileAlignment) - 8, ' ');
  char count[8];
  llvm::support::endian::write64le(count, text.size());
  header = std::string(count, 8) + text;
  place();
  llvm::BLAKE3 hasher;
  for (StringRef part : parts())
    hasher.update(part);
  header.replace(8 + beforeHash.size(), hashDigits,
                 llvm::toHex(hasher.final(), /*LowerCase=*/true));
}

WeightsFile::WeightsFile(ModuleOp module) {
  auto kept = module->getAttrOfType<DictionaryAttr>(keptAttr);
  if (!kept)
    return;
  where = kept.getAs<StringAttr>("path").str();
  header = kept.getAs<StringAttr>("header").str();
  llvm::append_range(
      values, kept.getAs<ArrayAttr>("tensors").getAsRange<ElementsAttr>());
  place();
}

void WeightsFile::keepIn(ModuleOp module) const {
  Builder b(module.getContext());
  SmallVector<Attribute> tensors(values.begin(), values.end());
  module->setAttr(keptAttr,
                  b.getDictionaryAttr(
                      {b.getNamedAttr("path", b.getStringAttr(where)),
                       b.getNamedAttr("header", b.getStringAttr(header)),
                       b.getNamedAttr("tensors", b.getArrayAttr(tensors))}));
}

StringRef WeightsFile::identity() const {
  return StringRef(header).take_front(8 + beforeHash.size() + hashDigits);
}

SmallVector<StringRef> WeightsFile::parts() const {
  static constexpr char zeros[fileAlignment] = {};
  SmallVector<StringRef> all{header};
  auto end = static_cast<int64_t>(header.size());
  for (auto [value, offset] : llvm::zip_equal(values, offsets)) {
    all.push_back(StringRef(zeros, offset - end));
    all.push_back(bytesOf(value));
    end = offset + static_cast<int64_t>(all.back().size());
  }
  return all;
}
