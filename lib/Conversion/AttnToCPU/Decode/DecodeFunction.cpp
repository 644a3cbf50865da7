// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The score function in kernels of kind decode. Lanes are keys, so that one
// call of the function is for one query of one head: both are scalars, and only
// the key differs between lanes. The scores of a block lie [key][row]; its
// vectors are taken apart into one per row, and put together again.
#include "DecodeKernels.h"
#include "Score/QueryBlockExtras.h"
#include "Score/ScoreFunction.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// The vectors whose elements the given ones hold interleaved.
static Values deinterleave(KernelBuilder &k, Values mixed) {
  if (mixed.size() == 1)
    return mixed;
  SmallVector<int64_t> even, odd;
  for (int64_t lane = 0; lane < k.lanes; ++lane) {
    even.push_back(2 * lane);
    odd.push_back(2 * lane + 1);
  }
  Values evens, odds, result;
  for (size_t i = 0; i < mixed.size(); i += 2) {
    Value a = mixed[i], b = mixed[i + 1];
    evens.push_back(vector::ShuffleOp::create(k.builder, k.loc, a, b, even));
    odds.push_back(vector::ShuffleOp::create(k.builder, k.loc, a, b, odd));
  }
  evens = deinterleave(k, evens);
  odds = deinterleave(k, odds);
  for (auto [a, b] : llvm::zip(evens, odds))
    result.append({a, b});
  return result;
}

/// The inverse.
static Values interleave(KernelBuilder &k, Values apart) {
  if (apart.size() == 1)
    return apart;
  Values evens, odds, result;
  for (auto [i, vector] : llvm::enumerate(apart))
    (i % 2 ? odds : evens).push_back(vector);
  evens = interleave(k, evens);
  odds = interleave(k, odds);
  for (auto [a, b] : llvm::zip(evens, odds))
    for (int64_t half : {int64_t(0), k.lanes / 2}) {
      SmallVector<int64_t> mask;
      for (int64_t lane = 0; lane < k.lanes; ++lane)
        mask.push_back(half + lane / 2 + lane % 2 * k.lanes);
      result.push_back(vector::ShuffleOp::create(k.builder, k.loc, a, b, mask));
    }
  return result;
}

void cpu::emitDecodeFunction(KernelBuilder &k, const TileOperands &tile,
                             Value scores, Value blocks, Value count,
                             Value queries, int64_t size) {
  Values captures(tile.captures);
  Value firstHead = captures[1];
  Value toNatural = k.splat(llvm::numbers::ln2);
  auto apply = [&](Value score, Value row, Value key) {
    Value within = arith::DivUIOp::create(k.builder, k.loc, row, queries);
    captures[1] = k.add(firstHead, within);
    Value query =
        arith::RemUIOp::create(k.builder, k.loc, row, queries).getResult();
    cpu::ScoreFunction function(k, *tile.function, captures);
    Value changed = function.applyToKeys(k.mulf(score, toNatural),
                                         k.add(tile.queryBegin, query),
                                         k.add(tile.keyBegin, key));
    return biasInLog2(k, changed);
  };
  k.loop(k.index(0), blocks, 1, [&](Value block) {
    // Behind the last key there is room for the lanes of a vector.
    k.loop(k.index(0), count, k.lanes, [&](Value key) {
      Values vectors;
      for (int64_t i = 0; i < size; ++i)
        vectors.push_back(
            k.load(scores, block, k.add(k.mul(key, size), i * k.lanes)));
      vectors = deinterleave(k, vectors);
      for (auto [i, vector] : llvm::enumerate(vectors))
        vector = apply(vector, k.add(k.mul(block, size), i), key);
      for (auto [i, vector] : llvm::enumerate(interleave(k, vectors)))
        k.store(vector, scores, block, k.add(k.mul(key, size), i * k.lanes));
    });
  });
}
