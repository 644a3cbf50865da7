// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants that change their shape when the model is read, and not when the
// kernel runs.
#include "TensorBuilder.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn::onnx;

/// The bytes of a constant that is no splat; of booleans there are none.
static ArrayRef<char> bytesOf(ElementsAttr contents) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(contents)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return blob ? blob->getData() : ArrayRef<char>();
  }
  auto dense = dyn_cast<DenseElementsAttr>(contents);
  bool isBits = contents.getElementType().isInteger(1);
  return dense && !dense.isSplat() && !isBits ? dense.getRawData()
                                              : ArrayRef<char>();
}

static ElementsAttr withBytes(ElementsAttr like, RankedTensorType type,
                              ArrayRef<char> bytes) {
  if (isa<DenseResourceElementsAttr>(like))
    return DenseResourceElementsAttr::get(
        type, "onnx",
        HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, /*align=*/64,
                                                      /*dataIsMutable=*/false));
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

ElementsAttr attn::onnx::reshaped(ElementsAttr contents,
                                  ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, contents.getElementType());
  if (auto dense = dyn_cast<DenseElementsAttr>(contents))
    return dense.reshape(type);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(contents))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  return {};
}

ElementsAttr attn::onnx::transposed(ElementsAttr contents,
                                    ArrayRef<int64_t> permutation) {
  auto type = cast<RankedTensorType>(contents.getType());
  SmallVector<int64_t> shape, strides(type.getRank(), 1), moved;
  for (int64_t i = type.getRank() - 1; i > 0; --i)
    strides[i - 1] = strides[i] * type.getDimSize(i);
  for (int64_t from : permutation) {
    shape.push_back(type.getDimSize(from));
    moved.push_back(strides[from]);
  }
  auto result = RankedTensorType::get(shape, type.getElementType());
  if (auto dense = dyn_cast<DenseElementsAttr>(contents);
      dense && dense.isSplat())
    return dense.resizeSplat(result);
  ArrayRef<char> bytes = bytesOf(contents);
  size_t width = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  if (bytes.size() != width * type.getNumElements())
    return {};
  std::vector<char> data(bytes.size());
  SmallVector<int64_t> at(shape.size(), 0);
  size_t from = 0;
  for (size_t to = 0; to < data.size(); to += width) {
    std::copy_n(&bytes[from * width], width, &data[to]);
    // The next index, as an odometer counts.
    for (size_t i = shape.size(); i-- > 0;) {
      from += moved[i];
      if (++at[i] < shape[i])
        break;
      from -= moved[i] * shape[i];
      at[i] = 0;
    }
  }
  return withBytes(contents, result, data);
}

ElementsAttr attn::onnx::partOf(ElementsAttr contents, int64_t offset,
                                int64_t size) {
  auto type = cast<RankedTensorType>(contents.getType());
  SmallVector<int64_t> shape(type.getShape());
  int64_t all = std::exchange(shape.front(), size);
  if (offset < 0 || size < 0 || size > all || offset > all - size)
    return {};
  auto result = RankedTensorType::get(shape, type.getElementType());
  if (auto dense = dyn_cast<DenseElementsAttr>(contents);
      dense && dense.isSplat())
    return dense.resizeSplat(result);
  ArrayRef<char> bytes = bytesOf(contents);
  size_t width = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  if (bytes.size() != width * type.getNumElements() || all == 0)
    return {};
  size_t part = bytes.size() / all;
  return withBytes(contents, result, bytes.slice(offset * part, size * part));
}

std::optional<SmallVector<int64_t>>
attn::onnx::integersOf(ElementsAttr contents) {
  auto dense = dyn_cast_or_null<DenseIntElementsAttr>(contents);
  if (!dense)
    return std::nullopt;
  bool isBool = dense.getElementType().isInteger(1);
  SmallVector<int64_t> values;
  for (const APInt &value : dense.getValues<APInt>())
    values.push_back(isBool ? value.getZExtValue() : value.getSExtValue());
  return values;
}
