// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_OPT_DIAGNOSTICS_H
#define ATTN_OPT_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

namespace attn::tool {

/// Prints errors and warnings as a C compiler does, one line each:
/// FILE:LINE:COL: error: TEXT. Notes follow where they point elsewhere.
class LineDiagnostics : public mlir::ScopedDiagnosticHandler {
public:
  LineDiagnostics(mlir::MLIRContext *context, llvm::StringRef file);
  bool sawError() const { return errors; }

private:
  std::string file;
  bool errors = false;
};

} // namespace attn::tool

#endif
