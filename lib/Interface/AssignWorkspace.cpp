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
// are never needed at the same time share their bytes. Nothing is allocated
// while a kernel runs.
//
// Sizes are computed where the kernel begins. One that is known only later, in
// a loop or an item, is replaced by a bound that its operations imply. A size
// that an argument holds is read from it, also by @mha.workspace.
//
// Before: parallel loops that are not outlined. After: no memref.alloc is left;
// @attn.worker, the number of the worker that runs an item, is replaced when
// loops become functions.
#include "BufferLifetimes.h"
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
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
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
  bool isKnownAtBegin(Value value);
  Value atBegin(Value size);
  Value again(Value size);
  Value ofJoined(memref::DimOp size);
  FailureOr<Value> bytesOf(memref::AllocOp alloc);
  LogicalResult measure(scf::ForallOp forall);
  Value itemsOf(scf::ForallOp forall);
  void placeInRegions();
  Value workers();
  LogicalResult placeBuffers();
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

/// A size that can be computed from the arguments alone.
bool Workspace::isKnownAtBegin(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == &kernel.front();
  return value.getDefiningOp()->getBlock() == &kernel.front() &&
         value.getDefiningOp()->isBeforeInBlock(begin);
}

/// `size`, or a bound for it, in front of `begin`; null if there is none.
Value Workspace::atBegin(Value size) {
  if (Operation *op = size.getDefiningOp();
      isKnownAtBegin(size) ||
      (op && op->getBlock() == &kernel.front() &&
       succeeded(moveValueDefinitions(rewriter, size, begin))))
    return size;
  FailureOr<OpFoldResult> bound = arith::reifyIndexValueBound(
      rewriter, loc, presburger::BoundType::UB, size,
      [&](Value value, std::optional<int64_t>, ValueBoundsConstraintSet &) {
        Operation *op = value.getDefiningOp();
        return isKnownAtBegin(value) ||
               (op && op->getBlock() == &kernel.front() &&
                succeeded(moveValueDefinitions(rewriter, value, begin)));
      },
      /*closedUB=*/true);
  if (failed(bound))
    return again(size);
  return getValueOrCreateConstantIndexOp(rewriter, loc, *bound);
}

/// The argument of the kernel that `memref` is, or a copy with rows side by
/// side (attn-make-contiguous) of; null if it is no argument.
static Value argumentOf(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    if (auto choice = dyn_cast<arith::SelectOp>(op))
      memref = choice.getFalseValue();
    else if (auto cast = dyn_cast<memref::CastOp>(op))
      memref = cast.getSource();
    else
      return {};
  }
  return memref;
}

/// The size of dimensions that were joined: their product.
Value Workspace::ofJoined(memref::DimOp size) {
  auto collapse = size.getSource().getDefiningOp<memref::CollapseShapeOp>();
  std::optional<int64_t> dim = size.getConstantIndex();
  if (!collapse || !dim)
    return {};
  Value product = constant(1);
  for (int64_t part : collapse.getReassociationIndices()[*dim]) {
    OpBuilder before(collapse);
    Value one = atBegin(
        before.createOrFold<memref::DimOp>(loc, collapse.getSrc(), part));
    if (!one)
      return {};
    product = multiply(product, one);
  }
  return product;
}

/// `size` computed once more, from first elements of arguments too. The smaller
/// of two numbers is bounded by either.
Value Workspace::again(Value size) {
  Operation *op = size.getDefiningOp();
  if (isKnownAtBegin(size))
    return size;
  if (!op)
    return {};
  if (auto dim = dyn_cast<memref::DimOp>(op))
    if (Value known = ofJoined(dim))
      return known;
  if (isa<arith::MinUIOp, arith::MinSIOp>(op)) {
    Value first = atBegin(op->getOperand(0)),
          second = atBegin(op->getOperand(1));
    if (!first || !second)
      return first ? first : second;
    return isa<arith::MinUIOp>(op)
               ? arith::MinUIOp::create(rewriter, loc, first, second)
                     .getResult()
               : arith::MinSIOp::create(rewriter, loc, first, second);
  }
  IRMapping mapping;
  bool isElement = false;
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    Value argument = argumentOf(load.getMemRef());
    isElement = argument && isKnownAtBegin(argument) &&
                llvm::all_of(load.getIndices(), [](Value index) {
                  return isConstantIntValue(index, 0);
                });
    if (isElement)
      mapping.map(load.getMemRef(), argument);
  }
  if (!isElement && (op->getNumRegions() || !isPure(op)))
    return {};
  for (Value operand : op->getOperands()) {
    if (mapping.contains(operand))
      continue;
    Value known = again(operand);
    if (!known)
      return {};
    mapping.map(operand, known);
  }
  return rewriter.clone(*op, mapping)
      ->getResult(cast<OpResult>(size).getResultNumber());
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
  bytes = add(bytes, constant(alignment - 1));
  Value units =
      arith::DivUIOp::create(rewriter, loc, bytes, constant(alignment));
  return multiply(units, constant(alignment));
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

/// Places what lives between parallel loops behind the regions; makes the
/// function of sizes.
LogicalResult Workspace::placeBuffers() {
  SmallVector<memref::AllocOp> allocs;
  kernel.walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
  std::vector<SharedBytes> shared = shareBytes(kernel, allocs);
  // All sizes first: what asks for that of a buffer must still find it.
  SmallVector<Value> all;
  for (const SharedBytes &place : shared) {
    Value bytes;
    for (memref::AllocOp alloc : place.buffers) {
      FailureOr<Value> own = bytesOf(alloc);
      if (failed(own))
        return failure();
      bool isSame = bytes && alloc.getType() == place.type() &&
                    alloc.getDynamicSizes() == place.sizes();
      if (!bytes)
        bytes = *own;
      else if (!isSame)
        bytes = arith::MaxUIOp::create(rewriter, loc, bytes, *own);
    }
    all.push_back(bytes);
  }
  Value offset = multiply(workers(), workerBytes);
  for (auto [place, bytes] : llvm::zip_equal(shared, all)) {
    for (memref::AllocOp alloc : place.buffers) {
      OpBuilder b(alloc);
      replaceByView(alloc, b, offset);
    }
    offset = add(offset, bytes);
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
  if (failed(placeBuffers()))
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
