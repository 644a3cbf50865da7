// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Input.h"
#include "Bug.h"
#include "Nesting.h"
#include "attn/Import/ONNX/Import.h"
#include "attn/Import/Safetensors/LoadWeights.h"
#include "attn/Interface/CNames.h"
#include "attn/Pipelines/NamePorts.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace attn;
using namespace attn::tool;

/// The function is called as the file is; C has words of its own.
static std::string entryNameFor(StringRef file) {
  std::string name;
  for (char c : llvm::sys::path::stem(file))
    name += llvm::isAlnum(c) ? c : '_';
  while (!whyNotEntryName(name).empty())
    name = name.empty() || llvm::isDigit(name.front()) || name.front() == '_'
               ? "model" + name
               : name + "_model";
  return name;
}

ExitStatus tool::readModel(const Options &options, MLIRContext &context,
                           OwningOpRef<ModuleOp> &module,
                           std::vector<std::string> &filesRead) {
  OnnxOptions onnx;
  onnx.filesRead = &filesRead;
  onnx.function =
      options.entry.empty() ? entryNameFor(options.input) : options.entry;
  onnx.strict = options.strictImport;
  module = importOnnx(options.input, context, onnx);
  if (!module)
    return UserError;
  // What was accepted is valid, or the importer is wrong.
  if (failed(verify(*module))) {
    reportBug();
    return OurBug;
  }
  nameModelPorts(*module);
  return Success;
}

/// MLIR's verifier indexes a shape by a negative dimension.
static LogicalResult verifyInput(ModuleOp module) {
  WalkResult walked = module.walk([](tensor::ConcatOp op) {
    auto dim = static_cast<int64_t>(op.getDim());
    if (dim >= 0)
      return WalkResult::advance();
    op.emitError() << "expects a dimension of at least 0, but got " << dim;
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted() || failed(verify(module)));
}

/// Files that the specification names lie beside it.
static ExitStatus readWeights(ModuleOp module, const Options &options,
                              std::vector<std::string> &filesRead) {
  StringRef folder = llvm::sys::path::parent_path(options.input);
  return succeeded(loadWeights(module, folder, &filesRead)) ? Success
                                                            : UserError;
}

ExitStatus tool::readSpecification(llvm::SourceMgr &sources,
                                   const Options &options, MLIRContext &context,
                                   OwningOpRef<ModuleOp> &module,
                                   std::vector<std::string> &filesRead) {
  const llvm::MemoryBuffer *text = sources.getMemoryBuffer(1);
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  if (isBytecode(text->getMemBufferRef())) {
    module = parseSourceFile<ModuleOp>(sources, config);
    if (!module || failed(verifyInput(*module)))
      return UserError;
    namePorts(*module, nullptr);
    return readWeights(*module, options, filesRead);
  }
  if (const char *bracket = findTooDeep(text->getBuffer())) {
    auto [line, column] =
        sources.getLineAndColumn(SMLoc::getFromPointer(bracket));
    llvm::errs() << text->getBufferIdentifier() << ":" << line << ":" << column
                 << ": error: expects at most " << maxNesting
                 << " brackets, 'not' or '-' inside each other\n";
    return UserError;
  }
  // The state, which holds the names, needs the ops where they were parsed.
  AsmParserState state;
  Block block;
  if (failed(parseAsmSourceFile(sources, &block, config, &state)))
    return UserError;
  module = mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(
      &block, &context,
      FileLineColLoc::get(&context, text->getBufferIdentifier(), 0, 0));
  if (!module || failed(verifyInput(*module)))
    return UserError;
  namePorts(*module, &state);
  return readWeights(*module, options, filesRead);
}
