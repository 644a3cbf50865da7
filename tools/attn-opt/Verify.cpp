// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inputs are normal numbers, smaller ones where they are weights of
// products, and for integers sorted ones between 0 and the largest size, since
// most integers of attention are lengths, positions, and numbers or beginnings
// of documents. Sizes that a call chooses are random, too, unless --dim gives
// them. The reference is slow: they begin small and grow while a run takes no
// time.
#include "Verify.h"
#include "VerifyExpectations.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Pipelines/Phases.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace mlir;
using namespace attn;
using namespace attn::tool;
using llvm::Error;

namespace {
/// Runs one kernel and keeps the largest error of each result.
class Verifier {
public:
  Verifier(Kernel kernel, Expectation &expected, const Options &options,
           std::mt19937_64 &random)
      : kernel(std::move(kernel)), expected(expected), options(options),
        random(random) {
    for (PortAttr port : this->kernel.ports)
      if (!port.getInput())
        results.push_back({port});
  }

  Error verify();

private:
  /// None: the kernel refused the inputs, and `refusal` says why.
  llvm::Expected<bool> runOnce(bool allEqual);
  /// How many runs the kernel did not refuse.
  llvm::Expected<unsigned> runAll();
  llvm::Expected<bool> check(std::vector<Array> &arrays,
                             std::vector<uint64_t> &args);
  Error report(unsigned runs);

  struct Result {
    PortAttr port;
    ResultError worst{-1, 1}; ///< As a share of what it may be.
    unsigned silent = 0;      ///< Runs that say nothing of it.
  };

  Kernel kernel;
  Expectation &expected;
  const Options &options;
  std::mt19937_64 &random;
  size_t level = 3; ///< How many of the choices a size has.
  std::vector<Result> results;
  unsigned refused = 0;
  std::string refusal;
};
} // namespace

namespace {
/// Says on a terminal how far a verification of more than a second is.
class Progress {
public:
  Progress(StringRef name, unsigned runs) : name(name), runs(runs) {}
  ~Progress() {
    if (isShown)
      llvm::errs() << "\r\033[K"; // to the begin of the line, and erase it
  }
  void show(unsigned done) {
    if (!isTerminal || std::chrono::steady_clock::now() - begin < patience)
      return;
    isShown = true;
    llvm::errs() << "\r" << name << ": " << done << " of " << runs << " runs";
  }

private:
  static constexpr std::chrono::seconds patience{1};

  StringRef name;
  unsigned runs;
  bool isShown = false;
  bool isTerminal = llvm::sys::Process::StandardErrIsDisplayed();
  std::chrono::steady_clock::time_point begin =
      std::chrono::steady_clock::now();
};
} // namespace

/// The reference computes some 50 million operations per second.
static constexpr double mostFlops = 2e9;
static constexpr int64_t mostElements = 10'000'000;
static constexpr std::chrono::milliseconds noTime{100};

llvm::Expected<bool> Verifier::runOnce(bool allEqual) {
  Sizes sizes = chooseSizes(kernel, options, random, level, allEqual);
  std::vector<Array> arrays;
  for (PortAttr port : kernel.ports) {
    if (llvm::product_of(shapeOf(port, sizes)) > mostElements)
      return llvm::createStringError(
          llvm::Twine(kernel.name) +
          ": --verify would take too long: " + port.getName().getValue() +
          " has more than " + llvm::Twine(mostElements) +
          " elements, and the reference is slow; give smaller sizes with "
          "--dim, or verify a smaller specification");
    arrays.push_back(makeArray(port, shapeOf(port, sizes), sizes, random));
  }
  std::vector<uint64_t> args = makeArgs(arrays);
  double flops = kernel.flops(args.data());
  if (flops * expected.passes() > mostFlops)
    return llvm::createStringError(
        llvm::Twine(kernel.name) +
        ": --verify would take too long: a call is " +
        llvm::Twine(static_cast<int64_t>(flops / 1e6)) +
        " million operations, and the reference is slow; give smaller sizes "
        "with --dim, or verify a smaller specification");
  for (auto [i, array] : llvm::enumerate(arrays))
    fillFloats(array,
               i < kernel.summed.size() ? kernel.summed[i] : std::nullopt,
               random);
  return check(arrays, args);
}

llvm::Expected<bool> Verifier::check(std::vector<Array> &arrays,
                                     std::vector<uint64_t> &args) {
  auto begin = std::chrono::steady_clock::now();
  auto cannot = [&] {
    return llvm::createStringError(llvm::Twine(kernel.name) +
                                   ": the reference cannot evaluate it");
  };
  // What the reference says of inputs that the kernel refuses, too, nobody
  // asks.
  std::vector<Diagnostic> said;
  MLIRContext *context = expected.specification().getContext();
  auto completed = [&] {
    ScopedDiagnosticHandler held(context, [&](Diagnostic &diagnostic) {
      said.push_back(std::move(diagnostic));
    });
    return expected.complete(arrays);
  }();
  int32_t status = kernel.run(args.data());
  if (failed(completed) && !status) {
    for (Diagnostic &diagnostic : said)
      context->getDiagEngine().emit(std::move(diagnostic));
    return cannot();
  }
  if (status) {
    refusal = kernel.strerror(status);
    // Small sizes may be none that it takes.
    if (++refused % 8 == 0)
      level = std::min(level + 1, levels());
    return false;
  }
  auto errors = expected.compare(arrays);
  if (std::chrono::steady_clock::now() - begin < noTime)
    level = std::min(level + 1, levels());
  if (failed(errors))
    return cannot();
  for (auto [result, found] : llvm::zip_equal(results, *errors)) {
    result.silent += found.error < 0;
    // As a share of what it may be, which is 0 for integers.
    if (result.worst.error < 0 || found.error * result.worst.tolerance >
                                      result.worst.error * found.tolerance)
      result.worst = found;
  }
  return true;
}

Error Verifier::report(unsigned runs) {
  std::string wrong;
  for (const Result &result : results) {
    StringRef name = result.port.getName();
    if (result.silent == runs)
      return llvm::createStringError(
          llvm::Twine(kernel.name) + ": --verify says nothing of " + name +
          ": the function jumps along every direction that was tried");
    auto [error, most] = result.worst;
    llvm::outs() << kernel.name << ": " << name
                 << llvm::format(": largest error %.1e of ", error)
                 << expected.unit() << llvm::format(" (tolerance %.0e)", most);
    if (result.silent)
      llvm::outs() << "; the function jumps along " << result.silent << " of "
                   << runs << " directions";
    llvm::outs() << "\n";
    if (!(error <= most) && wrong.empty())
      wrong = name.str();
  }
  llvm::outs().flush(); // in front of an error
  if (wrong.empty())
    return Error::success();
  return llvm::createStringError(
      llvm::Twine(kernel.name) + ": " + wrong +
      " differs from the reference by more than its tolerance");
}

llvm::Expected<unsigned> Verifier::runAll() {
  Progress progress(kernel.name, options.verify);
  unsigned done = 0;
  // Random inputs may break a rule, such as lengths that belong together.
  for (unsigned i = 0; done < options.verify && i < 20 * options.verify; ++i) {
    llvm::Expected<bool> ran = runOnce(/*allEqual=*/i % 2);
    if (!ran)
      return ran.takeError();
    done += *ran;
    progress.show(done);
  }
  return done;
}

Error Verifier::verify() {
  llvm::Expected<unsigned> done = runAll();
  if (!done)
    return done.takeError();
  if (*done == 0)
    return llvm::createStringError(
        llvm::Twine(kernel.name) +
        ": --verify found no inputs that the kernel takes: " + refusal +
        "; give sizes with --dim");
  return report(*done);
}

/// The specification as far as functions that learn have their two others.
static OwningOpRef<ModuleOp> differentiated(ModuleOp specification) {
  OwningOpRef<ModuleOp> module = specification.clone();
  PipelineOptions head;
  head.lowers = false;
  for (const Phase &phase : phases())
    if (phase.isHead && failed(runPhase(*module, phase, head)))
      return {};
  return module;
}

/// What `kernel` must compute: a function of the specification, or one of the
/// two others of a function that learns.
static std::unique_ptr<Expectation> expect(const Kernel &kernel,
                                           ModuleOp specification,
                                           OwningOpRef<ModuleOp> &learned,
                                           std::mt19937_64 &random) {
  if (auto function = specification.lookupSymbol<func::FuncOp>(kernel.name))
    return expectResults(function);
  if (!learned)
    learned = differentiated(specification);
  StringRef name = kernel.name;
  bool isGradient = name.consume_back("_gradient");
  if (!isGradient)
    name.consume_back("_forward");
  auto function = specification.lookupSymbol<func::FuncOp>(name);
  auto made = [&](StringRef ending) {
    return learned ? learned->lookupSymbol<func::FuncOp>((name + ending).str())
                   : func::FuncOp();
  };
  func::FuncOp forward = made("_forward"), backward = made("_gradient");
  if (!function || !forward || !backward)
    return {};
  return isGradient
             ? expectGradient(function, forward, backward, kernel.ports, random)
             : expectResults(function, forward);
}

Error tool::verifyKernels(ModuleOp specification, ModuleOp compiled,
                          StringRef library, const Options &options) {
  std::string message;
  auto loaded =
      llvm::sys::DynamicLibrary::getLibrary(library.str().c_str(), &message);
  if (!loaded.isValid())
    return llvm::createStringError("cannot load the kernels: " + message);
  // A look-up outside of a tensor gives the nearest element (Spec.md).
  OwningOpRef<ModuleOp> clamped = specification.clone();
  PassManager clamp(clamped->getContext());
  clamp.addNestedPass<func::FuncOp>(createClampLookups());
  if (failed(clamp.run(*clamped)))
    return Error::success();     // reported; a bug
  OwningOpRef<ModuleOp> learned; // where there is a function that learns
  for (auto function : compiled.getOps<LLVM::LLVMFuncOp>()) {
    if (!function->hasAttr("attn.statuses"))
      continue;
    std::string name = function.getName().str();
    auto find = [&](const char *ending) {
      return loaded.getAddressOfSymbol((name + ending).c_str());
    };
    Kernel kernel{name,
                  PortAttr::of(function),
                  reinterpret_cast<int32_t (*)(const void *)>(find("")),
                  reinterpret_cast<const char *(*)(int32_t)>(find("_strerror")),
                  reinterpret_cast<double (*)(const void *)>(find("_flops")),
                  {}};
    std::mt19937_64 random{1};
    auto expected = expect(kernel, *clamped, learned, random);
    if (!expected)
      return llvm::createStringError("there is no reference of " + name);
    kernel.summed = summedDimensions(expected->specification());
    Verifier verifier(std::move(kernel), *expected, options, random);
    if (Error error = verifier.verify())
      return error;
  }
  llvm::sys::DynamicLibrary::closeLibrary(loaded);
  return Error::success();
}
