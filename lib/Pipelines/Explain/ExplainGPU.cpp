// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Pipelines/ExplainGPU.h"
#include "ExplainFormula.h"
#include "attn/Interface/KernelSignature.h"
#include "attn/Interface/Passes.h"
#include "attn/Target/KernelModel.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attn;
using target::GPUThroughput;
using target::KernelUse;
using target::LoopBound;
using target::LoopMix;
using target::SassKernel;
namespace json = llvm::json;

/// A copy of a tensor has a size that says whether it is made.
static LaunchFacts::When whenOf(gpu::LaunchFuncOp op) {
  auto guard = op->getParentOfType<scf::IfOp>();
  if (!guard)
    return LaunchFacts::Always;
  bool isCopy =
      llvm::any_of(guard.getCondition().getUsers(), [](Operation *user) {
        return user->hasAttr(contiguousCopyAttr);
      });
  return isCopy ? LaunchFacts::Copy : LaunchFacts::Sometimes;
}

std::vector<LaunchFacts> attn::launchesOf(ModuleOp module,
                                          const SymbolSizes &sizes) {
  std::vector<LaunchFacts> launches;
  for (const KernelSignature &kernel : KernelSignature::all(module)) {
    std::vector<PortAttr> ports = PortAttr::of(kernel.getFunction());
    kernel.getFunction().walk([&](gpu::LaunchFuncOp op) {
      LaunchFacts launch;
      launch.when = whenOf(op);
      launch.function = kernel.getName().str();
      launch.kernel = op.getKernelName().str();
      Value blocks = op.getGridSizeX();
      launch.blocks = formulaText(blocks, ports);
      launch.blockCount = formulaValue(blocks, ports, sizes);
      launch.threads =
          formulaValue(op.getBlockSizeX(), ports, sizes).value_or(0);
      if (Value bytes = op.getDynamicSharedMemorySize())
        launch.sharedBytes = formulaValue(bytes, ports, sizes).value_or(0);
      launches.push_back(std::move(launch));
    });
  }
  return launches;
}

namespace {
/// What is known of the machine code of one launch.
struct Model {
  const KernelUse *use = nullptr;
  std::vector<LoopMix> loops;
  std::vector<LoopBound> bounds; ///< of each, for a block
};
} // namespace

static Model modelOf(const LaunchFacts &launch, const AssembledKernels &kernels,
                     const GPUThroughput *chip) {
  Model model;
  for (const KernelUse &use : kernels.log.kernels)
    if (use.name == launch.kernel)
      model.use = &use;
  for (const SassKernel &kernel : kernels.code)
    if (kernel.name == launch.kernel)
      model.loops = target::loopsOf(kernel);
  int64_t warps = std::max<int64_t>(1, launch.threads / 32);
  for (const LoopMix &mix : model.loops)
    model.bounds.push_back(target::boundOf(mix, warps, *chip));
  return model;
}

using Parts = ArrayRef<std::pair<double, StringRef>>;

/// Those that are more than nothing.
static void printParts(llvm::raw_ostream &os, Parts parts) {
  auto there = llvm::make_filter_range(
      parts, [](const auto &part) { return part.first > 0; });
  llvm::interleaveComma(there, os, [&](const auto &part) {
    os << llvm::formatv("{0:f0} {1}", part.first, part.second);
  });
}

static void printBound(llvm::raw_ostream &os, const LoopMix &mix,
                       const LoopBound &bound, const GPUThroughput &chip) {
  os << llvm::formatv("      bound     by {0}, {1:f0} clocks", bound.by,
                      bound.clocks);
  double share = 100 * bound.tensorShare();
  if (mix.products)
    os << llvm::formatv(": at most {0:f0} % of the tensor cores' {1:f0} "
                        "TFLOP/s, and {2:f0} % where as much is hidden as in "
                        "FlashAttention-2",
                        share, chip.peakTeraflops(), chip.reached * share);
  os << "\n";
}

static void printLoop(llvm::raw_ostream &os, const LoopMix &mix,
                      const LoopBound &bound, const GPUThroughput &chip) {
  auto count = [](int64_t number) { return static_cast<double>(number); };
  os << "    loop        " << mix.slots << " issue slots of a warp: ";
  printParts(os, {{count(mix.products), "products"},
                  {count(mix.loadMatrix), "ldmatrix"},
                  {count(mix.copies), "copies"},
                  {count(mix.fma), "f32"},
                  {count(mix.alu), "integers"},
                  {count(mix.special), "exp2 and its kind"},
                  {count(mix.barriers), "barriers"}});
  os << "\n      clocks    ";
  printParts(os, {{bound.tensor, "tensor cores"},
                  {bound.issue, "issue slots"},
                  {bound.shared, "shared memory"},
                  {bound.fma, "f32"},
                  {bound.alu, "integers"},
                  {bound.special, "exp2 and its kind"},
                  {bound.global, "level-2 cache"}});
  os << "\n";
  if (mix.unknown)
    os << "      " << mix.unknown
       << " instructions are of no known kind, and count as issued alone\n";
  printBound(os, mix, bound, chip);
}

static void printLaunch(llvm::raw_ostream &os, const LaunchFacts &launch,
                        const AssembledKernels &kernels,
                        const GPUThroughput *chip) {
  os << "\n  kernel " << launch.kernel << " of " << launch.function
     << (launch.when == LaunchFacts::Sometimes
             ? ", where a condition of the specification holds\n"
             : "\n")
     << "    launch      " << launch.blocks;
  if (launch.blockCount && launch.blocks != std::to_string(*launch.blockCount))
    os << " = " << *launch.blockCount;
  os << " blocks of " << launch.threads << " threads, " << launch.sharedBytes
     << " bytes of shared memory\n";
  Model model = modelOf(launch, kernels, chip);
  if (model.use)
    os << "    registers   " << model.use->registers << " of a thread, "
       << model.use->spillBytes << " bytes spilled\n";
  for (auto [mix, bound] : llvm::zip(model.loops, model.bounds))
    printLoop(os, mix, bound, *chip);
  if (model.loops.empty() && kernels.missing.empty())
    os << "    loop        none: all is done in one turn\n";
}

std::string attn::explainLaunches(ArrayRef<LaunchFacts> launches,
                                  const AssembledKernels &kernels) {
  std::string text;
  llvm::raw_string_ostream os(text);
  const GPUThroughput *chip = target::throughputOf(kernels.target);
  if (launches.empty())
    return text;
  std::vector<std::string> copies;
  for (const LaunchFacts &launch : launches) {
    if (launch.when == LaunchFacts::Copy)
      copies.push_back(launch.kernel);
    else
      printLaunch(os, launch, kernels, chip);
  }
  os << "\n";
  if (!copies.empty())
    os << "  kernels " << llvm::join(copies, ", ")
       << " copy tensors of which the innermost stride is not 1 or one is "
          "negative, and are launched for these alone\n";
  if (!kernels.missing.empty())
    os << (kernels.log.kernels.empty() ? "  no registers, loops and bounds"
                                       : "  no loops and bounds")
       << " of these kernels: " << kernels.missing << "\n";
  else
    os << llvm::formatv("  clocks are those of one of the {0} multiprocessors "
                        "of an {1} for one "
                        "turn of a block's loop, if nothing waits\n",
                        chip->multiprocessors, chip->chip);
  for (const std::string &warning : kernels.log.warnings)
    os << "  " << warning << "\n";
  os << "  tensors that lie in the host's memory are copied to the device and "
        "results back; of a call whose tensors all lie on the device nothing "
        "is\n";
  return text;
}

static json::Object toJson(const LoopMix &mix, const LoopBound &bound) {
  json::Object clocks{{"tensor", bound.tensor}, {"issue", bound.issue},
                      {"shared", bound.shared}, {"f32", bound.fma},
                      {"integers", bound.alu},  {"special", bound.special},
                      {"global", bound.global}, {"bound", bound.clocks}};
  return json::Object{{"slots", mix.slots},
                      {"products", mix.products},
                      {"ldmatrix", mix.loadMatrix},
                      {"copies", mix.copies},
                      {"f32", mix.fma},
                      {"integers", mix.alu},
                      {"special", mix.special},
                      {"barriers", mix.barriers},
                      {"shared_bytes", mix.sharedBytes},
                      {"global_bytes", mix.globalBytes},
                      {"flops", mix.flops},
                      {"unknown", mix.unknown},
                      {"clocks", std::move(clocks)},
                      {"bound_by", bound.by},
                      {"tensor_share", bound.tensorShare()}};
}

static json::Object toJson(const LaunchFacts &launch,
                           const AssembledKernels &kernels,
                           const GPUThroughput *chip) {
  static constexpr StringRef when[] = {"always", "copy", "sometimes"};
  json::Object object{
      {"function", launch.function}, {"when", when[launch.when]},
      {"name", launch.kernel},       {"blocks", launch.blocks},
      {"threads", launch.threads},   {"shared_bytes", launch.sharedBytes}};
  if (launch.blockCount)
    object["block_count"] = *launch.blockCount;
  Model model = modelOf(launch, kernels, chip);
  if (model.use) {
    object["registers"] = model.use->registers;
    object["spill_bytes"] = model.use->spillBytes;
  }
  json::Array loops;
  for (auto [mix, bound] : llvm::zip(model.loops, model.bounds))
    loops.push_back(toJson(mix, bound));
  if (kernels.missing.empty())
    object["loops"] = std::move(loops);
  return object;
}

json::Value attn::launchesAsJson(ArrayRef<LaunchFacts> launches,
                                 const AssembledKernels &kernels) {
  const GPUThroughput *chip = target::throughputOf(kernels.target);
  json::Array all;
  for (const LaunchFacts &launch : launches)
    all.push_back(toJson(launch, kernels, chip));
  json::Object object{{"target", kernels.target},
                      {"kernels", std::move(all)},
                      {"warnings", json::Array(kernels.log.warnings)}};
  if (chip) {
    object["chip"] = chip->chip;
    object["peak_tflops"] = chip->peakTeraflops();
    object["share_reached"] = chip->reached;
  }
  if (!kernels.missing.empty())
    object["missing"] = kernels.missing;
  return object;
}
