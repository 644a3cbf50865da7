// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-lower-gpu-functions: kernels take what a launch passes.
//
// Before:  gpu.module @kernels {
//            gpu.func @norm_0(%x: memref<?x64xf32, strided<[?, 1], offset: ?>>,
//                %rows: index) kernel {
//              %thread = gpu.global_id x
//              .. gpu.return
//            }
//          }
// After:   module @kernels {
//            llvm.func @norm_0(%x: !llvm.ptr, %x0: i64, %s0: i64, %rows: i64)
//                attributes {nvvm.kernel} {
//              // a view, made of pointer, size and stride
//              %thread = (block's index * its size + thread's index)
//              .. llvm.return
//            }
//          }
//
// KernelArguments.h says what stands for an argument. A block size that the
// kernel demands (known_block_size), and attributes of NVVM's, stay with the
// function. Other ops of the module move along as they are.
//
// Before: no op refers to the kernels any more (attn-lower-gpu-launches).
// After: functions of llvm, nvvm, scf, arith and memref in a module of their
// own, of which PTX is made; no op of the gpu dialect is left.
#include "KernelArguments.h"
#include "attn/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace attn {
#define GEN_PASS_DEF_LOWERGPUFUNCTIONS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using gpu::Dimension;

/// The number in a register of the hardware, as an index.
template <typename X, typename Y, typename Z>
static Value readRegister(OpBuilder &b, Location loc, Dimension dim) {
  Type i32 = b.getI32Type();
  Value number = dim == Dimension::x   ? Value(X::create(b, loc, i32))
                 : dim == Dimension::y ? Value(Y::create(b, loc, i32))
                                       : Value(Z::create(b, loc, i32));
  return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), number);
}

static Value threadId(OpBuilder &b, Location loc, Dimension dim) {
  return readRegister<NVVM::ThreadIdXOp, NVVM::ThreadIdYOp, NVVM::ThreadIdZOp>(
      b, loc, dim);
}

static Value blockId(OpBuilder &b, Location loc, Dimension dim) {
  return readRegister<NVVM::BlockIdXOp, NVVM::BlockIdYOp, NVVM::BlockIdZOp>(
      b, loc, dim);
}

static Value blockDim(OpBuilder &b, Location loc, Dimension dim) {
  return readRegister<NVVM::BlockDimXOp, NVVM::BlockDimYOp, NVVM::BlockDimZOp>(
      b, loc, dim);
}

static Value gridDim(OpBuilder &b, Location loc, Dimension dim) {
  return readRegister<NVVM::GridDimXOp, NVVM::GridDimYOp, NVVM::GridDimZOp>(
      b, loc, dim);
}

/// What an op of the gpu dialect means; null if it is not one of these.
static Value valueOf(Operation *op, OpBuilder &b) {
  Location loc = op->getLoc();
  if (auto id = dyn_cast<gpu::ThreadIdOp>(op))
    return threadId(b, loc, id.getDimension());
  if (auto id = dyn_cast<gpu::BlockIdOp>(op))
    return blockId(b, loc, id.getDimension());
  if (auto size = dyn_cast<gpu::BlockDimOp>(op))
    return blockDim(b, loc, size.getDimension());
  if (auto size = dyn_cast<gpu::GridDimOp>(op))
    return gridDim(b, loc, size.getDimension());
  if (auto id = dyn_cast<gpu::GlobalIdOp>(op)) {
    Dimension dim = id.getDimension();
    Value before = arith::MulIOp::create(b, loc, blockId(b, loc, dim),
                                         blockDim(b, loc, dim));
    return arith::AddIOp::create(b, loc, before, threadId(b, loc, dim));
  }
  return {};
}

/// The function without a body.
static FailureOr<LLVM::LLVMFuncOp> declare(gpu::GPUFuncOp source,
                                           OpBuilder &b) {
  SmallVector<Type> types;
  for (Type type : source.getArgumentTypes()) {
    SmallVector<Type> parts = attn::kernelArgumentTypes(type);
    if (parts.empty())
      return source.emitOpError("takes an argument that no launch passes: ")
             << type;
    llvm::append_range(types, parts);
  }
  if (source.getNumWorkgroupAttributions() ||
      source.getNumPrivateAttributions())
    return source.emitOpError("has buffers of its own; globals of NVVM's "
                              "shared memory are what kernels have");
  auto nothing = LLVM::LLVMVoidType::get(b.getContext());
  auto target =
      LLVM::LLVMFuncOp::create(b, source.getLoc(), source.getName(),
                               LLVM::LLVMFunctionType::get(nothing, types));
  for (NamedAttribute attr : source->getDiscardableAttrs())
    if (attr.getName().strref().starts_with("nvvm."))
      target->setAttr(attr.getName(), attr.getValue());
  if (source.isKernel())
    target->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    b.getUnitAttr());
  if (auto sizes = source.getKnownBlockSizeAttr())
    target->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), sizes);
  return target;
}

static LogicalResult lower(gpu::GPUFuncOp source, OpBuilder &b) {
  FailureOr<LLVM::LLVMFuncOp> target = declare(source, b);
  if (failed(target))
    return failure();
  OpBuilder::InsertionGuard guard(b);
  Region &body = target->getBody();
  body.takeBody(source.getBody());
  Block &entry = body.front();
  unsigned count = entry.getNumArguments();
  b.setInsertionPointToStart(&entry);
  for (unsigned i = 0; i < count; ++i) {
    BlockArgument argument = entry.getArgument(i);
    SmallVector<Value> parts;
    for (Type type : attn::kernelArgumentTypes(argument.getType()))
      parts.push_back(entry.addArgument(type, argument.getLoc()));
    argument.replaceAllUsesWith(attn::joinKernelArgument(
        b, argument.getLoc(), argument.getType(), parts));
  }
  entry.eraseArguments(0, count);
  SmallVector<Operation *> ops;
  body.walk([&](Operation *op) {
    if (isa<gpu::GPUDialect>(op->getDialect()))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    b.setInsertionPoint(op);
    if (isa<gpu::ReturnOp>(op))
      LLVM::ReturnOp::create(b, op->getLoc(), ValueRange());
    else if (isa<gpu::BarrierOp>(op))
      NVVM::Barrier0Op::create(b, op->getLoc());
    else if (Value value = valueOf(op, b))
      op->getResult(0).replaceAllUsesWith(value);
    else
      return op->emitOpError("is not one that kernels have");
    op->erase();
  }
  return success();
}

namespace {
struct LowerGPUFunctions
    : attn::impl::LowerGPUFunctionsBase<LowerGPUFunctions> {
  void runOnOperation() override {
    OpBuilder b(&getContext());
    for (auto source : llvm::make_early_inc_range(
             getOperation().getOps<gpu::GPUModuleOp>())) {
      b.setInsertionPoint(source);
      auto target = ModuleOp::create(b, source.getLoc(), source.getName());
      target->setAttrs(source->getDiscardableAttrDictionary());
      target.setName(source.getName());
      b.setInsertionPointToEnd(target.getBody());
      for (Operation &op : llvm::make_early_inc_range(*source.getBody())) {
        auto function = dyn_cast<gpu::GPUFuncOp>(op);
        if (function && failed(lower(function, b)))
          return signalPassFailure();
        if (!function)
          op.moveBefore(target.getBody(), target.getBody()->end());
      }
      source.erase();
    }
    getOperation()->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  }
};
} // namespace
