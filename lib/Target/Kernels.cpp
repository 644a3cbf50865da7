// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Target/Kernels.h"
#include "attn/Interface/KernelSignature.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace attn;

ModuleOp target::findKernels(ModuleOp host) {
  for (auto kernels : host.getOps<ModuleOp>())
    return kernels;
  return {};
}

OwningOpRef<ModuleOp> target::withoutKernels(ModuleOp host) {
  OwningOpRef<ModuleOp> copy = host.clone();
  if (ModuleOp kernels = findKernels(*copy))
    kernels.erase();
  return copy;
}

/// Defines the global of this name, which is declared without bytes; an empty
/// one has the address 0.
static void define(llvm::Module &host, llvm::StringRef name,
                   llvm::Constant *bytes) {
  llvm::GlobalVariable *declared = host.getGlobalVariable(name);
  if (!declared)
    return;
  llvm::Constant *address = llvm::Constant::getNullValue(declared->getType());
  if (bytes) {
    auto *defined =
        new llvm::GlobalVariable(host, bytes->getType(), /*isConstant=*/true,
                                 llvm::GlobalValue::PrivateLinkage, bytes, "");
    defined->takeName(declared);
    defined->setAlignment(llvm::Align(16));
    address = defined;
  }
  declared->replaceAllUsesWith(address);
  declared->eraseFromParent();
}

void target::embedKernels(llvm::Module &host, llvm::StringRef ptx,
                          llvm::StringRef cubin) {
  auto bytes = [&](llvm::StringRef data, bool withNull) {
    return llvm::ConstantDataArray::getString(host.getContext(), data,
                                              withNull);
  };
  define(host, gpuPTX, bytes(ptx, true));
  define(host, gpuCubin, cubin.empty() ? nullptr : bytes(cubin, false));
}
