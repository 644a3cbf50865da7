// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_IMPORT_ONNX_ONNXOPTIONS_H
#define ATTN_IMPORT_ONNX_ONNXOPTIONS_H

#include <string>

namespace attn {

struct OnnxOptions {
  /// The name of the function that the graph becomes.
  std::string function;
  /// Takes every number as it stands: a mask of the lowest finite number stays
  /// a number, and excludes nothing.
  bool strict = false;
};

} // namespace attn

#endif
