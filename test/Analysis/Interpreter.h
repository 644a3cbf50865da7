// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs arith and scf on integers.
//
// Executes the scalar code that passes emit, without lowering it.  index and
// i1 values are int64_t; every op that is not known goes to the callback.

#ifndef ATTN_TEST_ANALYSIS_INTERPRETER_H
#define ATTN_TEST_ANALYSIS_INTERPRETER_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>

namespace attn::test {

using Numbers = llvm::SmallVector<int64_t>;

class Interpreter {
public:
  /// Gets an op and the values of its operands, returns those of its results.
  using Callback =
      std::function<Numbers(mlir::Operation &, llvm::ArrayRef<int64_t>)>;

  explicit Interpreter(Callback callback) : callback(std::move(callback)) {}

  /// Runs a block; returns the operands of its terminator.
  Numbers run(mlir::Block &block, llvm::ArrayRef<int64_t> arguments);

private:
  Numbers runOperation(mlir::Operation &op);
  Numbers runRegionOp(mlir::Operation &op, Numbers operands);

  llvm::DenseMap<mlir::Value, int64_t> values;
  Callback callback;
};

} // namespace attn::test

#endif // ATTN_TEST_ANALYSIS_INTERPRETER_H
