// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a module in the LLVM dialect to LLVM IR, assembly and object code.
#ifndef ATTN_TARGET_CODEGEN_H
#define ATTN_TARGET_CODEGEN_H

#include "attn/Target/Together.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace attn::target {

/// What code is made for.
struct Processor {
  std::unique_ptr<llvm::TargetMachine> machine;
  /// What the tile sizes follow from: f32 values in a vector register, vector
  /// registers, independent FMA that hide the latency, and bytes of the level-1
  /// data cache.
  int64_t lanes, registers, chains, l1Bytes;
  /// Independent dot products of bf16 pairs that hide their latency; 0 where
  /// there are none, or none that are worth it.
  int64_t pairChains = 0;
  /// Instructions that it has: scalef on 16 f32, conversions between f16 and
  /// f32, rounding of f32 to bf16 and dot products of pairs, products of tiles
  /// of bf16, FMA by one lane of a register.
  bool scalef = false, f16 = false, bf16 = false, amx = false;
  bool laneProducts = false;
  /// Whether programs for it run on this machine, as far as its kind goes.
  bool isHost;
  /// Whether its kernels are PTX, which chip of NVIDIA's it is, and how much
  /// shared memory a block can have.
  bool isGPU = false;
  std::string chip;
  int64_t sharedBytes = 0;

  /// The chip, or LLVM's name of the processor.
  std::string name() const;

  Processor();
  Processor(Processor &&);
  Processor &operator=(Processor &&);
  ~Processor();
};

/// The processor to choose instructions for on a machine with these features,
/// which a table of families and models calls `named`. A hypervisor may give
/// another model: tiles that it does not have show that.
std::string processorWith(const llvm::StringMap<bool> &features,
                          llvm::StringRef named);

/// Whether this machine has the vector instructions of `processor`, so that its
/// kernels run here.
bool runsHere(const Processor &processor);

/// The processor that --target names: `native`, `aarch64`, or a processor of
/// LLVM's (`x86-64-v3`, `znver5`, `neoverse-v2`); or a chip of
/// Chips.h (`sm_80`). `features` are what it has (`+f16c`) and lacks, as where
/// a hypervisor hides tiles (`-amx-tile`); of `native` they are asked for.
llvm::Expected<Processor> findProcessor(llvm::StringRef name,
                                        llvm::StringRef features = "");

/// How much LLVM optimizes, 0 to 3; 3 unless told, and at least 1 for tiles of
/// AMX.
void setCodeGenLevel(Processor &processor, unsigned level);

/// States the processor's triple and data layout on the module; passes that
/// lower to the LLVM dialect read them.
void setTarget(mlir::ModuleOp module, const Processor &processor);

/// Reports what it cannot translate at the op and returns null then.
std::unique_ptr<llvm::Module> translate(mlir::ModuleOp module,
                                        const Processor &processor,
                                        llvm::LLVMContext &context);

enum class Code { LLVM, Assembly, Object };
/// Optimizes for the processor, but without LLVM's passes on IR: the vector
/// code is as it should be, and unrolling it again makes it spill. The module
/// is used up. Threads change no byte.
llvm::Error generate(llvm::Module &module, const Processor &processor,
                     Code code, Together together,
                     llvm::SmallVectorImpl<char> &result);

} // namespace attn::target

#endif
