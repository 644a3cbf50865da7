// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Options.h"
#include "attn/Pipelines/Phases.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace attn::tool;
using llvm::StringRef;
namespace cl = llvm::cl;

/// Any of these makes attn-opt the compiler.
static constexpr StringRef compilerFlags[] = {
    "emit",       "target",         "entry",        "compile-from",
    "compile-to", "dump-phases-to", "explain",      "dim",
    "verify",     "time",           "list-phases",  "help",
    "h",          "version",        "tiles-of",     "generic-ops",
    "split-keys", "target-facts",   "print-target", "strict-import",
    "with-lab",   "weights",
};

bool attn::tool::asksForCompiler(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    StringRef argument(argv[i]);
    if (argument == "--")
      return false;
    if (!argument.consume_front("-"))
      continue;
    argument.consume_front("-");
    if (llvm::is_contained(compilerFlags, argument.split('=').first))
      return true;
  }
  return false;
}

namespace {
struct OutputKind {
  StringRef name;
  Emit emit;
};
constexpr OutputKind kinds[] = {
    {"exe", Emit::Executable}, {"obj", Emit::Object},  {"lib", Emit::Library},
    {"python", Emit::Python},  {"lab", Emit::Lab},     {"asm", Emit::Assembly},
    {"llvm", Emit::LLVM},      {"mlir", Emit::MLIR},   {"header", Emit::Header},
    {"ptx", Emit::PTX},        {"cubin", Emit::Cubin},
};

/// Made only for the compiler: as a pass driver, attn-opt has MLIR's options.
struct CommandLine {
  const std::string compileToText =
      "Stop at a phase and print it: " + phaseNames();
  cl::OptionCategory output{"Compiling"};
  cl::OptionCategory look{"Looking inside"};
  cl::OptionCategory picture{"A picture (--emit=lab)"};

  cl::opt<std::string> input{cl::Positional, cl::desc("INPUT"), cl::init("-"),
                             cl::cat(output)};
  cl::list<std::string> arrays{cl::Positional, cl::desc("[FILE.npy]..."),
                               cl::cat(picture)};
  cl::list<std::string> named{
      "i", cl::value_desc("name=file"), cl::cat(picture),
      cl::desc("The argument NAME from FILE; without a name, the next one. "
               "Without any file, arguments are random")};
  cl::opt<std::string> random{"random", cl::ValueOptional,
                              cl::value_desc("seed"), cl::cat(picture),
                              cl::desc("Random arguments without a file")};
  cl::opt<std::string> tokens{
      "tokens", cl::value_desc("text"), cl::cat(picture),
      cl::desc("Words, one per query, and per key where there are as many")};
  cl::opt<std::string> keyTokens{"key-tokens", cl::value_desc("text"),
                                 cl::cat(picture),
                                 cl::desc("Others for the keys")};
  cl::opt<std::string> emit{
      "emit", cl::value_desc("kind"), cl::cat(output),
      cl::desc("exe     a program that reads and writes .npy files, and its C "
               "header\n"
               "obj     an object file and its C header\n"
               "lib     a shared library and its C header\n"
               "python  a Python module and its shared library\n"
               "lab     a page for a browser that explains a call\n"
               "header  the C header alone\n"
               "ptx     kernels of an NVIDIA GPU, with --target=sm_80\n"
               "cubin   the same, assembled by ptxas\n"
               "asm, llvm, mlir  text, to the standard output")};
  cl::opt<std::string> file{"o", cl::value_desc("file"), cl::cat(output),
                            cl::desc("Output file, - for the standard output; "
                                     "the header lies beside a file")};
  cl::opt<std::string> target{
      "target", cl::value_desc("cpu"), cl::init("native"), cl::cat(output),
      cl::desc("native (default), x86-64, x86-64-v3, x86-64-v4, aarch64, or a "
               "processor of LLVM's; or a GPU: sm_80, or the name of a later "
               "chip")};
  cl::opt<std::string> ptxas{
      "ptxas", cl::value_desc("file"), cl::cat(output),
      cl::desc("The assembler of --emit=cubin (default: that of PATH, of "
               "CUDA_HOME or of /usr/local/cuda)")};
  cl::opt<unsigned> codeGenLevel{
      "O",
      cl::Prefix,
      cl::value_desc("level"),
      cl::init(3),
      cl::cat(output),
      cl::desc("How much LLVM optimizes, 0 to 3 (default): with -O0 compiling "
               "takes two thirds of the time, and kernels run slowly")};
  cl::opt<bool> withLab{
      "with-lab", cl::cat(output),
      cl::desc("With --emit=exe: the program has --lab, which explains a call "
               "in a page for a browser; it compiles longer")};
  cl::opt<std::string> weights{
      "weights", cl::value_desc("file"), cl::cat(output),
      cl::desc("Write constants of 4096 bytes and more to a file, which the "
               "program or library maps; it looks for it as it is given here, "
               "and beside itself")};
  cl::opt<std::string> tilesOf{
      "tiles-of", cl::value_desc("cpu"), cl::cat(look),
      cl::desc("Tile sizes of another processor than the target's")};
  cl::opt<std::string> targetFacts{
      "target-facts", cl::value_desc("name=value,..."), cl::cat(look),
      cl::desc("Fields of the target's description, such as "
               "l1_bytes=49152,chains=4")};
  cl::opt<bool> printTarget{"print-target", cl::cat(look),
                            cl::desc("Print the description of the target")};
  cl::opt<bool> strictImport{
      "strict-import", cl::cat(output),
      cl::desc("Take every number of an ONNX model as it stands: a mask of the "
               "lowest finite number excludes nothing")};
  cl::opt<int64_t> splitKeys{
      "split-keys", cl::value_desc("keys"), cl::cat(look),
      cl::desc("Keys of a parallel item where at most 1024 queries see twice "
               "as many or more (default: 4096; 0: all); on a GPU, of a block "
               "where few queries see more (default: from a table)")};
  cl::opt<bool> verifyEach{
      "verify-each", cl::init(attn::verifiesEach), cl::cat(look),
      cl::desc("Verify the module after every pass (default: in builds with "
               "assertions)")};
  cl::opt<bool> genericOps{
      "generic-ops", cl::cat(look),
      cl::desc(
          "Use no special instructions for exponentials and conversions: "
          "with --tiles-of, the schedule of one processor runs on another")};
  cl::opt<std::string> entry{
      "entry", cl::value_desc("name"), cl::cat(output),
      cl::desc(
          "The function to compile (default: every public one); of a model, "
          "what its function is called (default: as the file)")};
  cl::opt<std::string> compileTo{"compile-to", cl::value_desc("phase"),
                                 cl::cat(look), cl::desc(compileToText)};
  cl::opt<std::string> compileFrom{
      "compile-from", cl::value_desc("phase"), cl::cat(look),
      cl::desc(
          "The input is the module at this phase, and goes on from there")};
  cl::opt<std::string> dumpPhasesTo{
      "dump-phases-to", cl::value_desc("folder"), cl::cat(look),
      cl::desc("Write every phase to a file of its own")};
  cl::opt<std::string> explain{
      "explain", cl::ValueOptional, cl::value_desc("json"), cl::cat(look),
      cl::desc("Say what was fused and what was not, which tiles are skipped, "
               "and the sizes that were chosen")};
  cl::opt<std::string> verify{
      "verify", cl::ValueOptional, cl::value_desc("runs"), cl::cat(look),
      cl::desc("Run the kernels on random inputs (default: 8 times) beside the "
               "f64 reference and print the largest errors")};
  cl::list<std::string> dims{
      "dim", cl::value_desc("name=size"), cl::cat(look),
      cl::desc("The size of an unknown dimension, such as q2=1024, for "
               "--explain, --verify and --emit=lab")};
  cl::opt<bool> listPhases{
      "list-phases", cl::cat(look),
      cl::desc("Print the phases and what the module is in each")};
  cl::opt<bool> time{"time", cl::cat(look),
                     cl::desc("Print how long each phase took")};

  static std::string phaseNames() {
    std::vector<std::string> names;
    for (const attn::Phase &phase : attn::phases())
      names.push_back(phase.name.str());
    return llvm::join(names, ", ");
  }
};
} // namespace

static bool complain(const llvm::Twine &message) {
  llvm::errs() << "attn-opt: error: " << message << "\n";
  return false;
}

static bool readEmit(StringRef text, Options &options, ExitStatus &status) {
  if (text.empty())
    return true;
  for (const OutputKind &kind : kinds)
    if (kind.name == text)
      options.emit = kind.emit;
  if (options.emit)
    return true;
  std::vector<std::string> names;
  for (const OutputKind &kind : kinds)
    names.push_back(kind.name.str());
  std::string last = names.back();
  names.pop_back();
  return complain("unknown kind '" + text + "'; --emit expects " +
                  llvm::join(names, ", ") + " or " + last);
}

static bool readDims(llvm::ArrayRef<std::string> texts, Options &options) {
  for (StringRef text : texts) {
    auto [name, size] = text.split('=');
    int64_t value = 0;
    if (name.empty() || size.getAsInteger(10, value) || value < 0)
      return complain("--dim expects NAME=SIZE, but got '" + text + "'");
    options.dims.push_back({name.str(), value});
  }
  return true;
}

static bool readVerify(const CommandLine &line, Options &options) {
  if (!line.verify.getNumOccurrences())
    return true;
  options.verify = 8;
  StringRef text = line.verify;
  if (!text.empty() && (text.getAsInteger(10, options.verify) ||
                        options.verify < 1 || options.verify > 1000000))
    return complain("--verify expects a number of runs from 1 to 1000000, but "
                    "got '" +
                    text + "'");
  if (!options.compileFrom.empty() || !options.compileTo.empty())
    return complain("--verify compares a specification with its kernel, and "
                    "does not go with --compile-from and --compile-to");
  return true;
}

/// The command line of the program that makes a picture.
static bool readLab(const CommandLine &line, Options &options) {
  bool isLab = options.emit == Emit::Lab;
  options.withLab = line.withLab || isLab;
  if (line.withLab && options.emit != Emit::Executable)
    return complain("--with-lab goes with --emit=exe");
  if (options.withLab && !options.compileFrom.empty())
    return complain("a picture begins with a specification: --with-lab and "
                    "--emit=lab do not go with --compile-from");
  std::vector<std::string> &arguments = options.labArguments;
  auto isGiven = [](const cl::Option &option) {
    return option.getNumOccurrences() > 0;
  };
  if (!isLab && !line.arrays.empty())
    return complain("expects one INPUT, but got '" + line.arrays.front() +
                    "' as well");
  auto isWrong = [&](const cl::Option &option) {
    if (isLab || !isGiven(option))
      return false;
    return !complain("-" + llvm::Twine(option.ArgStr.size() > 1 ? "-" : "") +
                     option.ArgStr + " is for --emit=lab");
  };
  if (isWrong(line.named) || isWrong(line.random) || isWrong(line.tokens) ||
      isWrong(line.keyTokens))
    return false;
  for (const std::string &file : line.named)
    arguments.insert(arguments.end(), {"-i", file});
  for (auto [name, text] : {std::pair("--tokens=", &line.tokens),
                            std::pair("--key-tokens=", &line.keyTokens)})
    if (isGiven(*text))
      arguments.push_back(name + text->getValue());
  bool hasFiles = !line.arrays.empty() || !line.named.empty();
  if (isGiven(line.random) || !hasFiles) {
    arguments.push_back("--random" +
                        (line.random.empty() ? "" : "=" + line.random));
    for (auto &[name, size] : options.dims)
      arguments.insert(arguments.end(),
                       {"--dim", name + "=" + std::to_string(size)});
  }
  arguments.push_back("--");
  arguments.insert(arguments.end(), line.arrays.begin(), line.arrays.end());
  return true;
}

/// The file of weights is made together with what reads it.
static bool readWeights(const CommandLine &line, Options &options) {
  if (!line.weights.getNumOccurrences())
    return true;
  options.weights = line.weights;
  if (options.weights == "-")
    return complain("--weights expects a file, which is mapped, but got '-'");
  std::optional<Emit> emit = options.emit;
  if (emit == Emit::Executable || emit == Emit::Object ||
      emit == Emit::Library || emit == Emit::Python)
    return true;
  return complain("--weights goes with --emit=exe, obj, lib or python");
}

static bool readOptions(const CommandLine &line, Options &options,
                        ExitStatus &status) {
  status = UsageError;
  options.input = line.input;
  options.output = line.file;
  options.target = line.target;
  options.ptxas = line.ptxas;
  options.tilesOf = line.tilesOf;
  if (line.splitKeys.getNumOccurrences())
    options.splitKeys = line.splitKeys;
  options.verifyEach = line.verifyEach;
  options.genericOps = line.genericOps;
  options.codeGenLevel = line.codeGenLevel;
  options.targetFacts = line.targetFacts;
  options.printTarget = line.printTarget;
  options.strictImport = line.strictImport;
  options.entry = line.entry;
  options.compileFrom = line.compileFrom;
  options.compileTo = line.compileTo;
  options.dumpPhasesTo = line.dumpPhasesTo;
  options.explain = line.explain.getNumOccurrences() > 0;
  options.explainAsJson = line.explain == "json";
  options.time = line.time;
  options.listPhases = line.listPhases;
  std::vector<std::string> dims(line.dims.begin(), line.dims.end());
  if (!readEmit(line.emit, options, status) || !readDims(dims, options) ||
      !readVerify(line, options) || !readLab(line, options) ||
      !readWeights(line, options))
    return false;
  if (!line.explain.empty() && !options.explainAsJson)
    return complain("--explain expects nothing or json, but got '" +
                    line.explain + "'");
  for (const cl::opt<std::string> *given :
       {&line.ptxas, &line.file, &line.dumpPhasesTo, &line.entry, &line.input,
        &line.weights})
    if (given->getNumOccurrences() > 0 && given->empty())
      return complain((given->hasArgStr() ? "-" + given->ArgStr : "INPUT") +
                      " expects a name, but got ''");
  if (options.codeGenLevel > 3)
    return complain("-O expects 0 to 3, but got '" +
                    std::to_string(options.codeGenLevel) + "'");
  if (options.splitKeys && *options.splitKeys < 0)
    return complain("--split-keys expects 0 or more, but got '" +
                    std::to_string(*options.splitKeys) + "'");
  for (const std::string &phase : {options.compileFrom, options.compileTo})
    if (!phase.empty() && !attn::findPhase(phase))
      return complain("unknown phase '" + phase + "'; expects one of " +
                      CommandLine::phaseNames());
  if (!options.output.empty() && !options.emit && options.compileTo.empty())
    return complain("-o goes with --emit and --compile-to");
  if (!options.dims.empty() && !options.verify && !options.explain &&
      options.emit != Emit::Lab)
    return complain("--dim goes with --verify, --explain and --emit=lab");
  if (!options.compileTo.empty() && options.emit && *options.emit != Emit::MLIR)
    return complain("--compile-to prints MLIR and does not go with --emit=" +
                    line.emit);
  return true;
}

static void printVersion(llvm::raw_ostream &os) {
  os << "attn-opt " << ATTN_VERSION << "\nLLVM " << LLVM_VERSION_STRING << "\n";
}

std::optional<Options> attn::tool::parseOptions(int argc, char **argv,
                                                ExitStatus &status) {
  CommandLine line;
  cl::HideUnrelatedOptions({&line.output, &line.look, &line.picture});
  cl::SetVersionPrinter(printVersion);
  cl::extrahelp more(
      "\nEXAMPLE:\n"
      "  attn-opt causal.mlir --emit=exe -o causal\n"
      "  ./causal q.npy k.npy v.npy -o out.npy\n"
      "  attn-opt i-am-happy.mlir q.npy k.npy v.npy --tokens \"I am happy\" "
      "--emit=lab -o happy.html\n\n"
      "Without these options attn-opt is a pass driver like mlir-opt, with the "
      "attn\ndialect and passes: attn-opt --help-hidden lists them.\n");
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  if (!cl::ParseCommandLineOptions(
          argc, argv, "an ahead-of-time compiler for attention\n", &stream)) {
    // The first line says what is wrong.
    llvm::errs() << StringRef(errors).ltrim().split('\n').first << "\n";
    status = UsageError;
    return std::nullopt;
  }
  Options options;
  if (!readOptions(line, options, status))
    return std::nullopt;
  return options;
}
