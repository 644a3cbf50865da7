// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants of a module in a file of their own, of the safetensors format.
#ifndef ATTN_INTERFACE_WEIGHTSFILE_H
#define ATTN_INTERFACE_WEIGHTSFILE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace attn {

/// The global that tells the runtime of the file: an attn_rt_weights.
inline constexpr llvm::StringLiteral weightsGlobal = "attn.weights";

/// 8 bytes with the size of the header, the header, which begins with a hash of
/// all that follows, and the tensors, each at a multiple of 64 bytes. What lies
/// between two of them is a tensor, too: the format has no gaps.
class WeightsFile {
public:
  /// The elements of a constant as they lie in memory; empty where they are not
  /// at hand, and for one number that all elements are.
  static llvm::StringRef bytesOf(mlir::ElementsAttr constant);
  /// Whether a constant can stand in the file: it has such bytes, and the
  /// format knows their type.
  static bool takes(mlir::ElementsAttr constant);

  struct Tensor {
    std::string name;
    mlir::ElementsAttr value;
  };
  /// A file of tensors, which have names of their own.
  WeightsFile(llvm::StringRef path, llvm::ArrayRef<Tensor> tensors);
  /// The one that `module` keeps; without tensors if it keeps none.
  explicit WeightsFile(mlir::ModuleOp module);
  /// Lets `module` keep it, for whoever writes it.
  void keepIn(mlir::ModuleOp module) const;

  llvm::StringRef path() const { return where; }
  size_t count() const { return values.size(); }
  int64_t bytes() const { return size; }
  /// Where tensor `i` begins.
  int64_t offset(size_t i) const { return offsets[i]; }
  /// The beginning of the file that no other file has.
  llvm::StringRef identity() const;
  /// All of the file.
  llvm::SmallVector<llvm::StringRef> parts() const;

private:
  void place();

  std::string where, header;
  std::vector<mlir::ElementsAttr> values;
  /// From the begin of the file, once the header is there; of the data before.
  std::vector<int64_t> offsets;
  int64_t size = 0;
};

} // namespace attn

#endif
