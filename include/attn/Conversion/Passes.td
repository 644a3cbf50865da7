// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes from attn to other dialects, in the order of the pipeline.
#ifndef ATTN_CONVERSION_PASSES_TD
#define ATTN_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerSignature : Pass<"attn-lower-signature", "::mlir::ModuleOp"> {
  let summary = "Functions on tensors become kernels on the caller's buffers";
  let description = [{
    `@NAME` becomes the private `@NAME.kernel`: its arguments and results are
    memrefs with any strides (the innermost 1), followed by the work space, the
    number of workers and the call. One-shot bufferization does the rest.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def CompactRows : Pass<"attn-compact-rows", "::mlir::func::FuncOp"> {
  let summary = "Keys and values with bad strides are copied once";
  let description = [{
    Where rows of keys or values lie so that they push each other out of the
    level-1 cache, and many queries read them, parallel loops read a copy whose
    rows lie next to each other. Strides decide at run time.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def PrefetchItems : Pass<"attn-prefetch-items", "::mlir::func::FuncOp"> {
  let summary = "Queries of the next item and this one's result are prefetched";
  let description = [{
    The steps of a parallel item also bring the memory of its result, and the
    queries of the item that the same thread has next, into the cache.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ConvertAttnToCPU : Pass<"convert-attn-to-cpu", "::mlir::ModuleOp"> {
  let summary = "Tile ops on buffers become kernels of vector code";
  let description = [{
    Every tile op becomes the call of a private function of scf, vector and
    memref ops, written for the schedule on the op. Lanes are queries.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
    "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def JoinScalarLoads : Pass<"attn-join-scalar-loads", "::mlir::func::FuncOp"> {
  let summary = "Neighbours that are broadcast one by one are loaded together";
  let description = [{
    For processors that multiply by one lane of a register (NEON): scalars that
    lie next to each other become one vector, whose elements are extracted.
  }];
  let dependentDialects = ["::mlir::vector::VectorDialect"];
}

def LowerTileProducts : Pass<"attn-lower-tile-products", "::mlir::ModuleOp"> {
  let summary = "Products of tiles of bf16 become instructions or loops";
  let description = [{
    Products of 16 x 32 with 32 x 16 numbers of bf16, kept as vectors of 16 x 16
    f32, move into tile registers; without them they become loops of dot products
    of pairs, which run everywhere.
  }];
  let options = [
    Option<"amx", "amx", "bool", "false", "tile registers (AMX-BF16)">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def LowerVectorMath : Pass<"attn-lower-vector-math", "::mlir::ModuleOp"> {
  let summary = "Operations that differ between processors become instructions";
  let description = [{
    Exponentials, conversions and dot products of bf16 pairs become
    the best code of the target; without any feature, plain vector arithmetic
    that runs everywhere.
  }];
  let options = [
    Option<"scalef", "scalef", "bool", "false",
           "multiply 16 f32 by powers of two in one instruction (AVX-512F)">,
    Option<"f16", "f16", "bool", "false", "convert f16 and f32 (F16C, NEON)">,
    Option<"bf16", "bf16", "bool", "false",
           "round f32 to bf16, dot products of pairs (AVX512-BF16)">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::vector::VectorDialect"];
}

def ApproximateMath : Pass<"attn-approximate-math", "::mlir::ModuleOp"> {
  let summary = "Math ops of score functions become arithmetic";
  let description = [{
    Hyperbolic tangents, exponentials, logarithms, powers, roundings and the like
    become polynomials and plain arithmetic on scalars and vectors of f32 and f64,
    without a call of the C library.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::vector::VectorDialect"];
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

def OutlineParallel : Pass<"attn-outline-parallel", "::mlir::ModuleOp"> {
  let summary = "Parallel loops become calls of the caller's parallel_for";
  let description = [{
    The body of an `scf.forall` becomes a function of an item number and a
    worker; the values that it uses travel in a struct on the stack.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect"];
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

def EmitEntry : Pass<"attn-emit-entry", "::mlir::ModuleOp"> {
  let summary = "Give every kernel its C functions";
  let description = [{
    For each `@NAME.kernel` with the attribute `attn.ports` the functions that a
    C program calls: `NAME`, which checks every argument before it runs the
    kernel, `NAME_workspace_size`, `NAME_strerror`, `NAME_info` and
    `NAME_flops`. Needs `@NAME.workspace` and `@NAME.flops` beside the kernel;
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
