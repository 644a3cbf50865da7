// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes from attn to other dialects, in the order of the pipeline.
#ifndef ATTN_CONVERSION_PASSES_TD
#define ATTN_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

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

def VectorizeLinalg : Pass<"attn-vectorize-linalg", "::mlir::func::FuncOp"> {
  let summary = "linalg ops on buffers become parallel vector code";
  let description = [{
    Elementwise ops, reductions and copies around kernels go through their rows
    together, in vectors, and in parallel where there are enough of them. Sums
    have one order, whatever the number of threads.
  }];
  let options = [
    Option<"lanes", "lanes", "int64_t", "8", "f32 values in a vector register">,
    Option<"maskedBits", "masked-bits", "unsigned", "0",
           "least bits of elements that are stored under a mask; 0: none">,
    // Some microseconds of work, against the one that handing out takes.
    Option<"itemElements", "item-elements", "int64_t", "8192",
           "least elements of a parallel item">,
    Option<"threadsOfRow", "threads-of-row", "int64_t", "1",
           "threads of a warp that share a row where something is added up">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def ExpandForLLVM : Pass<"attn-expand-for-llvm", "::mlir::ModuleOp"> {
  let summary = "Ops that LLVM has no counterpart of become those it has";
  let description = [{
    Subviews, masks, steps, vectors of more than one dimension and affine ops, by
    MLIR's patterns. Vectors in memory get the alignment of their elements.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::vector::VectorDialect"];
}

def BF16AsIntegers : Pass<"attn-bf16-as-integers"> {
  let summary = "Numbers of bf16 that LLVM would convert are moved as integers";
  let description = [{
    Those of masked loads and stores, where a processor has no masks, and those
    that live on behind their block.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
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

def FlushSubnormals : Pass<"attn-flush-subnormals", "::mlir::func::FuncOp"> {
  let summary = "Weights that would be subnormal are 0";
  let description = [{
    Functions with the attribute `attn.flushes` set the processor, one of x86, to
    flush subnormal results to zero, and back where they return.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
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

def SinkReads : Pass<"attn-sink-reads", "::mlir::func::FuncOp"> {
  let summary = "Numbers in a tensor's memory are read by the loops that use them";
  let description = [{
    A place in a tensor, such as that of new keys in a cache, may be an element of
    another one. The host does not see it where it is a device's, so the kernels
    read it.
  }];
}

def OutlineTileKernels : Pass<"attn-outline-tile-kernels", "::mlir::ModuleOp"> {
  let summary = "Items of attention become blocks of a GPU";
  let description = [{
    Every parallel loop with tile ops becomes a `gpu.func` with an item per block, and
    a launch of it.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect"];
}

def ConvertAttnToTile : Pass<"convert-attn-to-tile"> {
  let summary = "Steps of attention become what a block of threads does together";
  let description = [{
    In kernels, tile ops of `attn` become copies to shared memory, products of
    fragments and functions of their elements, in the `tile` dialect.
  }];
  let dependentDialects = ["::attn::tile::TileDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def CombineByElements : Pass<"attn-combine-by-elements", "::mlir::func::FuncOp"> {
  let summary = "Saved states are combined by an item per element";
  let description = [{
    A parallel loop over rows that combines saved states gets a dimension of
    features: every item adds up one feature of one row over the parts, in their
    order.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
    "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def ConvertTileToGPU : Pass<"convert-tile-to-gpu"> {
  let summary = "What a block does becomes what its threads do";
  let description = [{
    Fragments become registers, copies `cp.async`, products `ldmatrix` and
    `mma.sync`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def OutlineGPUKernels : Pass<"attn-outline-gpu-kernels", "::mlir::ModuleOp"> {
  let summary = "Parallel loops become kernels of a GPU";
  let description = [{
    Every parallel loop of `@NAME.kernel` becomes a `gpu.func` whose threads share
    the items; the function keeps control and buffers, and launches it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def LowerGPULaunches : Pass<"attn-lower-gpu-launches", "::mlir::ModuleOp"> {
  let summary = "The host has the runtime launch kernels";
  let description = [{
    A `gpu.launch_func` becomes the call of a function of libattn-rt, which gets
    addresses, sizes, strides and numbers. Constants are copied to the device once.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def LowerGPUSlices : Pass<"attn-lower-gpu-slices", "::mlir::ModuleOp"> {
  let summary = "The host has the runtime read what slices are checked by";
  let description = [{
    Where the place of a slice is an element of a tensor, `@NAME.slices` becomes
    `@NAME.gpu_slices`, which asks libattn-rt for the element.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def LowerGPUFunctions : Pass<"attn-lower-gpu-functions", "::mlir::ModuleOp"> {
  let summary = "Kernels take what a launch passes";
  let description = [{
    A `gpu.func` becomes an `llvm.func` of NVVM's, in a module of its own. For a
    memref it takes an address, and the sizes and strides that the type leaves
    open.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::arith::ArithDialect"];
}

def LowerGPUMaxima : Pass<"attn-lower-gpu-maxima", "::mlir::ModuleOp"> {
  let summary = "Maxima and minima of floats stay one instruction of a GPU";
  let description = [{
    `arith.maxnumf` and `arith.minnumf` of f32 and f64 become those of the LLVM
    dialect, before arith-expand makes comparisons and selections of them.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def SignedAddresses : Pass<"attn-signed-addresses", "::mlir::ModuleOp"> {
  let summary = "Addresses may lie before that of a tensor's first element";
  let description = [{
    Takes back that no stride is negative, which the lowering of `memref.load`
    promises.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def CheckGPUOps : Pass<"attn-check-gpu-ops", "::mlir::ModuleOp"> {
  let summary = "Refuse what a GPU of NVIDIA's has no instruction for";
  let description = [{
    LLVM ends the process where it cannot select an instruction. Every op of a
    kernel is one that it can.
  }];
}

#endif
