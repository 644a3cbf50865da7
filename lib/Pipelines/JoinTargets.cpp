// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One object with code for a processor and for a GPU:
//
//   @mha.kernel  +  @mha.kernel of the GPU's module, which launches  ->
//       @mha.kernel, @mha.gpu_kernel, module @kernels { .. }
#include "attn/Interface/KernelSignature.h"
#include "attn/Pipelines/Phases.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attn;

/// Constants of both modules have names of one kind, and other contents.
static void renameConstants(ModuleOp device) {
  SymbolTable table(device);
  SmallVector<memref::GlobalOp> globals(device.getOps<memref::GlobalOp>());
  for (memref::GlobalOp global : globals) {
    std::string name = (global.getSymName() + ".gpu").str();
    device.walk([&](memref::GetGlobalOp use) {
      if (use.getName() == global.getSymName())
        use.setName(name);
    });
    global.setSymName(name);
  }
}

void attn::joinTargets(ModuleOp host, ModuleOp device) {
  renameConstants(device);
  SmallVector<Operation *> moved;
  for (const KernelSignature &kernel : KernelSignature::all(device)) {
    std::string name = kernel.getName().str();
    func::FuncOp launches = kernel.getFunction();
    func::FuncOp workspace = kernel.lookup(Part::Workspace);
    func::FuncOp slices = kernel.lookup(Part::GPUSlices);
    launches->removeAttr(launchesAttr);
    launches.setName(partName(name, Part::GPUKernel));
    workspace.setName(partName(name, Part::GPUWorkspace));
    launches->removeAttr(PortAttr::functionAttr);
    llvm::append_range(moved, ArrayRef<Operation *>{launches, workspace});
    if (slices)
      moved.push_back(slices);
  }
  for (Operation &op : *device.getBody())
    if (isa<ModuleOp, memref::GlobalOp, LLVM::LLVMFuncOp>(op))
      moved.push_back(&op);
  for (Operation *op : moved) {
    auto name = SymbolTable::getSymbolName(op);
    if (!isa<LLVM::LLVMFuncOp>(op) || !host.lookupSymbol(name))
      op->moveBefore(host.getBody(), host.getBody()->end());
  }
}
