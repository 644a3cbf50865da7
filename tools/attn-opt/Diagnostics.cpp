// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Diagnostics.h"
#include "Bug.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace attn::tool;

std::string attn::tool::position(Location location, StringRef file) {
  auto at = location->findInstanceOf<FileLineColLoc>();
  if (!at)
    return file.str();
  // A model has no lines, but names.
  if (auto named = location->findInstanceOf<NameLoc>(); at.getLine() == 0)
    return at.getFilename().str() +
           (named ? ": " + named.getName().str() : std::string());
  return (at.getFilename().getValue() + ":" + Twine(at.getLine()) + ":" +
          Twine(at.getColumn()))
      .str();
}

LineDiagnostics::LineDiagnostics(MLIRContext *context, StringRef file)
    : ScopedDiagnosticHandler(context), file(file) {
  setHandler([this](Diagnostic &diagnostic) {
    bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
    if (!isError && diagnostic.getSeverity() != DiagnosticSeverity::Warning)
      return success();
    std::string at = position(diagnostic.getLocation(), this->file);
    std::string text = diagnostic.str();
    // The same failure again, in the words of the C++ code.
    if (errors && StringRef(text).starts_with("failed to parse "))
      return success();
    errors |= isError;
    if (isError)
      errorWasTold();
    // MLIR's text advises an option that only the pass driver has.
    if (StringRef(text).contains("parsed with an unregistered dialect"))
      text = "unknown op, of an unknown dialect";
    llvm::errs() << at << (isError ? ": error: " : ": warning: ") << text
                 << "\n";
    for (Diagnostic &note : diagnostic.getNotes()) {
      // "see current operation" shows the op that the line already names.
      std::string there = position(note.getLocation(), this->file);
      if (there != at && there != this->file)
        llvm::errs() << there << ": note: " << note.str() << "\n";
    }
    return success();
  });
}
