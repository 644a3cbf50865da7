// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Import/ONNX/Import.h"
#include "GraphImporter.h"
#include "Messages/ExpandFused.h"
#include "Messages/ExpandQuantized.h"
#include "Messages/InlineFunctions.h"
#include "Messages/OrderNodes.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace attn;

static void assume(::onnx::ModelProto &model,
                   const attn::onnx::GraphImporter::Assumption &assumption) {
  for (auto &input : *model.mutable_graph()->mutable_input())
    for (auto &dim : *input.mutable_type()
                          ->mutable_tensor_type()
                          ->mutable_shape()
                          ->mutable_dim()) {
      if (dim.dim_param() != assumption.name)
        continue;
      if (assumption.number)
        dim.set_dim_value(*assumption.number);
      else
        dim.set_dim_param(assumption.other);
    }
}

OwningOpRef<ModuleOp> attn::importOnnx(StringRef path, MLIRContext &context,
                                       const OnnxOptions &options) {
  context.loadDialect<AttnDialect, arith::ArithDialect, func::FuncDialect,
                      linalg::LinalgDialect, math::MathDialect, scf::SCFDialect,
                      tensor::TensorDialect>();
  Location loc = FileLineColLoc::get(&context, path, 0, 0);
  auto model = onnx::readModel(path, loc);
  if (failed(model) || failed(onnx::inlineFunctions(**model, loc)))
    return {};
  onnx::expandFused(*(*model)->mutable_graph());
  onnx::orderNodes(*(*model)->mutable_graph());
  onnx::TensorReader reader(path, options.filesRead);
  if (failed(onnx::expandQuantized(**model, reader, loc)))
    return {};
  // Once more for each equality of sizes that some node needs.
  llvm::StringMap<int64_t> multiples;
  while (true) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    OpBuilder b(&context);
    b.setInsertionPointToStart(module->getBody());
    onnx::GraphImporter importer(**model, path, b, options);
    importer.multiples = multiples;
    std::vector<Diagnostic> said;
    bool isValid;
    {
      ScopedDiagnosticHandler hold(&context, [&](Diagnostic &diagnostic) {
        said.push_back(std::move(diagnostic));
        return success();
      });
      isValid = importer.import() && succeeded(verify(*module));
    }
    if (importer.assumption) {
      if (std::optional<int64_t> divisor = importer.assumption->divisor)
        multiples[importer.assumption->name] = *divisor;
      else
        assume(**model, *importer.assumption);
      continue;
    }
    for (Diagnostic &diagnostic : said)
      context.getDiagEngine().emit(std::move(diagnostic));
    return isValid ? std::move(module) : OwningOpRef<ModuleOp>();
  }
}
