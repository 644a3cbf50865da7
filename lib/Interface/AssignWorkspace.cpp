// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers get their place in the caller's work space.
//
// Before:  func.func private @mha.kernel(.., %workspace, %threads, ..) {
//            %q = memref.alloc(%B, %S) : memref<?x?x64xf32>
//            scf.forall .. { %state = memref.alloc() : memref<2016x16xf32> }
//          }
// After:   func.func private @mha.kernel(.., %workspace, %threads, ..) {
//            %q = memref.view %workspace[%threads * 129024 + 0][%B, %S] ..
//            scf.forall .. {
//              %worker = func.call @attn.worker()
//              %state = memref.view %workspace[%worker * 129024][] ..
//            }
//          }
//          func.func private @mha.workspace(.., %threads: index) -> index
//
// The work space is one region per worker, as large as the largest item needs,
// for as many workers as the longest loop has items, then the buffers that hold
// values between parallel loops, each at a multiple of 64 bytes. Buffers that
// are never needed at the same time share their bytes (PlaceBuffers.h). Nothing
// is allocated while a kernel runs.
//
// Sizes are computed where the kernel begins. One that is known only later, in
// a loop or an item, is replaced by a bound that its operations imply. A size
// that an argument holds is read from it, also by @mha.workspace.
//
// Before: parallel loops that are not outlined. After: no memref.alloc is left;
// @attn.worker, the number of the worker that runs an item, is replaced when
// loops become functions.
#include "PlaceBuffers.h"
#include "SizesAtBegin.h"
#include "attn/Interface/KernelSignature.h"
#include "attn/Interface/Passes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace attn {
#define GEN_PASS_DEF_ASSIGNWORKSPACE
#include "attn/Interface/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

static constexpr int64_t alignment = 64;

/// Bytes of the known sizes of a buffer; none if they are beyond i64.
static std::optional<int64_t> knownBytes(MemRefType type) {
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size) && llvm::MulOverflow(bytes, size, bytes))
      return std::nullopt;
  if (bytes > std::numeric_limits<int64_t>::max() - alignment)
    return std::nullopt;
  return bytes;
}

namespace {
/// The work space of one kernel, computed where the kernel begins.
class Workspace {
public:
  Workspace(const KernelSignature &signature)
      : signature(signature), kernel(signature.getFunction()),
        rewriter(kernel.getContext()), loc(kernel.getLoc()) {
    rewriter.setInsertionPointToStart(&kernel.front());
    begin = arith::ConstantIndexOp::create(rewriter, loc, 0);
    rewriter.setInsertionPoint(begin);
  }

  LogicalResult assign();

private:
  /// Bytes of the buffers of an item: the known ones, and the others.
  struct Region {
    SmallVector<std::pair<memref::AllocOp, Value>> places;
    int64_t known = 0;
    Value bytes;
    /// How many items the loop has at most; null if that is not known.
    Value items;
  };

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }
  Value add(Value a, Value b) {
    return arith::AddIOp::create(rewriter, loc, a, b);
  }
  Value multiply(Value a, Value b) {
    return arith::MulIOp::create(rewriter, loc, a, b);
  }
  Value atBegin(Value size) { return SizesAtBegin(kernel, begin).bound(size); }
  Value aligned(Value bytes);
  FailureOr<Value> bytesOf(memref::AllocOp alloc);
  LogicalResult measure(scf::ForallOp forall);
  Value itemsOf(scf::ForallOp forall);
  void placeInRegions();
  Value workers();
  FailureOr<SizedBuffer> sized(memref::AllocOp alloc, Lifetime life);
  void explain(const Arena &arena);
  Value placeIn(const Arena &arena, Value base);
  LogicalResult placeShared();
  void makeSizeFunction(Value total);
  void replaceByView(memref::AllocOp alloc, OpBuilder &b, Value offset);

  KernelSignature signature;
  func::FuncOp kernel;
  IRRewriter rewriter;
  Location loc;
  /// Everything that is computed stands in front of it.
  arith::ConstantIndexOp begin;
  std::vector<Region> regions;
  /// Bytes of one worker; a number where it is known.
  int64_t knownWorkerBytes = 0;
  Value workerBytes;
};
} // namespace

Value Workspace::aligned(Value bytes) {
  bytes = add(bytes, constant(alignment - 1));
  Value units =
      arith::DivUIOp::create(rewriter, loc, bytes, constant(alignment));
  return multiply(units, constant(alignment));
}

/// Bytes of a buffer, a multiple of the alignment.
FailureOr<Value> Workspace::bytesOf(memref::AllocOp alloc) {
  std::optional<int64_t> known = knownBytes(alloc.getType());
  if (!known)
    return alloc.emitOpError("has more bytes than an index can count");
  Value bytes = constant(*known);
  for (Value size : alloc.getDynamicSizes()) {
    Value bound = atBegin(size);
    if (!bound)
      return alloc.emitOpError(
          "has a size that does not follow from the sizes of the arguments");
    bytes = multiply(bytes, bound);
  }
  return aligned(bytes);
}

void Workspace::replaceByView(memref::AllocOp alloc, OpBuilder &b,
                              Value offset) {
  auto type = MemRefType::get(alloc.getType().getShape(),
                              alloc.getType().getElementType());
  Value view =
      memref::ViewOp::create(b, alloc.getLoc(), type, signature.getWorkspace(),
                             offset, alloc.getDynamicSizes());
  alloc.replaceAllUsesWith(view);
  alloc.erase();
}

/// How many items a loop has at most; null if that is not known at the begin.
Value Workspace::itemsOf(scf::ForallOp forall) {
  Value items = constant(1);
  for (OpFoldResult bound : forall.getMixedUpperBound()) {
    Value size;
    if (std::optional<int64_t> known = getConstantIntValue(bound))
      size = constant(*known);
    else
      size = atBegin(cast<Value>(bound));
    if (!size)
      return {};
    items = multiply(items, size);
  }
  return items;
}

/// Bytes of the buffers of an item, those of known size first.
LogicalResult Workspace::measure(scf::ForallOp forall) {
  Region region;
  SmallVector<memref::AllocOp> others;
  WalkResult walked = forall.walk([&](memref::AllocOp alloc) {
    if (!alloc.getType().hasStaticShape()) {
      others.push_back(alloc);
      return WalkResult::advance();
    }
    std::optional<int64_t> bytes = knownBytes(alloc.getType());
    if (!bytes || *bytes > std::numeric_limits<int64_t>::max() - alignment -
                               region.known) {
      alloc.emitOpError("has more bytes than an index can count");
      return WalkResult::interrupt();
    }
    region.places.push_back({alloc, constant(region.known)});
    region.known += llvm::alignTo(*bytes, alignment);
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  knownWorkerBytes = std::max(knownWorkerBytes, region.known);
  for (memref::AllocOp alloc : others) {
    FailureOr<Value> bytes = bytesOf(alloc);
    if (failed(bytes))
      return failure();
    if (!region.bytes)
      region.bytes = constant(region.known);
    region.places.push_back({alloc, region.bytes});
    region.bytes = add(region.bytes, *bytes);
  }
  if (region.places.empty())
    return success();
  region.items = itemsOf(forall);
  regions.push_back(std::move(region));
  return success();
}

/// Places the buffers of items in the regions of their workers.
void Workspace::placeInRegions() {
  workerBytes = constant(knownWorkerBytes);
  for (const Region &region : regions)
    if (region.bytes)
      workerBytes =
          arith::MaxUIOp::create(rewriter, loc, workerBytes, region.bytes);
  auto module = kernel->getParentOfType<ModuleOp>();
  for (const Region &region : regions)
    for (auto [alloc, offset] : region.places) {
      func::FuncOp worker = module.lookupSymbol<func::FuncOp>(workerFunction);
      OpBuilder b(alloc);
      if (!worker) {
        OpBuilder atEnd = OpBuilder::atBlockEnd(module.getBody());
        worker = func::FuncOp::create(atEnd, module.getLoc(), workerFunction,
                                      b.getFunctionType({}, b.getIndexType()));
        worker.setPrivate();
      }
      Location at = alloc.getLoc();
      Value number = func::CallOp::create(b, at, worker).getResult(0);
      Value base = arith::MulIOp::create(b, at, number, workerBytes);
      replaceByView(alloc, b, arith::AddIOp::create(b, at, base, offset));
    }
}

/// How many workers there are at most: no more than threads, and no more than
/// items. (A loop asks for no more threads than it has items.)
Value Workspace::workers() {
  Value threads = signature.getThreads();
  Value most;
  for (const Region &region : regions) {
    if (!region.items)
      return threads;
    most = most ? arith::MaxUIOp::create(rewriter, loc, most, region.items)
                : region.items;
  }
  return most ? arith::MinUIOp::create(rewriter, loc, threads, most) : threads;
}

/// A buffer and the factors of its size, as far as the compiler does not know
/// them.
FailureOr<SizedBuffer> Workspace::sized(memref::AllocOp alloc, Lifetime life) {
  std::optional<int64_t> known = knownBytes(alloc.getType());
  if (!known)
    return alloc.emitOpError("has more bytes than an index can count");
  SizedBuffer buffer{alloc, life, *known, {}};
  for (Value size : alloc.getDynamicSizes()) {
    Value bound = atBegin(size);
    if (!bound)
      return alloc.emitOpError(
          "has a size that does not follow from the sizes of the arguments");
    if (!SizesAtBegin::factor(bound, buffer.bytes, buffer.factors) ||
        buffer.bytes > std::numeric_limits<int64_t>::max() - alignment)
      return alloc.emitOpError("has more bytes than an index can count");
  }
  if (buffer.factors.empty())
    buffer.bytes = static_cast<int64_t>(llvm::alignTo(buffer.bytes, alignment));
  return buffer;
}

/// How well buffers share: what they take, beside what is needed at one time.
void Workspace::explain(const Arena &arena) {
  if (arena.places.size() < 3)
    return;
  remark::analysis(
      loc, remark::RemarkOpts::name("Shared").category("attn-assign-workspace"))
      << llvm::formatv(
             "{0} buffers between loops share {1} bytes{2}; the largest two "
             "that are needed at one time take {3}",
             arena.places.size(), arena.unitBytes * arena.units,
             arena.factors.empty() ? "" : " times their unknown sizes",
             arena.unitBytes * arena.unitsOfTwo)
             .str();
}

/// Views of the work space from `base` on for the buffers of an arena; its
/// bytes.
Value Workspace::placeIn(const Arena &arena, Value base) {
  Value unit = constant(arena.unitBytes);
  for (Value factor : arena.factors)
    unit = multiply(unit, factor);
  if (!arena.factors.empty())
    unit = aligned(unit);
  for (const Place &place : arena.places) {
    OpBuilder b(place.alloc);
    replaceByView(place.alloc, b,
                  add(base, multiply(unit, constant(place.offset))));
  }
  return multiply(unit, constant(arena.units));
}

/// Places what lives between parallel loops behind the regions; makes the
/// function of sizes.
LogicalResult Workspace::placeShared() {
  SmallVector<memref::AllocOp> allocs;
  kernel.walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
  SmallVector<SizedBuffer> buffers;
  // All sizes first: what asks for that of a buffer must still find it.
  for (auto [alloc, life] :
       llvm::zip_equal(allocs, lifetimesOf(kernel, allocs))) {
    FailureOr<SizedBuffer> buffer = sized(alloc, life);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
  }
  Value offset = multiply(workers(), workerBytes);
  for (const SharedArenas &shared : placeBuffers(buffers)) {
    Value most;
    for (const Arena &arena : shared) {
      explain(arena);
      Value bytes = placeIn(arena, offset);
      most = most ? arith::MaxUIOp::create(rewriter, loc, most, bytes) : bytes;
    }
    offset = add(offset, most);
  }
  makeSizeFunction(offset);
  return success();
}

/// @NAME.workspace: the kernel's computation of sizes, and nothing else.
void Workspace::makeSizeFunction(Value total) {
  OpBuilder b(kernel);
  unsigned ports = signature.getNumPorts();
  SmallVector<Type> inputs(kernel.getArgumentTypes().take_front(ports));
  inputs.push_back(b.getIndexType());
  auto size = func::FuncOp::create(
      b, loc, partName(signature.getName(), Part::Workspace),
      b.getFunctionType(inputs, b.getIndexType()));
  size.setPrivate();
  b.setInsertionPointToStart(size.addEntryBlock());
  IRMapping mapping;
  for (unsigned i = 0; i < ports; ++i)
    mapping.map(signature.getPort(i), size.getArgument(i));
  mapping.map(signature.getThreads(), size.getArgument(ports));
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitUsesFromAbove = false;
  (void)getBackwardSlice(total, &slice, options);
  for (Operation &op : kernel.front())
    if (slice.contains(&op))
      b.clone(op, mapping);
  func::ReturnOp::create(b, loc, mapping.lookupOrDefault(total));
}

LogicalResult Workspace::assign() {
  WalkResult measured = kernel.walk<WalkOrder::PreOrder>([&](scf::ForallOp op) {
    return failed(measure(op)) ? WalkResult::interrupt() : WalkResult::skip();
  });
  if (measured.wasInterrupted())
    return failure();
  placeInRegions();
  if (failed(placeShared()))
    return failure();
  rewriter.eraseOp(begin);
  return success();
}

namespace {
struct AssignWorkspace : attn::impl::AssignWorkspaceBase<AssignWorkspace> {
  void runOnOperation() override {
    for (const KernelSignature &kernel : KernelSignature::all(getOperation()))
      if (failed(Workspace(kernel).assign()))
        return signalPassFailure();
  }
};
} // namespace
