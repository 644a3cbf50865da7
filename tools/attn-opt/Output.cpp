// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Output.h"
#include "System.h"
#include "attn/Interface/WeightsFile.h"
#include "attn/Target/Header.h"
#include "attn/Target/KernelModel.h"
#include "attn/Target/Kernels.h"
#include "attn/Target/PythonModule.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Target/TargetMachine.h"
#include <cstdlib>

using namespace attn;
using namespace attn::tool;
using llvm::Error;
using llvm::StringRef;
namespace path = llvm::sys::path;

Error attn::tool::writeFile(StringRef path, StringRef text) {
  llvm::Expected<target::AtomicOutput> file = target::AtomicOutput::open(path);
  if (!file)
    return file.takeError();
  if (Error error = file->write(text))
    return error;
  return target::AtomicOutput::keep(&*file);
}

bool Output::isText() const {
  return !options.emit ||
         (options.emit != Emit::Executable && options.emit != Emit::Object &&
          options.emit != Emit::Library && options.emit != Emit::Python &&
          options.emit != Emit::Lab);
}

/// Name of the input without folder and ending.
std::string Output::stem() const {
  StringRef stem = inputName == "<stdin>" ? "" : path::stem(inputName);
  return stem.empty() ? "a" : stem.str();
}

/// What `import` can name.
static std::string pythonName(std::string stem) {
  for (char &c : stem)
    if (!llvm::isAlnum(c))
      c = '_';
  return llvm::isDigit(stem[0]) ? "_" + stem : stem;
}

std::string Output::path() const {
  if (!options.output.empty())
    return options.output;
  if (options.emit == Emit::Cubin)
    return stem() + ".cubin";
  if (isText())
    return "-";
  switch (*options.emit) {
  case Emit::Object:
    return stem() + ".o";
  case Emit::Library:
    return "lib" + stem() + ".so";
  case Emit::Python:
    return pythonName(stem()) + ".py";
  case Emit::Lab:
    return stem() + ".html";
  default:
    return stem();
  }
}

/// The header of libmha.so, mha.o and mha is mha.h, and the library of mha.py
/// is libmha.so.
std::string Output::secondPath() const {
  std::string output = path();
  llvm::sys::fs::file_status status;
  bool exists = !llvm::sys::fs::status(output, status);
  if (isText() || output == "-" || options.emit == Emit::Lab ||
      (exists && !llvm::sys::fs::is_regular_file(status)))
    return "";
  StringRef name = path::filename(output);
  if (options.emit != Emit::Executable)
    name = path::stem(name);
  if (options.emit == Emit::Library && name != "lib")
    name.consume_front("lib");
  llvm::SmallString<128> result(path::parent_path(output));
  if (options.emit == Emit::Python)
    path::append(result, "lib" + name + ".so");
  else
    path::append(result, name + ".h");
  return result.str().str();
}

std::string Output::foreignHeader() const {
  std::string header = secondPath();
  if (options.emit == Emit::Python || !llvm::sys::fs::is_regular_file(header))
    return "";
  auto there = llvm::MemoryBuffer::getFile(header);
  bool isForeign = there && !(*there)->getBuffer().empty() &&
                   !(*there)->getBuffer().starts_with(target::headerMark);
  return isForeign ? header : "";
}

std::vector<std::string> Output::paths() const {
  std::vector<std::string> paths;
  if (!options.emit && options.compileTo.empty())
    return paths;
  paths.push_back(path());
  if (std::string second = secondPath(); !second.empty())
    paths.push_back(second);
  if (!options.weights.empty())
    paths.push_back(options.weights);
  return paths;
}

/// Leaves the PTX's `assembled`.
Error Output::assembleOnce(StringRef program, StringRef ptx) const {
  if (assembled.ptx == ptx)
    return Error::success();
  target::PtxasLog log;
  llvm::Expected<std::string> cubin =
      target::assemble(program, targets.gpu->chip, ptx, log);
  if (!cubin)
    return cubin.takeError();
  assembled = {ptx.str(), std::move(*cubin), std::move(log)};
  return Error::success();
}

/// Says which kernels ptxas had no registers for, and what it warns of.
llvm::Expected<std::string> Output::assemble(StringRef ptx) const {
  llvm::Expected<std::string> program = target::findPtxas(options.ptxas);
  if (!program)
    return program.takeError();
  if (Error error = assembleOnce(*program, ptx))
    return error;
  for (const target::KernelUse &kernel : assembled.log.kernels)
    if (kernel.spillBytes)
      llvm::errs() << "attn-opt: warning: ptxas: " << kernel.name << " spills "
                   << kernel.spillBytes << " bytes of " << kernel.registers
                   << " registers\n";
  for (const std::string &warning : assembled.log.warnings)
    llvm::errs() << "attn-opt: warning: " << warning << "\n";
  return assembled.cubin;
}

/// PTX, or LLVM's IR, of a GPU's kernels.
llvm::Expected<std::string> Output::kernelText(mlir::ModuleOp kernels,
                                               target::Code code) const {
  llvm::LLVMContext context;
  auto translated = target::translate(kernels, *targets.gpu, context);
  if (!translated)
    return llvm::createStringError("");
  llvm::SmallString<0> text;
  if (Error error =
          target::generate(*translated, *targets.gpu, code, together, text))
    return error;
  return text.str().str();
}

AssembledKernels Output::assembleToExplain(mlir::ModuleOp module) const {
  AssembledKernels result;
  result.target = targets.gpu->chip;
  auto fails = [&](Error error) {
    result.missing = llvm::toString(std::move(error));
    return result;
  };
  mlir::ModuleOp kernels = target::findKernels(module);
  if (!kernels)
    return result;
  llvm::Expected<std::string> program = target::findPtxas(options.ptxas);
  if (!program)
    return fails(program.takeError());
  llvm::Expected<std::string> ptx = kernelText(kernels, target::Code::Assembly);
  if (!ptx)
    return fails(ptx.takeError());
  if (Error error = assembleOnce(*program, *ptx))
    return fails(std::move(error));
  result.log = assembled.log;
  if (!target::throughputOf(result.target))
    return fails(
        llvm::createStringError("it is not known what a multiprocessor of " +
                                result.target + " does in a clock"));
  llvm::Expected<std::vector<target::SassKernel>> code =
      target::readCubin(assembled.cubin);
  if (!code)
    return fails(code.takeError());
  result.code = std::move(*code);
  return result;
}

/// For an object, which has the PTX in any case. A --ptxas that is not there is
/// an error, one that nobody named is said to be missing.
llvm::Expected<std::string> Output::cubinIfPossible(StringRef ptx) const {
  llvm::Expected<std::string> program = target::findPtxas(options.ptxas);
  if (program || !options.ptxas.empty()) {
    llvm::consumeError(program.takeError());
    return assemble(ptx);
  }
  llvm::consumeError(program.takeError());
  llvm::errs()
      << "attn-opt: note: ptxas is not there: the object has PTX, which "
         "the driver compiles\n";
  return "";
}

/// Code of the host, with the kernels of a GPU as data.
Error Output::generate(mlir::ModuleOp module, target::Code code,
                       llvm::SmallVectorImpl<char> &result) const {
  mlir::ModuleOp kernels = target::findKernels(module);
  mlir::OwningOpRef<mlir::ModuleOp> host;
  std::string ptx, cubin;
  if (kernels) {
    llvm::Expected<std::string> text =
        kernelText(kernels, target::Code::Assembly);
    if (!text)
      return text.takeError();
    ptx = std::move(*text);
    llvm::Expected<std::string> assembled = cubinIfPossible(ptx);
    if (!assembled)
      return assembled.takeError();
    cubin = std::move(*assembled);
    host = target::withoutKernels(module);
  }
  llvm::LLVMContext context;
  auto translated =
      target::translate(host ? *host : module, processor(), context);
  if (!translated)
    return llvm::createStringError("");
  if (kernels)
    target::embedKernels(*translated, ptx, cubin);
  return target::generate(*translated, processor(), code, together, result);
}

llvm::Expected<std::string> Output::text(mlir::ModuleOp module) const {
  std::string result;
  if (!options.emit || options.emit == Emit::MLIR) {
    llvm::raw_string_ostream stream(result);
    module.print(stream);
    return result + "\n";
  }
  if (options.emit == Emit::Header)
    return target::headerText(
        module, options.output.empty() ? stem() : path::stem(options.output));
  bool isLLVM = options.emit == Emit::LLVM;
  auto code = isLLVM ? target::Code::LLVM : target::Code::Assembly;
  mlir::ModuleOp kernels = target::findKernels(module);
  if (!kernels || options.emit == Emit::Assembly) {
    llvm::SmallString<0> text;
    if (Error error = generate(module, code, text))
      return error;
    return text.str().str();
  }
  llvm::Expected<std::string> text = kernelText(kernels, code);
  return text && options.emit == Emit::Cubin ? assemble(*text)
                                             : std::move(text);
}

/// A file in the system's folder, empty and gone with `remove`.
static Error makeTemporary(StringRef ending, llvm::SmallString<128> &file,
                           llvm::FileRemover &remove) {
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("attn-opt", ending, file))
    return llvm::createStringError(error, "cannot make a temporary file: " +
                                              error.message());
  remove.setFile(file);
  llvm::sys::RemoveFileOnSignal(file);
  return Error::success();
}

Error Output::link(StringRef object, target::AtomicOutput &output) const {
  if (!processor().isHost)
    return llvm::createStringError(
        "--target=" + options.target +
        ": cannot link for another machine; use --emit=obj");
  static int anchor;
  llvm::Expected<std::string> runtime = target::findRuntime(argv0, &anchor);
  if (!runtime)
    return runtime.takeError();
  llvm::SmallString<128> file, linked;
  llvm::FileRemover removeFile, removeLinked;
  if (Error error = ::makeTemporary("o", file, removeFile))
    return error;
  if (Error error = writeFile(file, object))
    return error;
  auto kind = options.emit == Emit::Executable ? target::Linked::Executable
                                               : target::Linked::SharedLibrary;
  if (output.isReplaced())
    return target::link(kind, file, *runtime, output.path());
  // A linker cannot write to pipes.
  if (Error error = ::makeTemporary("out", linked, removeLinked))
    return error;
  if (Error error = target::link(kind, file, *runtime, linked))
    return error;
  auto code = llvm::MemoryBuffer::getFile(linked);
  if (!code)
    return llvm::createStringError(code.getError(),
                                   "cannot read '" + linked +
                                       "': " + code.getError().message());
  return output.write((*code)->getBuffer());
}

Error Output::makeTemporary(mlir::ModuleOp module, target::Linked kind,
                            llvm::SmallString<128> &file,
                            llvm::FileRemover &remove) const {
  llvm::SmallString<128> objectFile;
  llvm::FileRemover removeObject;
  if (!target::runsHere(processor()))
    return llvm::createStringError(
        "--target=" + options.target + ": " +
        (options.emit == Emit::Lab ? "--emit=lab" : "--verify") +
        " runs kernels of this machine");
  static int anchor;
  llvm::Expected<std::string> runtime = target::findRuntime(argv0, &anchor);
  if (!runtime)
    return runtime.takeError();
  llvm::SmallString<0> object;
  if (Error error = generateObject(module, object))
    return error;
  for (auto [ending, path, remover] :
       {std::tuple("o", &objectFile, &removeObject),
        std::tuple("out", &file, &remove)})
    if (Error error = ::makeTemporary(ending, *path, *remover))
      return error;
  if (Error error = writeFile(objectFile, object))
    return error;
  return target::link(kind, objectFile, *runtime, file);
}

Error Output::lendWeights(mlir::ModuleOp module,
                          llvm::FileRemover &remove) const {
  llvm::SmallString<128> file;
  WeightsFile weights(module);
  if (weights.count() == 0)
    return Error::success();
  if (Error error = ::makeTemporary("weights", file, remove))
    return error;
  auto output = target::AtomicOutput::open(file);
  if (!output)
    return output.takeError();
  if (Error error = output->write(weights.parts()))
    return error;
  setenv("ATTN_WEIGHTS", file.c_str(), /*replace=*/1);
  return target::AtomicOutput::keep(&*output);
}

Error Output::generateObject(mlir::ModuleOp module,
                             llvm::SmallVectorImpl<char> &object) const {
  return generate(module, target::Code::Object, object);
}

Error Output::writeBinary(mlir::ModuleOp module) const {
  bool isPython = options.emit == Emit::Python;
  if (isPython && secondPath().empty())
    return llvm::createStringError(
        "--emit=python writes a module and a library: name a file with -o");
  WeightsFile weights(module);
  if (!options.weights.empty() && weights.count() == 0)
    return llvm::createStringError(
        "--weights: no constant that kernels read has 4096 bytes or more");
  // All outputs are opened first: an error must come before the work.
  std::vector<target::AtomicOutput> outputs;
  std::vector<std::string> paths = this->paths();
  for (const std::string &path : paths) {
    auto output = target::AtomicOutput::open(path);
    if (!output)
      return output.takeError();
    outputs.push_back(std::move(*output));
  }
  llvm::SmallString<0> object;
  if (Error error = generateObject(module, object))
    return error;
  target::AtomicOutput &binary = outputs[isPython ? 1 : 0];
  if (Error error = options.emit == Emit::Object ? binary.write(object)
                                                 : link(object, binary))
    return error;
  if (!secondPath().empty())
    if (Error error = isPython ? outputs[0].write(target::pythonText(
                                     module, path::filename(paths[1])))
                               : outputs[1].write(target::headerText(
                                     module, path::stem(paths[1]))))
      return error;
  if (!options.weights.empty())
    if (Error error = outputs.back().write(weights.parts()))
      return error;
  std::vector<target::AtomicOutput *> all;
  for (target::AtomicOutput &output : outputs)
    all.push_back(&output);
  return target::AtomicOutput::keep(all);
}

Error Output::write(mlir::ModuleOp module) const {
  if (!isText())
    return writeBinary(module);
  llvm::Expected<std::string> result = text(module);
  if (!result)
    return result.takeError();
  return writeFile(path(), *result);
}
