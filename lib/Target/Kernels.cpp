// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Target/Kernels.h"

using namespace mlir;
using namespace attn;

ModuleOp target::findKernels(ModuleOp host) {
  for (auto kernels : host.getOps<ModuleOp>())
    return kernels;
  return {};
}
