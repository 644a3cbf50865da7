// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Import/ONNX/Import.h"
#include "GraphImporter.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace attn;

OwningOpRef<ModuleOp> attn::importOnnx(StringRef path, MLIRContext &context,
                                       const OnnxOptions &options) {
  context.loadDialect<AttnDialect, arith::ArithDialect, func::FuncDialect,
                      linalg::LinalgDialect, math::MathDialect,
                      tensor::TensorDialect>();
  Location loc = FileLineColLoc::get(&context, path, 0, 0);
  auto model = onnx::readModel(path, loc);
  if (failed(model))
    return {};
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder b(&context);
  b.setInsertionPointToStart(module->getBody());
  onnx::GraphImporter importer(**model, path, b, options);
  if (!importer.import() || failed(verify(*module)))
    return {};
  return module;
}
