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

Value entry::makeMemRef(Emitter &e, Value args, const Port &port, Type type) {
  int64_t rank = port.attr.getRank();
  SmallVector<Type> fields{e.ptr, e.ptr, e.i64};
  if (rank)
    fields.append(2, LLVM::LLVMArrayType::get(e.i64, rank));
  Value descriptor = LLVM::UndefOp::create(
      e.b, LLVM::LLVMStructType::getLiteral(e.b.getContext(), fields));
  auto insert = [&](Value value, ArrayRef<int64_t> position) {
    descriptor = LLVM::InsertValueOp::create(e.b, descriptor, value, position);
  };
  Value data = e.load(e.ptr, args, ArgsLayout::data(port));
  insert(data, 0);
  insert(data, 1);
  insert(e.constant(e.i64, 0), 2);
  for (int64_t dim = 0; dim < rank; ++dim) {
    insert(e.load(e.i64, args, ArgsLayout::shape(port, dim)), {3, dim});
    insert(e.load(e.i64, args, ArgsLayout::stride(port, dim)), {4, dim});
  }
  return UnrealizedConversionCastOp::create(e.b, type, descriptor).getResult(0);
}

Value entry::makeBuffer(Emitter &e, Value data, Value bytes, Type type) {
  auto array = LLVM::LLVMArrayType::get(e.i64, 1);
  Value descriptor = LLVM::UndefOp::create(
      e.b, LLVM::LLVMStructType::getLiteral(
               e.b.getContext(), {e.ptr, e.ptr, e.i64, array, array}));
  std::pair<Value, SmallVector<int64_t>> fields[] = {
      {data, {0}},
      {data, {1}},
      {e.constant(e.i64, 0), {2}},
      {bytes, {3, 0}},
      {e.constant(e.i64, 1), {4, 0}}};
  for (auto &[value, position] : fields)
    descriptor = LLVM::InsertValueOp::create(e.b, descriptor, value, position);
  return UnrealizedConversionCastOp::create(e.b, type, descriptor).getResult(0);
}
