// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bodies of the kernels of kind decode, one function per tile op. All
// matrices are memrefs with an innermost stride of 1.
#ifndef ATTN_LIB_CONVERSION_ATTNTOCPU_DECODE_DECODEKERNELS_H
#define ATTN_LIB_CONVERSION_ATTNTOCPU_DECODE_DECODEKERNELS_H

#include "DecodeLayout.h"
#include "Score/TileOperands.h"
#include "States/StateRows.h"

namespace attn::cpu {

/// Vector i of the `dim` features of a row. `once`: 0 where it overlaps the
/// vector before.
Value loadFeatures(KernelBuilder &k, Value matrix, Value row, int64_t i,
                   int64_t dim, bool once);

/// The blocks that `count` rows fill, the last in part.
inline Value blocksOf(KernelBuilder &k, const DecodeLayout &layout,
                      Value count) {
  return k.div(k.add(count, layout.block - 1), layout.block);
}

void emitDecodeInitState(KernelBuilder &k, const DecodeLayout &layout,
                         Value state, Value query, double scale);

/// One step of online softmax. The queries are there once for each of `heads`;
/// a mask or bias is looked at pair by pair. `strict` as for emitOnline.
void emitDecodeOnline(KernelBuilder &k, const DecodeLayout &layout,
                      const TileOperands &tile, Value value, StateType type,
                      int64_t heads, bool strict);

/// Writes acc, m and l of every row of `part`.
void emitDecodeSaveState(KernelBuilder &k, const DecodeLayout &layout,
                         Value state, Value part);

/// The score function of `tile` on the scores of a tile: blocks of `size` rows,
/// [key][row]. Row r is query r mod `queries` of head r / `queries`.
void emitDecodeFunction(KernelBuilder &k, const TileOperands &tile,
                        Value scores, Value blocks, Value count, Value queries,
                        int64_t size);

/// Merges saved states (states x rows x (value_dim + 2)) and a sink (may be
/// null) into rows of `out`, and the logarithm of the sum into `lse` (may be
/// null).
void emitCombine(KernelBuilder &k, const DecodeLayout &layout, Value parts,
                 Value sink, Value out, Value lse);

/// Writes m, l and acc of saved states together.
void emitCombineState(KernelBuilder &k, const DecodeLayout &layout, Value parts,
                      const StateRows &rows);

} // namespace attn::cpu

#endif
