// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An object file of one module by two threads.
#ifndef ATTN_LIB_TARGET_GENERATEPARTS_H
#define ATTN_LIB_TARGET_GENERATEPARTS_H

#include "attn/Target/Together.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace attn::target {

/// Writes the code of `module` with LLVM's code generator.
llvm::Error emit(llvm::Module &module, llvm::TargetMachine &machine,
                 llvm::CodeGenFileType type,
                 llvm::SmallVectorImpl<char> &result);

/// Whether two threads make an object of it sooner than one.
bool isWorthParts(const llvm::Module &module);

/// The object of `module`, which is changed, for an ELF target.
llvm::Error generateParts(llvm::Module &module, llvm::TargetMachine &machine,
                          Together together,
                          llvm::SmallVectorImpl<char> &result);

} // namespace attn::target

#endif
