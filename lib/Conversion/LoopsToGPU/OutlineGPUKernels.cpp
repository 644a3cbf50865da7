// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-outline-gpu-kernels: parallel loops become kernels of a GPU.
//
// Before:  func.func private @norm.kernel(%x: memref<?x64xf32, strided<[?, 1],
//              offset: ?>>, %out: memref<..>, .., %call: !llvm.ptr) {
//            scf.forall (%row) in (%rows) { .. }
//          }
// After:   gpu.module @kernels {
//            gpu.func @norm_0(%x: memref<..>, %out: memref<..>, %rows: index)
//                kernel {
//              scf.for %row = %thread to %rows step %threads { .. }
//              gpu.return
//            }
//          }
//          func.func private @norm.kernel(..) {
//            gpu.launch_func @kernels::@norm_0 blocks in (%blocks, 1, 1)
//                threads in (128, 1, 1) args(%x, %out, %rows)
//          }
//
// The host's function keeps control, sizes and buffers; its launches run in
// their order. A loop may say what its kernel is called (attn.kernel). A kernel
// takes what its loop used, in the order of first uses; threads take items by
// turns, so that any grid and any block of one dimension will do, unless they
// shuffle. Copies of buffers become loops first, and what else touches memory
// becomes a loop of one item, which one thread runs.
//
// Memory of an item is the thread's: registers and local memory where its size
// is known and small, otherwise a row of a buffer of the host's, which has one
// for each thread. What the host computes must not depend on what a kernel
// wrote: that is refused at the op.
//
// Before: attn-lower-signature and attn-vectorize-linalg with items of one
// element; kernels of other passes may be there, in the same module. After: no
// scf.forall is left.
#include "attn/Conversion/Passes.h"
#include "attn/Interface/KernelSignature.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

namespace attn {
#define GEN_PASS_DEF_OUTLINEGPUKERNELS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// Threads of a block, and blocks of a grid at most: some per multiprocessor.
/// Where threads have rows of memory, fewer of them take less of it.
static constexpr int32_t blockThreads = 128;
static constexpr int64_t mostBlocks = 2048, mostBlocksWithRows = 256;
/// Bytes of memory that a thread may have of its own.
static constexpr int64_t mostLocalBytes = 4096;

namespace {
/// Makes a kernel of a loop.
class Outliner {
public:
  Outliner(scf::ForallOp loop, gpu::GPUModuleOp kernels, const Twine &name)
      : loop(loop), kernels(kernels), name(name.str()), loc(loop.getLoc()),
        host(loop) {}

  LogicalResult outline();

private:
  Value constant(OpBuilder &b, int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  LogicalResult placeMemory();
  LogicalResult placeInRows(memref::AllocOp alloc);
  void capture();
  LogicalResult checkCaptured();
  void writeKernel();
  void mapItem(OpBuilder &b, Value item);
  void launch();

  scf::ForallOp loop;
  gpu::GPUModuleOp kernels;
  std::string name;
  Location loc;
  OpBuilder host;
  gpu::GPUFuncOp kernel;
  Value items, blocks; ///< the host's
  SmallVector<Value> bounds;
  SetVector<Value> captured;
  IRMapping mapping;
  /// Buffers with a row for each thread, and what they stand for.
  SmallVector<std::pair<memref::AllocOp, Value>> rows;
  SmallVector<memref::AllocOp> locals;
};
} // namespace

static bool isDefinedIn(Value value, scf::ForallOp loop) {
  return loop->isAncestor(value.getParentRegion()->getParentOp());
}

/// A buffer of the host's for all threads. Sizes that the item computes are
/// computed in front of the loop.
LogicalResult Outliner::placeInRows(memref::AllocOp alloc) {
  SmallVector<int64_t> shape{ShapedType::kDynamic};
  llvm::append_range(shape, alloc.getType().getShape());
  SmallVector<Value> sizes{
      arith::MulIOp::create(host, loc, blocks, constant(host, blockThreads))};
  for (Value size : alloc.getDynamicSizes()) {
    if (isDefinedIn(size, loop))
      return alloc.emitOpError("is not compiled for a GPU: a row of a thread's "
                               "own has a size that its item computes");
    sizes.push_back(size);
  }
  auto type = MemRefType::get(shape, alloc.getType().getElementType());
  auto all = memref::AllocOp::create(host, alloc.getLoc(), type, sizes,
                                     host.getI64IntegerAttr(64));
  rows.push_back({alloc, all});
  return success();
}

/// Memory of an item: how many blocks there are depends on it.
LogicalResult Outliner::placeMemory() {
  items = constant(host, 1);
  for (OpFoldResult bound : loop.getMixedUpperBound()) {
    bounds.push_back(getValueOrCreateConstantIndexOp(host, loc, bound));
    items = arith::MulIOp::create(host, loc, items, bounds.back());
  }
  SmallVector<memref::AllocOp> large;
  int64_t localBytes = 0;
  loop.walk([&](memref::AllocOp alloc) {
    MemRefType type = alloc.getType();
    int64_t bytes = type.getElementType().isIntOrFloat()
                        ? llvm::divideCeil(type.getElementTypeBitWidth(), 8)
                        : sizeof(int64_t);
    for (int64_t size : type.getShape())
      bytes = ShapedType::isDynamic(size) || bytes > mostLocalBytes
                  ? mostLocalBytes + 1
                  : bytes * size;
    bool fits = localBytes + bytes <= mostLocalBytes;
    localBytes += fits ? bytes : 0;
    (fits ? locals : large).push_back(alloc);
  });
  Value threads = constant(host, blockThreads);
  blocks = arith::CeilDivUIOp::create(host, loc, items, threads);
  Value most = constant(host, large.empty() ? mostBlocks : mostBlocksWithRows);
  blocks = arith::MinUIOp::create(host, loc, blocks, most);
  for (memref::AllocOp alloc : large)
    if (failed(placeInRows(alloc)))
      return failure();
  return success();
}

/// What the kernel takes: all that its loop uses and that is no constant.
void Outliner::capture() {
  // Constants of the module are the host's: a launch passes where they lie.
  loop.walk([&](memref::GetGlobalOp global) { global->moveBefore(loop); });
  SetVector<Value> used(bounds.begin(), bounds.end());
  for (auto [alloc, all] : rows)
    used.insert(all);
  getUsedValuesDefinedAbove(loop.getRegion(), used);
  for (Value value : used)
    if (Operation *op = value.getDefiningOp();
        !op || !matchPattern(op, m_Constant()))
      captured.insert(value);
}

LogicalResult Outliner::checkCaptured() {
  for (Value value : captured)
    if (!value.getType().isIntOrIndexOrFloat() &&
        !isa<MemRefType>(value.getType()))
      return loop.emitOpError("is not compiled for a GPU: its items use ")
             << value.getType();
  return success();
}

/// The indices of an item; the last ones of its neighbour are its own.
void Outliner::mapItem(OpBuilder &b, Value item) {
  for (size_t i = bounds.size(); i-- > 0;) {
    Value place = item;
    if (i > 0) {
      Value bound = mapping.lookup(bounds[i]);
      place = arith::RemUIOp::create(b, loc, item, bound);
      item = arith::DivUIOp::create(b, loc, item, bound);
    }
    mapping.map(loop.getInductionVar(i), place);
  }
}

void Outliner::writeKernel() {
  OpBuilder b = OpBuilder::atBlockEnd(kernels.getBody());
  SmallVector<Type> types = llvm::map_to_vector(
      captured, [](Value value) { return value.getType(); });
  kernel = gpu::GPUFuncOp::create(b, loc, name, b.getFunctionType(types, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  auto stop = [](NVVM::ShflOp) { return WalkResult::interrupt(); };
  if (loop.walk(stop).wasInterrupted()) // warps are whole
    kernel.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({blockThreads, 1, 1}));
  Block &entry = kernel.getBody().front();
  b.setInsertionPointToStart(&entry);
  for (auto [value, argument] : llvm::zip_equal(captured, entry.getArguments()))
    mapping.map(value, argument);
  SetVector<Value> used(bounds.begin(), bounds.end());
  getUsedValuesDefinedAbove(loop.getRegion(), used);
  for (Value value : used)
    if (!mapping.contains(value))
      b.clone(*value.getDefiningOp(), mapping);
  gpu::Dimension x = gpu::Dimension::x;
  Value thread = gpu::GlobalIdOp::create(b, loc, x);
  Value threads =
      arith::MulIOp::create(b, loc, gpu::GridDimOp::create(b, loc, x),
                            gpu::BlockDimOp::create(b, loc, x));
  for (memref::AllocOp alloc : locals) {
    auto own = memref::AllocaOp::create(b, alloc.getLoc(), alloc.getType());
    own.setAlignment(16);
    alloc.replaceAllUsesWith(own.getResult());
    alloc.erase();
  }
  for (auto [alloc, all] : rows) {
    auto type = alloc.getType();
    int64_t rank = type.getRank();
    SmallVector<OpFoldResult> offsets(rank + 1, b.getIndexAttr(0)),
        sizes{b.getIndexAttr(1)}, strides(rank + 1, b.getIndexAttr(1));
    offsets[0] = thread;
    llvm::append_range(sizes,
                       memref::getMixedSizes(b, loc, mapping.lookup(all)));
    sizes.erase(sizes.begin() + 1);
    MemRefType rowType = memref::SubViewOp::inferRankReducedResultType(
        type.getShape(), cast<MemRefType>(all.getType()), offsets, sizes,
        strides);
    Value row = memref::SubViewOp::create(b, loc, rowType, mapping.lookup(all),
                                          offsets, sizes, strides);
    mapping.map(alloc.getResult(), row);
  }
  Value count = constant(b, 1);
  for (Value bound : bounds)
    count = arith::MulIOp::create(b, loc, count, mapping.lookup(bound));
  auto turns = scf::ForOp::create(b, loc, thread, count, threads);
  gpu::ReturnOp::create(b, loc);
  b.setInsertionPointToStart(turns.getBody());
  mapItem(b, turns.getInductionVar());
  for (Operation &op : loop.getBody()->without_terminator())
    if (!mapping.contains(op.getNumResults() ? op.getResult(0) : Value()))
      b.clone(op, mapping);
}

void Outliner::launch() {
  Value one = constant(host, 1);
  Value shared = arith::ConstantIntOp::create(host, loc, 0, /*width=*/32);
  gpu::LaunchFuncOp::create(host, loc, kernel, {blocks, one, one},
                            {constant(host, blockThreads), one, one}, shared,
                            captured.getArrayRef());
}

LogicalResult Outliner::outline() {
  if (failed(placeMemory()))
    return failure();
  capture();
  if (failed(checkCaptured()))
    return failure();
  writeKernel();
  launch();
  loop.erase();
  return success();
}

/// A loop whose items copy an element each.
static void parallelizeCopy(memref::CopyOp copy) {
  OpBuilder b(copy);
  Location loc = copy.getLoc();
  SmallVector<OpFoldResult> sizes =
      memref::getMixedSizes(b, loc, copy.getTarget());
  if (sizes.empty())
    sizes.push_back(b.getIndexAttr(1));
  auto loop = scf::ForallOp::create(b, loc, sizes, ValueRange(), std::nullopt);
  b.setInsertionPoint(loop.getTerminator());
  SmallVector<Value> item = loop.getInductionVars();
  if (cast<MemRefType>(copy.getTarget().getType()).getRank() == 0)
    item.clear();
  Value element = memref::LoadOp::create(b, loc, copy.getSource(), item);
  memref::StoreOp::create(b, loc, element, copy.getTarget(), item);
  copy.erase();
}

/// Whether the host can run it, at least its control: what is inside decides.
static bool isControl(Operation *op) {
  return isa<scf::IfOp, scf::ForOp, scf::WhileOp, scf::IndexSwitchOp>(op) &&
         op->walk([](Operation *inner) {
             return isa<scf::ForallOp, gpu::LaunchFuncOp, memref::CopyOp,
                        memref::AllocOp>(inner)
                        ? WalkResult::interrupt()
                        : WalkResult::advance();
           }).wasInterrupted();
}

/// Whether a part of `op` uses a result of one of these.
static bool usesAny(Operation &op, const SetVector<Operation *> &ops) {
  return op
      .walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (ops.contains(operand.getDefiningOp()))
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

static bool isHostsOwn(Operation &op) {
  return isa<scf::ForallOp, gpu::LaunchFuncOp, memref::AllocOp>(op) ||
         op.hasTrait<OpTrait::IsTerminator>() || isControl(&op);
}

/// `first`, which touches memory, what depends on it, and what touches memory
/// in front of the last of these, which stays between them.
static SetVector<Operation *> dependentsOf(Operation *first) {
  SetVector<Operation *> members;
  members.insert(first);
  Operation *last = first;
  size_t before = 0;
  while (members.size() != before) { // what was added has dependents, too
    before = members.size();
    for (Operation &op : llvm::make_range(std::next(first->getIterator()),
                                          first->getBlock()->end())) {
      bool isBetween = op.isBeforeInBlock(last) && !isMemoryEffectFree(&op) &&
                       !isa<memref::AllocOp>(op);
      if (!isBetween && !usesAny(op, members))
        continue;
      members.insert(&op);
      if (last->isBeforeInBlock(&op))
        last = &op;
    }
  }
  return members;
}

/// Moves these into a loop of one item, which stands where the last of them
/// does.
static LogicalResult wrap(Operation *first) {
  SetVector<Operation *> members = dependentsOf(first);
  Operation *last = *llvm::max_element(members, [](Operation *a, Operation *b) {
    return a->isBeforeInBlock(b);
  });
  if (llvm::any_of(members, [](Operation *op) { return isHostsOwn(*op); }))
    return first->emitOpError("is not compiled for a GPU: the host would need "
                              "what lies in the device's memory");
  OpBuilder b(last->getContext());
  b.setInsertionPointAfter(last);
  OpFoldResult one = b.getIndexAttr(1);
  auto loop = scf::ForallOp::create(b, first->getLoc(), one, ValueRange(),
                                    std::nullopt);
  for (Operation &op : llvm::make_early_inc_range(
           llvm::make_range(first->getIterator(), loop->getIterator())))
    if (members.contains(&op))
      op.moveBefore(loop.getTerminator());
  return success();
}

/// Everything that touches memory is a parallel loop then.
static LogicalResult prepare(Block &block) {
  for (Operation *op = &block.front(), *next; op; op = next) {
    next = op->getNextNode();
    if (auto copy = dyn_cast<memref::CopyOp>(op)) {
      parallelizeCopy(copy);
      continue;
    }
    if (isControl(op)) {
      for (Region &region : op->getRegions())
        for (Block &inner : region)
          if (failed(prepare(inner)))
            return failure();
      continue;
    }
    if (isHostsOwn(*op) || isMemoryEffectFree(op))
      continue;
    Operation *before = op->getPrevNode();
    if (failed(wrap(op)))
      return failure();
    next = before ? before->getNextNode() : &block.front();
  }
  return success();
}

static LogicalResult check(KernelSignature kernel) {
  for (BlockArgument unused :
       {kernel.getWorkspace(), kernel.getThreads(), kernel.getCall()})
    if (!unused.use_empty())
      return (*unused.user_begin())
          ->emitOpError("is not compiled for a GPU: this needs what only a "
                        "CPU's function is given");
  return success();
}

/// The module of kernels, made if it is not there.
static gpu::GPUModuleOp kernelsOf(ModuleOp module) {
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    return kernels;
  auto b = OpBuilder::atBlockBegin(module.getBody());
  module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                  b.getUnitAttr());
  return gpu::GPUModuleOp::create(b, module.getLoc(), "kernels");
}

static LogicalResult outlineAll(KernelSignature kernel,
                                gpu::GPUModuleOp kernels) {
  if (failed(check(kernel)) || failed(prepare(kernel.getFunction().front())))
    return failure();
  SmallVector<scf::ForallOp> loops;
  kernel.getFunction().walk<WalkOrder::PreOrder>([&](scf::ForallOp loop) {
    loops.push_back(loop);
    return WalkResult::skip();
  });
  llvm::StringSet<> taken;
  for (Operation &op : kernels.getBody()->getOperations())
    if (auto symbol = dyn_cast<SymbolOpInterface>(op))
      taken.insert(symbol.getName());
  size_t number = 0;
  for (scf::ForallOp loop : loops) {
    std::string prefix = (kernel.getName() + "_").str(), name;
    auto given = loop->getAttrOfType<StringAttr>(kernelNameAttr);
    if (given)
      name = prefix + given.str();
    for (size_t i = 2; given && taken.contains(name); ++i)
      name = prefix + given.str() + "_" + std::to_string(i);
    while (name.empty() || taken.contains(name))
      name = prefix + std::to_string(number++);
    taken.insert(name);
    if (failed(Outliner(loop, kernels, name).outline()))
      return failure();
  }
  return success();
}

namespace {
struct OutlineGPUKernels
    : attn::impl::OutlineGPUKernelsBase<OutlineGPUKernels> {
  void runOnOperation() override {
    gpu::GPUModuleOp kernels = kernelsOf(getOperation());
    for (KernelSignature kernel : KernelSignature::all(getOperation()))
      if (failed(outlineAll(kernel, kernels)))
        return signalPassFailure();
  }
};
} // namespace
