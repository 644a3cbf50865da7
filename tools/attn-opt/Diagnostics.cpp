// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Diagnostics.h"
#include "Bug.h"
#include "attn/Pipelines/Positions.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace attn::tool;

LineDiagnostics::LineDiagnostics(MLIRContext *context, StringRef file)
    : ScopedDiagnosticHandler(context), file(file) {
  setHandler([this](Diagnostic &diagnostic) {
    bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
    if (!isError && diagnostic.getSeverity() != DiagnosticSeverity::Warning)
      return success();
    std::string at = positionOf(diagnostic.getLocation(), this->file);
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
      std::string there = positionOf(note.getLocation(), this->file);
      if (there != at && there != this->file)
        llvm::errs() << there << ": note: " << note.str() << "\n";
    }
    return success();
  });
}
