// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ATTN_IMPORT_ONNX_ONNXOPTIONS_H
#define ATTN_IMPORT_ONNX_ONNXOPTIONS_H

#include <string>
#include <vector>

namespace attn {

struct OnnxOptions {
  /// The name of the function that the graph becomes.
  std::string function;
  /// Takes every number as it stands: a mask of the lowest finite number stays
  /// a number, and excludes nothing.
  bool strict = false;
  /// Gets the files of external data that are read, where it is given.
  std::vector<std::string> *filesRead = nullptr;
};

} // namespace attn

#endif
