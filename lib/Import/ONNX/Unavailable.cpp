// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In the place of the reader where it could not be built.
#include "attn/Import/ONNX/Import.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

OwningOpRef<ModuleOp> attn::importOnnx(StringRef path, MLIRContext &context,
                                       const OnnxOptions &) {
  emitError(FileLineColLoc::get(&context, path, 0, 0))
      << "this attn-opt was built without ONNX; install libonnx-dev, "
         "libprotobuf-dev and protobuf-compiler, and build it again";
  return {};
}
