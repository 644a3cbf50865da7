// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the compiler leaves on disk.
#ifndef ATTN_OPT_OUTPUT_H
#define ATTN_OPT_OUTPUT_H

#include "Targets.h"
#include "attn/Pipelines/ExplainGPU.h"
#include "attn/Target/AtomicOutput.h"
#include "attn/Target/CodeGen.h"
#include "attn/Target/Link.h"
#include "attn/Target/Ptxas.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileUtilities.h"

namespace attn::tool {

/// PTX, and what ptxas made and said of it.
struct Assembly {
  std::string ptx, cubin;
  target::PtxasLog log;
};

/// Writes all of `text` or nothing.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef text);

struct Output {
  const Options &options;
  llvm::StringRef inputName;
  const char *argv0;
  const Targets &targets;
  /// The last one: what --explain reads is written as well.
  Assembly &assembled;

  /// The files that `write` makes, "-" for the standard output.
  std::vector<std::string> paths() const;
  /// Where the output goes, "-" for the standard output.
  std::string path() const;
  /// A shared library of the kernels, or a program, for this machine in a
  /// temporary file, which goes with `remove`.
  llvm::Error makeTemporary(mlir::ModuleOp module, target::Linked kind,
                            llvm::SmallString<128> &file,
                            llvm::FileRemover &remove) const;
  /// The module's weights in a temporary file, which goes with `remove`, and
  /// where kernels find it until the end of this process.
  llvm::Error lendWeights(mlir::ModuleOp module,
                          llvm::FileRemover &remove) const;
  /// The kernels of a GPU in machine code, and why not where there is none.
  AssembledKernels assembleToExplain(mlir::ModuleOp module) const;
  /// An empty message: the reason has been reported.
  llvm::Error write(mlir::ModuleOp module) const;

  /// The file in the header's place where someone else made it, or "".
  std::string foreignHeader() const;

private:
  bool isText() const;
  /// The header, or the library of a Python module. Empty where there is none:
  /// beside a pipe, a device and "-".
  std::string secondPath() const;
  std::string stem() const;
  llvm::Expected<std::string> text(mlir::ModuleOp module) const;
  const target::Processor &processor() const { return targets.processor; }
  llvm::Expected<std::string> assemble(llvm::StringRef ptx) const;
  llvm::Error assembleOnce(llvm::StringRef program, llvm::StringRef ptx) const;
  llvm::Expected<std::string> kernelText(mlir::ModuleOp kernels,
                                         target::Code code) const;
  llvm::Expected<std::string> cubinIfPossible(llvm::StringRef ptx) const;
  llvm::Error generate(mlir::ModuleOp module, target::Code code,
                       llvm::SmallVectorImpl<char> &result) const;
  llvm::Error generateObject(mlir::ModuleOp module,
                             llvm::SmallVectorImpl<char> &object) const;
  llvm::Error writeBinary(mlir::ModuleOp module) const;
  llvm::Error link(llvm::StringRef object, target::AtomicOutput &output) const;
};

} // namespace attn::tool

#endif
