// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM generates the code of one module in one thread, and that is most of the
// time from a specification to an object. Here half of the functions go to
// another thread, with a context and a machine of its own:
//
//   f, g, h, data  ->  thread 1: f, h, data  ->  one object: f, g, h, data
//                      thread 2: g
//
// Which functions these are depends on the module alone, and code generation
// looks at one function at a time: the object is the same on every machine,
// and each function the same as in one piece.
#include "GenerateParts.h"
#include "JoinObjects.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"

using namespace attn;
using llvm::Error;
using llvm::Expected;
using llvm::Function;
using llvm::StringRef;

Error target::emit(llvm::Module &module, llvm::TargetMachine &machine,
                   llvm::CodeGenFileType type,
                   llvm::SmallVectorImpl<char> &result) {
  llvm::raw_svector_ostream stream(result);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return llvm::createStringError("the target cannot emit this kind of file");
  passes.run(module);
  return Error::success();
}

/// Below, a thread and the bitcode take longer than they save.
static constexpr size_t leastInstructions = 1000;
/// Beyond, numbers of sections need more than 16 bits.
static constexpr size_t mostFunctions = 16000;

bool target::isWorthParts(const llvm::Module &module) {
  const llvm::Triple &triple = module.getTargetTriple();
  bool joins = triple.isOSBinFormatELF() && triple.isArch64Bit() &&
               triple.isLittleEndian();
  // What stands once in a module, or is no function and no plain data.
  bool isPlain = module.alias_empty() && module.ifunc_empty() &&
                 module.getComdatSymbolTable().empty() &&
                 module.getModuleInlineAsm().empty() &&
                 module.debug_compile_units().empty() &&
                 llvm::none_of(module.globals(), [](const auto &variable) {
                   return variable.hasAppendingLinkage();
                 });
  return joins && isPlain &&
         module.getInstructionCount() >= leastInstructions &&
         module.size() <= mostFunctions;
}

/// Functions of the second part: the largest first, each to the part that has
/// less so far.
static llvm::StringSet<> chooseSecond(const llvm::Module &module) {
  std::vector<std::pair<size_t, StringRef>> functions;
  for (const Function &function : module)
    if (!function.isDeclaration())
      functions.emplace_back(function.getInstructionCount(),
                             function.getName());
  llvm::sort(functions, std::greater<>());
  llvm::StringSet<> second;
  size_t work[2] = {0, 0};
  for (auto [count, name] : functions) {
    bool isSecond = work[1] < work[0];
    work[isSecond] += count;
    if (isSecond)
      second.insert(name);
  }
  return second;
}

/// What is local can be used by both parts.
static void share(llvm::Module &module) {
  for (llvm::GlobalValue &value : module.global_values()) {
    if (!value.hasLocalLinkage())
      continue;
    value.setLinkage(llvm::GlobalValue::ExternalLinkage);
    value.setVisibility(llvm::GlobalValue::HiddenVisibility);
    if (!value.hasName())
      value.setName("attn.unnamed");
  }
}

/// The second part, read from the bitcode of the module; no other function is.
static Error readSecond(llvm::Module &module, const llvm::StringSet<> &second) {
  for (Function &function : module)
    if (!second.contains(function.getName()))
      function.deleteBody();
  return module.materializeAll();
}

static Error generateSecond(StringRef bitcode, const llvm::StringSet<> &second,
                            llvm::TargetMachine &machine,
                            llvm::SmallVectorImpl<char> &result) {
  llvm::LLVMContext context;
  auto module = llvm::getLazyBitcodeModule(
      llvm::MemoryBufferRef(bitcode, "second part"), context);
  if (!module)
    return module.takeError();
  if (Error error = readSecond(**module, second))
    return error;
  return target::emit(**module, machine, llvm::CodeGenFileType::ObjectFile,
                      result);
}

static std::unique_ptr<llvm::TargetMachine>
another(const llvm::TargetMachine &machine) {
  return std::unique_ptr<llvm::TargetMachine>(
      machine.getTarget().createTargetMachine(
          machine.getTargetTriple(), machine.getTargetCPU(),
          machine.getTargetFeatureString(), machine.Options,
          machine.getRelocationModel(), std::nullopt, machine.getOptLevel()));
}

/// Bitcode of all functions. Data stays in the first part.
static llvm::SmallString<0> writeFunctions(llvm::Module &module) {
  std::vector<std::pair<llvm::GlobalVariable *, llvm::Constant *>> data;
  for (llvm::GlobalVariable &variable : module.globals())
    if (variable.hasInitializer()) {
      data.emplace_back(&variable, variable.getInitializer());
      variable.setInitializer(nullptr);
    }
  llvm::SmallString<0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  // Passes meet uses in the order that they have in the module.
  llvm::WriteBitcodeToFile(module, stream, /*ShouldPreserveUseListOrder=*/true);
  for (auto [variable, initializer] : data)
    variable->setInitializer(initializer);
  return bitcode;
}

Error target::generateParts(llvm::Module &module, llvm::TargetMachine &machine,
                            Together together,
                            llvm::SmallVectorImpl<char> &result) {
  llvm::StringSet<> second = chooseSecond(module);
  llvm::StringMap<size_t> order;
  for (const Function &function : module)
    if (!function.isDeclaration())
      order.try_emplace(function.getName(), order.size() + 1);
  share(module);
  llvm::SmallString<0> bitcode = writeFunctions(module), objects[2];
  std::unique_ptr<llvm::TargetMachine> secondMachine = another(machine);
  std::optional<Error> errors[2];
  auto generateFirst = [&] {
    for (Function &function : module)
      if (second.contains(function.getName()))
        function.deleteBody();
    errors[0].emplace(
        emit(module, machine, llvm::CodeGenFileType::ObjectFile, objects[0]));
  };
  together(generateFirst, [&] {
    errors[1].emplace(
        generateSecond(bitcode, second, *secondMachine, objects[1]));
  });
  if (Error error = joinErrors(std::move(*errors[0]), std::move(*errors[1])))
    return error;
  joinObjects({objects[0], objects[1]}, order, result);
  return Error::success();
}
