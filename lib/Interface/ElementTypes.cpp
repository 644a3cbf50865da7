// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Interface/ElementTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace attn;

static constexpr ElementType elementTypes[] = {
#define ATTN_ELEMENT(enumerator, code, type, name, bytes, c_type, descr)       \
  {code, type, c_type, bytes},
#include "attn-rt/elements.inc"
};

const ElementType *attn::findElementType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  const ElementType *found = llvm::find_if(
      elementTypes, [&](const ElementType &one) { return one.type == text; });
  return found == std::end(elementTypes) ? nullptr : found;
}

std::string attn::elementTypeNames() {
  std::string names;
  for (const ElementType &one : elementTypes) {
    if (&one != elementTypes)
      names += &one == std::end(elementTypes) - 1 ? " or " : ", ";
    names += one.type.str();
  }
  return names;
}
