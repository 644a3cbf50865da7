// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelArguments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

namespace {
/// A memref with strides.
struct Strided {
  MemRefType type;
  SmallVector<int64_t> strides;
  int64_t offset = 0;

  static std::optional<Strided> of(Type type) {
    auto memref = dyn_cast<MemRefType>(type);
    Strided strided{memref, {}};
    if (!memref ||
        failed(memref.getStridesAndOffset(strided.strides, strided.offset)))
      return std::nullopt;
    return strided;
  }
};
} // namespace

SmallVector<Type> attn::kernelArgumentTypes(Type type) {
  if (type.isIntOrFloat())
    return {type};
  auto i64 = IntegerType::get(type.getContext(), 64);
  if (isa<IndexType>(type))
    return {i64};
  std::optional<Strided> memref = Strided::of(type);
  if (!memref)
    return {};
  SmallVector<Type> types{LLVM::LLVMPointerType::get(type.getContext())};
  int64_t open = llvm::count(memref->strides, ShapedType::kDynamic);
  types.append(memref->type.getNumDynamicDims() + open, i64);
  return types;
}

Value attn::joinKernelArgument(OpBuilder &b, Location loc, Type type,
                               ValueRange parts) {
  if (isa<IndexType>(type))
    return arith::IndexCastOp::create(b, loc, type, parts[0]);
  std::optional<Strided> memref = Strided::of(type);
  if (!memref)
    return parts[0];
  int64_t rank = memref->type.getRank();
  Type i64 = b.getI64Type(), pointer = parts[0].getType();
  SmallVector<Type> fields{pointer, pointer, i64};
  if (rank > 0)
    fields.append(2, LLVM::LLVMArrayType::get(i64, rank));
  Value view = LLVM::PoisonOp::create(
      b, loc, LLVM::LLVMStructType::getLiteral(b.getContext(), fields));
  auto set = [&](Value value, ArrayRef<int64_t> place) {
    view = LLVM::InsertValueOp::create(b, loc, view, value, place);
  };
  auto number = [&](int64_t known) -> Value {
    return LLVM::ConstantOp::create(b, loc, i64, known);
  };
  set(parts[0], {0});
  set(parts[0], {1});
  set(number(ShapedType::isDynamic(memref->offset) ? 0 : memref->offset), {2});
  size_t next = 1;
  for (auto [field, numbers] :
       {std::pair<int64_t, ArrayRef<int64_t>>(3, memref->type.getShape()),
        std::pair<int64_t, ArrayRef<int64_t>>(4, memref->strides)})
    for (auto [dim, known] : llvm::enumerate(numbers))
      set(ShapedType::isDynamic(known) ? parts[next++] : number(known),
          {field, static_cast<int64_t>(dim)});
  return UnrealizedConversionCastOp::create(b, loc, type, view).getResult(0);
}

SmallVector<Value> attn::splitKernelArgument(OpBuilder &b, Location loc,
                                             Value value) {
  auto wide = [&](Value number) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), number);
  };
  if (isa<IndexType>(value.getType()))
    return {wide(value)};
  std::optional<Strided> memref = Strided::of(value.getType());
  if (!memref)
    return {value};
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, value);
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, value);
  if (ShapedType::isDynamic(memref->offset)) {
    int64_t bytes = llvm::divideCeil(memref->type.getElementTypeBitWidth(), 8);
    Value before =
        arith::MulIOp::create(b, loc, metadata.getOffset(),
                              arith::ConstantIndexOp::create(b, loc, bytes));
    address = arith::AddIOp::create(b, loc, address, before);
  }
  SmallVector<Value> parts{wide(address)};
  for (auto [size, known] :
       llvm::zip_equal(metadata.getSizes(), memref->type.getShape()))
    if (ShapedType::isDynamic(known))
      parts.push_back(wide(size));
  for (auto [stride, known] :
       llvm::zip_equal(metadata.getStrides(), memref->strides))
    if (ShapedType::isDynamic(known))
      parts.push_back(wide(stride));
  return parts;
}

LLVM::LLVMFuncOp attn::runtimeFunction(ModuleOp module, StringRef name,
                                       Type result, ArrayRef<Type> types) {
  if (auto there = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return there;
  auto b = OpBuilder::atBlockEnd(module.getBody());
  return LLVM::LLVMFuncOp::create(b, module.getLoc(), name,
                                  LLVM::LLVMFunctionType::get(result, types));
}
