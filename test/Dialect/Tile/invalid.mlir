// RUN: attn-opt %s -split-input-file -verify-diagnostics
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is loading is not read.
func.func @read_loading(%keys: memref<?x64xbf16>, %c: index, %s: !tile.fragment<64 x 64 x bf16, warps = 4>, %z: !tile.fragment<64 x 64 x f32, warps = 4>) {
  %0 = tile.buffer : <64 x 64 x bf16, pitch = 72, at = 0, free>
  %1 = tile.copy_async %keys[%c] to %0 : memref<?x64xbf16> to <64 x 64 x bf16, pitch = 72, at = 0, free> -> <64 x 64 x bf16, pitch = 72, at = 0, loading>
  // expected-error@+1 {{expects a buffer that is full}}
  %2 = tile.mma %s, %1, %z : !tile.fragment<64 x 64 x bf16, warps = 4>, <64 x 64 x bf16, pitch = 72, at = 0, loading>, <64 x 64 x f32, warps = 4>
  return
}

// -----

// A copy to a buffer that others may still read.
func.func @copy_to_full(%keys: memref<?x64xbf16>, %c: index, %0: !tile.buffer<64 x 64 x bf16, pitch = 72, at = 0, full>) {
  // expected-error@+1 {{expects a buffer that is free}}
  %1 = tile.copy_async %keys[%c] to %0 : memref<?x64xbf16> to <64 x 64 x bf16, pitch = 72, at = 0, full> -> <64 x 64 x bf16, pitch = 72, at = 0, loading>
  return
}

// -----

func.func @copy_of_rank_4(%keys: memref<2x2x?x64xbf16>, %c: index, %0: !tile.buffer<64 x 64 x bf16, pitch = 72, at = 0, free>) {
  // expected-error@+1 {{expects a matrix of the buffer's elements, or several, but got 'memref<2x2x?x64xbf16>'}}
  %1 = tile.copy_async %keys[%c] to %0 : memref<2x2x?x64xbf16> to <64 x 64 x bf16, pitch = 72, at = 0, free> -> <64 x 64 x bf16, pitch = 72, at = 0, loading>
  return
}

// -----

// A read behind the release.
func.func @read_released(%0: !tile.buffer<64 x 64 x bf16, pitch = 72, at = 0, full>, %s: !tile.fragment<64 x 64 x bf16, warps = 4>, %z: !tile.fragment<64 x 64 x f32, warps = 4>) {
  // expected-error@+1 {{ends a state of a buffer that is used behind it}}
  %1 = tile.sync release(%0 : !tile.buffer<64 x 64 x bf16, pitch = 72, at = 0, full>) free(!tile.buffer<64 x 64 x bf16, pitch = 72, at = 0, free>)
  // expected-note@+1 {{here}}
  %2 = tile.mma %s, %0, %z : !tile.fragment<64 x 64 x bf16, warps = 4>, <64 x 64 x bf16, pitch = 72, at = 0, full>, <64 x 64 x f32, warps = 4>
  return
}

// -----

// Two copies to one buffer.
func.func @copy_twice(%keys: memref<?x64xbf16>, %c: index, %0: !tile.buffer<64 x 64 x bf16, pitch = 72, at = 0, free>) {
  // expected-error@+1 {{ends a state of a buffer that is used behind it}}
  %1 = tile.copy_async %keys[%c] to %0 : memref<?x64xbf16> to <64 x 64 x bf16, pitch = 72, at = 0, free> -> <64 x 64 x bf16, pitch = 72, at = 0, loading>
  // expected-note@+1 {{here}}
  %2 = tile.copy_async %keys[%c] to %0 : memref<?x64xbf16> to <64 x 64 x bf16, pitch = 72, at = 0, free> -> <64 x 64 x bf16, pitch = 72, at = 0, loading>
  return
}

// -----

// A release in every turn.
func.func @release_in_loop(%c: index, %0: !tile.buffer<64 x 64 x bf16, pitch = 72, at = 0, full>) {
  scf.for %i = %c to %c step %c {
    // expected-error@+1 {{ends a state of a buffer in every turn of a loop}}
    %1 = tile.sync release(%0 : !tile.buffer<64 x 64 x bf16, pitch = 72, at = 0, full>) free(!tile.buffer<64 x 64 x bf16, pitch = 72, at = 0, free>)
  }
  return
}

// -----

// A buffer of nothing.
func.func @read_entered(%0: !tile.buffer<64 x 64 x bf16, pitch = 72, at = 0, free>, %s: !tile.fragment<64 x 64 x bf16, warps = 4>, %z: !tile.fragment<64 x 64 x f32, warps = 4>) {
  // expected-error@+1 {{gives a buffer that nothing was copied to}}
  %1 = tile.enter %0 : <64 x 64 x bf16, pitch = 72, at = 0, free> -> <64 x 64 x bf16, pitch = 72, at = 0, full>
  %2 = tile.mma %s, %1, %z : !tile.fragment<64 x 64 x bf16, warps = 4>, <64 x 64 x bf16, pitch = 72, at = 0, full>, <64 x 64 x f32, warps = 4>
  return
}

// -----

// Memory of a buffer that others read.
func.func @reuse_outside(%0: !tile.buffer<16 x 64 x bf16, pitch = 72, at = 0, free>) {
  // expected-error@+1 {{expects room for}}
  %1 = tile.reuse %0 : !tile.buffer<16 x 64 x bf16, pitch = 72, at = 0, free> -> <32 x 64 x bf16, pitch = 72, at = 0, free>
  return
}

// -----

func.func @shapes(%0: !tile.buffer<64 x 32 x bf16, pitch = 40, at = 0, full>, %s: !tile.fragment<64 x 64 x bf16, warps = 4>, %z: !tile.fragment<64 x 64 x f32, warps = 4>) {
  // expected-error@+1 {{expects the shapes of a product, but got 64 x 64, 64 x 32 and 64 x 64}}
  %1 = tile.mma %s, %0, %z : !tile.fragment<64 x 64 x bf16, warps = 4>, <64 x 32 x bf16, pitch = 40, at = 0, full>, <64 x 64 x f32, warps = 4>
  return
}

// -----

// expected-error@+1 {{expects warps and rows to be powers of two}}
func.func @rows(%0: !tile.rows<96, warps = 4>) { return }

// -----

// expected-error@+1 {{whole units of 16 bytes}}
func.func @pitch(%0: !tile.buffer<64 x 64 x bf16, pitch = 66, at = 0, free>) { return }

// -----

// Numbers of a buffer that was not waited for.
func.func @sift_loading(%0: !tile.buffer<64 x 64 x bf16, pitch = 72, at = 0, loading>, %turn: i32) {
  // expected-error@+1 {{expects a buffer that is full}}
  tile.sift %0 in %turn : <64 x 64 x bf16, pitch = 72, at = 0, loading>
  return
}

// -----

// Halves of whole units.
func.func @sift_halves(%0: !tile.buffer<64 x 24 x bf16, pitch = 40, at = 0, full>, %turn: i32) {
  // expected-error@+1 {{expects a multiple of 16 columns}}
  tile.sift %0 in %turn : <64 x 24 x bf16, pitch = 40, at = 0, full>
  return
}

// -----

func.func @nan_of_16_bits(%0: !tile.fragment<64 x 16 x bf16, warps = 4>) {
  // expected-error@+1 {{expects elements of f32}}
  %1 = tile.any_nan %0 : !tile.fragment<64 x 16 x bf16, warps = 4>
  return
}

// -----

// What others may read, or write elsewhere, needs a barrier.
func.func @discarded(%0: !tile.buffer<64 x 64 x bf16, pitch = 72, at = 0, loading>) {
  // expected-error@+1 {{gives a buffer that is used for more than a copy}}
  %1 = tile.discard %0 : <64 x 64 x bf16, pitch = 72, at = 0, loading> -> <64 x 64 x bf16, pitch = 72, at = 0, free>
  %2 = tile.reuse %1 : !tile.buffer<64 x 64 x bf16, pitch = 72, at = 0, free> -> <64 x 64 x bf16, pitch = 72, at = 0, free>
  return
}

// -----

func.func @rescaled(%0: !tile.fragment<64 x 32 x f32, warps = 4>, %1: !tile.rows<32, warps = 2>) {
  // expected-error@+1 {{expects f32 and a number for each row of '!tile.fragment<64 x 32 x f32, warps = 4>'}}
  %2 = tile.rescale %0 by %1 : !tile.fragment<64 x 32 x f32, warps = 4>, !tile.rows<32, warps = 2>
  return
}

// -----

func.func @rounded_weights(%0: !tile.buffer<64 x 64 x f32, pitch = 68, at = 0, full>, %s: !tile.fragment<64 x 64 x f32, warps = 4>) {
  // expected-error@+1 {{expects factors of f32 in buffers where it is rounded}}
  %1 = tile.mma %s, %0 rounded, %s : !tile.fragment<64 x 64 x f32, warps = 4>, <64 x 64 x f32, pitch = 68, at = 0, full>, <64 x 64 x f32, warps = 4>
  return
}

// -----

func.func @rounded_halves(%0: !tile.buffer<64 x 64 x f16, pitch = 72, at = 0, full>, %z: !tile.fragment<64 x 64 x f32, warps = 4>) {
  // expected-error@+1 {{expects factors of f32 in buffers where it is rounded}}
  %1 = tile.mma %0, %0 rounded, %z : !tile.buffer<64 x 64 x f16, pitch = 72, at = 0, full>, <64 x 64 x f16, pitch = 72, at = 0, full>, <64 x 64 x f32, warps = 4>
  return
}

// -----

// Bits of a warp's number choose its columns.
// expected-error@+1 {{expects powers of two of column_warps and columns, at least 16 columns for each and no more than warps, but got 2 for 48 columns}}
func.func @columns_of_warps(%0: !tile.fragment<64 x 48 x f32, warps = 4, column_warps = 2>) {
  return
}

// -----

func.func @rows_of_some_columns(%0: !tile.fragment<64 x 64 x f32, warps = 4, column_warps = 2>) {
  // expected-error@+1 {{expects a number for each row of '!tile.fragment<64 x 64 x f32, warps = 4, column_warps = 2>'}}
  %1 = tile.reduce max %0 : !tile.fragment<64 x 64 x f32, warps = 4, column_warps = 2> -> !tile.rows<64, warps = 4>
  return
}

// -----

func.func @each_of_f16(%0: !tile.fragment<64 x 64 x f32, warps = 4>, %m: memref<?x64xf16>, %1: !tile.buffer<64 x 64 x f16, pitch = 72, at = 0, free>) {
  // expected-error@+1 {{expects f32, a matrix in memory, and a function of an element of the buffer, a row and a column, that yields an element of the memory}}
  tile.store_each %0 to %m through %1 : !tile.fragment<64 x 64 x f32, warps = 4>, memref<?x64xf16>, <64 x 64 x f16, pitch = 72, at = 0, free> {
  ^bb0(%x: f32, %row: index, %column: index):
    %y = arith.truncf %x : f32 to f16
    tile.yield %y : f16
  }
  return
}

// -----

func.func @each_through_less(%0: !tile.fragment<64 x 64 x f32, warps = 4>, %m: memref<?x64xf16>, %1: !tile.buffer<32 x 64 x f16, pitch = 72, at = 0, free>) {
  // expected-error@+1 {{expects a buffer with room for the fragment}}
  tile.store_each %0 to %m through %1 : !tile.fragment<64 x 64 x f32, warps = 4>, memref<?x64xf16>, <32 x 64 x f16, pitch = 72, at = 0, free> {
  ^bb0(%x: f16, %row: index, %column: index):
    tile.yield %x : f16
  }
  return
}

// -----

// What others still read.
func.func @each_through_full(%0: !tile.fragment<64 x 64 x f32, warps = 4>, %m: memref<?x64xf16>, %1: !tile.buffer<64 x 64 x f16, pitch = 72, at = 0, full>) {
  // expected-error@+1 {{expects a buffer that is free}}
  tile.store_each %0 to %m through %1 : !tile.fragment<64 x 64 x f32, warps = 4>, memref<?x64xf16>, <64 x 64 x f16, pitch = 72, at = 0, full> {
  ^bb0(%x: f16, %row: index, %column: index):
    tile.yield %x : f16
  }
  return
}

// -----

func.func @map_of_f16(%0: !tile.fragment<64 x 64 x f32, warps = 4>) {
  // expected-error@+1 {{expects a region that yields f32}}
  %1 = tile.map %0 : !tile.fragment<64 x 64 x f32, warps = 4> -> !tile.fragment<64 x 64 x f32, warps = 4> {
  ^bb0(%x: f32, %row: index, %column: index):
    %y = arith.truncf %x : f32 to f16
    tile.yield %y : f16
  }
  return
}
