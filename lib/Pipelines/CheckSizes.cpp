// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Refuses tensors that are too large for any memory, constants that are too
// large for an object, and sizes that a tensor does not have.
//
//   %s = attn.scores %q, %k : .. -> tensor<4611686018427387904x8xf32>
//        ^ error: expects tensors of less than 2^56 bytes, but got ..
//
// 2^56 bytes are what processors can address. Behind this pass, the bytes of a
// tensor, rounded up to tiles and times a few dozen, fit into 64 bits. An
// unknown size counts as 1, and so does 0, since strides are products of sizes
// even where there is no element. Code of x86-64 reaches constants within 2^31
// bytes. Where a slice ends is computed from products of its sizes and strides,
// and no sequence has 2^31 elements.
//
// The IR does not change.
#include "CheckSizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

/// Whether the type has `most` bytes or more.
static bool isTooLarge(Type type, int64_t most) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank() ||
      !shaped.getElementType().isIntOrIndexOrFloat())
    return false;
  Type element = shaped.getElementType();
  int64_t bytes = element.isIndex()
                      ? 8
                      : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  for (int64_t size : shaped.getShape())
    if (!ShapedType::isDynamic(size) &&
        (llvm::MulOverflow(bytes, std::max<int64_t>(size, 1), bytes) ||
         bytes >= most))
      return true;
  return false;
}

// What MLIR's verifiers leave to a later op of memref.

static LogicalResult check(tensor::DimOp op) {
  std::optional<int64_t> index = op.getConstantIndex();
  int64_t rank = cast<RankedTensorType>(op.getSource().getType()).getRank();
  if (index && (*index < 0 || *index >= rank))
    return op->emitError() << "expects a dimension between 0 and " << rank - 1
                           << ", but got " << *index;
  return success();
}

static LogicalResult check(tensor::ExpandShapeOp op) {
  for (auto [given, size] : llvm::zip_equal(op.getStaticOutputShape(),
                                            op.getResultType().getShape()))
    if (given != size)
      return op->emitError()
             << "expects an output_shape of the sizes of " << op.getResultType()
             << ", but got "
             << (ShapedType::isDynamic(given) ? "an unknown one"
                                              : std::to_string(given));
  return success();
}

/// Groups of a reshape.
static LogicalResult check(Operation *op,
                           ArrayRef<ReassociationIndices> groups) {
  int64_t next = 0;
  for (const ReassociationIndices &group : groups)
    for (int64_t dim : group)
      if (dim != next++)
        return op->emitError() << "expects groups of all dimensions in their "
                                  "order, but got "
                               << dim << " where " << next - 1 << " follows";
  return success();
}

/// The place of a slice's last element must be a number of 64 bits.
static LogicalResult check(OffsetSizeAndStrideOpInterface op) {
  constexpr int64_t most = int64_t(1) << 31;
  for (const SmallVector<OpFoldResult> &values :
       {op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides()})
    for (OpFoldResult value : values)
      if (int64_t known = getConstantIntValue(value).value_or(0);
          known <= -most || known >= most)
        return op->emitError()
               << "expects offsets, sizes and strides of less than 2^31, but "
                  "got "
               << known;
  return success();
}

/// Data in the file behind the module.
static LogicalResult check(arith::ConstantOp op) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
  if (!resource)
    return success();
  ShapedType type = resource.getType();
  int64_t wanted = type.getNumElements() *
                   llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  int64_t bytes = blob ? blob->getData().size() : 0;
  if (bytes != wanted)
    return op->emitError() << "expects a resource of " << wanted
                           << " bytes for " << type << ", but got " << bytes;
  return success();
}

static LogicalResult check(Operation *op, TypeRange types) {
  bool isConstant = op->hasTrait<OpTrait::ConstantLike>();
  int bits = isConstant ? 31 : 56;
  for (Type type : types)
    if (isTooLarge(type, int64_t(1) << bits))
      return op->emitError()
             << "expects " << (isConstant ? "constants" : "tensors")
             << " of less than 2^" << bits << " bytes, but got " << type;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return check(constant);
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return check(dim);
  if (auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(op))
    return check(slice);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return check(op, collapse.getReassociationIndices());
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return failure(failed(check(op, expand.getReassociationIndices())) ||
                   failed(check(expand)));
  return success();
}

namespace {
struct CheckSizes : PassWrapper<CheckSizes, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckSizes)

  StringRef getName() const override { return "CheckSizes"; }
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](Operation *op) {
      if (auto function = dyn_cast<FunctionOpInterface>(op))
        if (failed(check(op, function.getArgumentTypes())))
          return WalkResult::interrupt();
      return failed(check(op, op->getResultTypes())) ? WalkResult::interrupt()
                                                     : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace

std::unique_ptr<Pass> attn::createCheckSizes() {
  return std::make_unique<CheckSizes>();
}
