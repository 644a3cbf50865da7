// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-lower-gpu-launches: the host has the runtime launch kernels.
//
// Before:  func.func private @norm.kernel(%x: memref<?x64xf32, ..>, .., %call)
// {
//            %scale = memref.get_global @scale : memref<64xf32>
//            gpu.launch_func @kernels::@norm_0 blocks in (%blocks, 1, 1)
//                threads in (128, 1, 1) args(%x, %scale)
//          }
// After:   func.func private @norm.kernel(..) {
//            %there = llvm.call @attn_rt_gpu_constant(%call, %scale's address,
//                256 bytes)
//            // %sizes: grid, block, shared memory; %slots: 8 bytes for each
//            // address, size, stride and number
//            llvm.call @attn_rt_gpu_launch(%call, 0, %sizes, %slots, 4)
//          }
//
// A kernel has the number of its place in the module. KernelArguments.h says
// what stands for an argument. Constants of the module lie in the host's
// memory; the runtime keeps a copy of each on the device.
//
// The function says that it is one for a GPU (attn.launches).
//
// Before: buffers have their place in the work space. After: no gpu.launch_func
// is left, and the host's function is one of a CPU.
#include "KernelArguments.h"
#include "attn/Conversion/Passes.h"
#include "attn/Interface/KernelSignature.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

namespace attn {
#define GEN_PASS_DEF_LOWERGPULAUNCHES
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// Lowers what one function of the host does.
class HostLowering {
public:
  HostLowering(KernelSignature kernel, const llvm::StringMap<int64_t> &numbers)
      : kernel(kernel), numbers(numbers), b(kernel.getFunction().getContext()),
        ptr(LLVM::LLVMPointerType::get(b.getContext())), i32(b.getI32Type()),
        i64(b.getI64Type()) {}

  void lower();

private:
  Value number(Type type, int64_t value) {
    return LLVM::ConstantOp::create(b, loc, type, value);
  }
  LLVM::LLVMFuncOp declare(StringRef name, Type result, ArrayRef<Type> types) {
    auto module = kernel.getFunction()->getParentOfType<ModuleOp>();
    return runtimeFunction(module, name, result, types);
  }
  Value room(ArrayRef<Value> values);
  void lower(gpu::LaunchFuncOp launch);
  void lower(memref::GetGlobalOp global);

  KernelSignature kernel;
  const llvm::StringMap<int64_t> &numbers;
  OpBuilder b;
  Type ptr, i32, i64;
  Location loc = kernel.getFunction().getLoc();
};
} // namespace

/// Memory of the function's that holds these values, 8 bytes each.
Value HostLowering::room(ArrayRef<Value> values) {
  Value memory;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&kernel.getFunction().front());
    memory = LLVM::AllocaOp::create(
        b, loc, ptr, i64, number(i64, std::max<int64_t>(1, values.size())),
        /*alignment=*/8);
  }
  for (auto [place, value] : llvm::enumerate(values)) {
    Value slot = LLVM::GEPOp::create(b, loc, ptr, i64, memory,
                                     LLVM::GEPArg(static_cast<int32_t>(place)));
    LLVM::StoreOp::create(b, loc, value, slot);
  }
  return memory;
}

void HostLowering::lower(gpu::LaunchFuncOp launch) {
  b.setInsertionPoint(launch);
  loc = launch.getLoc();
  SmallVector<Value> sizes;
  for (gpu::KernelDim3 dims :
       {launch.getGridSizeOperandValues(), launch.getBlockSizeOperandValues()})
    for (Value size : {dims.x, dims.y, dims.z})
      sizes.push_back(splitKernelArgument(b, loc, size).front());
  Value shared = launch.getDynamicSharedMemorySize();
  sizes.push_back(shared ? LLVM::ZExtOp::create(b, loc, i64, shared).getResult()
                         : number(i64, 0));
  SmallVector<Value> slots;
  for (Value argument : launch.getKernelOperands())
    llvm::append_range(slots, splitKernelArgument(b, loc, argument));
  auto call =
      declare("attn_rt_gpu_launch", LLVM::LLVMVoidType::get(b.getContext()),
              {ptr, i32, ptr, ptr, i32});
  Value kernelNumber =
      number(i32, numbers.lookup(launch.getKernelName().getValue()));
  Value count = number(i32, static_cast<int64_t>(slots.size()));
  LLVM::CallOp::create(b, loc, call,
                       ValueRange{kernel.getCall(), kernelNumber, room(sizes),
                                  room(slots), count});
  launch.erase();
}

/// All that kernels read is the device's.
void HostLowering::lower(memref::GetGlobalOp global) {
  b.setInsertionPointAfter(global);
  loc = global.getLoc();
  MemRefType type = global.getType();
  auto there = declare("attn_rt_gpu_constant", ptr, {ptr, ptr, i64});
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(
      b, loc, global.getResult());
  Operation *first = address.getDefiningOp();
  Value wide = arith::IndexCastOp::create(b, loc, i64, address);
  Value host = LLVM::IntToPtrOp::create(b, loc, ptr, wide);
  int64_t bytes = type.getNumElements() *
                  llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  Value device =
      LLVM::CallOp::create(
          b, loc, there, ValueRange{kernel.getCall(), host, number(i64, bytes)})
          .getResult();
  Value view = joinKernelArgument(b, loc, type, device);
  global.getResult().replaceUsesWithIf(view, [&](OpOperand &use) {
    return use.getOwner() != first && !isa<memref::LoadOp>(use.getOwner());
  });
}

void HostLowering::lower() {
  SmallVector<memref::GetGlobalOp> globals;
  SmallVector<gpu::LaunchFuncOp> launches;
  kernel.getFunction().walk([&](Operation *op) {
    if (auto global = dyn_cast<memref::GetGlobalOp>(op))
      globals.push_back(global);
    if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
      launches.push_back(launch);
  });
  for (memref::GetGlobalOp global : globals)
    lower(global);
  for (gpu::LaunchFuncOp launch : launches)
    lower(launch);
  kernel.getFunction()->setAttr(launchesAttr, b.getUnitAttr());
}

namespace {
struct LowerGPULaunches : attn::impl::LowerGPULaunchesBase<LowerGPULaunches> {
  void runOnOperation() override {
    llvm::StringMap<int64_t> numbers;
    for (auto kernels : getOperation().getOps<gpu::GPUModuleOp>())
      for (auto function : kernels.getOps<gpu::GPUFuncOp>())
        if (function.isKernel())
          numbers.try_emplace(function.getName(), numbers.size());
    for (KernelSignature kernel : KernelSignature::all(getOperation()))
      HostLowering(kernel, numbers).lower();
  }
};
} // namespace
