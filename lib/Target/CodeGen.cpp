// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Target/CodeGen.h"
#include "GenerateParts.h"
#include "ShortenSums.h"
#include "attn/Target/Chips.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include <unistd.h>

using namespace attn;
using namespace attn::target;
using llvm::StringRef;

Processor::Processor() = default;
Processor::Processor(Processor &&) = default;
Processor &Processor::operator=(Processor &&) = default;
Processor::~Processor() = default;

std::string Processor::name() const {
  return isGPU ? chip : machine->getTargetCPU().str();
}

static void initializeTargets() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
}

/// Whether a processor of this name has tiles, which a hypervisor may hide.
static bool isMadeWithTiles(StringRef cpu) {
  llvm::SmallVector<StringRef> features;
  if (llvm::X86::parseArchX86(cpu) != llvm::X86::CK_None)
    llvm::X86::getFeaturesForCPU(cpu, features);
  return llvm::is_contained(features, "amx-tile");
}

std::string target::processorWith(const llvm::StringMap<bool> &features,
                                  StringRef named) {
  if (!features.lookup("amx-tile"))
    return named.str();
  return isMadeWithTiles(named) ? named.str() : "sapphirerapids";
}

static std::unique_ptr<llvm::TargetMachine>
createMachine(const llvm::Triple &triple, StringRef cpu, StringRef features) {
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  // The linker drops what a program does not call.
  options.FunctionSections = true;
  options.DataSections = true;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpu, features, options, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
}

static std::unique_ptr<llvm::TargetMachine>
createHostMachine(const llvm::Triple &host) {
  llvm::StringMap<bool> present = llvm::sys::getHostCPUFeatures();
  llvm::SubtargetFeatures features;
  for (const auto &[name, enabled] : present)
    features.AddFeature(name, enabled);
  return createMachine(host,
                       processorWith(present, llvm::sys::getHostCPUName()),
                       features.getString());
}

/// Whether the processor starts one multiply-add of 512 bits per cycle, half as
/// many as others with AVX-512: it has one pipe of that width, or two of 256
/// bits. LLVM's own models say so of too many.
static bool startsOneFmaPerCycle(StringRef cpu) {
  return llvm::is_contained(
      {"znver4", "cannonlake", "icelake-client", "tigerlake", "rocketlake"},
      cpu);
}

/// Numbers of include/attn/Target/CodeGen.h, measured (docs/measurements)
/// or derived them.
static void describeVectors(Processor &processor) {
  const llvm::MCSubtargetInfo &info = *processor.machine->getMCSubtargetInfo();
  processor.l1Bytes = 32768;
  if (processor.machine->getTargetTriple().isAArch64()) {
    processor.lanes = 4;
    processor.registers = 32;
    processor.chains = 16;
    processor.f16 = true;
    processor.laneProducts = true;
    return;
  }
  bool avx512 = info.checkFeatures("+avx512f");
  bool avx2 = info.checkFeatures("+avx2") && info.checkFeatures("+fma");
  processor.lanes = avx512 ? 16 : avx2 ? 8 : 4;
  processor.registers = avx512 ? 32 : 16;
  bool oneFma =
      avx512 && startsOneFmaPerCycle(processor.machine->getTargetCPU());
  processor.chains = oneFma ? 4 : 8; // latency 4
  processor.scalef = avx512;
  processor.f16 = info.checkFeatures("+f16c");
  processor.bf16 = avx512 && info.checkFeatures("+avx512bf16,+avx512vl");
  processor.amx = processor.bf16 && info.checkFeatures("+amx-bf16,+amx-tile");
  // Processors with tiles start a dot product of pairs every second cycle, and
  // four multiply-adds, which are faster even if the tiles are hidden.
  bool tiles = isMadeWithTiles(processor.machine->getTargetCPU());
  bool pairs = processor.bf16 && !tiles;
  processor.pairChains = !pairs ? 0 : oneFma ? 6 : 12; // latency 6
  if (tiles)
    processor.l1Bytes = 49152; // all of them
}

static llvm::Error unknown(StringRef name) {
  if (name.starts_with("sm_"))
    return llvm::createStringError("--target=" + name +
                                   " is not built; GPUs are " + chipNames());
  return llvm::createStringError(
      "unknown target '" + name +
      "'; expects native, x86-64, x86-64-v3, x86-64-v4, aarch64, a "
      "processor that LLVM knows (such as znver5 or neoverse-v2), or a GPU: " +
      chipNames());
}

/// A GPU of NVIDIA's, whose tile sizes follow from the shared memory of a
/// block.
static Processor makeGPU(const Chip &chip) {
  Processor processor;
  // The oldest version of PTX that has all of sm_80, for old drivers.
  processor.machine =
      createMachine(llvm::Triple("nvptx64-nvidia-cuda"), "sm_80", "+ptx70");
  processor.lanes = 32;
  processor.registers = 64;
  processor.chains = 1;
  processor.l1Bytes = 1 << 16;
  processor.isHost = false;
  processor.isGPU = true;
  processor.chip = chip.name.str();
  processor.sharedBytes = chip.sharedBytes();
  return processor;
}

llvm::Expected<Processor> target::findProcessor(StringRef name,
                                                StringRef features) {
  initializeTargets();
  llvm::Triple host(llvm::sys::getProcessTriple());
  llvm::Triple x86("x86_64-unknown-linux-gnu"),
      arm("aarch64-unknown-linux-gnu");
  if (const Chip *chip = findChip(name))
    return makeGPU(*chip);
  Processor processor;
  processor.isHost = true;
  if (name == "native") {
    processor.machine = createHostMachine(host);
    if (!processor.machine)
      return llvm::createStringError("--target=native: no code can be made "
                                     "for this machine's " +
                                     host.getArchName());
    describeVectors(processor);
#ifdef _SC_LEVEL1_DCACHE_SIZE
    if (long bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE); bytes > 0)
      processor.l1Bytes = bytes;
#endif
    return processor;
  }
  for (const llvm::Triple &triple : {x86, arm}) {
    bool generic = name == "aarch64" && triple.isAArch64();
    auto probe = createMachine(triple, "", "");
    if (!probe || name.empty() ||
        (!generic && !probe->getMCSubtargetInfo()->isCPUStringValid(name)))
      continue;
    processor.machine =
        createMachine(triple, generic ? "generic" : name, features);
    // LLVM knows processors of 32 bits too.
    if (triple.isX86() &&
        !processor.machine->getMCSubtargetInfo()->checkFeatures("+64bit"))
      break;
    processor.isHost = triple.getArch() == host.getArch();
    describeVectors(processor);
    return processor;
  }
  return unknown(name);
}

bool target::runsHere(const Processor &processor) {
  if (!processor.isHost)
    return false;
  const llvm::MCSubtargetInfo &info = *processor.machine->getMCSubtargetInfo();
  for (const auto &feature : llvm::sys::getHostCPUFeatures()) {
    StringRef name = feature.getKey();
    bool isVector = name.starts_with("avx") || name.starts_with("amx") ||
                    name == "fma" || name == "f16c" || name == "bmi2";
    if (isVector && !feature.getValue() &&
        info.checkFeatures(("+" + name).str()))
      return false;
  }
  return true;
}

void target::setCodeGenLevel(Processor &processor, unsigned level) {
  processor.machine->setOptLevel(static_cast<llvm::CodeGenOptLevel>(level));
}

void target::setTarget(mlir::ModuleOp module, const Processor &processor) {
  auto set = [&](StringRef name, const std::string &value) {
    module->setAttr(name, mlir::StringAttr::get(module.getContext(), value));
  };
  set(mlir::LLVM::LLVMDialect::getTargetTripleAttrName(),
      processor.machine->getTargetTriple().str());
  set(mlir::LLVM::LLVMDialect::getDataLayoutAttrName(),
      processor.machine->createDataLayout().getStringRepresentation());
}

std::unique_ptr<llvm::Module> target::translate(mlir::ModuleOp module,
                                                const Processor &processor,
                                                llvm::LLVMContext &context) {
#ifdef NDEBUG
  bool verifies = false;
#else
  bool verifies = true;
#endif
  auto translated = mlir::translateModuleToLLVMIR(
      module, context, module.getName().value_or("attn"), !verifies);
  if (!translated)
    return nullptr;
  translated->setTargetTriple(processor.machine->getTargetTriple());
  translated->setDataLayout(processor.machine->createDataLayout());
  return translated;
}

namespace {
/// What LLVM has switches of the process for alone, while this lives.
class LLVMSwitches {
public:
  using Switch = std::pair<StringRef, StringRef>; ///< its name and value
  explicit LLVMSwitches(llvm::ArrayRef<Switch> switches) {
    for (auto [name, value] : switches)
      if (auto *option = llvm::cl::getRegisteredOptions().lookup(name)) {
        option->addOccurrence(0, option->ArgStr, value);
        changed.push_back(option);
      }
  }
  ~LLVMSwitches() {
    for (llvm::cl::Option *option : changed)
      option->reset();
  }
  LLVMSwitches(const LLVMSwitches &) = delete;
  LLVMSwitches &operator=(const LLVMSwitches &) = delete;

private:
  llvm::SmallVector<llvm::cl::Option *, 3> changed;
};
} // namespace

/// Passes of LLVM's that PTX is better without: each keeps values that cost an
/// instruction in registers for a whole loop, or from one loop to the next,
/// where sums of fragments leave none. ptxas, which knows how many there are,
/// does the same where it can.
static constexpr LLVMSwitches::Switch withoutLongLives[] = {
    {"disable-lsr", "true"},
    {"disable-machine-licm", "true"},
    {"disable-machine-cse", "true"}};

namespace {
/// Of straight code LLVM's strength reduction and value numbering for PTX take
/// up to two fifths of the time to it, and ptxas does both again: kernels with
/// shared memory, whose buffers have known strides, have the same registers
/// and, to a percent, as many instructions without. Others have up to a third
/// fewer with them.
class LeftToPtxas : public llvm::OptPassGate {
public:
  explicit LeftToPtxas(const llvm::Module &module) {
    for (const llvm::GlobalVariable &memory : module.globals())
      if (memory.getAddressSpace() == 3)
        for (const llvm::User *user : memory.users())
          addUsers(*user);
  }
  bool isEnabled() const override { return true; }
  bool shouldRunPass(StringRef pass, StringRef where) const override {
    return (pass != "slsr" && pass != "gvn") || !shared.contains(where);
  }

private:
  void addUsers(const llvm::User &user) {
    if (auto *instruction = llvm::dyn_cast<llvm::Instruction>(&user))
      shared.insert(
          ("function (" + instruction->getFunction()->getName() + ")").str());
    else
      for (const llvm::User *next : user.users())
        addUsers(*next);
  }

  llvm::StringSet<> shared; ///< kernels, as passes name them
};
} // namespace

/// Without optimization instructions need be neither few nor in a good order,
/// and LLVM's general combiner and its default scheduler take a fifth of the
/// time from a specification to an object. The fast scheduler orders what x86
/// has, flags included, and not all of what others have. What the combiner
/// leaves is selected as it is, but for comparisons into AVX-512's mask
/// registers, in which LLVM's selection ends the process.
static constexpr LLVMSwitches::Switch scheduledFast[] = {
    {"pre-RA-sched", "fast"}, {"combiner-disabled", "true"}};

static llvm::ArrayRef<LLVMSwitches::Switch>
switchesFor(const Processor &processor, bool optimizes) {
  if (processor.isGPU)
    return withoutLongLives;
  if (optimizes || !processor.machine->getTargetTriple().isX86())
    return {};
  bool masks =
      processor.machine->getMCSubtargetInfo()->checkFeatures("+avx512f");
  return llvm::ArrayRef(scheduledFast).take_front(masks ? 1 : 2);
}

static bool usesTiles(const llvm::Module &module) {
  return llvm::any_of(module, [](const llvm::Function &function) {
    return function.getName().starts_with("llvm.x86.tile");
  });
}

/// A function that calls one after the other is optimized up to so many calls
/// in a row, and else divided into blocks of so many instructions.
static constexpr int64_t mostCalls = 60, mostInstructions = 300;

static bool isCall(const llvm::Instruction &op) {
  return llvm::isa<llvm::CallInst>(op) && !llvm::isa<llvm::IntrinsicInst>(op);
}

static bool hasManyCalls(const llvm::BasicBlock &block) {
  return llvm::count_if(block, isCall) > mostCalls;
}

static bool isTile(const llvm::Instruction &op) {
  auto *tile = llvm::dyn_cast<llvm::IntrinsicInst>(&op);
  return tile &&
         tile->getCalledFunction()->getName().starts_with("llvm.x86.tile");
}

/// Divides `block` behind every `mostInstructions`.
static void divide(llvm::BasicBlock *block) {
  int64_t count = 0;
  for (auto op = block->getFirstNonPHIOrDbgOrAlloca(); op != block->end();) {
    ++op;
    if (++count < mostInstructions || op == block->end())
      continue;
    block = block->splitBasicBlock(op);
    op = block->begin();
    count = 0;
  }
}

/// LLVM selects and schedules the instructions of a block together, in a time
/// that grows with their square. The function of a model calls the loops of its
/// layers in one block, behind one that has all sizes: what computes is in the
/// loops, and the calls need no optimization, which would join the parts of a
/// block again.
static void divideCalls(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (!llvm::any_of(function, hasManyCalls) ||
        llvm::any_of(llvm::instructions(function), isTile))
      continue;
    // The stack is allocated in the first block alone.
    llvm::BasicBlock &entry = function.getEntryBlock();
    for (llvm::Instruction &op : llvm::make_early_inc_range(entry))
      if (auto *place = llvm::dyn_cast<llvm::AllocaInst>(&op);
          place && place->isStaticAlloca())
        place->moveBefore(entry.getFirstInsertionPt());
    for (llvm::BasicBlock &block : llvm::make_early_inc_range(function))
      divide(&block);
    function.addFnAttr(llvm::Attribute::OptimizeNone);
    function.addFnAttr(llvm::Attribute::NoInline);
  }
}

llvm::Error target::generate(llvm::Module &module, const Processor &processor,
                             Code code, Together together,
                             llvm::SmallVectorImpl<char> &result) {
  if (!processor.isGPU)
    shortenSums(module);
  if (code == Code::LLVM) {
    llvm::raw_svector_ostream stream(result);
    module.print(stream, nullptr);
    return llvm::Error::success();
  }
  // Without optimization LLVM keeps no AMX tile over a branch.
  llvm::TargetMachine &machine = *processor.machine;
  if (machine.getOptLevel() == llvm::CodeGenOptLevel::None && usesTiles(module))
    machine.setOptLevel(llvm::CodeGenOptLevel::Less);
  // There the bitcode of two parts takes longer than the second thread saves.
  bool optimizes = machine.getOptLevel() != llvm::CodeGenOptLevel::None;
  if (optimizes && !processor.isGPU)
    divideCalls(module);
  if (code == Code::Object && optimizes && isWorthParts(module))
    return generateParts(module, machine, together, result);
  LLVMSwitches switches(switchesFor(processor, optimizes));
  LeftToPtxas leftToPtxas(module);
  llvm::OptPassGate &usual = module.getContext().getOptPassGate();
  if (processor.isGPU)
    module.getContext().setOptPassGate(leftToPtxas);
  llvm::scope_exit restore([&] { module.getContext().setOptPassGate(usual); });
  return emit(module, machine,
              code == Code::Object ? llvm::CodeGenFileType::ObjectFile
                                   : llvm::CodeGenFileType::AssemblyFile,
              result);
}
