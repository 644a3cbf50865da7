// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ConstantMatrix.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include <cstring>

using namespace mlir;

/// The elements of a constant that is no splat, as they lie in memory.
static ArrayRef<char> bytesOf(ElementsAttr elements) {
  if (auto dense = dyn_cast<DenseElementsAttr>(elements))
    return dense.getRawData();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      return blob->getData();
  return {};
}

ElementsAttr attn::rearrangeConstant(Value constant, RankedTensorType type,
                                     function_ref<int64_t(int64_t)> source) {
  ElementsAttr elements;
  if (!matchPattern(constant, m_Constant(&elements)) ||
      type.getNumElements() == 0)
    return {};
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (dense && dense.isSplat())
    return DenseElementsAttr::get(type, dense.getSplatValue<Attribute>());
  ArrayRef<char> from = bytesOf(elements);
  size_t bytes = type.getElementTypeBitWidth() / 8;
  if (type.getElementTypeBitWidth() % 8 ||
      from.size() != elements.getNumElements() * bytes)
    return {};
  SmallVector<char, 0> to(type.getNumElements() * bytes);
  for (int64_t i = 0, end = type.getNumElements(); i < end; ++i)
    if (int64_t j = source(i); j >= 0)
      std::memcpy(to.data() + i * bytes, from.data() + j * bytes, bytes);
  if (dense)
    return DenseElementsAttr::getFromRawBuffer(type, to);
  auto resource = cast<DenseResourceElementsAttr>(elements);
  return DenseResourceElementsAttr::get(
      type, resource.getRawHandle().getKey(),
      HeapAsmResourceBlob::allocateAndCopyWithAlign(to, /*align=*/64));
}

/// Element `index` of a constant: its bytes.
static const char *elementOf(ElementsAttr constant, ArrayRef<char> all,
                             int64_t index, size_t bytes) {
  auto dense = dyn_cast<DenseElementsAttr>(constant);
  return all.data() + (dense && dense.isSplat() ? 0 : index * bytes);
}

ElementsAttr
attn::joinConstants(ArrayRef<Value> constants, RankedTensorType type,
                    function_ref<std::pair<size_t, int64_t>(int64_t)> source) {
  SmallVector<ElementsAttr> elements(constants.size());
  SmallVector<ArrayRef<char>> from(constants.size());
  size_t bytes = type.getElementTypeBitWidth() / 8;
  DenseResourceElementsAttr resource;
  for (auto [i, constant] : llvm::enumerate(constants)) {
    if (!constant)
      continue;
    if (type.getElementTypeBitWidth() % 8 ||
        !matchPattern(constant, m_Constant(&elements[i])))
      return {};
    from[i] = bytesOf(elements[i]);
    auto dense = dyn_cast<DenseElementsAttr>(elements[i]);
    size_t count = dense && dense.isSplat() ? 1 : elements[i].getNumElements();
    if (from[i].size() != count * bytes)
      return {};
    if (auto one = dyn_cast<DenseResourceElementsAttr>(elements[i]))
      resource = one;
  }
  SmallVector<char, 0> to(type.getNumElements() * bytes);
  for (int64_t i = 0, end = type.getNumElements(); i < end; ++i)
    if (auto [part, j] = source(i); constants[part])
      std::memcpy(to.data() + i * bytes,
                  elementOf(elements[part], from[part], j, bytes), bytes);
  if (!resource)
    return DenseElementsAttr::getFromRawBuffer(type, to);
  return DenseResourceElementsAttr::get(
      type, resource.getRawHandle().getKey(),
      HeapAsmResourceBlob::allocateAndCopyWithAlign(to, /*align=*/64));
}
