// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-lower-gpu-slices: the host has the runtime read the numbers that slices
// are checked by.
//
// Before:  func.func private @layer.slices(%at: memref<?xi64, ..>, ..) -> i1 {
//            %0 = memref.load %at[%c0]
//          }
// After:   func.func private @layer.gpu_slices(%at: memref<?xi64, ..>, ..,
//              %call: !llvm.ptr) -> i1 {
//            // %address: that of the element, null where there is none
//            %0 = llvm.call @attn_rt_gpu_read(%call, %address, 8 bytes)
//          }
//
// A tensor may lie in the device's memory, from which the runtime copies the
// element, or in the host's. Checks that read nothing stay as they are.
//
// Before: buffers of the caller. After: functions @NAME.slices load nothing.
#include "KernelArguments.h"
#include "attn/Conversion/Passes.h"
#include "attn/Interface/KernelSignature.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

namespace attn {
#define GEN_PASS_DEF_LOWERGPUSLICES
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// The element's address, null where the tensor has no such element.
static Value addressOf(OpBuilder &b, memref::LoadOp load) {
  Location loc = load.getLoc();
  Value memory = load.getMemRef();
  SmallVector<OpFoldResult> at = getAsOpFoldResult(load.getIndices());
  SmallVector<OpFoldResult> ones(at.size(), b.getIndexAttr(1));
  Type type = memref::SubViewOp::inferRankReducedResultType(
      {}, load.getMemRefType(), at, ones, ones);
  Value element =
      at.empty() ? memory
                 : memref::SubViewOp::create(b, loc, cast<MemRefType>(type),
                                             memory, at, ones, ones);
  Value address = splitKernelArgument(b, loc, element).front();
  Value isThere = arith::ConstantIntOp::create(b, loc, true, 1);
  for (auto [dim, index] : llvm::enumerate(load.getIndices())) {
    Value size = memref::DimOp::create(b, loc, memory, dim);
    Value isInside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, size);
    isThere = arith::AndIOp::create(b, loc, isThere, isInside);
  }
  Value null = arith::ConstantIntOp::create(b, loc, 0, 64);
  return arith::SelectOp::create(b, loc, isThere, address, null);
}

static void readByRuntime(memref::LoadOp load, Value call) {
  OpBuilder b(load);
  Location loc = load.getLoc();
  Type type = load.getType(), ptr = call.getType(), i32 = b.getI32Type(),
       i64 = b.getI64Type();
  auto read = runtimeFunction(load->getParentOfType<ModuleOp>(),
                              "attn_rt_gpu_read", i64, {ptr, ptr, i32});
  int64_t bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  auto bytes = static_cast<int64_t>(llvm::divideCeil(bits, 8));
  Value address = LLVM::IntToPtrOp::create(b, loc, ptr, addressOf(b, load));
  Value count = LLVM::ConstantOp::create(b, loc, i32, bytes);
  Value number =
      LLVM::CallOp::create(b, loc, read, ValueRange{call, address, count})
          .getResult();
  if (type.isIndex())
    number = arith::IndexCastOp::create(b, loc, type, number);
  else if (bits < 64)
    number = arith::TruncIOp::create(b, loc, b.getIntegerType(bits), number);
  if (number.getType() != type)
    number = arith::BitcastOp::create(b, loc, type, number);
  load.replaceAllUsesWith(number);
  load.erase();
}

/// Whether the memory is the caller's.
static bool isArgument(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return isa<BlockArgument>(memory);
}

static void lower(const KernelSignature &kernel) {
  func::FuncOp slices = kernel.lookup(Part::Slices);
  SmallVector<memref::LoadOp> loads;
  if (slices)
    slices.walk([&](memref::LoadOp load) {
      if (isArgument(load.getMemRef()))
        loads.push_back(load);
    });
  if (loads.empty())
    return;
  Type ptr = LLVM::LLVMPointerType::get(slices.getContext());
  unsigned last = slices.getNumArguments();
  if (failed(slices.insertArgument(last, ptr, {}, slices.getLoc())))
    llvm_unreachable("a function takes any argument");
  Value call = slices.getArgument(last);
  slices.setName(partName(kernel.getName(), Part::GPUSlices));
  for (memref::LoadOp load : loads)
    readByRuntime(load, call);
}

namespace {
struct LowerGPUSlices : attn::impl::LowerGPUSlicesBase<LowerGPUSlices> {
  void runOnOperation() override {
    for (const KernelSignature &kernel : KernelSignature::all(getOperation()))
      lower(kernel);
  }
};
} // namespace
