// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler: read, run the phases, write.
#include "Compile.h"
#include "Bug.h"
#include "Diagnostics.h"
#include "Entries.h"
#include "Explanation.h"
#include "Input.h"
#include "Lab.h"
#include "Output.h"
#include "Registration.h"
#include "Verify.h"
#include "attn/Pipelines/DescribeTarget.h"
#include "attn/Pipelines/Phases.h"
#include "attn/Target/AtomicOutput.h"
#include "attn/Target/CodeGen.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include <chrono>

using namespace mlir;
using namespace attn;
using namespace attn::tool;

namespace {
class Compiler {
public:
  Compiler(const Options &options, int argc, char **argv)
      : options(options), argc(argc), argv(argv),
        context(registry(), MLIRContext::Threading::DISABLED),
        diagnostics(&context, inputName()) {}

  ExitStatus run();

private:
  static DialectRegistry registry() {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }
  StringRef inputName() const {
    return options.input == "-" ? "<stdin>" : StringRef(options.input);
  }
  ExitStatus fail(const Twine &message) {
    return say("attn-opt: error: " + message);
  }
  ExitStatus failInInput(const Twine &message) {
    return say(inputName() + ": error: " + message);
  }
  /// Names of files may have line breaks.
  ExitStatus say(const Twine &message) {
    std::string line = message.str();
    for (char &c : line)
      c = c == '\n' ? ' ' : c;
    llvm::errs() << line << "\n";
    return UserError;
  }

  bool isModel() const { return StringRef(options.input).ends_with(".onnx"); }
  /// The text that was read; empty where it was none.
  StringRef sourceText() const {
    if (isModel() || isBytecode(sources.getMemoryBuffer(1)->getMemBufferRef()))
      return {};
    return sources.getMemoryBuffer(1)->getBuffer();
  }

  Output output() const {
    return Output{options, inputName(), argv[0], targets, assembled};
  }
  ArrayRef<Phase> table() const { return phases(targets.kind); }
  ExitStatus checkGPU();
  ExitStatus checkPhaseNames();
  ExitStatus checkFiles();
  ExitStatus checkInputs();
  ExitStatus read();
  ExitStatus selectEntries();
  ModuleOp moduleFor(const Phase &phase);
  ExitStatus runPhases();
  ExitStatus verifyKernels();
  ExitStatus writeOutput();
  std::string dumpPath(size_t index) const;
  ExitStatus dump(size_t index);
  PhaseId lastPhase() const;
  void timed(StringRef name, std::chrono::steady_clock::time_point begin);
  std::string specificationText();
  std::string info();

  const Options &options;
  int argc;
  char **argv;
  MLIRContext context;
  LineDiagnostics diagnostics;
  llvm::SourceMgr sources;
  OwningOpRef<ModuleOp> module;
  std::vector<std::string> filesRead; ///< That the input names.
  /// As it was read, to verify or to show.
  OwningOpRef<ModuleOp> specification;
  /// A copy for the phases of a GPU, where there are those of a CPU as well.
  OwningOpRef<ModuleOp> device;
  /// What the last phase worked on.
  ModuleOp current;
  Targets targets;
  mutable Assembly assembled;
  PipelineOptions pipeline;
  Explanation explanation{options, targets.kind};
};
} // namespace

/// A phase must be one of the target's.
ExitStatus Compiler::checkPhaseNames() {
  for (const std::string &name : {options.compileFrom, options.compileTo})
    if (!name.empty() && llvm::none_of(table(), [&](const Phase &phase) {
          return phase.name == name;
        }))
      return fail("'" + name + "' is no phase of --target=" + options.target);
  const Phase *from = findPhase(options.compileFrom);
  if (targets.kind == TargetKind::Both && from && !from->isHead &&
      from->id != PhaseId::Entry && from->id != PhaseId::LLVM)
    return fail("--compile-from=" + options.compileFrom +
                " goes with one processor or GPU");
  return Success;
}

/// What is made of a GPU's kernels, and of others.
ExitStatus Compiler::checkGPU() {
  StringRef gpu = "--target=sm_80";
  if (ExitStatus status = checkPhaseNames(); status != Success)
    return status;
  bool assembles = options.emit == Emit::Cubin;
  bool isCode = options.emit == Emit::PTX || assembles;
  bool embeds = options.emit == Emit::Executable ||
                options.emit == Emit::Object || options.emit == Emit::Library ||
                options.emit == Emit::Python;
  if (!options.ptxas.empty() && !assembles &&
      !((embeds || options.explain) && targets.gpu))
    return fail("--ptxas goes with --emit=cubin, and with objects of " + gpu);
  if (!targets.gpu && isCode)
    return fail((assembles ? "--emit=cubin" : "--emit=ptx") +
                Twine(" goes with ") + gpu);
  if (!targets.gpu)
    return Success;
  if (options.emit == Emit::Lab ||
      (options.emit == Emit::Assembly && targets.kind == TargetKind::GPU))
    return fail("--target=" + options.target + " does not go with --emit=" +
                (options.emit == Emit::Lab ? "lab" : "asm"));
  if (options.verify)
    return fail("--verify is not built for --target=" + options.target);
  return Success;
}

/// No file that is written may be the input or another one that is written.
ExitStatus Compiler::checkFiles() {
  std::vector<std::string> files = output().paths();
  if (!options.dumpPhasesTo.empty())
    for (size_t i = 0; i < table().size(); ++i)
      files.push_back(dumpPath(i));
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i] != "-" && options.input != "-" &&
        target::isSameFile(files[i], options.input))
      return fail("the output '" + files[i] + "' is the input" +
                  (options.output.empty() ? "; choose another with -o" : ""));
    for (size_t j = 0; j < i; ++j)
      if (files[i] != "-" && target::isSameFile(files[i], files[j]))
        return fail("two outputs are one file, '" + files[j] +
                    "'; choose another with -o");
  }
  // Its name is chosen by ours, and may be that of the caller's own.
  if (std::string header = output().foreignHeader(); !header.empty())
    return fail("'" + header +
                "', where the header goes, was not made by attn-opt; choose "
                "another name with -o");
  return Success;
}

/// Nor what the input names: weights, and what a picture is drawn of.
ExitStatus Compiler::checkInputs() {
  for (StringRef argument : options.labArguments) // FILE or NAME=FILE
    for (StringRef file : {argument, argument.split('=').second})
      filesRead.push_back(file.str());
  for (const std::string &output : output().paths())
    for (const std::string &input : filesRead)
      if (output != "-" && target::isSameFile(output, input))
        return fail("the output '" + output +
                    "' is an input; choose another file");
  return Success;
}

/// Of what a protocol buffer or an archive begins with, nothing is in a text.
static bool looksBinary(StringRef text) {
  return llvm::any_of(text.take_front(64),
                      [](unsigned char c) { return c < '\t'; });
}

ExitStatus Compiler::read() {
  auto begin = std::chrono::steady_clock::now();
  ExitStatus status;
  if (isModel()) {
    watchForBugs(argc, argv, "");
    status = readModel(options, context, module, filesRead);
  } else {
    auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(options.input);
    if (!buffer)
      return fail("cannot read " +
                  (options.input == "-" ? "the standard input"
                                        : "'" + options.input + "'") +
                  ": " + buffer.getError().message());
    if (!isBytecode(**buffer) && looksBinary((*buffer)->getBuffer()))
      return failInInput("expected a specification, which is text; found "
                         "binary data (the name of an ONNX model ends in "
                         "'.onnx')");
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(
                                   (*buffer)->getBuffer(), inputName()),
                               SMLoc());
    watchForBugs(argc, argv, sources.getMemoryBuffer(1)->getBuffer());
    isReading(true);
    status = readSpecification(sources, options, context, module, filesRead);
    isReading(false);
  }
  timed("read", begin);
  return status;
}

ExitStatus Compiler::selectEntries() {
  if (!options.compileFrom.empty())
    return Success;
  llvm::Error error = tool::selectEntries(*module, options, pipeline.entry);
  return error ? failInInput(llvm::toString(std::move(error))) : Success;
}

void Compiler::timed(StringRef name,
                     std::chrono::steady_clock::time_point begin) {
  if (!options.time)
    return;
  std::chrono::duration<double, std::milli> spent =
      std::chrono::steady_clock::now() - begin;
  llvm::errs() << llvm::format("%10.1f ms  ", spent.count()) << name << "\n";
}

PhaseId Compiler::lastPhase() const {
  if (!options.compileTo.empty())
    return findPhase(options.compileTo)->id;
  if (options.emit == Emit::Header)
    return PhaseId::Entry;
  if (options.emit == Emit::PTX || options.emit == Emit::Cubin ||
      (options.emit == Emit::LLVM && targets.gpu))
    return PhaseId::GPULLVM;
  return table().back().id;
}

/// One file per phase, numbered so that they stand in order.
std::string Compiler::dumpPath(size_t index) const {
  SmallString<128> path(options.dumpPhasesTo);
  std::string number = (index < 10 ? "0" : "") + std::to_string(index);
  llvm::sys::path::append(path, number + "-" + table()[index].name + ".mlir");
  return path.str().str();
}

ExitStatus Compiler::dump(size_t index) {
  if (std::error_code error =
          llvm::sys::fs::create_directories(options.dumpPhasesTo))
    return fail("cannot make the folder '" + options.dumpPhasesTo +
                "': " + error.message());
  std::string text;
  llvm::raw_string_ostream stream(text);
  current.print(stream);
  if (llvm::Error error = writeFile(dumpPath(index), text + "\n"))
    return fail(llvm::toString(std::move(error)));
  return Success;
}

/// What was read, as text; of a model for a picture, the module that it is.
std::string Compiler::specificationText() {
  std::string text = llvm::json::fixUTF8(sourceText());
  if (!text.empty() || !options.withLab)
    return text;
  llvm::raw_string_ostream stream(text);
  specification->print(stream, OpPrintingFlags().elideLargeElementsAttrs(16));
  return text;
}

/// What NAME_info returns.
std::string Compiler::info() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream);
  json.object([&] {
    json.attribute("compiler", "attn-opt " ATTN_VERSION);
    json.attribute("target", options.target);
    json.attribute("input",
                   llvm::json::fixUTF8(llvm::sys::path::filename(inputName())));
    json.attributeArray("schedules", [&] {
      module->walk([&](Operation *op) {
        if (Attribute schedule = op->getAttr("schedule"))
          json.value(llvm::formatv("{0}: {1}", op->getName(), schedule).str());
      });
    });
    json.attribute("specification", specificationText());
  });
  return text;
}

/// What the phase works on, made ready for it. The head of the pipeline is the
/// same for all targets.
ModuleOp Compiler::moduleFor(const Phase &phase) {
  if (phase.isHead)
    return *module;
  bool isBoth = targets.kind == TargetKind::Both;
  if (isBoth && isOfGPU(phase)) {
    if (!device)
      device = module->clone();
    (*device)->setAttr(TargetAttr::moduleAttr, targets.gpuDescription);
    return *device;
  }
  if (device && phase.id == PhaseId::Entry) {
    joinTargets(*module, *device);
    device = {};
    pipeline.joined = true;
  }
  (*module)->setAttr(TargetAttr::moduleAttr, isOfGPU(phase)
                                                 ? targets.gpuDescription
                                                 : targets.description);
  if (phase.id == PhaseId::LLVM)
    target::setTarget(*module, targets.processor);
  return *module;
}

ExitStatus Compiler::runPhases() {
  if (options.verify || (options.withLab && sourceText().empty()))
    specification = module->clone();
  pipeline.program =
      options.emit == Emit::Executable || options.emit == Emit::Lab;
  pipeline.picture = options.withLab;
  pipeline.weights = options.weights;
  pipeline.lowers = lastPhase() > PhaseId::Fused;
  pipeline.info = info();
  bool started = options.compileFrom.empty();
  for (auto [index, phase] : llvm::enumerate(table())) {
    if (!started) {
      started = phase.name == options.compileFrom;
      continue;
    }
    auto begin = std::chrono::steady_clock::now();
    current = moduleFor(phase);
    if (failed(runPhase(current, phase, pipeline))) {
      if ((phase.isHead || phase.mayRefuse) && diagnostics.sawError())
        return UserError;
      reportBug();
      return OurBug;
    }
    timed(phase.name, begin);
    if (!options.dumpPhasesTo.empty())
      if (ExitStatus status = dump(index); status != Success)
        return status;
    if (phase.id == PhaseId::Scheduled || phase.id == PhaseId::GPURows) {
      pipeline.info = info(); // now with the schedules
      if (llvm::Error error = checkDims(*module, options))
        return failInInput(llvm::toString(std::move(error)));
    }
    if (options.explain)
      explanation.add(phase, current, output());
    if (phase.id == lastPhase())
      break;
  }
  return Success;
}

ExitStatus Compiler::verifyKernels() {
  if (!options.verify)
    return Success;
  auto begin = std::chrono::steady_clock::now();
  llvm::SmallString<128> library;
  llvm::FileRemover remove, removeWeights;
  llvm::Error error = output().makeTemporary(
      *module, target::Linked::SharedLibrary, library, remove);
  if (!error)
    error = output().lendWeights(*module, removeWeights);
  if (!error)
    error = tool::verifyKernels(*specification, *module, library, options);
  timed("verify", begin);
  if (!error)
    return Success;
  std::string message = llvm::toString(std::move(error));
  if (message.empty()) {
    reportBug();
    return OurBug;
  }
  return failInInput(message);
}

ExitStatus Compiler::writeOutput() {
  if (!options.emit && options.compileTo.empty())
    return Success;
  auto begin = std::chrono::steady_clock::now();
  llvm::outs().flush(); // the output may go there as well
  ExitStatus status = Success;
  llvm::Error error = options.emit == Emit::Lab
                          ? writePage(output(), *module, status)
                          : output().write(current ? current : *module);
  if (error) {
    std::string message = llvm::toString(std::move(error));
    // A translation that fails has said why, and is our bug.
    if (message.empty()) {
      reportBug();
      return OurBug;
    }
    return fail(message);
  }
  timed("output", begin);
  return status;
}

ExitStatus Compiler::run() {
  llvm::Expected<Targets> found = findTargets(options, context);
  if (!found) {
    std::string message = llvm::toString(found.takeError());
    return message.empty() ? UserError : fail(message);
  }
  targets = std::move(*found);
  if (options.printTarget) {
    llvm::outs() << (targets.kind == TargetKind::GPU ? targets.gpuDescription
                                                     : targets.description)
                 << "\n";
    return Success;
  }
  pipeline.splitKeys = options.splitKeys;
  pipeline.verifyEach = options.verifyEach;
  if (options.explain && failed(explanation.listen(context)))
    return OurBug;
  for (auto step : {&Compiler::checkGPU, &Compiler::checkFiles, &Compiler::read,
                    &Compiler::checkInputs, &Compiler::selectEntries,
                    &Compiler::runPhases, &Compiler::verifyKernels})
    if (ExitStatus status = (this->*step)(); status != Success)
      return status;
  return writeOutput();
}

ExitStatus attn::tool::compile(const Options &options, int argc, char **argv) {
  // Its memory goes with the process, at once and not op by op.
  static auto *compiler = new Compiler(options, argc, argv);
  return compiler->run();
}
