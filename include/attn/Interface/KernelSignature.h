// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the functions that an entry @NAME becomes are called, and what they
// take.
#ifndef ATTN_INTERFACE_KERNELSIGNATURE_H
#define ATTN_INTERFACE_KERNELSIGNATURE_H

#include "attn/Dialect/Attn/IR/AttnAttributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>
#include <vector>

namespace attn {

/// Of a result: the name of the argument whose memory it may be.
inline constexpr llvm::StringLiteral inPlaceAttr = "attn.in_place";

/// Whether a caller may give both, arguments of a kernel, as one memory: its
/// ports say so, or they are the same.
bool mayBeOneMemory(mlir::Value a, mlir::Value b);

/// Of a kernel that is there for a GPU alone.
inline constexpr llvm::StringLiteral launchesAttr = "attn.launches";
/// What the kernel of a parallel loop is called, behind the function's name.
inline constexpr llvm::StringLiteral kernelNameAttr = "attn.kernel";

/// Of Part::Slices: what may be wrong with slices and sizes, of which the
/// function returns the number, from 1; 0 is nothing.
inline constexpr llvm::StringLiteral brokenAttr = "attn.broken";

/// Globals that the compiler defines when it has assembled the kernels.
inline constexpr llvm::StringLiteral gpuPTX = "attn.gpu_ptx",
                                     gpuCubin = "attn.gpu_cubin";

/// The private functions behind an entry.
enum class Part {
  Kernel,       ///< (ports.., workspace, threads, call)
  Workspace,    ///< (ports.., threads) -> bytes: index
  Flops,        ///< (inputs..) -> f64
  Slices,       ///< (inputs..) -> which of brokenAttr holds: i32; not always
  Items,        ///< (captures, item, worker): one item of a parallel loop
  CheckShapes,  ///< (args) -> status
  GPUKernel,    ///< Kernel, of which the loops run on a GPU; not always
  GPUWorkspace, ///< Workspace, of that one
  GPUSlices,    ///< (inputs.., call): Slices, where they read tensors
};
/// "NAME.kernel" and so on.
std::string partName(llvm::StringRef name, Part part);

/// The function of an entry that computes, once it works on buffers.
class KernelSignature {
public:
  /// None where `function` is no kernel, or does not take what one takes.
  static std::optional<KernelSignature> of(mlir::func::FuncOp function);
  /// Those of the module, in their order.
  static std::vector<KernelSignature> all(mlir::ModuleOp module);

  /// Appends the arguments that are no ports, and names `function` so.
  static void make(mlir::func::FuncOp function);

  mlir::func::FuncOp getFunction() const { return function; }
  /// The entry's.
  llvm::StringRef getName() const;
  unsigned getNumPorts() const { return function.getNumArguments() - 3; }
  mlir::BlockArgument getPort(unsigned i) const {
    return function.getArgument(i);
  }
  /// Scratch memory: memref<?xi8>.
  mlir::BlockArgument getWorkspace() const { return fromPorts(0); }
  /// How many threads may run: index.
  mlir::BlockArgument getThreads() const { return fromPorts(1); }
  /// An attn_rt_call: !llvm.ptr.
  mlir::BlockArgument getCall() const { return fromPorts(2); }

  mlir::func::FuncOp lookup(Part part) const;

private:
  explicit KernelSignature(mlir::func::FuncOp function) : function(function) {}
  mlir::BlockArgument fromPorts(unsigned i) const {
    return function.getArgument(getNumPorts() + i);
  }

  mutable mlir::func::FuncOp function;
};

} // namespace attn

#endif
