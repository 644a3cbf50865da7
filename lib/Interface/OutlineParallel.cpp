// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parallel loops become calls of the caller's parallel_for.
//
// Before:  func.func private @mha.kernel(.., %workspace, %threads, %call) {
//            scf.forall (%b, %h, %t) in (%B, 8, %tiles) { body(%q, %b, %h, %t)
//            }
//          }
// After:   func.func private @mha.kernel(.., %workspace, %threads, %call) {
//            llvm.store %q, %captures[0] ..
//            llvm.call %parallel_for(%context, %items, %threads, @mha.items,
//                                    %captures)
//          }
//          func.func private @mha.items(%captures: !llvm.ptr, %item: i64,
//                                       %worker: i32) { .. }
//
// The three indices of an item come from its number, the last one fastest.
// Values from outside lie in a struct on the caller's stack; constants are
// repeated. Calls of @attn.worker become the item's last argument. Nothing here
// is global, so any number of calls may run at once. Loops under a condition
// are numbered behind the others.
//
// Before: scf.forall without results, on buffers, none inside another; bounds
// begin at 0 and have step 1; buffers have their place. After: none.
#include "attn-rt/program.h"
#include "attn/Interface/KernelSignature.h"
#include "attn/Interface/Passes.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include <cstddef>

namespace attn {
#define GEN_PASS_DEF_OUTLINEPARALLEL
#include "attn/Interface/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
struct Outliner {
  ModuleOp module;
  LLVMTypeConverter types;
  LLVM::LLVMPointerType pointer;

  Outliner(ModuleOp module)
      : module(module), types(module.getContext(), options(module)),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  static LowerToLLVMOptions options(ModuleOp module) {
    LowerToLLVMOptions options(module.getContext());
    options.overrideIndexBitwidth(64);
    return options;
  }

  /// The struct of captured values: memrefs as descriptors, indices as i64.
  LLVM::LLVMStructType captureType(ArrayRef<Value> captures) {
    SmallVector<Type> fields;
    for (Value capture : captures)
      fields.push_back(types.convertType(capture.getType()));
    return LLVM::LLVMStructType::getLiteral(module.getContext(), fields);
  }

  Value field(OpBuilder &b, Location loc, LLVM::LLVMStructType type,
              Value captures, int32_t i) {
    return LLVM::GEPOp::create(b, loc, pointer, type, captures,
                               ArrayRef<LLVM::GEPArg>{0, i});
  }

  static Value cast(OpBuilder &b, Location loc, Type type, Value value) {
    return UnrealizedConversionCastOp::create(b, loc, type, value).getResult(0);
  }

  func::FuncOp makeItems(scf::ForallOp forall, const KernelSignature &kernel,
                         ArrayRef<Value> captures, unsigned number);
  void callParallelFor(scf::ForallOp forall, const KernelSignature &kernel,
                       func::FuncOp items, ArrayRef<Value> captures);
  void outline(scf::ForallOp forall, const KernelSignature &kernel,
               unsigned number);
};
} // namespace

/// The function that runs one item.
func::FuncOp Outliner::makeItems(scf::ForallOp forall,
                                 const KernelSignature &kernel,
                                 ArrayRef<Value> captures, unsigned number) {
  Location loc = forall.getLoc();
  // Items stand in front of what sizes and calls them.
  func::FuncOp workspace = kernel.lookup(Part::Workspace);
  OpBuilder b(workspace ? workspace : kernel.getFunction());
  std::string name = partName(kernel.getName(), Part::Items);
  if (number)
    name += "_" + std::to_string(number);
  auto items = func::FuncOp::create(
      b, loc, name,
      b.getFunctionType({pointer, b.getI64Type(), b.getI32Type()}, {}));
  items.setPrivate();
  b.setInsertionPointToStart(items.addEntryBlock());
  LLVM::LLVMStructType type = captureType(captures);
  IRMapping mapping;
  for (auto [i, capture] : llvm::enumerate(captures)) {
    Value loaded =
        LLVM::LoadOp::create(b, loc, type.getBody()[i],
                             field(b, loc, type, items.getArgument(0), i));
    mapping.map(capture, cast(b, loc, capture.getType(), loaded));
  }
  Value rest = arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                          items.getArgument(1));
  SmallVector<OpFoldResult> bounds = forall.getMixedUpperBound();
  for (int i = bounds.size() - 1; i >= 0; --i) {
    Value induction = forall.getInductionVar(i);
    if (i == 0) {
      mapping.map(induction, rest);
      break;
    }
    Value bound = getValueOrCreateConstantIndexOp(b, loc, bounds[i]);
    bound = mapping.lookupOrDefault(bound);
    mapping.map(induction, arith::RemUIOp::create(b, loc, rest, bound));
    rest = arith::DivUIOp::create(b, loc, rest, bound);
  }
  for (Operation &op : forall.getBody()->without_terminator())
    b.clone(op, mapping);
  func::ReturnOp::create(b, loc);
  items.walk([&](func::CallOp call) {
    if (call.getCallee() != workerFunction)
      return;
    OpBuilder at(call);
    call.replaceAllUsesWith(arith::IndexCastUIOp::create(at, call.getLoc(),
                                                         at.getIndexType(),
                                                         items.getArgument(2))
                                ->getResults());
    call.erase();
  });
  return items;
}

void Outliner::callParallelFor(scf::ForallOp forall,
                               const KernelSignature &kernel,
                               func::FuncOp items, ArrayRef<Value> captures) {
  Location loc = forall.getLoc();
  OpBuilder b(forall);
  Value count = arith::ConstantIndexOp::create(b, loc, 1);
  for (OpFoldResult bound : forall.getMixedUpperBound())
    count = arith::MulIOp::create(
        b, loc, count, getValueOrCreateConstantIndexOp(b, loc, bound));
  LLVM::LLVMStructType type = captureType(captures);
  Value one = LLVM::ConstantOp::create(b, loc, b.getI64Type(), 1);
  Value data = LLVM::AllocaOp::create(b, loc, pointer, type, one);
  for (auto [i, capture] : llvm::enumerate(captures))
    LLVM::StoreOp::create(b, loc, cast(b, loc, type.getBody()[i], capture),
                          field(b, loc, type, data, i));
  auto member = [&](Type memberType, size_t offset) -> Value {
    Value at =
        LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), kernel.getCall(),
                            ArrayRef<LLVM::GEPArg>{int32_t(offset)});
    return LLVM::LoadOp::create(b, loc, memberType, at);
  };
  Value parallelFor = member(pointer, offsetof(attn_rt_call, parallel_for));
  Value context = member(pointer, offsetof(attn_rt_call, parallel_context));
  auto function = func::ConstantOp::create(b, loc, items.getFunctionType(),
                                           items.getName());
  Value body = cast(b, loc, pointer, function);
  Value itemCount = arith::IndexCastOp::create(b, loc, b.getI64Type(), count);
  // The work space has room for no more workers than there are items. A pool is
  // asked for one at least.
  Value workers = arith::MinUIOp::create(b, loc, kernel.getThreads(), count);
  workers = arith::MaxUIOp::create(b, loc, workers,
                                   arith::ConstantIndexOp::create(b, loc, 1));
  Value threadCount =
      arith::IndexCastOp::create(b, loc, b.getI32Type(), workers);
  auto callee = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()),
      {pointer, b.getI64Type(), b.getI32Type(), pointer, pointer});
  LLVM::CallOp::create(
      b, loc, callee,
      ValueRange{parallelFor, context, itemCount, threadCount, body, data});
}

void Outliner::outline(scf::ForallOp forall, const KernelSignature &kernel,
                       unsigned number) {
  SetVector<Value> used;
  getUsedValuesDefinedAbove(forall.getRegion(), used);
  // The bounds of the last two dimensions number the items.
  SmallVector<OpFoldResult> bounds = forall.getMixedUpperBound();
  for (OpFoldResult bound : llvm::drop_begin(bounds))
    if (auto value = dyn_cast<Value>(bound))
      used.insert(value);
  SmallVector<Value> captures{kernel.getWorkspace()};
  OpBuilder b(&forall.getBody()->front());
  for (Value value : used) {
    Operation *op = value.getDefiningOp();
    if (op && op->hasTrait<OpTrait::ConstantLike>()) {
      Operation *copy = b.clone(*op);
      value.replaceUsesWithIf(copy->getResult(0), [&](OpOperand &use) {
        return forall.getRegion().isAncestor(use.getOwner()->getParentRegion());
      });
    } else if (!llvm::is_contained(captures, value)) {
      captures.push_back(value);
    }
  }
  func::FuncOp items = makeItems(forall, kernel, captures, number);
  callParallelFor(forall, kernel, items, captures);
  forall.erase();
}

namespace {
struct OutlineParallel : attn::impl::OutlineParallelBase<OutlineParallel> {
  void runOnOperation() override {
    Outliner outliner(getOperation());
    for (const KernelSignature &kernel : KernelSignature::all(getOperation())) {
      SmallVector<scf::ForallOp> loops, nested;
      func::FuncOp function = kernel.getFunction();
      function.walk<WalkOrder::PreOrder>([&](scf::ForallOp forall) {
        (forall->getParentOp() == function ? loops : nested).push_back(forall);
        return WalkResult::skip(); // an item starts no others
      });
      llvm::append_range(loops, nested);
      for (auto [i, forall] : llvm::enumerate(loops))
        outliner.outline(forall, kernel, i);
    }
    if (Operation *worker = getOperation().lookupSymbol(workerFunction))
      worker->erase();
  }
};
} // namespace
