// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inputs are normal numbers, and for integers sorted ones between 0 and the
// largest size, since most integers of attention are lengths, positions, and
// numbers or beginnings of documents. Sizes that a call chooses are random,
// too, unless --dim gives them. The reference is slow: they begin small and
// grow while a run takes no time.
//
// A result is within its tolerance if no element is further from the f64
// reference than that share of the result's largest element: sums over keys
// have that scale.
#include "Verify.h"
#include "attn-rt/program.h"
#include "attn/Dialect/Attn/IR/AttnAttributes.h"
#include "attn/Reference/Reference.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cmath>
#include <random>

using namespace mlir;
using namespace attn;
using llvm::Error;
using reference::Datum;
using reference::Number;

namespace {
/// A tensor of the caller, and the same for the reference.
struct Array {
  PortAttr port;
  SmallVector<int64_t> shape;
  std::vector<char> bytes;

  int64_t size() const { return llvm::product_of(shape); }
  int64_t width() const { return reference::bytesOf(element()); }
  Type element() const { return port.getElementType(); }
  void store(int64_t i, Number number);
  Number load(int64_t i) const;
  attn_tensor tensor();
  Datum datum() const;
};

/// One kernel of the library.
struct Kernel {
  std::string name;
  std::vector<PortAttr> ports;
  int32_t (*run)(const void *args);
  const char *(*strerror)(int32_t status);
  double (*flops)(const void *args);
};
} // namespace

void Array::store(int64_t i, Number number) {
  reference::store(element(), number, bytes.data() + i * width());
}

Number Array::load(int64_t i) const {
  return reference::load(element(), bytes.data() + i * width());
}

attn_tensor Array::tensor() {
  return attn_contiguous(bytes.data(), shape.size(), shape.data());
}

Datum Array::datum() const {
  reference::Tensor tensor(shape);
  for (int64_t i = 0; i < size(); ++i)
    tensor.elements[i] = load(i);
  return reference::makeDatum(std::move(tensor));
}

/// What sums may miss the reference by, as a share of the largest element.
static double tolerance(Type element) {
  if (element.isF64())
    return 1e-11;
  if (element.isF32())
    return 1e-4;
  return element.isF16() ? 4e-3 : 3e-2; // and bf16
}

static constexpr int64_t choices[] = {1, 2, 7, 16, 33, 70};

/// Sizes of one run: given ones, or of the first `level` choices.
static llvm::StringMap<int64_t> chooseSizes(const Kernel &kernel,
                                            const tool::Options &options,
                                            std::mt19937_64 &random,
                                            size_t level, bool allEqual) {
  llvm::StringMap<int64_t> sizes;
  for (PortAttr port : kernel.ports)
    for (StringAttr symbol : port.getSymbols())
      if (!symbol.empty())
        sizes.try_emplace(symbol,
                          choices[allEqual ? level - 1 : random() % level]);
  for (auto &[name, size] : options.dims)
    sizes[name] = size;
  return sizes;
}

static SmallVector<int64_t> shapeOf(PortAttr port,
                                    const llvm::StringMap<int64_t> &sizes) {
  SmallVector<int64_t> shape;
  for (auto [size, symbol] : llvm::zip(port.getSizes(), port.getSymbols())) {
    int64_t sum = std::max<int64_t>(size, 0);
    if (size < 0) // a name, or the sum of names and numbers
      for (StringRef part : llvm::split(symbol.getValue(), '+')) {
        int64_t known;
        sum += part.getAsInteger(10, known) ? sizes.lookup(part) : known;
      }
    shape.push_back(sum);
  }
  return shape;
}

/// An array with integers; floats follow when it is known that there is time.
static Array makeArray(PortAttr port, SmallVector<int64_t> shape,
                       const llvm::StringMap<int64_t> &sizes,
                       std::mt19937_64 &random) {
  Array array{port, std::move(shape), {}};
  // Memory is never null, even without elements.
  array.bytes.resize(std::max<int64_t>(1, array.size() * array.width()));
  if (!port.getInput())
    return array;
  if (isa<FloatType>(array.element()))
    return array;
  int64_t largest = 1;
  for (auto &entry : sizes)
    largest = std::max(largest, entry.second);
  std::vector<int64_t> numbers(array.size());
  for (int64_t &number : numbers)
    number = random() % (array.element().isInteger(1) ? 2 : largest + 1);
  if (!array.element().isInteger(1))
    llvm::sort(numbers);
  for (auto [i, number] : llvm::enumerate(numbers))
    array.store(i, Number::ofInteger(number));
  return array;
}

static void fillFloats(Array &array, std::mt19937_64 &random) {
  if (!array.port.getInput() || !isa<FloatType>(array.element()))
    return;
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < array.size(); ++i)
    array.store(i, Number::ofReal(normal(random)));
}

/// The argument struct: a size, the tensors, an attn_rt_call.
static std::vector<uint64_t> makeArgs(std::vector<Array> &arrays) {
  size_t size = sizeof(size_t) + arrays.size() * sizeof(attn_tensor) +
                sizeof(attn_rt_call);
  std::vector<uint64_t> args(size / sizeof(uint64_t));
  args[0] = size;
  for (auto [i, array] : llvm::enumerate(arrays)) {
    attn_tensor tensor = array.tensor();
    std::memcpy(reinterpret_cast<char *>(args.data()) + sizeof(size_t) +
                    i * sizeof(attn_tensor),
                &tensor, sizeof(tensor));
  }
  return args;
}

/// The largest difference to the reference, in units of the largest element;
/// infinity where one is no number and the other is.
static double largestError(const Array &found, const reference::Tensor &want) {
  double scale = 1e-30, error = 0;
  for (const Number &number : want.elements)
    if (std::isfinite(number.real))
      scale = std::max(scale, std::abs(number.real));
  for (int64_t i = 0; i < found.size(); ++i) {
    Number got = found.load(i), expected = want.elements[i];
    if (!isa<FloatType>(found.element()))
      error = got.integer == expected.integer ? error : INFINITY;
    else if (std::isfinite(got.real) && std::isfinite(expected.real))
      error = std::max(error, std::abs(got.real - expected.real) / scale);
    else if (!(got.real == expected.real ||
               (std::isnan(got.real) && std::isnan(expected.real))))
      error = INFINITY;
  }
  return error;
}

namespace {
/// Runs one kernel and keeps the largest error of each result.
class Verifier {
public:
  Verifier(Kernel kernel, func::FuncOp specification,
           const tool::Options &options)
      : kernel(std::move(kernel)), specification(specification),
        options(options), errors(this->kernel.ports.size(), 0) {}

  Error verify();

private:
  /// None: the kernel refused the inputs, and `refusal` says why.
  llvm::Expected<bool> runOnce(bool allEqual);
  /// How many runs the kernel did not refuse.
  llvm::Expected<unsigned> runAll();
  Error report();

  Kernel kernel;
  func::FuncOp specification;
  const tool::Options &options;
  std::mt19937_64 random{1};
  size_t level = 3; ///< How many of the choices a size has.
  std::vector<double> errors;
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
  llvm::StringMap<int64_t> sizes =
      chooseSizes(kernel, options, random, level, allEqual);
  std::vector<Array> arrays;
  SmallVector<Datum> inputs;
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
  if (double flops = kernel.flops(args.data()); flops > mostFlops)
    return llvm::createStringError(
        llvm::Twine(kernel.name) +
        ": --verify would take too long: a call is " +
        llvm::Twine(static_cast<int64_t>(flops / 1e6)) +
        " million operations, and the reference is slow; give smaller sizes "
        "with --dim, or verify a smaller specification");
  for (Array &array : arrays) {
    fillFloats(array, random);
    if (array.port.getInput())
      inputs.push_back(array.datum());
  }
  if (int32_t status = kernel.run(args.data())) {
    refusal = kernel.strerror(status);
    return false;
  }
  auto begin = std::chrono::steady_clock::now();
  auto wanted = reference::evaluate(specification, inputs);
  if (std::chrono::steady_clock::now() - begin < noTime)
    level = std::min(level + 1, std::size(choices));
  if (failed(wanted))
    return llvm::createStringError(llvm::Twine(kernel.name) +
                                   ": the reference cannot evaluate it");
  for (auto [i, datum] : llvm::enumerate(*wanted)) {
    size_t at = inputs.size() + i;
    errors[at] = std::max(
        errors[at],
        largestError(
            arrays[at],
            *std::get<std::shared_ptr<const reference::Tensor>>(datum)));
  }
  return true;
}

Error Verifier::report() {
  std::string wrong;
  for (auto [port, error] : llvm::zip(kernel.ports, errors)) {
    if (port.getInput())
      continue;
    double most = isa<FloatType>(port.getElementType())
                      ? tolerance(port.getElementType())
                      : 0;
    llvm::outs() << kernel.name << ": " << port.getName().getValue()
                 << llvm::format(": largest error %.1e of the largest element "
                                 "(tolerance %.0e)\n",
                                 error, most);
    if (!(error <= most) && wrong.empty())
      wrong = port.getName().str();
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
  return report();
}

Error tool::verifyKernels(ModuleOp specification, ModuleOp compiled,
                          StringRef library, const Options &options) {
  std::string message;
  auto loaded =
      llvm::sys::DynamicLibrary::getLibrary(library.str().c_str(), &message);
  if (!loaded.isValid())
    return llvm::createStringError("cannot load the kernels: " + message);
  for (auto function : compiled.getOps<LLVM::LLVMFuncOp>()) {
    if (!function->hasAttr("attn.statuses"))
      continue;
    std::string name = function.getName().str();
    auto find = [&](const char *ending) {
      return loaded.getAddressOfSymbol((name + ending).c_str());
    };
    Kernel kernel{name, PortAttr::of(function),
                  reinterpret_cast<int32_t (*)(const void *)>(find("")),
                  reinterpret_cast<const char *(*)(int32_t)>(find("_strerror")),
                  reinterpret_cast<double (*)(const void *)>(find("_flops"))};
    auto original = specification.lookupSymbol<func::FuncOp>(name);
    Verifier verifier(std::move(kernel), original, options);
    if (Error error = verifier.verify())
      return error;
  }
  llvm::sys::DynamicLibrary::closeLibrary(loaded);
  return Error::success();
}
