// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Targets.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Process.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace attn;
using namespace attn::tool;

static bool isGPU(StringRef name) { return name.starts_with("sm_"); }

bool tool::namesGPU(StringRef target) {
  return llvm::any_of(llvm::split(target, ','), isGPU);
}

TargetKind tool::kindOf(StringRef target) {
  if (!namesGPU(target))
    return TargetKind::CPU;
  return target.contains(',') ? TargetKind::Both : TargetKind::GPU;
}

/// The code that launches kernels of a GPU runs on every processor of this
/// machine's kind.
static StringRef plainProcessor() {
  llvm::Triple host(llvm::sys::getProcessTriple());
  return host.isAArch64() ? "aarch64" : "x86-64";
}

static llvm::Expected<TargetAttr> describe(const Options &options,
                                           MLIRContext &context,
                                           const target::Processor &runs,
                                           StringRef tilesOf, bool hasFacts) {
  llvm::Expected<target::Processor> tiles = target::findProcessor(tilesOf);
  if (!tiles)
    return tiles.takeError();
  if (tiles->isGPU != runs.isGPU)
    return llvm::createStringError(
        "--tiles-of=" + options.tilesOf +
        " does not go with --target=" + options.target);
  FailureOr<TargetAttr> described =
      withFacts(describeTarget(&context, runs, *tiles, options.genericOps),
                hasFacts ? options.targetFacts : "");
  if (failed(described))
    return llvm::createStringError("");
  return *described;
}

llvm::Expected<Targets> tool::findTargets(const Options &options,
                                          MLIRContext &context) {
  Targets targets;
  targets.kind = kindOf(options.target);
  StringRef gpu, processor;
  for (StringRef name : llvm::split(options.target, ',')) {
    StringRef &place = isGPU(name) ? gpu : processor;
    if (!place.empty())
      return llvm::createStringError("--target=" + options.target +
                                     " names two processors or two GPUs");
    place = name;
  }
  bool isAlone = targets.kind != TargetKind::Both;
  if (targets.kind == TargetKind::GPU)
    processor = plainProcessor();
  llvm::Expected<target::Processor> found = target::findProcessor(processor);
  if (!found)
    return found.takeError();
  targets.processor = std::move(*found);
  target::setCodeGenLevel(targets.processor, options.codeGenLevel);
  StringRef tilesOf = options.tilesOf;
  if (targets.kind != TargetKind::CPU) {
    llvm::Expected<target::Processor> device = target::findProcessor(gpu);
    if (!device)
      return device.takeError();
    llvm::Expected<TargetAttr> described =
        describe(options, context, *device,
                 isAlone && !tilesOf.empty() ? tilesOf : gpu, isAlone);
    if (!described)
      return described.takeError();
    targets.gpu = std::move(*device);
    targets.gpuDescription = *described;
    target::setCodeGenLevel(*targets.gpu, options.codeGenLevel);
  }
  bool isPlain = targets.kind == TargetKind::GPU;
  llvm::Expected<TargetAttr> described =
      describe(options, context, targets.processor,
               isPlain || tilesOf.empty() ? processor : tilesOf, !isPlain);
  if (!described)
    return described.takeError();
  targets.description = *described;
  return targets;
}
