// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Dialect/Attn/Utils/VectorOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

bool attn::hasVectorCode(Operation *op) {
  if (op->getName().getDialectNamespace() != "math")
    return !isa<arith::RemFOp>(op);
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CosOp, math::ErfOp, math::Exp2Op, math::ExpM1Op, math::ExpOp,
             math::FloorOp, math::FmaOp, math::Log1pOp, math::Log2Op,
             math::LogOp, math::PowFOp, math::RoundEvenOp, math::RoundOp,
             math::RsqrtOp, math::SinOp, math::SqrtOp, math::TanhOp,
             math::TruncOp>(op);
}
