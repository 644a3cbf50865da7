// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sass-dump FILE.cubin: what readCubin finds, an instruction a line, and the
// loops of each kernel:
//   KERNEL PLACE NAME BYTES FLOPS [TARGET]
//   loop KERNEL FIRST LAST slots=N products=N ..
#include "attn/Target/KernelModel.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  auto file = llvm::MemoryBuffer::getFile(argc == 2 ? argv[1] : "");
  if (!file) {
    llvm::errs() << "usage: sass-dump FILE.cubin\n";
    return 2;
  }
  auto kernels = attn::target::readCubin((*file)->getBuffer());
  if (!kernels) {
    llvm::errs() << llvm::toString(kernels.takeError()) << "\n";
    return 1;
  }
  for (const attn::target::SassKernel &kernel : *kernels) {
    for (const attn::target::LoopMix &mix : attn::target::loopsOf(kernel))
      llvm::outs() << "loop " << kernel.name << " " << mix.first << " "
                   << mix.last << " slots=" << mix.slots
                   << " products=" << mix.products
                   << " ldmatrix=" << mix.loadMatrix << " copies=" << mix.copies
                   << " f32=" << mix.fma << " alu=" << mix.alu
                   << " special=" << mix.special << " barriers=" << mix.barriers
                   << " shared=" << mix.sharedBytes
                   << " global=" << mix.globalBytes << "\n";
    for (size_t i = 0; i < kernel.code.size(); ++i) {
      const attn::target::SassInstruction &at = kernel.code[i];
      llvm::outs() << kernel.name << " " << i << " " << at.name << " "
                   << at.bytes << " " << at.flops;
      if (at.target)
        llvm::outs() << " " << *at.target;
      llvm::outs() << "\n";
    }
  }
  return 0;
}
