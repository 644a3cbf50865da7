// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-outline-gpu-kernels: parallel loops become a kernel of a GPU.
//
// Before:  func.func private @norm.kernel(%x: memref<?x64xf32, strided<[?, 1],
//              offset: ?>>, %out: memref<..>, .., %call: !llvm.ptr)
//              attributes {attn.ports = [#attn.port<"x", input [x0, 64] ..>, ..
//            scf.forall (%row) in (%x0) { .. }
//          }
// After:   llvm.func @norm(%x: !llvm.ptr, %out: !llvm.ptr, %x0: i64)
//              attributes {nvvm.kernel} {
//            // views of whole tensors, made of the pointers and sizes
//            scf.for %row = %thread to %x0 step %threads { .. }
//          }
//
// A kernel takes the pointers of all arguments and results, in their order, and
// then the unknown sizes, in the order in which their names first come. Tensors
// lie without gaps, the last dimension fastest. Any grid and any block of one
// dimension will do, since threads take items by turns.
//
// Blocks do not wait for each other, so the loops of a function must not read
// what another one writes, and nothing else may touch memory. Functions for
// which that does not hold need several kernels, and buffers between them; they
// are refused at the op that is in the way. Memory of one item is the thread's.
//
// Before: attn-lower-signature and attn-vectorize-linalg with items of one
// element. After: llvm.func of scf, arith, memref and nvvm ops; the functions
// that a host would call are gone.
#include "attn/Conversion/Passes.h"
#include "attn/Interface/KernelSignature.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"

namespace attn {
#define GEN_PASS_DEF_OUTLINEGPUKERNELS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// The buffer that a view is of.
static Value bufferOf(Value view) {
  while (auto op = view.getDefiningOp<ViewLikeOpInterface>())
    view = op.getViewSource();
  return view;
}

static LogicalResult refuse(Operation *op, const Twine &what) {
  return op->emitOpError(
             "is not compiled: sm_80 has functions of one kernel so far; ")
         << what;
}

namespace {
/// Buffers that a loop reads or writes, without a thread's own.
struct Accesses {
  DenseSet<Value> reads, writes;

  LogicalResult add(Operation *op);
  bool dependsOn(const Accesses &earlier) const {
    auto meets = [](const DenseSet<Value> &some, const DenseSet<Value> &other) {
      return llvm::any_of(some, [&](Value v) { return other.contains(v); });
    };
    return meets(reads, earlier.writes) || meets(writes, earlier.reads) ||
           meets(writes, earlier.writes);
  }
};
} // namespace

/// Adds what an op in a loop does, if a thread can do it.
LogicalResult Accesses::add(Operation *op) {
  if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
      isMemoryEffectFree(op))
    return success();
  if (auto alloc = dyn_cast<memref::AllocOp>(op);
      alloc && !alloc.getType().hasStaticShape())
    return refuse(op, "a row of a thread's own has a known size");
  SmallVector<MemoryEffects::EffectInstance> effects;
  if (auto interface = dyn_cast<MemoryEffectOpInterface>(op))
    interface.getEffects(effects);
  bool isKnown = !effects.empty();
  for (const MemoryEffects::EffectInstance &effect : effects) {
    Value buffer = effect.getValue();
    isKnown &= buffer != nullptr;
    if (buffer && isa<MemoryEffects::Read>(effect.getEffect()))
      reads.insert(bufferOf(buffer));
    if (buffer && isa<MemoryEffects::Write>(effect.getEffect()))
      writes.insert(bufferOf(buffer));
  }
  if (isKnown)
    return success();
  return refuse(op, "'" + op->getName().getStringRef() +
                        "' is not one that a thread runs");
}

static LogicalResult check(KernelSignature kernel) {
  func::FuncOp function = kernel.getFunction();
  if (kernel.lookup(Part::Slices))
    return refuse(function, "slices at places that a caller gives are not "
                            "checked there");
  for (BlockArgument unused :
       {kernel.getWorkspace(), kernel.getThreads(), kernel.getCall()})
    if (!unused.use_empty())
      return refuse(*unused.user_begin(), "this needs what only a CPU's "
                                          "function is given");
  Accesses earlier;
  for (Operation &op : function.front()) {
    auto loop = dyn_cast<scf::ForallOp>(op);
    if (!loop && !isMemoryEffectFree(&op) && !isa<func::ReturnOp>(op))
      return refuse(&op, isa<memref::AllocOp>(op)
                             ? "here a buffer lies between two of them"
                             : "this does not run in parallel");
    if (!loop)
      continue;
    Accesses own;
    WalkResult walked = loop.walk([&](Operation *inner) {
      return failed(own.add(inner)) ? WalkResult::interrupt()
                                    : WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return failure();
    if (own.dependsOn(earlier))
      return refuse(&op, "here a second one works on the first one's memory");
    earlier.reads.insert(own.reads.begin(), own.reads.end());
    earlier.writes.insert(own.writes.begin(), own.writes.end());
  }
  return success();
}

namespace {
/// Writes one kernel.
class KernelWriter {
public:
  KernelWriter(KernelSignature kernel)
      : source(kernel), ports(PortAttr::of(kernel.getFunction())),
        loc(kernel.getFunction().getLoc()), b(kernel.getFunction()) {}

  void write();

private:
  Value number(int64_t value) {
    return LLVM::ConstantOp::create(b, loc, b.getI64Type(), value);
  }
  Value sizeOf(PortAttr port, int64_t dim) {
    if (port.getSymbols()[dim].empty())
      return number(port.getSizes()[dim]);
    return sizes.lookup(port.getSymbols()[dim]);
  }
  Value viewOf(PortAttr port, Value pointer, Type type);
  Value wide(Value number) {
    return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), number);
  }
  void writeLoop(scf::ForallOp loop);

  KernelSignature source;
  std::vector<PortAttr> ports;
  Location loc;
  OpBuilder b;
  LLVM::LLVMFuncOp target;
  IRMapping mapping;
  llvm::MapVector<StringAttr, Value> sizes;
};
} // namespace

/// A view of a whole tensor.
Value KernelWriter::viewOf(PortAttr port, Value pointer, Type type) {
  int64_t rank = port.getRank();
  Type integer = b.getI64Type();
  SmallVector<Type> fields{pointer.getType(), pointer.getType(), integer};
  if (rank > 0)
    fields.append(2, LLVM::LLVMArrayType::get(integer, rank));
  Value view = LLVM::PoisonOp::create(
      b, loc, LLVM::LLVMStructType::getLiteral(b.getContext(), fields));
  auto set = [&](Value value, ArrayRef<int64_t> place) {
    view = LLVM::InsertValueOp::create(b, loc, view, value, place);
  };
  set(pointer, {0});
  set(pointer, {1});
  set(number(0), {2});
  Value stride = number(1);
  for (int64_t dim = rank; dim-- > 0;) {
    Value size = sizeOf(port, dim);
    set(size, {3, dim});
    set(stride, {4, dim});
    if (dim > 0)
      stride = LLVM::MulOp::create(b, loc, stride, size);
  }
  return UnrealizedConversionCastOp::create(b, loc, type, view).getResult(0);
}

void KernelWriter::writeLoop(scf::ForallOp loop) {
  Type i32 = b.getI32Type();
  Value threads = wide(NVVM::BlockDimXOp::create(b, loc, i32));
  Value before = arith::MulIOp::create(
      b, loc, wide(NVVM::BlockIdXOp::create(b, loc, i32)), threads);
  Value first = arith::AddIOp::create(
      b, loc, before, wide(NVVM::ThreadIdXOp::create(b, loc, i32)));
  Value all = arith::MulIOp::create(
      b, loc, wide(NVVM::GridDimXOp::create(b, loc, i32)), threads);
  SmallVector<Value> bounds;
  Value items = arith::ConstantIndexOp::create(b, loc, 1);
  for (OpFoldResult bound : loop.getMixedUpperBound()) {
    auto value = dyn_cast<Value>(bound);
    bounds.push_back(value ? mapping.lookup(value)
                           : arith::ConstantIndexOp::create(
                                 b, loc, *getConstantIntValue(bound)));
    items = arith::MulIOp::create(b, loc, items, bounds.back());
  }
  auto turns = scf::ForOp::create(b, loc, first, items, all);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(turns.getBody());
  Value rest = turns.getInductionVar();
  for (size_t i = bounds.size(); i-- > 0;) {
    Value place = rest;
    if (i > 0) {
      place = arith::RemUIOp::create(b, loc, rest, bounds[i]);
      rest = arith::DivUIOp::create(b, loc, rest, bounds[i]);
    }
    mapping.map(loop.getInductionVar(i), place);
  }
  for (Operation &op : loop.getBody()->without_terminator())
    b.clone(op, mapping);
}

/// A thread's memory is there before its first turn, and serves all turns.
static void hoistMemory(LLVM::LLVMFuncOp target) {
  SmallVector<memref::AllocOp> allocs;
  target.walk([&](memref::AllocOp op) { allocs.push_back(op); });
  OpBuilder b(target.getContext());
  b.setInsertionPointToStart(&target.front());
  for (memref::AllocOp op : allocs) {
    auto own = memref::AllocaOp::create(b, op.getLoc(), op.getType());
    own.setAlignment(16);
    op.replaceAllUsesWith(own.getResult());
    op.erase();
  }
}

void KernelWriter::write() {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Type> types(ports.size(), pointer);
  for (PortAttr port : ports)
    for (StringAttr symbol : port.getSymbols())
      if (!symbol.empty())
        sizes.insert({symbol, Value()});
  types.append(sizes.size(), b.getI64Type());
  auto nothing = LLVM::LLVMVoidType::get(b.getContext());
  target = LLVM::LLVMFuncOp::create(
      b, loc, source.getName(), LLVM::LLVMFunctionType::get(nothing, types));
  target->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
  b.setInsertionPointToStart(target.addEntryBlock(b));
  for (auto [i, entry] : llvm::enumerate(sizes))
    entry.second = target.getArgument(ports.size() + i);
  for (auto [i, port] : llvm::enumerate(ports)) {
    BlockArgument from = source.getPort(i);
    mapping.map(from, viewOf(port, target.getArgument(i), from.getType()));
  }
  for (Operation &op : source.getFunction().front().without_terminator())
    if (auto loop = dyn_cast<scf::ForallOp>(op))
      writeLoop(loop);
    else
      b.clone(op, mapping);
  LLVM::ReturnOp::create(b, loc, ValueRange());
  hoistMemory(target);
}

namespace {
struct OutlineGPUKernels
    : attn::impl::OutlineGPUKernelsBase<OutlineGPUKernels> {
  void runOnOperation() override {
    std::vector<KernelSignature> kernels = KernelSignature::all(getOperation());
    for (KernelSignature kernel : kernels)
      if (failed(check(kernel)))
        return signalPassFailure();
    for (KernelSignature kernel : kernels)
      KernelWriter(kernel).write();
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      function.erase();
  }
};
} // namespace
