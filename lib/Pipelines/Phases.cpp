// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Pipelines/Phases.h"
#include "CheckPhase.h"
#include "CheckSizes.h"
#include "Cleanup.h"
#include "DescribePicture.h"
#include "FuseElementwise.h"
#include "LowerCopies.h"
#include "OnFunctions.h"
#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Interface/Passes.h"
#include "attn/Pipelines/DescribeTarget.h"
#include "attn/Schedule/Passes.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

static void addNothing(OpPassManager &, const PipelineOptions &) {}

static void addNormalized(OpPassManager &pm, const PipelineOptions &) {
  pm.addPass(createCheckSizes());
  pm.addPass(createInlineFunctions());
  pm.addNestedPass<func::FuncOp>(createNormalizeConstants());
  pm.addNestedPass<func::FuncOp>(createNormalizeLoops());
  pm.addPass(createCSEPass()); // one broadcast of angles for all that they turn
  pm.addNestedPass<func::FuncOp>(createRaiseRope());
  pm.addNestedPass<func::FuncOp>(createRaiseSoftmax());
  pm.addNestedPass<func::FuncOp>(createRaiseAttention());
  pm.addNestedPass<func::FuncOp>(createRaiseHeads());
  pm.addNestedPass<func::FuncOp>(createNormalizeAttention());
  pm.addNestedPass<func::FuncOp>(createRaiseProjections());
  pm.addPass(createCSEPass());
}

static void addFused(OpPassManager &pm, const PipelineOptions &options) {
  pm.addNestedPass<func::FuncOp>(createCheckDropout());
  pm.addNestedPass<func::FuncOp>(createFuseAttention());
  pm.addNestedPass<func::FuncOp>(createRefineResults());
  pm.addPass(createDifferentiate({options.entry}));
  if (options.picture)
    pm.addPass(createReturnSteps());
  pm.addNestedPass<func::FuncOp>(createCheckMasks());
  pm.addPass(createDescribePorts());
  pm.addPass(createCountFlops());
  pm.addNestedPass<func::FuncOp>(createClampLookups());
  pm.addPass(createCheckSlices());
  // Sizes come from the arguments, so that @NAME.flops computes no tensors: the
  // second turn looks through a reshape that elementwise ops stood in front of.
  for (int turn = 0; turn < 2; ++turn) {
    pm.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
    pm.addNestedPass<func::FuncOp>(createResolveSizes());
  }
  addCleanup(pm);
  pm.addNestedPass<func::FuncOp>(createAbsorbHeads());
  pm.addNestedPass<func::FuncOp>(createSinkReshapes());
  pm.addNestedPass<func::FuncOp>(createMergeProjections());
  pm.addNestedPass<func::FuncOp>(createJoinRows());
  pm.addNestedPass<func::FuncOp>(createSinkReshapes());
  pm.addNestedPass<func::FuncOp>(createCheckMasks());
  pm.addNestedPass<func::FuncOp>(createCheckTarget());
  if (options.lowers)
    pm.addNestedPass<func::FuncOp>(createCheckGradients());
  pm.addNestedPass<func::FuncOp>(createCheckOps());
  pm.addNestedPass<func::FuncOp>(createResolveSizes()); // of joined rows
  pm.addNestedPass<func::FuncOp>(createCheckUnknownSizes());
  pm.addNestedPass<func::FuncOp>(createJoinBranches());
}

static void addScheduled(OpPassManager &pm, const PipelineOptions &options) {
  pm.addNestedPass<func::FuncOp>(createExpandGradients());
  pm.addNestedPass<func::FuncOp>(createClampLookups());
  pm.addNestedPass<func::FuncOp>(createGuardDivisions());
  pm.addNestedPass<func::FuncOp>(createReplaceEmpty());
  pm.addNestedPass<func::FuncOp>(createLowerColumns());
  AssignScheduleOptions schedule;
  if (options.splitKeys)
    schedule.prefillSplitKeys = *options.splitKeys;
  pm.addNestedPass<func::FuncOp>(createAssignSchedule(schedule));
  if (options.picture)
    pm.addPass(createDescribePicture());
}

static void addTiledQueries(OpPassManager &pm, const PipelineOptions &) {
  pm.addNestedPass<func::FuncOp>(createCopyStridedSlices());
  pm.addNestedPass<func::FuncOp>(createYieldIntoArguments());
  pm.addNestedPass<func::FuncOp>(createLowerPrologue());
  pm.addNestedPass<func::FuncOp>(createTileQueries());
  pm.addNestedPass<func::FuncOp>(createTileGradients());
  pm.addNestedPass<func::FuncOp>(createTileProjections());
  pm.addNestedPass<func::FuncOp>(createTileStates());
  // Sizes of reshaped tensors come from the arguments, too.
  pm.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  addCleanup(pm);
}

static void addTiledKeys(OpPassManager &pm, const PipelineOptions &) {
  pm.addNestedPass<func::FuncOp>(createTileKeys());
  addCleanup(pm);
}

static void addBuffers(OpPassManager &pm, const PipelineOptions &options) {
  pm.addNestedPass<func::FuncOp>(createFuseElementwise());
  pm.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  pm.addNestedPass<func::FuncOp>(createWidenElements());
  pm.addNestedPass<func::FuncOp>(createFuseIntoSums());
  pm.addNestedPass<func::FuncOp>(createInsertConcats());
  pm.addNestedPass<func::FuncOp>(createReuseOperands());
  pm.addPass(createLowerSignature());
  // Results are computed in the caller's memory, not copied there.
  pm.addNestedPass<func::FuncOp>(createSeparateEmpties());
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  pm.addPass(bufferization::createOneShotBufferizePass());
  pm.addNestedPass<func::FuncOp>(createOrderResults());
  pm.addNestedPass<func::FuncOp>(createSequenceInnerLoops());
  pm.addPass(createCSEPass()); // shows copies of a buffer to itself
  addCleanup(pm, options.target);
}

static void addLinalgLoops(OpPassManager &pm) {
  addOnFunctions(pm, {"linalg", true, [](OpPassManager &functions) {
                        functions.addPass(createConvertLinalgToLoopsPass());
                      }});
}

/// AVX-512 masks numbers of any size, AVX2 those of 32 and 64 bits.
static unsigned leastMaskedBits(TargetAttr target) {
  return target.getLanes() == 16 ? 8 : target.getLanes() == 8 ? 32 : 0;
}

/// What stands around the kernels.
static void addVectorizedLinalg(OpPassManager &pm, TargetAttr target) {
  // Sizes of buffers come from the arguments, and equal ones are one value.
  addOnFunctions(pm, {"vector", false, [](OpPassManager &functions) {
                        functions.addPass(
                            memref::createResolveShapedTypeResultDimsPass());
                        addCleanup(functions);
                      }});
  VectorizeLinalgOptions vectors;
  vectors.lanes = target.getLanes();
  vectors.maskedBits = leastMaskedBits(target);
  pm.addNestedPass<func::FuncOp>(createVectorizeLinalg(vectors));
}

static void addVectors(OpPassManager &pm, const PipelineOptions &options) {
  pm.addNestedPass<func::FuncOp>(createCompactRows());
  pm.addNestedPass<func::FuncOp>(createPrefetchItems());
  pm.addPass(createConvertAttnToCPU());
  addVectorizedLinalg(pm, options.target);
  pm.addPass(createApproximateMath());
  // Fills that are no part of a kernel.
  addLinalgLoops(pm);
  addKernelCleanup(pm);
}

static void addParallel(OpPassManager &pm, const PipelineOptions &) {
  pm.addNestedPass<func::FuncOp>(createMakeContiguous());
  pm.addPass(createAssignWorkspace());
  pm.addPass(createOutlineParallel());
  addOnFunctions(pm, {"vector", false, addCleanup});
  pm.addPass(createLowerCopies());
  addLinalgLoops(pm);
  pm.addPass(createShareConstants());
}

static void addEntry(OpPassManager &pm, const PipelineOptions &options) {
  if (options.joined)
    pm.addPass(createShareConstants()); // of the two
  if (!options.weights.empty()) {
    ExternalizeWeightsOptions weights;
    weights.path = options.weights;
    pm.addPass(createExternalizeWeights(weights));
  }
  EmitEntryOptions entry;
  entry.emitMain = options.program;
  entry.info = options.info;
  entry.tiles = options.target.getAmx();
  pm.addPass(createEmitEntry(entry));
}

static void addConversionToLLVM(OpPassManager &pm) {
  pm.addPass(arith::createArithExpandOpsPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertToLLVMPass()); // all dialects at once
  pm.addPass(createReconcileUnrealizedCastsPass());
}

/// Passes on vectors know no attn attribute; they have options.
static void addLLVM(OpPassManager &pm, const PipelineOptions &options) {
  TargetAttr target = options.target;
  if (target.getLaneProducts())
    pm.addNestedPass<func::FuncOp>(createJoinScalarLoads());
  pm.addPass(createLowerTileProducts({target.getAmx()}));
  pm.addNestedPass<func::FuncOp>(createFlushSubnormals());
  LowerVectorMathOptions math;
  math.scalef = target.getScalef();
  math.f16 = target.getF16();
  math.bf16 = target.getBf16();
  pm.addPass(createLowerVectorMath(math));
  pm.addPass(createExpandForLLVM());
  addConversionToLLVM(pm);
  addKernelCleanup(pm);
  pm.addPass(createBF16AsIntegers()); // whose casts there and back would go
}

// --- a GPU ---

static void addGPURows(OpPassManager &pm, const PipelineOptions &options) {
  pm.addNestedPass<func::FuncOp>(createExpandGradients());
  pm.addNestedPass<func::FuncOp>(createClampLookups());
  pm.addNestedPass<func::FuncOp>(createGuardDivisions());
  pm.addNestedPass<func::FuncOp>(createReplaceEmpty());
  pm.addNestedPass<func::FuncOp>(createSplitAttention());
  pm.addNestedPass<func::FuncOp>(createWidenAttention());
  AssignGPUScheduleOptions schedule;
  if (options.splitKeys)
    schedule.decodeSplitKeys = *options.splitKeys;
  pm.addPass(createAssignGPUSchedule(schedule));
  pm.addNestedPass<func::FuncOp>(createCopyStridedSlices());
  pm.addNestedPass<func::FuncOp>(createYieldIntoArguments());
  pm.addNestedPass<func::FuncOp>(createLowerPrologue());
  pm.addNestedPass<func::FuncOp>(createTileProducts());
  pm.addNestedPass<func::FuncOp>(createLowerProducts());
  pm.addNestedPass<func::FuncOp>(createLowerGradients());
  pm.addNestedPass<func::FuncOp>(createLowerStates());
  pm.addPass(createCheckGPUOps());
  pm.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  addCleanup(pm, options.target);
}

/// What a CPU does with items and keys, with tiles of another size.
static void addGPUTiles(OpPassManager &pm, const PipelineOptions &options) {
  pm.addNestedPass<func::FuncOp>(createTileQueries());
  pm.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  addCleanup(pm, options.target);
  pm.addNestedPass<func::FuncOp>(createTileKeys());
  addCleanup(pm, options.target);
}

/// Every row, or every element, is an item of its own.
static void addGPULoops(OpPassManager &pm, const PipelineOptions &options) {
  pm.addNestedPass<func::FuncOp>(
      memref::createResolveShapedTypeResultDimsPass());
  addCleanup(pm, options.target);
  VectorizeLinalgOptions scalars;
  scalars.lanes = scalars.itemElements = 1;
  scalars.threadsOfRow = 32;
  pm.addNestedPass<func::FuncOp>(createVectorizeLinalg(scalars));
  addLinalgLoops(pm); // what has no rows
  pm.addNestedPass<func::FuncOp>(createCombineByElements());
  pm.addNestedPass<func::FuncOp>(createSinkReads());
  pm.addPass(createOutlineTileKernels());
  pm.addPass(createConvertAttnToTile());
  pm.addPass(createApproximateMath());
}

static void addGPUKernels(OpPassManager &pm, const PipelineOptions &) {
  addCleanup(pm);
  pm.addNestedPass<func::FuncOp>(createOpenStrides());
  pm.addNestedPass<func::FuncOp>(createMakeContiguous());
  addCleanup(pm);
  pm.addPass(createConvertTileToGPU());
  pm.addPass(createOutlineGPUKernels());
  pm.addPass(createAssignWorkspace());
  addKernelCleanup(pm, {withoutDuplicates});
}

/// The kernels are a module of their own then; the host's functions wait.
static void addGPULLVM(OpPassManager &pm, const PipelineOptions &) {
  pm.addPass(createLowerGPULaunches());
  pm.addPass(createLowerGPUSlices());
  pm.addPass(createLowerGPUFunctions());
  OpPassManager &kernels = pm.nest<ModuleOp>();
  kernels.addPass(createLowerGPUMaxima());
  kernels.addPass(createExpandForLLVM());
  addConversionToLLVM(kernels);
  kernels.addPass(createSignedAddresses());
  addKernelCleanup(kernels);
  kernels.addPass(createCheckGPUOps());
}

// --- the tables ---

static constexpr StringRef steps[] = {"attn.scores", "attn.softmax",
                                      "attn.sigmoid", "attn.subtract_weights",
                                      "attn.context"};
static constexpr StringRef graph[] = {"attn.sdpa", "attn.sdpa_grad",
                                      "attn.project", "attn.merge_states",
                                      "attn.finalize_state"};
static constexpr StringRef tensors[] = {"tensor", "bufferization"};
static constexpr StringRef kernels[] = {"attn", "linalg"};
static constexpr StringRef loops[] = {"scf.forall", "memref.alloc"};
static constexpr StringRef onGPU[] = {"gpu"};
static constexpr StringRef lowered[] = {"affine",
                                        "arith",
                                        "cf",
                                        "func",
                                        "index",
                                        "math",
                                        "memref",
                                        "scf",
                                        "ub",
                                        "vector",
                                        "builtin.unrealized_conversion_cast"};

/// The head, which ends with fused attentions. Another kind of target has a
/// table of its own behind it.
static const Phase head[] = {
    {PhaseId::Input,
     "input",
     "What was read: one op per textbook step.",
     addNothing,
     {},
     true},
    {PhaseId::Normalized,
     "normalized",
     "The steps in one canonical form.",
     addNormalized,
     {},
     true},
    {PhaseId::Fused, "fused",
     "One attn.sdpa per attention; what callers must know of their arguments "
     "stands in attn.ports.",
     addFused, steps, true},
};

static const Phase ofCPU[] = {
    {PhaseId::Scheduled,
     "scheduled",
     "Every kernel has its tile sizes.",
     addScheduled,
     {},
     false,
     true},
    {PhaseId::TiledQueries, "tiled-queries",
     "One parallel item per batch entry, head and tile of queries.",
     addTiledQueries, graph, false},
    {PhaseId::TiledKeys,
     "tiled-keys",
     "Loops over the tiles of keys that the mask sees.",
     addTiledKeys,
     {},
     false},
    {PhaseId::Buffers, "buffers",
     "Memory instead of tensors; results are written in place.", addBuffers,
     tensors, false},
    {PhaseId::Vectors, "vectors",
     "Vector code; from here on there is no attn op.", addVectors, kernels,
     false},
    {PhaseId::Parallel, "parallel",
     "Items are functions, and buffers have their place in the work space.",
     addParallel, loops, false},
    {PhaseId::Entry,
     "entry",
     "The functions that a C program calls check their arguments.",
     addEntry,
     {},
     false},
    {PhaseId::LLVM, "llvm", "Only the LLVM dialect.", addLLVM, lowered, false},
};

static const Phase ofGPU[] = {
    {PhaseId::GPURows,
     "gpu-rows",
     "Norms and rotations are loops over rows.",
     addGPURows,
     {},
     false,
     true},
    {PhaseId::GPUTiles, "gpu-tiles",
     "One parallel item per batch entry, head and tile of queries, with loops "
     "over the tiles of keys that the mask sees.",
     addGPUTiles, graph, false, true},
    {PhaseId::GPUBuffers, "gpu-buffers",
     "Memory instead of tensors; results are written in place.", addBuffers,
     tensors, false},
    {PhaseId::GPULoops, "gpu-loops",
     "Parallel loops over rows or elements; kernels of blocks of threads.",
     addGPULoops, kernels, false},
    {PhaseId::GPUKernels, "gpu-kernels",
     "Kernels of a GPU, whose threads share the loops.", addGPUKernels, loops,
     false, true},
    {PhaseId::GPULLVM, "gpu-llvm",
     "Kernels in the LLVM and NVVM dialects; the host calls the runtime.",
     addGPULLVM, onGPU, false, true},
};

static std::vector<Phase> listPhases(TargetKind kind) {
  std::vector<Phase> list(std::begin(head), std::end(head));
  if (kind != TargetKind::CPU)
    list.insert(list.end(), std::begin(ofGPU), std::end(ofGPU));
  // The host's code is what it is without a GPU from Entry on.
  for (const Phase &phase : ofCPU)
    if (kind != TargetKind::GPU || phase.id >= PhaseId::Entry)
      list.push_back(phase);
  return list;
}

ArrayRef<Phase> attn::phases(TargetKind kind) {
  static const std::vector<Phase> lists[] = {listPhases(TargetKind::CPU),
                                             listPhases(TargetKind::GPU),
                                             listPhases(TargetKind::Both)};
  return lists[static_cast<size_t>(kind)];
}

const Phase *attn::findPhase(StringRef name) {
  for (const Phase &phase : phases(TargetKind::Both))
    if (phase.name == name)
      return &phase;
  return nullptr;
}

LogicalResult attn::runPhase(ModuleOp module, const Phase &phase,
                             const PipelineOptions &options) {
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  bool eachPass = options.verifyEach || phase.isHead;
  pm.enableVerifier(eachPass);
  PipelineOptions withTarget = options;
  withTarget.target = TargetAttr::of(module);
  phase.addPasses(pm, withTarget);
  SmallVector<StringRef> gone;
  auto table = phases(isOfGPU(phase) ? TargetKind::GPU : TargetKind::CPU);
  for (const Phase &earlier : table) {
    llvm::append_range(gone, earlier.gone);
    if (earlier.id == phase.id)
      break;
  }
  // Behind each pass the verifier sees what the last one leaves.
  bool isLast = phase.id == PhaseId::GPULLVM || phase.id == table.back().id;
  bool atEnd = eachPass ? pm.size() == 0 : isLast;
  pm.addPass(createCheckPhase(phase.name, gone));
  return success(succeeded(pm.run(module)) &&
                 (!atEnd || succeeded(verify(module))));
}

void attn::registerPipelinePasses() {
  registerCheckPhase();
  registerSetTarget();
  registerPass(createLowerCopies);
}
