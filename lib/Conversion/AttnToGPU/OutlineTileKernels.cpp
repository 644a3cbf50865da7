// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-outline-tile-kernels: items of attention become blocks of a GPU.
//
// Before:  func.func private @f.kernel(%q: memref<?x8x?x64xbf16, ..>, ..) {
//            scf.forall (%b, %h, %i) in (%B, 8, %tiles) {
//              %s = attn.init_state %q_tile scale 0.125
//                  {schedule = #attn.gpu_schedule<.., warps = 4>} ..
//              attn.finalize ..
//            }
//          }
// After:   gpu.module @kernels {
//            llvm.mlir.global external @shared() {addr_space = 3} ..
//            gpu.func @f_attention(%q: memref<..>, .., %B: index, ..) kernel
//                attributes {known_block_size = array<i32: 128, 1, 1>} {
//              %block = gpu.block_id x
//              // %b, %h, %i from %block
//              %s = attn.init_state .. attn.finalize ..
//              gpu.return
//            }
//          }
//          func.func private @f.kernel(..) {
//            gpu.launch_func @kernels::@f_attention blocks in (%items, 1, 1)
//                threads in (128, 1, 1) dynamic_shared_memory_size %bytes
//                args(%q, .., %B, ..)
//          }
//
// A block has one item, and blocks count items in the order of the loop, whose
// first ones have the most work. The kernel takes what the loop used.
//
// Kernels of kind decode are called NAME_decode, those of products
// NAME_product.
//
// Items with the same code, such as layers with equal sizes, have one kernel.
//
// Before: buffers. After: parallel loops have no tile ops; those are in
// kernels, which convert-attn-to-tile takes apart.
#include "KernelPlan.h"
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
#include "mlir/Transforms/RegionUtils.h"

namespace attn {
#define GEN_PASS_DEF_OUTLINETILEKERNELS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// What a launch says of a kernel's blocks.
struct BlockFacts {
  int64_t threads, bytes; ///< of shared memory
  StringRef kind;         ///< the end of the kernel's name
  /// Registers of a thread, at most; 0: as many as there are. Of products of
  /// f32 ptxas takes all that there are to split operands ahead, and spills.
  int32_t mostRegisters;
};
} // namespace

/// Those of the loop's items; none where it has neither attention nor product.
static std::optional<BlockFacts> factsOf(scf::ForallOp loop) {
  std::optional<BlockFacts> facts;
  auto add = [&](GPUScheduleAttr schedule, int64_t bytes, StringRef kind,
                 int32_t mostRegisters) {
    if (!facts || bytes > facts->bytes)
      facts = {schedule.getThreads(), bytes, kind, mostRegisters};
  };
  loop.walk([&](InitStateOp op) {
    gpucode::KernelPlan plan = gpucode::planOf(op);
    bool few = plan.schedule.getKind() == Kind::Decode;
    add(plan.schedule, plan.bytes, few ? "_decode" : "_attention",
        /*mostRegisters=*/0);
  });
  loop.walk([&](ProjectBlockOp op) {
    add(op.getSchedule(), gpucode::ProductPlan(op).bytes, "_product",
        getElementTypeOrSelf(op.getWeight()).isF32() ? 208 : 0);
  });
  return facts;
}

/// The module of kernels with the name of a block's shared memory.
static gpu::GPUModuleOp kernelsOf(ModuleOp module) {
  auto b = OpBuilder::atBlockBegin(module.getBody());
  gpu::GPUModuleOp kernels;
  for (auto there : module.getOps<gpu::GPUModuleOp>())
    kernels = there;
  if (!kernels) {
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    b.getUnitAttr());
    kernels = gpu::GPUModuleOp::create(b, module.getLoc(), "kernels");
  }
  if (!SymbolTable::lookupSymbolIn(kernels, gpucode::sharedMemoryName)) {
    b.setInsertionPointToStart(kernels.getBody());
    auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
    LLVM::GlobalOp::create(b, module.getLoc(), bytes, /*isConstant=*/false,
                           LLVM::Linkage::External, gpucode::sharedMemoryName,
                           Attribute(),
                           /*alignment=*/16, gpucode::sharedMemorySpace);
  }
  return kernels;
}

namespace {
/// Makes a kernel of a loop.
class TileOutliner {
public:
  TileOutliner(scf::ForallOp loop, const BlockFacts &facts,
               gpu::GPUModuleOp kernels)
      : loop(loop), facts(facts), kernels(kernels), loc(loop.getLoc()) {}

  /// Of two equal kernels of one function the first runs for both; `made` are
  /// those that there are.
  void outline(const Twine &name, SmallVectorImpl<gpu::GPUFuncOp> &made);

private:
  Value constant(OpBuilder &b, int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  void capture();
  gpu::GPUFuncOp writeKernel(const Twine &name);
  void mapItem(OpBuilder &b);
  void launch(gpu::GPUFuncOp kernel);

  scf::ForallOp loop;
  const BlockFacts &facts;
  gpu::GPUModuleOp kernels;
  Location loc;
  SmallVector<Value> captured;
  SmallVector<Operation *> constants;
  IRMapping mapping;
};
} // namespace

/// What the loop uses; constants are made again.
void TileOutliner::capture() {
  SetVector<Value> used;
  for (Value bound : loop.getDynamicUpperBound())
    used.insert(bound);
  getUsedValuesDefinedAbove(loop.getRegion(), used);
  for (Value value : used) {
    Operation *op = value.getDefiningOp();
    if (op && matchPattern(op, m_Constant()))
      constants.push_back(op);
    else
      captured.push_back(value);
  }
}

/// The last dimension counts fastest.
void TileOutliner::mapItem(OpBuilder &b) {
  Value rest = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  SmallVector<OpFoldResult> bounds = loop.getMixedUpperBound();
  for (size_t i = bounds.size(); i-- > 0;) {
    Value place = rest;
    if (i > 0) {
      auto value = dyn_cast<Value>(bounds[i]);
      Value bound = value ? mapping.lookup(value)
                          : constant(b, *getConstantIntValue(bounds[i]));
      place = arith::RemUIOp::create(b, loc, rest, bound);
      rest = arith::DivUIOp::create(b, loc, rest, bound);
    }
    mapping.map(loop.getInductionVar(i), place);
  }
}

gpu::GPUFuncOp TileOutliner::writeKernel(const Twine &name) {
  OpBuilder b = OpBuilder::atBlockEnd(kernels.getBody());
  auto type = b.getFunctionType(ValueRange(captured).getTypes(), {});
  auto kernel = gpu::GPUFuncOp::create(b, loc, name.str(), type);
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  auto threads = static_cast<int32_t>(facts.threads);
  kernel.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({threads, 1, 1}));
  // Else ptxas takes registers away, and spills, to have room for a second.
  if (facts.mostRegisters == 0)
    kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    b.getI32IntegerAttr(1));
  else
    kernel->setAttr(NVVM::NVVMDialect::getMaxnregAttrName(),
                    b.getI32IntegerAttr(facts.mostRegisters));
  Block &entry = kernel.getBody().front();
  b.setInsertionPointToStart(&entry);
  mapping.map(ValueRange(captured), entry.getArguments());
  for (Operation *op : constants)
    b.clone(*op, mapping);
  mapItem(b);
  for (Operation &op : loop.getBody()->without_terminator())
    b.clone(op, mapping);
  gpu::ReturnOp::create(b, loc);
  return kernel;
}

void TileOutliner::launch(gpu::GPUFuncOp kernel) {
  OpBuilder b(loop);
  Value one = constant(b, 1), items = one;
  for (OpFoldResult bound : loop.getMixedUpperBound()) {
    auto value = dyn_cast<Value>(bound);
    items = arith::MulIOp::create(
        b, loc, items,
        value ? value : constant(b, *getConstantIntValue(bound)));
  }
  Value threads = constant(b, facts.threads);
  Value bytes = arith::ConstantIntOp::create(b, loc, facts.bytes, /*width=*/32);
  gpu::LaunchFuncOp::create(b, loc, kernel, {items, one, one},
                            {threads, one, one}, bytes, captured);
}

void TileOutliner::outline(const Twine &name,
                           SmallVectorImpl<gpu::GPUFuncOp> &made) {
  capture();
  gpu::GPUFuncOp kernel = writeKernel(name);
  auto *same = llvm::find_if(made, [&](gpu::GPUFuncOp other) {
    return other.getFunctionType() == kernel.getFunctionType() &&
           other.getKnownBlockSize() == kernel.getKnownBlockSize() &&
           OperationEquivalence::isRegionEquivalentTo(
               &other.getBody(), &kernel.getBody(),
               OperationEquivalence::IgnoreLocations);
  });
  if (same != made.end()) {
    kernel.erase();
    kernel = *same;
  } else {
    made.push_back(kernel);
  }
  launch(kernel);
  loop.erase();
}

namespace {
struct OutlineTileKernels
    : attn::impl::OutlineTileKernelsBase<OutlineTileKernels> {
  LogicalResult outlineAll(KernelSignature function) {
    WalkResult checked = function.getFunction().walk([&](InitStateOp op) {
      if (!isa_and_present<GPUScheduleAttr>(op.getScheduleAttr())) {
        op.emitOpError("expects a schedule for a GPU");
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (checked.wasInterrupted())
      return failure();
    SmallVector<scf::ForallOp> loops;
    function.getFunction().walk<WalkOrder::PreOrder>([&](scf::ForallOp loop) {
      loops.push_back(loop);
      return WalkResult::skip();
    });
    SmallVector<gpu::GPUFuncOp> made;
    for (scf::ForallOp loop : loops) {
      std::optional<BlockFacts> facts = factsOf(loop);
      if (!facts)
        continue;
      std::string first = (function.getName() + facts->kind).str(),
                  name = first;
      auto isTaken = [&](gpu::GPUFuncOp kernel) {
        return kernel.getName() == name;
      };
      for (int64_t number = 2; llvm::any_of(made, isTaken); ++number)
        name = first + "_" + std::to_string(number);
      TileOutliner(loop, *facts, kernelsOf(getOperation())).outline(name, made);
    }
    return success();
  }

  void runOnOperation() override {
    for (KernelSignature function : KernelSignature::all(getOperation()))
      if (failed(outlineAll(function)))
        return signalPassFailure();
  }
};
} // namespace
