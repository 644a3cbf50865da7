// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of a kernel's C interface, shared by the files that emit it.
#ifndef ATTN_CONVERSION_ATTNTOCPU_ENTRY_H
#define ATTN_CONVERSION_ATTNTOCPU_ENTRY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <functional>

namespace attn::entry {

/// An argument or a result, as `attn.ports` describes it.
struct Port {
  int64_t index;
  llvm::StringRef name;
  mlir::RankedTensorType type;
  bool input;
  /// Per dimension: the symbol of an unknown size, else empty.
  llvm::SmallVector<llvm::StringRef> symbols;
  /// Per dimension: the size it must have, or -1.
  llvm::SmallVector<int64_t> sizes;
  /// It must have an element where all of some of these sizes are above 0.
  llvm::SmallVector<llvm::SmallVector<llvm::StringRef>> readers;
};
llvm::SmallVector<Port> readPorts(mlir::ArrayAttr attribute);

/// Byte offsets in NAME_args, include/attn-rt/program.h says of what.
struct ArgsLayout {
  static constexpr int64_t maxRank = 6;
  static constexpr int64_t tensorSize = 8 + 2 * 8 * maxRank;
  static constexpr int64_t callSize = 40;
  int64_t numPorts;

  static int64_t data(const Port &port) { return 8 + port.index * tensorSize; }
  static int64_t shape(const Port &port, int64_t dim) {
    return data(port) + 8 + 8 * dim;
  }
  static int64_t stride(const Port &port, int64_t dim) {
    return shape(port, maxRank) + 8 * dim;
  }
  int64_t workspace() const { return 8 + numPorts * tensorSize; }
  int64_t workspaceSize() const { return workspace() + 8; }
  int64_t parallelFor() const { return workspace() + 16; }
  int64_t parallelContext() const { return workspace() + 24; }
  int64_t threads() const { return workspace() + 32; }
  int64_t size() const { return workspace() + callSize; }
};

/// Statuses of every kernel; those of a kernel's own arguments follow below.
enum Status : int32_t {
  ArgsAreNull = -1,
  ArgsTooSmall = -2,
  WorkspaceTooSmall = -3,
  OutOfMemory = -4,
  FirstOwn = -5
};

/// Appends ops of the LLVM dialect.
class Emitter {
public:
  Emitter(mlir::Location loc, mlir::ModuleOp module);

  mlir::ImplicitLocOpBuilder b;
  mlir::ModuleOp module;
  mlir::Type ptr, i8, i32, i64;

  mlir::Value constant(mlir::Type type, int64_t value);
  mlir::Value null();
  /// The field of `type` at `offset` bytes behind `base`.
  mlir::Value load(mlir::Type type, mlir::Value base, int64_t offset);
  void store(mlir::Value value, mlir::Value base, int64_t offset);
  mlir::Value compare(mlir::LLVM::ICmpPredicate predicate, mlir::Value a,
                      mlir::Value c);
  mlir::Value compare(mlir::LLVM::ICmpPredicate predicate, mlir::Value a,
                      int64_t c);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value c);

  /// A function of the module, made if it is not there, and its call.
  mlir::LLVM::LLVMFuncOp declare(llvm::StringRef name, mlir::Type result,
                                 llvm::ArrayRef<mlir::Type> arguments);
  mlir::Value call(mlir::LLVM::LLVMFuncOp callee,
                   llvm::ArrayRef<mlir::Value> arguments);
  /// Begins the body of a function; returns its first argument.
  mlir::Value begin(mlir::LLVM::LLVMFuncOp function);
  /// Returns `value` if `condition`, and goes on in a new block otherwise.
  void returnIf(mlir::Value condition, mlir::Value value);
  void returnValue(mlir::Value value);

  /// Constant data of this object; its address.
  mlir::LLVM::GlobalOp bytes(llvm::StringRef name, llvm::StringRef data);
  mlir::Value address(mlir::LLVM::GlobalOp global);
};

/// A rule for the arguments: its text for NAME_strerror, and the code that says
/// whether it is broken.
struct Check {
  std::string text;
  std::function<mlir::Value(Emitter &, mlir::Value args)> isBroken;
};
/// Rules for the shapes, in order.
std::vector<Check> shapeChecks(llvm::ArrayRef<Port> ports);
/// Rules for pointers and strides; the shapes are known to be right.
std::vector<Check> memoryChecks(llvm::ArrayRef<Port> ports);
/// Whether a function of the kernel multiplies tiles.
bool multipliesTiles(mlir::ModuleOp module, llvm::StringRef kernel);
/// The process may use tile registers (AMX): asks for them.
Check tilesCheck();
/// The status of the first broken rule, or 0. Rules have the statuses `first`,
/// `first` - 1, and so on.
mlir::Value firstBroken(Emitter &emitter, llvm::ArrayRef<Check> checks,
                        int32_t first, mlir::Value args);

/// The attn_rt_program of the kernel, and a main that runs it.
void emitMain(Emitter &emitter, llvm::StringRef name,
              llvm::ArrayRef<Port> ports);

} // namespace attn::entry

#endif
