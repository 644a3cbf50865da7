// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// attn-reference: evaluates a function literally, in f64. A tool of the tests:
//   attn-reference spec.mlir q.npy k.npy v.npy -o out.npy
// A specification may be at any phase before the fork into CPU and GPU. Without
// -o the results are printed; without --entry and arguments, those of every
// public function.
#include "Arrays.h"
#include "attn/Dialect/Attn/IR/AttnOps.h"
#include "attn/Import/Safetensors/LoadWeights.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace attn;

namespace cl = llvm::cl;
static cl::OptionCategory category("attn-reference");
static cl::opt<std::string> specification(cl::Positional, cl::Required,
                                          cl::desc("spec.mlir"),
                                          cl::cat(category));
static cl::list<std::string> inputs(cl::Positional, cl::desc("[inputs.npy...]"),
                                    cl::cat(category));
static cl::list<std::string>
    outputs("o", cl::cat(category), cl::value_desc("file.npy"),
            cl::desc("a result's file, in their order; "
                     "none: the results are printed"));
static cl::opt<std::string>
    entry("entry", cl::cat(category), cl::value_desc("name"),
          cl::desc("the function to evaluate; default: the public one"));
static cl::opt<bool>
    narrow("narrow", cl::cat(category),
           cl::desc("round every op's result to its element type"));

/// Says what is wrong, in one line.
static int fail(const llvm::Twine &message) {
  llvm::errs() << "attn-reference: error: " << message << "\n";
  return 1;
}

static LogicalResult evaluateFunction(func::FuncOp function) {
  if (inputs.size() != function.getNumArguments()) {
    fail("@" + function.getName() + " has " +
         llvm::Twine(function.getNumArguments()) + " arguments, but " +
         llvm::Twine(inputs.size()) + " files are given");
    return failure();
  }
  TypeRange types = function.getResultTypes();
  if (!outputs.empty() && outputs.size() != types.size()) {
    fail("@" + function.getName() + " has " + llvm::Twine(types.size()) +
         " results, but -o is given " + llvm::Twine(outputs.size()) + " times");
    return failure();
  }
  SmallVector<reference::Datum> arguments;
  for (auto [path, type] :
       llvm::zip_equal(inputs, function.getArgumentTypes())) {
    llvm::Expected<reference::Datum> datum = reference::readArray(path, type);
    if (!datum) {
      fail(llvm::toString(datum.takeError()));
      return failure();
    }
    arguments.push_back(std::move(*datum));
  }
  auto results =
      reference::evaluate(function, arguments, reference::Options{narrow});
  if (failed(results))
    return failure();
  if (outputs.empty()) {
    for (auto [type, datum] : llvm::zip_equal(types, *results)) {
      reference::print(llvm::outs(), type, datum);
      llvm::outs() << "\n";
    }
    return success();
  }
  std::vector<std::string> paths(outputs.begin(), outputs.end());
  if (llvm::Error error = reference::writeArrays(paths, types, *results)) {
    fail(llvm::toString(std::move(error)));
    return failure();
  }
  return success();
}

/// Evaluates what the command line asks for.
static LogicalResult evaluateModule(ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (entry.empty() ? function.isPublic() : function.getName() == entry)
      functions.push_back(function);
  if (functions.empty()) {
    fail(entry.empty() ? "there is no public function"
                       : "there is no function @" + entry);
    return failure();
  }
  if (functions.size() == 1)
    return evaluateFunction(functions.front());
  if (!inputs.empty() || !outputs.empty()) {
    fail("there are several public functions; --entry=NAME chooses one");
    return failure();
  }
  for (func::FuncOp function : functions) {
    llvm::outs() << "@" << function.getName() << "\n";
    if (failed(evaluateFunction(function)))
      return failure();
  }
  return success();
}

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "literal evaluation in f64\n");
  DialectRegistry registry;
  registry
      .insert<AttnDialect, affine::AffineDialect, arith::ArithDialect,
              cf::ControlFlowDialect, func::FuncDialect, linalg::LinalgDialect,
              math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
              tensor::TensorDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects(false);
  // One line per error, without the source's text.
  ScopedDiagnosticHandler handler(&context, [](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return;
    Location location = diagnostic.getLocation();
    if (auto file = location->findInstanceOf<FileLineColLoc>())
      llvm::errs() << file.getFilename().getValue() << ":" << file.getLine()
                   << ":" << file.getColumn() << ": ";
    else
      llvm::errs() << "attn-reference: ";
    llvm::errs() << "error: " << diagnostic << "\n";
  });
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(specification, ParserConfig(&context));
  StringRef folder = llvm::sys::path::parent_path(specification);
  if (!module || failed(loadWeights(*module, folder)))
    return 1;
  return failed(evaluateModule(*module));
}
