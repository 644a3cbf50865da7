// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Large constants move to a file that the runtime maps.
//
// Before:  memref.global constant @w : memref<8x64x48xf32> = dense<..>
//          func.func private @mha.items(..) {
//            %w = memref.get_global @w : memref<8x64x48xf32>
//          }
// After:   llvm.mlir.global internal @attn.weights() : !llvm.struct<..>
//          func.func private @mha.items(..) {
//            %file = llvm.load @attn.weights[data]
//            %at = llvm.getelementptr %file[64]
//            %w = builtin.unrealized_conversion_cast ..
//          }
// and the module keeps what the file holds (WeightsFile.h).
//
// The entries map the file before they run a kernel (attn-emit-entry), so what
// computes sizes, operations and slices, which needs no file, keeps its
// constants. So do those of less than `least` bytes, which would not be worth a
// page of memory, and those of one number.
//
// Before: loops are functions, on buffers. After: the same.
#include "Entry/Entry.h"
#include "attn-rt/weights.h"
#include "attn/Interface/KernelSignature.h"
#include "attn/Interface/Passes.h"
#include "attn/Interface/WeightsFile.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringSet.h"
#include <cstddef>

namespace attn {
#define GEN_PASS_DEF_EXTERNALIZEWEIGHTS
#include "attn/Interface/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// A constant that moves, and where it is read.
struct Moved {
  memref::GlobalOp global;
  SmallVector<memref::GetGlobalOp> readers;
};

struct ExternalizeWeights
    : attn::impl::ExternalizeWeightsBase<ExternalizeWeights> {
  using ExternalizeWeightsBase::ExternalizeWeightsBase;

  void runOnOperation() override;

private:
  std::vector<Moved> collect();
  void emitGlobal(const WeightsFile &file);
  void read(memref::GetGlobalOp reader, int64_t offset);
};
} // namespace

/// The large constants that only kernels read.
std::vector<Moved> ExternalizeWeights::collect() {
  std::vector<Moved> all;
  llvm::StringMap<size_t> numbers;
  for (auto global : getOperation().getOps<memref::GlobalOp>()) {
    auto value = dyn_cast_or_null<ElementsAttr>(
        global.getInitialValue().value_or(Attribute()));
    if (!global.getConstant() || !value || !WeightsFile::takes(value))
      continue;
    int64_t bytes = value.getNumElements() *
                    (value.getElementType().getIntOrFloatBitWidth() / 8);
    if (bytes < least)
      continue;
    numbers[global.getSymName()] = all.size();
    all.push_back({global, {}});
  }
  llvm::DenseSet<Operation *> others;
  for (const KernelSignature &kernel : KernelSignature::all(getOperation()))
    for (Part part : {Part::Workspace, Part::Flops, Part::Slices})
      others.insert(kernel.lookup(part));
  getOperation().walk([&](memref::GetGlobalOp reader) {
    auto number = numbers.find(reader.getName());
    if (number == numbers.end())
      return;
    Moved &moved = all[number->second];
    if (others.contains(reader->getParentOfType<func::FuncOp>()))
      moved.global = {};
    else
      moved.readers.push_back(reader);
  });
  llvm::erase_if(all, [](const Moved &one) { return !one.global; });
  return all;
}

/// The names of the tensors that they were, as far as these are known.
static std::vector<WeightsFile::Tensor> tensorsOf(ArrayRef<Moved> all) {
  std::vector<WeightsFile::Tensor> tensors;
  llvm::StringSet<> names;
  for (const Moved &moved : all) {
    memref::GlobalOp global = moved.global;
    auto value = cast<ElementsAttr>(*global.getInitialValue());
    std::string name = global.getSymName().str();
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
      name = resource.getRawHandle().getKey().str();
    while (!names.insert(name).second)
      name += "_";
    tensors.push_back({name, value});
  }
  return tensors;
}

/// The attn_rt_weights of the object.
void ExternalizeWeights::emitGlobal(const WeightsFile &file) {
  entry::Emitter e(getOperation().getLoc(), getOperation());
  LLVM::GlobalOp where = e.bytes((weightsGlobal + ".path").str(),
                                 file.path().str() + '\0'),
                 begin =
                     e.bytes((weightsGlobal + ".begin").str(), file.identity());
  auto type = LLVM::LLVMStructType::getLiteral(
      e.b.getContext(), {e.ptr, e.ptr, e.i64, e.i64, e.ptr});
  auto global = LLVM::GlobalOp::create(e.b, type, /*isConstant=*/false,
                                       LLVM::Linkage::Internal, weightsGlobal,
                                       Attribute());
  e.b.createBlock(&global.getInitializerRegion());
  Value value = LLVM::ZeroOp::create(e.b, type);
  Value fields[] = {
      e.address(where), e.address(begin),
      e.constant(e.i64, static_cast<int64_t>(file.identity().size())),
      e.constant(e.i64, file.bytes())};
  for (auto [i, field] : llvm::enumerate(fields))
    value =
        LLVM::InsertValueOp::create(e.b, value, field, static_cast<int64_t>(i));
  e.returnValue(value);
}

/// The memref of a constant at `offset` of the file.
void ExternalizeWeights::read(memref::GetGlobalOp reader, int64_t offset) {
  OpBuilder b(reader);
  Location loc = reader.getLoc();
  LowerToLLVMOptions options(&getContext());
  options.overrideIndexBitwidth(64);
  LLVMTypeConverter types(&getContext(), options);
  auto pointer = LLVM::LLVMPointerType::get(&getContext());
  auto behind = [&](Value base, int64_t bytes) -> Value {
    Value distance = LLVM::ConstantOp::create(b, loc, b.getI64Type(), bytes);
    return LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{distance});
  };
  Value weights = LLVM::AddressOfOp::create(b, loc, pointer, weightsGlobal);
  Value file = LLVM::LoadOp::create(
      b, loc, pointer, behind(weights, offsetof(attn_rt_weights, data)));
  auto type = cast<MemRefType>(reader.getType());
  Value descriptor = MemRefDescriptor::fromStaticShape(b, loc, types, type,
                                                       behind(file, offset));
  Value memory =
      UnrealizedConversionCastOp::create(b, loc, type, descriptor).getResult(0);
  reader.replaceAllUsesWith(memory);
  reader.erase();
}

void ExternalizeWeights::runOnOperation() {
  std::vector<Moved> all = collect();
  if (all.empty())
    return;
  WeightsFile file(path, tensorsOf(all));
  emitGlobal(file);
  for (auto [i, moved] : llvm::enumerate(all)) {
    for (memref::GetGlobalOp reader : moved.readers)
      read(reader, file.offset(i));
    moved.global.erase();
  }
  file.keepIn(getOperation());
}
