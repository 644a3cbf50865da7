// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NAME_strerror: what a status means.
#include "Entry.h"
#include "attn/Interface/CNames.h"

using namespace mlir;
using namespace attn;
using namespace attn::entry;

/// All texts in one string, and a table of where each begins: no relocations.
void entry::emitStrerror(Emitter &e, StringRef name,
                         ArrayRef<std::string> texts) {
  std::string all;
  SmallVector<int32_t> begins;
  for (StringRef text : texts) {
    begins.push_back(static_cast<int32_t>(all.size()));
    all += text.str() + '\0';
  }
  int32_t unknown = static_cast<int32_t>(all.size());
  all += std::string("unknown status") + '\0';
  LLVM::GlobalOp strings = e.bytes((name + ".status_texts").str(), all);
  auto function = e.declare(cName(name, CName::Strerror), e.ptr, e.i32);
  int64_t count = static_cast<int64_t>(begins.size());
  e.b.setInsertionPointToEnd(e.module.getBody());
  auto table = LLVM::GlobalOp::create(
      e.b, LLVM::LLVMArrayType::get(e.i32, count), /*isConstant=*/true,
      LLVM::Linkage::Private, (name + ".status_begins").str(),
      DenseElementsAttr::get(RankedTensorType::get(count, e.i32),
                             ArrayRef<int32_t>(begins)));
  Value status = e.begin(function);
  Value index = LLVM::SubOp::create(e.b, e.constant(e.i32, 0), status);
  Value base = e.address(strings);
  auto at = [&](Value base, Type element, Value index) -> Value {
    return LLVM::GEPOp::create(e.b, e.ptr, element, base, LLVM::GEPArg(index));
  };
  // One statement per op where order is free: both compilers emit the same.
  Value isUnknown = e.compare(LLVM::ICmpPredicate::uge, index, count);
  e.returnIf(isUnknown, at(base, e.i8, e.constant(e.i64, unknown)));
  Value wide = LLVM::ZExtOp::create(e.b, e.i64, index);
  Value begin =
      LLVM::LoadOp::create(e.b, e.i32, at(e.address(table), e.i32, wide));
  e.returnValue(at(base, e.i8, LLVM::ZExtOp::create(e.b, e.i64, begin)));
}
