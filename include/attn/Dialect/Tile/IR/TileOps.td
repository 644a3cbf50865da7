// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_OPS_TD
#define TILE_OPS_TD

include "attn/Dialect/Tile/IR/TileTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

def Tile_Registers : AnyTypeOf<[Tile_FragmentType, Tile_RowsType]>;

def Tile_BufferOp : Tile_Op<"buffer"> {
  let summary = "memory of the block, free";
  let results = (outs Tile_BufferType:$buffer);
  let assemblyFormat = "attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Tile_EnterOp : Tile_Op<"enter"> {
  let summary = "the state in which a loop takes a buffer";
  let description = [{
    A loop that leaves a buffer loading or full takes it so, too, though in front of
    the first turn nothing was copied. Nothing may read the result itself.
  }];
  let arguments = (ins Tile_BufferType:$buffer);
  let results = (outs Tile_BufferType:$entered);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer) `->` type($entered)";
  let hasVerifier = 1;
}

def Tile_CopyAsyncOp : Tile_Op<"copy_async", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "rows of a matrix in memory, on their way into a buffer";
  let description = [{
    Copies the rows of `source` from `row` on. What the buffer has beyond the last
    row or the last column of the source becomes 0. Matrices in a source of rank 3
    lie one below the other; all their rows are copied.
  }];
  let arguments = (ins AnyStridedMemRef:$source, Index:$row,
                       Tile_BufferType:$buffer);
  let results = (outs Tile_BufferType:$loading);
  let assemblyFormat = [{
    $source `[` $row `]` `to` $buffer attr-dict `:` type($source) `to` type($buffer)
    `->` type($loading)
  }];
  let hasVerifier = 1;
}

def Tile_SyncOp : Tile_Op<"sync", [AttrSizedOperandSegments, AttrSizedResultSegments,
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "copies have arrived, and reads are over";
  let description = [{
    Buffers that were loading are full for all threads. Those that are released
    are free: no thread reads them any more. One barrier serves both. A buffer may
    be waited for several times, and is released once.
  }];
  let arguments = (ins Variadic<Tile_BufferType>:$wait,
                       Variadic<Tile_BufferType>:$release);
  let results = (outs Variadic<Tile_BufferType>:$full,
                      Variadic<Tile_BufferType>:$free);
  let assemblyFormat = [{
    (`wait` `(` $wait^ `:` type($wait) `)`)? (`release` `(` $release^ `:` type($release) `)`)?
    attr-dict (`full` `(` type($full)^ `)`)? (`free` `(` type($free)^ `)`)?
  }];
  let hasVerifier = 1;
}

def Tile_DiscardOp : Tile_Op<"discard", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "copies that nobody reads have arrived";
  let description = [{
    The buffer is free for a copy of the same shape and no other use: a thread waits
    for its own copies, and copies to the same places again. No barrier.
  }];
  let arguments = (ins Tile_BufferType:$loading);
  let results = (outs Tile_BufferType:$free);
  let assemblyFormat = "$loading attr-dict `:` type($loading) `->` type($free)";
  let hasVerifier = 1;
}

def Tile_ReuseOp : Tile_Op<"reuse", [MemoryEffects<[MemWrite]>]> {
  let summary = "memory of free buffers as another buffer";
  let arguments = (ins Variadic<Tile_BufferType>:$buffers);
  let results = (outs Tile_BufferType:$buffer);
  let assemblyFormat =
      "$buffers attr-dict `:` type($buffers) `->` type($buffer)";
  let hasVerifier = 1;
}

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "a number everywhere";
  let arguments = (ins F32:$value);
  let results = (outs Tile_Registers:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

def Tile_MmaOp : Tile_Op<"mma", [AllTypesMatch<["sums", "result"]>,
    MemoryEffects<[MemRead]>]> {
  let summary = "product of two matrices, added to sums";
  let description = [{
    `sums + left * right`, or `left * right^T` where right is `transposed`. Factors
    are of one type, sums of f32. Factors of f32 are multiplied as sums of two
    numbers of tf32, to 3 * 2^-20 of a product; products of infinities are NaN.

    The hardware truncates sums. Where they are `rounded`, which those of f32 in
    buffers may be, it adds up 8 products, and those sums are added to the others
    with rounding.
  }];
  let arguments = (ins AnyTypeOf<[Tile_FragmentType, Tile_BufferType]>:$left,
                       Tile_BufferType:$right, UnitAttr:$transposed,
                       UnitAttr:$rounded, Tile_FragmentType:$sums);
  let results = (outs Tile_FragmentType:$result);
  let assemblyFormat = [{
    $left `,` $right (`transposed` $transposed^)? (`rounded` $rounded^)? `,` $sums attr-dict
    `:` type($left) `,` type($right) `,` type($sums)
  }];
  let hasVerifier = 1;
}

def Tile_AnyNaNOp : Tile_Op<"any_nan", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "whether an element of a fragment is NaN";
  let description = [{
    The same for all threads of the block: a barrier, as `tile.sync` is one.
  }];
  let arguments = (ins Tile_FragmentType:$fragment);
  let results = (outs I1:$result);
  let assemblyFormat = "$fragment attr-dict `:` type($fragment)";
  let hasVerifier = 1;
}

def Tile_SiftOp : Tile_Op<"sift", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "what is finite in a buffer, or marks of what is not, in its place";
  let description = [{
    In turn 1 NaN and infinities become 0. Turns 2 and 3 are for the first and the
    second half of the columns: a number becomes 1 where it is NaN or inf, and the
    number half the columns further 1 where it is NaN or -inf; all others become 0.
    All threads see it: a barrier, as `tile.sync` is one.
  }];
  let arguments = (ins Tile_BufferType:$buffer, I32:$turn);
  let assemblyFormat = "$buffer `in` $turn attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Tile_PlaceOp : Tile_Op<"place", [Pure]> {
  let summary = "row and column of a thread's first element";
  let description = [{
    The other elements of a thread lie at constant distances from it, which the
    region of `tile.map` is given.
  }];
  let arguments = (ins TypeAttr:$fragment);
  let results = (outs Index:$row, Index:$column);
  let assemblyFormat = "$fragment attr-dict";
}

def Tile_MapOp : Tile_Op<"map", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "a function of each element";
  let description = [{
    The region gets an element of each operand, the row's number of operands that
    are rows, and the distance of the element's row and column from the thread's
    first one (`tile.place`), of type index. The result is a fragment where an
    operand is one.
  }];
  let arguments = (ins Variadic<Tile_Registers>:$operands);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Tile_Registers:$result);
  let assemblyFormat = [{
    $operands attr-dict `:` type($operands) `->` type($result) $body
  }];
  let hasVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator,
    ParentOneOf<["MapOp", "StoreEachOp"]>]> {
  let summary = "the value of an element";
  let arguments = (ins AnyFloat:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Tile_ReductionEnum : I32EnumAttr<"Reduction", "how numbers become one",
    [I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Sum", 1, "sum">]> {
  let cppNamespace = "::attn::tile";
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "one number of each row";
  let description = [{
    Of a fragment: of the elements of a row, `max` of all of them, `sum` of those
    of a thread only. Of rows: of all threads that have elements of the row.
  }];
  let arguments = (ins Tile_ReductionEnum:$kind, Tile_Registers:$operand);
  let results = (outs Tile_RowsType:$result);
  let assemblyFormat =
      "$kind $operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_RescaleOp : Tile_Op<"rescale", [Pure, AllTypesMatch<["operand", "result"]>]> {
  let summary = "rows times numbers, most of which are 1";
  let description = [{
    A warp whose rows all have 1 leaves its registers as they are.
  }];
  let arguments = (ins Tile_FragmentType:$operand, Tile_RowsType:$factors);
  let results = (outs Tile_FragmentType:$result);
  let assemblyFormat =
      "$operand `by` $factors attr-dict `:` type($operand) `,` type($factors)";
  let hasVerifier = 1;
}

def Tile_ConvertOp : Tile_Op<"convert", [Pure]> {
  let summary = "the same numbers in 16 bits";
  let arguments = (ins Tile_FragmentType:$operand);
  let results = (outs Tile_FragmentType:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes the rows and columns that memory has";
  let description = [{
    A fragment of f32 becomes elements of the memory's type. Through a free
    buffer of that type, which is used up, threads write whole units of 16 bytes.
  }];
  let arguments = (ins Tile_Registers:$value, AnyStridedMemRef:$memory,
                       Optional<Tile_BufferType>:$through);
  let assemblyFormat = [{
    $value `to` $memory (`through` $through^ `:` type($through))? attr-dict `:`
    type($value) `,` type($memory)
  }];
  let hasVerifier = 1;
}

def Tile_StoreEachOp : Tile_Op<"store_each", [SingleBlock,
    RecursiveMemoryEffects, MemoryEffects<[MemWrite]>]> {
  let summary = "writes what a function makes of each element";
  let description = [{
    The fragment becomes elements of the buffer's type, which is free and used up.
    The region gets one of these, and its row and column, and yields an element of
    the memory. It may be run for the last row again where there is no other.
  }];
  let arguments = (ins Tile_FragmentType:$value, AnyStridedMemRef:$memory,
                       Tile_BufferType:$through);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $value `to` $memory `through` $through attr-dict `:` type($value) `,`
    type($memory) `,` type($through) $body
  }];
  let hasVerifier = 1;
}

def Tile_StoreMarkedOp : Tile_Op<"store_marked", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes NaN and infinities where sums of marks say so";
  let description = [{
    The fragment has sums of the marks that `tile.sift` makes in this turn, 2 or 3.
    Where both of an element are positive it becomes NaN, and else inf or -inf.
    Other elements stay.
  }];
  let arguments = (ins Tile_FragmentType:$marks, I32:$turn,
                       AnyStridedMemRef:$memory);
  let assemblyFormat = [{
    $marks `in` $turn `to` $memory attr-dict `:` type($marks) `,` type($memory)
  }];
}

#endif
