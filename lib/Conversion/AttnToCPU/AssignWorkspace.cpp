// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers get their place in the caller's work space.
//
// Before:  func.func private @mha.items(..) {
//            %state = memref.alloc() : memref<2016x16xf32>
//          }
//          func.func private @mha.kernel(..) {
//            %q = memref.alloc(%B, %S) : memref<?x?x64xf32>
//          }
// After:   %state = memref.view %workspace[%worker * 129024][] ..
//          %q     = memref.view %workspace[%threads * 129024 + 0][%B, %S] ..
//          func.func private @mha.workspace(.., %threads: index) -> index
//
// The work space is one region per worker, as large as the largest item needs,
// then the buffers that hold values between parallel loops, each at a multiple
// of 64 bytes. Nothing is allocated while a kernel runs.
//
// Before: parallel loops are outlined. After: no memref.alloc is left.
#include "attn/Conversion/Passes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

namespace attn {
#define GEN_PASS_DEF_ASSIGNWORKSPACE
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static constexpr int64_t alignment = 64;

static int64_t elementBytes(MemRefType type) {
  return llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

/// Bytes of a buffer, a multiple of the alignment.
static Value bufferBytes(OpBuilder &b, Location loc, memref::AllocOp alloc,
                         ValueRange sizes) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  MemRefType type = alloc.getType();
  int64_t known = elementBytes(type);
  for (int64_t size : type.getShape())
    known *= ShapedType::isDynamic(size) ? 1 : size;
  Value bytes = constant(known);
  for (Value size : sizes)
    bytes = arith::MulIOp::create(b, loc, bytes, size);
  bytes = arith::AddIOp::create(b, loc, bytes, constant(alignment - 1));
  Value units = arith::DivUIOp::create(b, loc, bytes, constant(alignment));
  return arith::MulIOp::create(b, loc, units, constant(alignment));
}

static void replaceByView(memref::AllocOp alloc, Value workspace,
                          Value offset) {
  OpBuilder b(alloc);
  auto type = MemRefType::get(alloc.getType().getShape(),
                              alloc.getType().getElementType());
  Value view = memref::ViewOp::create(b, alloc.getLoc(), type, workspace,
                                      offset, alloc.getDynamicSizes());
  alloc.replaceAllUsesWith(view);
  alloc.erase();
}

/// Places the buffers of an item in its worker's region; returns their bytes.
static FailureOr<int64_t> placeItemBuffers(func::FuncOp items,
                                           int64_t workerBytes) {
  SmallVector<memref::AllocOp> allocs;
  items.walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
  int64_t offset = 0;
  Value workspace; // the first capture
  for (Operation &op : items.front())
    if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op)) {
      workspace = cast.getResult(0);
      break;
    }
  for (memref::AllocOp alloc : allocs) {
    if (!alloc.getType().hasStaticShape())
      return alloc.emitOpError("has a size that is only known at run time, "
                               "inside a parallel item");
    if (workerBytes) {
      OpBuilder b(alloc);
      Location loc = alloc.getLoc();
      Value worker = arith::IndexCastUIOp::create(b, loc, b.getIndexType(),
                                                  items.getArgument(2));
      Value base = arith::MulIOp::create(
          b, loc, worker, arith::ConstantIndexOp::create(b, loc, workerBytes));
      Value at = arith::AddIOp::create(
          b, loc, base, arith::ConstantIndexOp::create(b, loc, offset));
      MemRefType type = alloc.getType();
      offset +=
          llvm::alignTo(type.getNumElements() * elementBytes(type), alignment);
      replaceByView(alloc, workspace, at);
      continue;
    }
    offset += llvm::alignTo(alloc.getType().getNumElements() *
                                elementBytes(alloc.getType()),
                            alignment);
  }
  return offset;
}

/// @NAME.workspace: the kernel's computation of sizes, and nothing else.
static void makeSizeFunction(func::FuncOp kernel,
                             ArrayRef<memref::AllocOp> allocs,
                             int64_t workerBytes) {
  OpBuilder b(kernel);
  Location loc = kernel.getLoc();
  // Inputs, outputs and threads; no workspace and no call.
  SmallVector<Type> inputs(kernel.getArgumentTypes().drop_back(3));
  inputs.push_back(b.getIndexType());
  StringRef owner = kernel.getName().split('.').first;
  auto size = func::FuncOp::create(b, loc, (owner + ".workspace").str(),
                                   b.getFunctionType(inputs, b.getIndexType()));
  size.setPrivate();
  b.setInsertionPointToStart(size.addEntryBlock());
  IRMapping mapping;
  unsigned tensors = inputs.size() - 1;
  for (unsigned i = 0; i < tensors; ++i)
    mapping.map(kernel.getArgument(i), size.getArgument(i));
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  for (memref::AllocOp alloc : allocs)
    for (Value dynamic : alloc.getDynamicSizes())
      (void)getBackwardSlice(dynamic, &slice, options);
  for (Operation &op : kernel.front())
    if (slice.contains(&op))
      b.clone(op, mapping);
  Value total = arith::MulIOp::create(
      b, loc, size.getArgument(tensors),
      arith::ConstantIndexOp::create(b, loc, workerBytes));
  for (memref::AllocOp alloc : allocs) {
    SmallVector<Value> sizes;
    for (Value dynamic : alloc.getDynamicSizes())
      sizes.push_back(mapping.lookupOrDefault(dynamic));
    total =
        arith::AddIOp::create(b, loc, total, bufferBytes(b, loc, alloc, sizes));
  }
  func::ReturnOp::create(b, loc, total);
}

static LogicalResult assign(func::FuncOp kernel) {
  auto module = kernel->getParentOfType<ModuleOp>();
  std::string prefix = (kernel.getName().split('.').first + ".items").str();
  SmallVector<func::FuncOp> items;
  for (auto func : module.getOps<func::FuncOp>())
    if (func.getName() == prefix || func.getName().starts_with(prefix + "_"))
      items.push_back(func);
  int64_t workerBytes = 0;
  for (func::FuncOp item : items) {
    FailureOr<int64_t> bytes = placeItemBuffers(item, /*workerBytes=*/0);
    if (failed(bytes))
      return failure();
    workerBytes = std::max(workerBytes, *bytes);
  }
  if (workerBytes)
    for (func::FuncOp item : items)
      (void)placeItemBuffers(item, workerBytes);

  SmallVector<memref::AllocOp> allocs;
  for (auto alloc : kernel.front().getOps<memref::AllocOp>())
    allocs.push_back(alloc);
  makeSizeFunction(kernel, allocs, workerBytes);
  unsigned arguments = kernel.getNumArguments();
  Value workspace = kernel.getArgument(arguments - 3),
        threads = kernel.getArgument(arguments - 2);
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.front());
  Location loc = kernel.getLoc();
  Value offset = arith::MulIOp::create(
      b, loc, threads, arith::ConstantIndexOp::create(b, loc, workerBytes));
  for (memref::AllocOp alloc : allocs) {
    b.setInsertionPoint(alloc);
    Value bytes =
        bufferBytes(b, alloc.getLoc(), alloc, alloc.getDynamicSizes());
    Value next = arith::AddIOp::create(b, alloc.getLoc(), offset, bytes);
    replaceByView(alloc, workspace, offset);
    offset = next;
  }
  return success();
}

namespace {
struct AssignWorkspace : attn::impl::AssignWorkspaceBase<AssignWorkspace> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (func.getName().ends_with(".kernel"))
        kernels.push_back(func);
    for (func::FuncOp kernel : kernels)
      if (failed(assign(kernel)))
        return signalPassFailure();
  }
};
} // namespace
