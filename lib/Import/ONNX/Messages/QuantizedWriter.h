// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating-point nodes in the place of a quantized one.
#ifndef ATTN_LIB_IMPORT_ONNX_MESSAGES_QUANTIZEDWRITER_H
#define ATTN_LIB_IMPORT_ONNX_MESSAGES_QUANTIZEDWRITER_H

#include "NodeWriter.h"
#include "StoredNumbers.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace attn::onnx {

/// What the nodes of a graph know of the names that they read.
struct QuantizedScope {
  const QuantizedScope *outer;
  llvm::StringMap<const ::onnx::TensorProto *> constants{};
  llvm::StringMap<int32_t> types{}; ///< of quantized tensors
  /// Integers that are cast to FLOAT wherever they are read.
  llvm::StringSet<> castToFloat{};

  const ::onnx::TensorProto *constant(llvm::StringRef name) const;
  /// 0: unknown.
  int32_t type(llvm::StringRef name) const;
};

/// The inputs that are one quantized tensor.
struct Quantized {
  int tensor, scale, zero;
};

class QuantizedWriter : protected NodeWriter {
public:
  QuantizedWriter(const ::onnx::NodeProto &node, Nodes &into,
                  QuantizedScope &scope, TensorReader &reader,
                  mlir::Location loc)
      : NodeWriter(node, into), scope(scope), reader(reader), loc(loc) {}

protected:
  mlir::LogicalResult fail(const llvm::Twine &reason) const;

  // --- constants ---
  mlir::FailureOr<StoredNumbers> numbers(int i) const;
  bool isConstant(int i) const { return scope.constant(input(i)) != nullptr; }
  /// Of an absent one, as well.
  bool isZero(int i) const;
  /// A constant of one number.
  bool isOne(int i) const;
  /// The type of scales, and of what is scaled by them.
  int32_t floatType(int i) const;
  std::string constant(llvm::StringRef part, const StoredNumbers &of,
                       int32_t type);
  /// A constant row whose number for each place of a dimension meets tensors
  /// with so many dimensions behind that one.
  mlir::FailureOr<std::string> unsqueezed(llvm::StringRef part, int i,
                                          int64_t behind);

  // --- quantized tensors ---
  std::string cast(llvm::StringRef part, const std::string &x, int32_t type);
  /// What a constant stands for, along `axis` where it has several scales.
  mlir::FailureOr<std::string> folded(const Quantized &of, int64_t axis,
                                      int64_t block, int32_t type);
  /// Input `i` minus its zero, which has a number for each place of `axis`:
  /// whole numbers.
  mlir::FailureOr<std::string> centered(int i, int zero, int64_t axis);
  mlir::FailureOr<std::string> dequantized(const Quantized &of, int64_t axis);
  /// saturate(round(x / scale) + zero) in FLOAT. No zero: "".
  mlir::LogicalResult quantize(const std::string &x, const std::string &scale,
                               const std::string &zero, llvm::StringRef to,
                               int32_t type);
  /// The same by inputs, of which the zero may be absent.
  mlir::LogicalResult quantize(const std::string &x, int scale, int zero,
                               llvm::StringRef to);
  /// Input 0 as UINT8 with a scale and a zero of its own.
  void quantizeDynamically(llvm::StringRef to, llvm::StringRef scale,
                           llvm::StringRef zero);

  QuantizedScope &scope;

private:
  TensorReader &reader;
  mlir::Location loc;
};

} // namespace attn::onnx

#endif
