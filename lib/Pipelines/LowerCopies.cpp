// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies between strided buffers, which LLVM knows no instruction for.
//
// Before:  memref.copy %a, %b : memref<?x100xf16, ..> to memref<?x100xf16, ..>
// After:   scf.for %i = %c0 to %rows step %c1 {
//            scf.for %j = %c0 to %c100 step %c32 {
//              %column = minui %j, %c68  // the last vector overlaps
//              %x = vector.load %a[%i, %column] : .., vector<32xf16>
//              vector.store %x, %b[%i, %column]
//            }
//          }
//
// Rows whose length is unknown, or whose elements do not lie side by side, are
// copied number by number: they become linalg ops, which become loops.
#include "LowerCopies.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

/// Bytes of the largest vector register. Smaller ones take several.
static constexpr int64_t registerBytes = 64;

/// Elements of a vector for rows of these buffers; 0 or 1 if there is none.
static int64_t vectorLength(MemRefType source, MemRefType target) {
  if (source.getRank() == 0 || !source.getElementType().isIntOrFloat())
    return 0;
  int64_t row = source.getShape().back();
  int64_t bytes = source.getElementTypeBitWidth() / 8;
  if (ShapedType::isDynamic(row) || bytes == 0 ||
      !source.areTrailingDimsContiguous(1) ||
      !target.areTrailingDimsContiguous(1))
    return 0;
  return static_cast<int64_t>(llvm::bit_floor(
      static_cast<uint64_t>(std::min(row, registerBytes / bytes))));
}

static void copyRows(OpBuilder &b, memref::CopyOp copy, int64_t length) {
  Location loc = copy.getLoc();
  Value source = copy.getSource(), target = copy.getTarget();
  auto type = cast<MemRefType>(source.getType());
  auto index = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value).getResult();
  };
  SmallVector<Value> lower, upper, steps;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    lower.push_back(index(0));
    upper.push_back(b.createOrFold<memref::DimOp>(loc, source, dim));
    steps.push_back(index(dim + 1 < type.getRank() ? 1 : length));
  }
  Value last = index(type.getShape().back() - length);
  auto vector = VectorType::get(length, type.getElementType());
  scf::buildLoopNest(
      b, loc, lower, upper, steps,
      [&](OpBuilder &inner, Location, ValueRange position) {
        SmallVector<Value> at(position);
        if (type.getShape().back() % length)
          at.back() = arith::MinUIOp::create(inner, loc, at.back(), last);
        Value loaded = vector::LoadOp::create(inner, loc, vector, source, at);
        vector::StoreOp::create(inner, loc, loaded, target, at);
      });
}

namespace {
struct LowerCopies : PassWrapper<LowerCopies, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerCopies)

  StringRef getArgument() const override { return "attn-lower-copies"; }
  StringRef getDescription() const override {
    return "Turn memref.copy into vector or linalg ops";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, linalg::LinalgDialect, scf::SCFDialect,
                    vector::VectorDialect>();
  }

  void runOnOperation() override {
    getOperation()->walk([](memref::CopyOp copy) {
      OpBuilder builder(copy);
      auto source = dyn_cast<MemRefType>(copy.getSource().getType()),
           target = dyn_cast<MemRefType>(copy.getTarget().getType());
      int64_t length = source && target ? vectorLength(source, target) : 0;
      if (length > 1)
        copyRows(builder, copy, length);
      else
        linalg::makeMemRefCopyOp(builder, copy.getLoc(), copy.getSource(),
                                 copy.getTarget());
      copy.erase();
    });
  }
};
} // namespace

std::unique_ptr<Pass> attn::createLowerCopies() {
  return std::make_unique<LowerCopies>();
}
