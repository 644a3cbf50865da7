// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions on tensors become kernels on buffers of the caller.
//
// Before:  func.func @mha(%q: tensor<?x64xf32>) -> tensor<?x64xf32> {
//            return %out
//          }
// After:   func.func @mha.kernel(%q: memref<?x64xf32, strided<[?, 1], offset:
// ?>>,
//              %out: memref<.., strided<..>>, %workspace: memref<?xi8>,
//              %threads: index, %call: !llvm.ptr) {
//            %0 = bufferization.to_tensor %q restrict
//            bufferization.materialize_in_destination %1 in restrict writable
//            %out return
//          }
//
// Every use of a tensor.empty, or of a slice of one, gets one of its own, and
// so does every sum that begins with the same tensor of one number: CSE has
// made one of several destinations, which would have to be copied apart.
//
// A result with attn.in_place that is its argument with other elements here and
// there begins as a copy of it, unless the caller gives the memory of both as
// one, and stands for it:
//   %differs = arith.cmpi ne, %cache's address, %out's address
//   scf.if %differs { memref.copy %cache, %out }
//   %1 = bufferization.to_tensor %out restrict writable
// Any other one is computed elsewhere, since its argument may be read until the
// end, and copied behind everything else:
//   %2 = bufferization.to_buffer %result read_only
//   memref.copy %2, %out
//
// Other inputs are only read; the caller promises that results overlap neither
// inputs nor each other. Functions whose results are no tensors (@mha.flops)
// keep their name and results, and read arguments of any strides. `attn.ports`
// moves along.
//
// Before: tensors. After: tensors inside, buffers at the borders: one-shot
// bufferization does the rest and writes results in place.
#include "attn/Interface/KernelSignature.h"
#include "attn/Interface/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace attn {
#define GEN_PASS_DEF_LOWERSIGNATURE
#include "attn/Interface/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// The caller's buffer for a tensor, with any strides. Kernels read rows whose
/// elements lie side by side; attn-make-contiguous sees to that.
static MemRefType bufferType(RankedTensorType type, bool ofKernel) {
  if (type.getRank() == 0)
    return MemRefType::get({}, type.getElementType());
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  if (ofKernel)
    strides.back() = 1;
  auto layout =
      StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides);
  return MemRefType::get(type.getShape(), type.getElementType(), layout);
}

static void lowerArguments(func::FuncOp func, OpBuilder &builder,
                           bool isKernel) {
  builder.setInsertionPointToStart(&func.front());
  for (BlockArgument argument : func.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    argument.setType(bufferType(type, isKernel));
    auto tensor = bufferization::ToTensorOp::create(
        builder, func.getLoc(), type, argument, /*restrict=*/true);
    argument.replaceAllUsesExcept(tensor, tensor);
  }
}

/// Whether `value` is `base` with other elements in some places.
static bool isWrittenInto(Value base, Value value) {
  while (value != base) {
    auto result = dyn_cast<OpResult>(value);
    if (!result)
      return false;
    Operation *op = result.getOwner();
    unsigned number = result.getResultNumber();
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      value = insert.getDest();
    else if (auto insert = dyn_cast<tensor::InsertOp>(op))
      value = insert.getDest();
    else if (isa<tensor::CastOp, tensor::ExpandShapeOp,
                 tensor::CollapseShapeOp>(op))
      value = op->getOperand(0);
    else if (auto writes = dyn_cast<DestinationStyleOpInterface>(op))
      value = writes.getTiedOpOperand(result)->get();
    else if (auto loop = dyn_cast<scf::ForallOp>(op))
      value = loop.getTiedOpOperand(result)->get();
    else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (!isWrittenInto(loop.getRegionIterArg(number),
                         loop.getYieldedValues()[number]))
        return false;
      value = loop.getInitArgs()[number];
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      // Those of attn-yield-into-arguments pass all arguments on.
      if (number >= loop.getInits().size() ||
          !isWrittenInto(loop.getAfterArguments()[number],
                         loop.getYieldedValues()[number]))
        return false;
      value = loop.getInits()[number];
    } else {
      auto choice = dyn_cast<scf::IfOp>(op);
      return choice &&
             isWrittenInto(base, choice.thenYield().getOperand(number)) &&
             isWrittenInto(base, choice.elseYield().getOperand(number));
    }
  }
  return true;
}

/// The argument that the attribute attn.in_place of a result names, as a
/// tensor; null where it has none.
static bufferization::ToTensorOp placeOf(func::FuncOp func, unsigned result) {
  auto name = func.getResultAttrOfType<StringAttr>(result, inPlaceAttr);
  // Behind the function's own arguments stand results by now.
  for (unsigned i = 0; name && i < func.getNumArguments(); ++i)
    if (func.getArgAttrOfType<StringAttr>(i, "attn.name") == name)
      return cast<bufferization::ToTensorOp>(
          *func.front().getArgument(i).user_begin());
  return {};
}

/// Lets `out`, a result, stand for the argument `whole`.
static void shareMemory(bufferization::ToTensorOp whole, BlockArgument out) {
  OpBuilder builder(whole);
  Location loc = whole.getLoc();
  auto address = [&](Value buffer) -> Value {
    return memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
  };
  Value argument = whole.getBuffer();
  Value differs = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                        address(argument), address(out));
  auto branch = scf::IfOp::create(builder, loc, differs);
  OpBuilder inside = branch.getThenBodyBuilder();
  memref::CopyOp::create(inside, loc, argument, out);
  auto shared = bufferization::ToTensorOp::create(builder, loc, whole.getType(),
                                                  out, /*restrict=*/true,
                                                  /*writable=*/true);
  whole.replaceAllUsesWith(shared.getResult());
  whole.erase();
}

/// Whether the tensor is an argument's, or a view of one.
static bool isArgument(Value tensor) {
  while (isa_and_nonnull<tensor::CastOp, tensor::ExpandShapeOp,
                         tensor::CollapseShapeOp, tensor::ExtractSliceOp>(
      tensor.getDefiningOp()))
    tensor = tensor.getDefiningOp()->getOperand(0);
  return tensor.getDefiningOp<bufferization::ToTensorOp>() != nullptr;
}

/// `result` as a buffer of the type of `out`, which no other result's memory
/// is.
static Value bufferOf(OpBuilder &builder, Value result, BlockArgument out) {
  Location loc = result.getLoc();
  if (isArgument(result))
    result = bufferization::AllocTensorOp::create(
        builder, loc, cast<RankedTensorType>(result.getType()), ValueRange(),
        result);
  return bufferization::ToBufferOp::create(builder, loc, out.getType(), result,
                                           /*read_only=*/true);
}

static void lowerResults(func::FuncOp func, OpBuilder &builder) {
  auto ret = cast<func::ReturnOp>(func.front().getTerminator());
  SmallVector<BlockArgument> outs;
  for (Value result : ret.getOperands())
    outs.push_back(func.front().addArgument(
        bufferType(cast<RankedTensorType>(result.getType()), /*ofKernel=*/true),
        func.getLoc()));
  builder.setInsertionPoint(ret);
  SmallVector<std::pair<Value, Value>> copies;
  SmallVector<bufferization::ToTensorOp> shared(outs.size());
  for (auto [i, result] : llvm::enumerate(ret.getOperands())) {
    bufferization::ToTensorOp place = placeOf(func, i);
    if (place && !isWrittenInto(place.getResult(), result))
      copies.push_back({bufferOf(builder, result, outs[i]), outs[i]});
    else
      shared[i] = place;
  }
  for (auto [i, result] : llvm::enumerate(ret.getOperands())) {
    if (llvm::is_contained(llvm::make_second_range(copies), outs[i]))
      continue;
    auto store = bufferization::MaterializeInDestinationOp::create(
        builder, func.getLoc(), result, outs[i]);
    store.setRestrict(true);
    store.setWritable(true);
  }
  for (auto [from, to] : copies)
    memref::CopyOp::create(builder, func.getLoc(), from, to);
  for (auto [place, out] : llvm::zip(shared, outs))
    if (place)
      shareMemory(place, out);
  ret.getOperandsMutable().clear();
  KernelSignature::make(func);
}

/// Whether all that have use for a filled tensor write it.
static bool isDestination(linalg::FillOp fill) {
  return fill.hasPureTensorSemantics() &&
         llvm::all_of(fill.getResult(0).getUses(), [](OpOperand &use) {
           auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
           return op && op.isDpsInit(&use);
         });
}

/// Users come first, so that a slice's copies have uses to give their source.
static void separateDestinations(func::FuncOp func) {
  SmallVector<Operation *> makers;
  func.walk([&](Operation *op) {
    bool isEmpty = isa<tensor::EmptyOp>(op);
    if (auto fill = dyn_cast<linalg::FillOp>(op))
      isEmpty = isDestination(fill);
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      isEmpty = llvm::is_contained(makers, slice.getSource().getDefiningOp());
    if (isEmpty)
      makers.push_back(op);
  });
  for (Operation *maker : llvm::reverse(makers)) {
    OpBuilder builder(maker);
    for (OpOperand &use : llvm::make_early_inc_range(maker->getUses())) {
      // Numbers are needed from here on.
      if (isa<linalg::FillOp>(maker))
        builder.setInsertionPoint(use.getOwner());
      use.set(builder.clone(*maker)->getResult(0));
    }
    if (maker->use_empty())
      maker->erase();
  }
}

namespace {
struct LowerSignature : attn::impl::LowerSignatureBase<LowerSignature> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      separateDestinations(func);
      TypeRange results = func.getFunctionType().getResults();
      bool kernel = llvm::all_of(results, llvm::IsaPred<RankedTensorType>) &&
                    !results.empty();
      lowerArguments(func, builder, kernel);
      if (kernel)
        lowerResults(func, builder);
      func.setType(FunctionType::get(&getContext(),
                                     func.front().getArgumentTypes(),
                                     kernel ? TypeRange() : results));
      if (kernel) { // one dictionary per argument, or none at all
        func.removeArgAttrsAttr();
        func.removeResAttrsAttr();
      }
      func.setPrivate();
    }
  }
};
} // namespace
