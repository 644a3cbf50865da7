// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random inputs of --verify, and the kernels that they are for.
#ifndef ATTN_OPT_VERIFYINPUTS_H
#define ATTN_OPT_VERIFYINPUTS_H

#include "Options.h"
#include "attn-rt/program.h"
#include "attn/Dialect/Attn/IR/AttnAttributes.h"
#include "attn/Reference/Reference.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <random>

namespace attn::tool {

/// A tensor of the caller, and the same for the reference.
struct Array {
  PortAttr port;
  llvm::SmallVector<int64_t> shape;
  std::vector<char> bytes;

  int64_t size() const { return llvm::product_of(shape); }
  int64_t width() const { return reference::bytesOf(element()); }
  mlir::Type element() const { return port.getElementType(); }
  void store(int64_t i, reference::Number number);
  reference::Number load(int64_t i) const;
  attn_tensor tensor();
  reference::Tensor numbers() const;
};

/// One kernel of the library.
struct Kernel {
  std::string name;
  std::vector<PortAttr> ports;
  int32_t (*run)(const void *args);
  const char *(*strerror)(int32_t status);
  double (*flops)(const void *args);
  /// Of each argument that is the weight of a product the dimension that is
  /// summed over, else none.
  llvm::SmallVector<std::optional<unsigned>> summed;
};

/// `Kernel::summed` of a function of the specification.
llvm::SmallVector<std::optional<unsigned>>
summedDimensions(mlir::func::FuncOp function);

using Sizes = llvm::StringMap<int64_t>;

/// How many sizes there are to choose from.
size_t levels();
/// Sizes of one run: given ones, or of the first `level` choices.
Sizes chooseSizes(const Kernel &kernel, const Options &options,
                  std::mt19937_64 &random, size_t level, bool allEqual);

llvm::SmallVector<int64_t> shapeOf(PortAttr port, const Sizes &sizes);

/// An array with integers; floats follow when it is known that there is time.
/// They are normal numbers. Where the dimension `summed` is summed over, their
/// variance is one over its size, which leaves that of the other factor as it
/// is: else the scores behind a few products are so large that one weight is 1,
/// and which of them hangs on the last bit.
Array makeArray(PortAttr port, llvm::SmallVector<int64_t> shape,
                const Sizes &sizes, std::mt19937_64 &random);
void fillFloats(Array &array, std::optional<unsigned> summed,
                std::mt19937_64 &random);

/// The argument struct: a size, the tensors, an attn_rt_call.
std::vector<uint64_t> makeArgs(std::vector<Array> &arrays);

} // namespace attn::tool

#endif
