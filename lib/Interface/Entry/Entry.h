// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of a kernel's C interface, shared by the files that emit it.
#ifndef ATTN_LIB_INTERFACE_ENTRY_H
#define ATTN_LIB_INTERFACE_ENTRY_H

#include "attn-rt/gpu.h"
#include "attn-rt/program.h"
#include "attn/Dialect/Attn/IR/AttnAttributes.h"
#include "attn/Interface/KernelSignature.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <cstddef>
#include <functional>

namespace attn::entry {

/// An argument or a result, and where it stands in the argument struct.
struct Port {
  int64_t index;
  PortAttr attr;
};
llvm::SmallVector<Port> portsOf(mlir::Operation *function);

/// Byte offsets in NAME_args, of which include/attn-rt/program.h says what it
/// is. Kernels run on 64-bit machines, as the compiler does.
struct ArgsLayout {
  int64_t numPorts;

  static int64_t data(const Port &port) {
    return firstPort + port.index * sizeof(attn_tensor) +
           offsetof(attn_tensor, data);
  }
  static int64_t shape(const Port &port, int64_t dim) {
    return data(port) + offsetof(attn_tensor, shape) + dim * sizeof(int64_t);
  }
  static int64_t stride(const Port &port, int64_t dim) {
    return data(port) + offsetof(attn_tensor, strides) + dim * sizeof(int64_t);
  }
  /// Where the attn_rt_call begins.
  int64_t call() const { return firstPort + numPorts * sizeof(attn_tensor); }
  int64_t size() const { return call() + sizeof(attn_rt_call); }
  /// With what only kernels of a GPU read.
  int64_t sizeWithGPU() const { return call() + sizeof(attn_rt_gpu_settings); }

private:
  static constexpr int64_t firstPort = sizeof(size_t);
  static_assert(sizeof(size_t) == 8 && sizeof(void *) == 8 &&
                    alignof(attn_tensor) == 8 && alignof(attn_rt_call) == 8 &&
                    offsetof(attn_rt_gpu_settings, threads) ==
                        offsetof(attn_rt_call, threads),
                "the argument struct has no padding");
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

/// The memref that `type` says, over the tensor at `port` in `args`.
mlir::Value makeMemRef(Emitter &emitter, mlir::Value args, const Port &port,
                       mlir::Type type);
/// The same over `bytes` bytes at `data`.
mlir::Value makeBuffer(Emitter &emitter, mlir::Value data, mlir::Value bytes,
                       mlir::Type type);

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
/// The argument struct with nothing left out: `args` itself where no port is
/// optional, else a copy of it, `withGPU` also of what only its kernels read.
mlir::Value fillAbsent(Emitter &emitter, llvm::StringRef kernel,
                       llvm::ArrayRef<Port> ports, mlir::Value args,
                       bool withGPU);
/// What NAME_info returns: `info`, a JSON object or empty, and the arguments
/// and results of every kernel of the module.
std::string infoOfFunctions(mlir::ModuleOp module, llvm::StringRef info);
/// Whether a function of the kernel multiplies tiles.
bool multipliesTiles(mlir::ModuleOp module, llvm::StringRef kernel);
/// The process may use tile registers (AMX): asks for them.
Check tilesCheck();
/// The status of the first broken rule, or 0. Rules have the statuses `first`,
/// `first` - 1, and so on.
mlir::Value firstBroken(Emitter &emitter, llvm::ArrayRef<Check> checks,
                        int32_t first, mlir::Value args);

/// The type of the first of the kernel's tensors whose strides the caller
/// cannot choose; null if there is none.
mlir::Type findFixedStrides(mlir::func::FuncOp kernel, size_t ports);
/// NAME_strerror, of which the statuses 0, -1, -2 and so on have these texts.
void emitStrerror(Emitter &emitter, llvm::StringRef name,
                  llvm::ArrayRef<std::string> texts);

/// What may be wrong with the module's file of weights; empty if it has none.
std::vector<std::string> weightsTexts(mlir::ModuleOp module);
/// Maps that file: 0, or the status of one of these texts, of which the first
/// has the status `first`. A null `path` leaves the choice to the runtime.
mlir::Value mapWeights(Emitter &emitter, mlir::Value path, int32_t first);

/// Bytes of a cache line, at which a work space begins.
inline constexpr int64_t workspaceAlignment = 64;
/// The work space of the caller, or one of our own, and the latter again, null
/// where there is none. Where neither will do, the status is returned.
std::pair<mlir::Value, mlir::Value> takeWorkspace(Emitter &emitter,
                                                  const ArgsLayout &layout,
                                                  mlir::Value args,
                                                  mlir::Value bytes);
/// The first address from `space` on where a work space may begin.
mlir::Value alignWorkspace(Emitter &emitter, mlir::Value space);

/// What can go wrong on a GPU, in the order of attn_rt_gpu_failure.
std::vector<std::string> gpuTexts();
/// Whether a call is one for the GPU, of an object with code of a CPU, too.
mlir::Value isForGPU(Emitter &emitter, llvm::ArrayRef<Port> ports,
                     mlir::Value args);
/// A call that has begun: the argument struct with addresses on the device,
/// what the runtime knows of the call, and an attn_rt_gpu_failure.
struct GPUCall {
  mlir::Value args, call, failure;
};
GPUCall beginGPUCall(Emitter &emitter, llvm::StringRef kernel,
                     llvm::ArrayRef<Port> ports, const ArgsLayout &layout,
                     mlir::Value args);
mlir::Value takeGPUWorkspace(Emitter &emitter, const GPUCall &call,
                             mlir::Value args, mlir::Value bytes);
/// The call's failure, or 0.
mlir::Value endGPUCall(Emitter &emitter, const GPUCall &call);
/// If `condition` holds, ends a call that launched nothing: returns `status`,
/// or that of its failure.
void giveUpIf(Emitter &emitter, const GPUCall &call, mlir::Value condition,
              mlir::Value status, int32_t first);
/// Returns its status, of which `first` is that of the first text.
void returnIfGPUFailed(Emitter &emitter, mlir::Value failure, int32_t first);

/// The text of the specification in `info`; empty if there is none.
std::string specificationIn(llvm::StringRef info);
/// The attn_rt_program of a kernel whose C functions are there, and a main that
/// runs it. `steps` is null, or the kernel that returns the steps of its
/// attention.
void emitMain(Emitter &emitter, const KernelSignature &kernel,
              const KernelSignature *steps, llvm::StringRef specification,
              bool withGPU);

} // namespace attn::entry

#endif
