// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Dropout.h"
#include "LaneMemory.h"
#include "attn/Dialect/Attn/Utils/Philox.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

void cpu::eachFactor(
    KernelBuilder &k, const TileDropout &dropout, const DropoutPlace &place,
    function_ref<void(Value key, Value column, Value factor)> body) {
  Philox philox(k.builder, k.loc, dropout.seed,
                VectorType::get(k.lanes, k.builder.getI32Type()));
  LaneMemory memory(k);
  constexpr unsigned words = Philox::words;
  Value threshold = philox.threshold(dropout.probability);
  Value kept = k.broadcast(philox.kept(dropout.probability, k.element));
  Value zero = k.splat(0.0),
        lane = memory.constant(k.builder.getI32Type(), 0, 1);
  Value batch = philox.word(dropout.batch), head = philox.word(dropout.head);
  Value begin = k.div(k.add(place.keyBegin, place.begin), words);
  Value end = k.div(k.add(k.add(place.keyBegin, place.end), words - 1), words);
  Value columns = k.index(k.vectors * k.lanes),
        beforeFirst = k.sub(place.begin, k.index(1));
  k.loop(k.index(0), columns, k.lanes, [&](Value column) {
    Value query = arith::AddIOp::create(
        k.builder, k.loc, philox.word(k.add(place.firstQuery, column)), lane);
    k.loop(begin, end, 1, [&](Value group) {
      Philox::Words drawn =
          philox.apply({philox.word(group), query, head, batch});
      Value first = k.sub(k.mul(group, words), place.keyBegin);
      for (auto [i, word] : llvm::enumerate(drawn)) {
        Value isDropped = arith::CmpIOp::create(
            k.builder, k.loc, arith::CmpIPredicate::ult, word, threshold);
        Value factor = k.select(isDropped, zero, kept);
        // Groups of keys count from key 0, and may begin in front of the tile.
        Value key = k.add(first, i);
        Value inside = arith::AndIOp::create(
            k.builder, k.loc, k.less(beforeFirst, key), k.less(key, place.end));
        k.when(inside, [&] { body(key, column, factor); });
      }
    });
  });
}

void cpu::dropWeights(KernelBuilder &k, const TileDropout &dropout,
                      const DropoutPlace &place, Value state, Value weights) {
  eachFactor(k, dropout, place, [&](Value key, Value column, Value factor) {
    Value row = k.add(weights, key);
    k.store(k.mulf(k.load(state, row, column), factor), state, row, column);
  });
}
