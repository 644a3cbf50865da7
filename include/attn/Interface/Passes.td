// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes between the tensors of a specification and the C functions that a caller
// sees, in the order of the pipeline. They know no attn op.
#ifndef ATTN_INTERFACE_PASSES_TD
#define ATTN_INTERFACE_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerSignature : Pass<"attn-lower-signature", "::mlir::ModuleOp"> {
  let summary = "Functions on tensors become kernels on the caller's buffers";
  let description = [{
    `@NAME` becomes the private `@NAME.kernel`: its arguments and results are
    memrefs with any strides (the innermost 1), followed by the work space, the
    number of workers and the call. One-shot bufferization does the rest.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def OpenStrides : Pass<"attn-open-strides", "::mlir::func::FuncOp"> {
  let summary = "Kernels of a GPU read the caller's tensors as they lie";
  let description = [{
    A tensor whose elements are only loaded and stored one by one may have any
    strides; only for others an innermost stride of 1 stays demanded.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def MakeContiguous : Pass<"attn-make-contiguous", "::mlir::func::FuncOp"> {
  let summary = "Tensors that kernels cannot read as they lie are copied once";
  let description = [{
    The caller's tensors may have any strides. Where the innermost one is not 1,
    or one is negative, the kernel works on a copy: arguments are copied in
    front of it, results behind it. Strides decide at run time.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def AssignWorkspace : Pass<"attn-assign-workspace", "::mlir::ModuleOp"> {
  let summary = "Buffers get their place in the caller's work space";
  let description = [{
    Buffers of parallel items lie in their worker's region, the others behind
    all regions. `@NAME.workspace` returns the bytes that are needed.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect"];
}

def OutlineParallel : Pass<"attn-outline-parallel", "::mlir::ModuleOp"> {
  let summary = "Parallel loops become calls of the caller's parallel_for";
  let description = [{
    The body of an `scf.forall` becomes a function of an item number and a
    worker; the values that it uses travel in a struct on the stack.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect"];
}

def ShareConstants : Pass<"attn-share-constants", "::mlir::ModuleOp"> {
  let summary = "Equal constants become one";
  let description = [{
    Constants with the same type and bytes, as those that functions rearranged
    alike, are one global, and so stand in the object once.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def ExternalizeWeights : Pass<"attn-externalize-weights", "::mlir::ModuleOp"> {
  let summary = "Large constants move to a file that the runtime maps";
  let description = [{
    Kernels read constants of at least `least` bytes at their place in a file of
    the safetensors format. What it holds, the module keeps as
    `attn.weights_file`; the compiler writes it. Without such constants there is
    no file.
  }];
  let options = [
    Option<"path", "path", "std::string", "",
           "the file, as the runtime looks for it">,
    Option<"least", "least", "int64_t", "4096",
           "bytes of a constant that is worth a place in the file">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def EmitEntry : Pass<"attn-emit-entry", "::mlir::ModuleOp"> {
  let summary = "Give every kernel its C functions";
  let description = [{
    For each `@NAME.kernel` with the attribute `attn.ports` the functions that a
    C program calls: `NAME`, which checks every argument before it runs the
    kernel, `NAME_workspace_size`, `NAME_strerror`, `NAME_info` and
    `NAME_flops`; for weights in a file also `NAME_load_weights`. Needs `@NAME.workspace` and `@NAME.flops` beside the kernel;
    all three become private to the object.
  }];
  let options = [
    Option<"emitMain", "emit-main", "bool", "false",
           "also a `main` that passes the kernel to the runtime's">,
    Option<"info", "info", "std::string", "",
           "JSON text that NAME_info returns">,
    Option<"tiles", "tiles", "bool", "false",
           "kernels with products of tiles ask for tile registers first">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::memref::MemRefDialect"];
}

#endif
