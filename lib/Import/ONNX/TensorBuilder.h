// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors of a graph, and the code that importers of operators write.
#ifndef ATTN_LIB_IMPORT_ONNX_TENSORBUILDER_H
#define ATTN_LIB_IMPORT_ONNX_TENSORBUILDER_H

#include "Sizes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace attn::onnx {

using Shape = llvm::SmallVector<Size, 4>;

/// What a name of the graph stands for.
struct Tensor {
  mlir::Type element;
  Shape shape;
  /// The tensor in code. Null as long as only its contents were asked for.
  mlir::Value value;
  /// Integers that follow from sizes, in row-major order: shape arithmetic.
  std::optional<Shape> numbers;
  /// The contents, where they are known when the model is read.
  mlir::ElementsAttr constant;
  /// Floating-point numbers that were such integers.
  std::optional<Shape> counts = std::nullopt;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  bool isFloat() const { return llvm::isa<mlir::FloatType>(element); }
};

/// Tensors of more integers are computed when the kernel runs.
constexpr int64_t mostNumbers = 64;

/// Writes tensor code. Every method takes and gives tensors whose `value` is
/// there, at the location of the node.
class TensorBuilder {
public:
  TensorBuilder(mlir::OpBuilder &b, Sizes &sizes)
      : b(b), sizes(sizes), loc(b.getUnknownLoc()) {}

  mlir::OpBuilder &b;
  Sizes &sizes;
  mlir::Location loc;

  // --- types and sizes ---
  mlir::RankedTensorType type(llvm::ArrayRef<Size> shape, mlir::Type element);
  mlir::RankedTensorType type(const Tensor &t) {
    return type(t.shape, t.element);
  }
  mlir::Value index(const Size &size) { return sizes.emit(b, loc, size); }
  mlir::OpFoldResult folded(const Size &size) {
    return sizes.emitFolded(b, loc, size);
  }
  llvm::SmallVector<mlir::OpFoldResult> folded(llvm::ArrayRef<Size> shape);
  /// As of Sizes, or a new unknown size.
  Size quotient(const Size &size, int64_t divisor);
  /// A new unknown size.
  Size unknown(mlir::Value value) { return sizes.symbolFor(value); }

  // --- constants ---
  /// The tensor in code, made if it is not there yet.
  mlir::Value value(Tensor &t);
  Tensor constant(mlir::ElementsAttr contents);
  Tensor numbers(llvm::ArrayRef<Size> shape, llvm::ArrayRef<Size> contents,
                 mlir::Type element);
  /// `number` everywhere.
  Tensor splat(llvm::ArrayRef<Size> shape, mlir::TypedAttr number);
  Tensor splat(llvm::ArrayRef<Size> shape, mlir::Type element, double number);
  mlir::TypedAttr number(mlir::Type element, double value);

  // --- views and copies ---
  mlir::Value empty(llvm::ArrayRef<Size> shape, mlir::Type element);
  /// `from` as `shape`, of the same number of elements. Null: that cannot be
  /// seen from the sizes.
  mlir::Value reshape(mlir::Value from, llvm::ArrayRef<Size> old,
                      llvm::ArrayRef<Size> shape);
  /// The same with what is known of its contents; none as for `reshape`.
  std::optional<Tensor> reshaped(Tensor &t, llvm::ArrayRef<Size> shape);
  /// By NumPy's rules, to a shape that `t` broadcasts to.
  mlir::Value broadcast(Tensor &t, llvm::ArrayRef<Size> shape);
  Tensor transpose(Tensor &t, llvm::ArrayRef<int64_t> permutation);
  /// Elements from `offset` on, one dimension.
  Tensor slice(Tensor &t, int64_t dim, const Size &offset, const Size &size);
  Tensor concat(llvm::MutableArrayRef<Tensor> parts, int64_t dim);
  /// `t`, for a result of `shape` that reads places of `axes` which are made
  /// to fit: the kernel refuses a call where such an axis has no place at all,
  /// but the result has elements.
  mlir::Value readable(Tensor &t, llvm::ArrayRef<int64_t> axes,
                       llvm::ArrayRef<Size> shape);
  /// Of type `element` by arith's conversions.
  Tensor cast(Tensor &t, mlir::Type element);

  // --- loops ---
  /// Every element by `body`, from its indices.
  Tensor
  generate(llvm::ArrayRef<Size> shape, mlir::Type element,
           llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)>
               body);
  /// Every element from that at the same place and its indices.
  Tensor map(Tensor &t,
             llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value,
                                            mlir::ValueRange)>
                 body);
  /// The elements along `dims` become one by `combine`, from `init` on. The
  /// dimensions stay, with a size of 1.
  Tensor
  reduce(Tensor &t, llvm::ArrayRef<int64_t> dims, mlir::TypedAttr init,
         llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                        mlir::Value, mlir::Value)>
             combine);
  /// An op of the same shape on all operands, folded where they are constants.
  template <typename Op>
  Tensor elementwise(llvm::ArrayRef<mlir::Value> operands,
                     llvm::ArrayRef<Size> shape) {
    return made(b.createOrFold<Op>(loc, operands), shape);
  }
  /// A tensor of code, whose contents may have folded to a constant.
  Tensor made(mlir::Value value, llvm::ArrayRef<Size> shape);

private:
  /// What a row was before it was one: exporters write a reshape to a row in
  /// front of another, and the row does not say which of its elements are
  /// whose.
  struct Original {
    mlir::Value value;
    Shape shape;
  };
  llvm::DenseMap<mlir::Value, Original> rows;
};

/// The shape of both broadcast to each other by NumPy's rules, or none. Sizes
/// of which it is unknown whether they are equal count as equal: the port or
/// the op that joins them checks it. That of an input stands for both.
std::optional<Shape> broadcastShape(llvm::ArrayRef<Size> a,
                                    llvm::ArrayRef<Size> b);

/// `contents` with its dimensions permuted.
mlir::ElementsAttr transposed(mlir::ElementsAttr contents,
                              llvm::ArrayRef<int64_t> permutation);
/// `contents` with another shape of as many elements.
mlir::ElementsAttr reshaped(mlir::ElementsAttr contents,
                            llvm::ArrayRef<int64_t> shape);
/// `size` of the parts that the first dimension has, from `offset` on; null
/// where they cannot be read.
mlir::ElementsAttr partOf(mlir::ElementsAttr contents, int64_t offset,
                          int64_t size);
/// The integers of a small constant.
std::optional<llvm::SmallVector<int64_t>>
integersOf(mlir::ElementsAttr contents);

} // namespace attn::onnx

#endif
