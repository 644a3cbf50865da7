// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Entry.h"

using namespace mlir;
using namespace attn;
using namespace attn::entry;

SmallVector<Port> entry::portsOf(Operation *function) {
  SmallVector<Port> ports;
  for (auto [index, attr] : llvm::enumerate(PortAttr::of(function)))
    ports.push_back({static_cast<int64_t>(index), attr});
  return ports;
}

Emitter::Emitter(Location loc, ModuleOp module)
    : b(loc, module.getContext()), module(module),
      ptr(LLVM::LLVMPointerType::get(module.getContext())), i8(b.getI8Type()),
      i32(b.getI32Type()), i64(b.getI64Type()) {
  b.setInsertionPointToEnd(module.getBody());
}

Value Emitter::constant(Type type, int64_t value) {
  return LLVM::ConstantOp::create(b, type, b.getIntegerAttr(type, value));
}

Value Emitter::null() { return LLVM::ZeroOp::create(b, ptr); }

Value Emitter::load(Type type, Value base, int64_t offset) {
  Value address = LLVM::GEPOp::create(
      b, ptr, i8, base, LLVM::GEPArg(static_cast<int32_t>(offset)));
  return LLVM::LoadOp::create(b, type, address);
}

void Emitter::store(Value value, Value base, int64_t offset) {
  Value address = LLVM::GEPOp::create(
      b, ptr, i8, base, LLVM::GEPArg(static_cast<int32_t>(offset)));
  LLVM::StoreOp::create(b, value, address);
}

Value Emitter::compare(LLVM::ICmpPredicate predicate, Value a, Value c) {
  return LLVM::ICmpOp::create(b, predicate, a, c);
}

Value Emitter::compare(LLVM::ICmpPredicate predicate, Value a, int64_t c) {
  return compare(predicate, a, constant(a.getType(), c));
}

Value Emitter::select(Value condition, Value a, Value c) {
  return LLVM::SelectOp::create(b, condition, a, c);
}

LLVM::LLVMFuncOp Emitter::declare(StringRef name, Type result,
                                  ArrayRef<Type> arguments) {
  if (auto there = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return there;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(module.getBody());
  return LLVM::LLVMFuncOp::create(
      b, name, LLVM::LLVMFunctionType::get(result, arguments));
}

Value Emitter::call(LLVM::LLVMFuncOp callee, ArrayRef<Value> arguments) {
  auto call = LLVM::CallOp::create(b, callee, arguments);
  return call.getNumResults() ? call.getResult() : Value();
}

Value Emitter::begin(LLVM::LLVMFuncOp function) {
  b.setInsertionPointToStart(function.addEntryBlock(b));
  return function.getNumArguments() ? Value(function.getArgument(0)) : Value();
}

void Emitter::returnIf(Value condition, Value value) {
  Block *here = b.getInsertionBlock();
  Region *region = here->getParent();
  Block *leave = b.createBlock(region, region->end());
  LLVM::ReturnOp::create(b, value);
  Block *next = b.createBlock(region, region->end());
  b.setInsertionPointToEnd(here);
  LLVM::CondBrOp::create(b, condition, leave, next);
  b.setInsertionPointToEnd(next);
}

void Emitter::returnValue(Value value) { LLVM::ReturnOp::create(b, value); }

LLVM::GlobalOp Emitter::bytes(StringRef name, StringRef data) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMArrayType::get(i8, data.size());
  return LLVM::GlobalOp::create(b, type, /*isConstant=*/true,
                                LLVM::Linkage::Private, name,
                                b.getStringAttr(data));
}

Value Emitter::address(LLVM::GlobalOp global) {
  return LLVM::AddressOfOp::create(b, global);
}
