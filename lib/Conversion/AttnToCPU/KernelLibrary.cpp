// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelLibrary.h"
#include "Decode/DecodeLayout.h"
#include "attn/Conversion/VectorToCPU/Subnormals.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/AsmState.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// The ops in the op's regions, which see nothing from outside.
static std::string regionText(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  // Names are given once: for every op anew, that would take quadratic time.
  std::optional<AsmState> names;
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps()) {
      if (!names)
        names.emplace(op);
      inner.print(stream, *names);
      stream << "\n";
    }
  return text;
}

static bool isForX86(func::FuncOp function) {
  TargetAttr target = TargetAttr::of(function->getParentOfType<ModuleOp>());
  return target && llvm::Triple(target.getTriple()).isX86();
}

/// Whether exponentials of scores are computed.
static bool weighs(func::FuncOp kernel) {
  return kernel.walk([](math::Exp2Op) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

func::FuncOp
KernelLibrary::get(Operation *op, StringRef name, ValueRange operands,
                   function_ref<void(KernelBuilder &, ValueRange)> emit,
                   CPUScheduleAttr schedule, Type element) {
  auto parent = op->getParentOfType<func::FuncOp>();
  auto type = FunctionType::get(op->getContext(), operands.getTypes(), {});
  StringRef owner = parent.getName().split('.').first;
  // A buffer does not tell the normalization of its state; the op's types do.
  auto before = FunctionType::get(op->getContext(), op->getOperandTypes(),
                                  op->getResultTypes());
  Attribute key = ArrayAttr::get(
      op->getContext(),
      {StringAttr::get(op->getContext(), owner + "." + name),
       op->getAttrDictionary(), TypeAttr::get(type), TypeAttr::get(before),
       StringAttr::get(op->getContext(), regionText(op))});
  func::FuncOp &kernel = kernels[key];
  if (kernel)
    return kernel;
  unsigned &count = names[(owner + "." + name).str()];
  std::string symbol = (owner + "." + name).str();
  if (count++)
    symbol += "_" + std::to_string(count - 1);
  OpBuilder builder(parent);
  kernel = func::FuncOp::create(builder, op->getLoc(), symbol, type);
  kernel.setPrivate();
  Block *entry = kernel.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  KernelBuilder k(builder, op->getLoc(), schedule, element);
  k.kernel = kernel;
  emit(k, entry->getArguments());
  builder.setInsertionPointToEnd(entry);
  func::ReturnOp::create(builder, op->getLoc());
  if (isForX86(parent) && weighs(kernel))
    kernel->setAttr(flushesAttr, builder.getUnitAttr());
  return kernel;
}

MemRefType KernelLibrary::bufferOf(StateType type,
                                   CPUScheduleAttr schedule) const {
  return type.getKind() == Kind::Decode
             ? DecodeLayout(type, schedule).memrefType()
             : StateLayout(type, schedule, extras).memrefType();
}

Value cpu::viewBuffer(OpBuilder &builder, Location loc, Value buffer,
                      MemRefType type) {
  if (buffer.getType() == type)
    return buffer;
  return memref::ReinterpretCastOp::create(builder, loc, type, buffer,
                                           /*offset=*/0, type.getShape(),
                                           type.getStridesAndOffset().first);
}

Value cpu::viewRows(OpBuilder &builder, Location loc, Value operand) {
  auto type = dyn_cast<MemRefType>(operand.getType());
  if (!type || type.getRank() == 0 || type.getShape().back() != 1)
    return operand;
  auto [strides, offset] = type.getStridesAndOffset();
  if (strides.back() == 1)
    return operand;
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, operand);
  SmallVector<OpFoldResult> steps = metadata.getConstifiedMixedStrides();
  steps.back() = builder.getIndexAttr(1);
  strides.back() = 1;
  auto layout = StridedLayoutAttr::get(builder.getContext(), offset, strides);
  return memref::ReinterpretCastOp::create(
      builder, loc,
      MemRefType::get(type.getShape(), type.getElementType(), layout),
      metadata.getBaseBuffer(), metadata.getConstifiedMixedOffset(),
      metadata.getConstifiedMixedSizes(), steps);
}
