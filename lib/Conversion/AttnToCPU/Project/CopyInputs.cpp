// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CopyInputs.h"
#include "Build/Pairs.h"
#include "PackPanels.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// Rows that are fetched before they are copied: those of a wide input begin in
/// another page each, and processors fetch on their own within one.
static constexpr int64_t rowsAhead = 2;

/// In pairs, whose number is a multiple of what a product takes.
static void copyPairs(KernelBuilder &k, const InputPart &part) {
  Value numbers = sizeOf(k, part.input, 1);
  Value whole = wholePairs(k, part.begin, part.count, numbers);
  auto copy = [&](Value row, Value pair, Value mask) {
    Value column = k.mul(k.add(part.begin, pair), 2);
    k.store(loadPairs(k, part.input, row, column, mask), part.to, row, pair);
  };
  k.loop(k.index(0), part.copies, 1, [&](Value row) {
    k.loop(k.index(0), whole, k.lanes,
           [&](Value pair) { copy(row, pair, Value()); });
    k.when(k.less(whole, part.count), [&] {
      copy(row, whole, maskOfPairs(k, k.add(part.begin, whole), numbers));
    });
  });
}

void cpu::copyInputs(KernelBuilder &k, const InputPart &part) {
  if (k.schedule.usesDot())
    return copyPairs(k, part);
  Value whole = k.mul(k.div(part.count, k.lanes), k.lanes);
  Value last = k.add(part.rows, -1);
  std::optional<int64_t> known = getConstantIntValue(part.copies);
  bool fetches = !known || *known > rowsAhead;
  k.loop(k.index(0), part.copies, 1, [&](Value row) {
    Value from = part.copies == part.rows ? row : k.min(row, last);
    k.loop(k.index(0), whole, k.lanes, [&](Value d) {
      Value column = k.add(part.begin, d);
      if (fetches)
        memref::PrefetchOp::create(k.builder, k.loc, part.input,
                                   ValueRange{k.add(from, rowsAhead), column},
                                   /*isWrite=*/false, /*localityHint=*/3,
                                   /*isDataCache=*/true);
      k.store(k.load(part.input, from, column), part.to, row, d);
    });
    k.when(k.less(whole, part.count), [&] {
      Value mask = maskBehind(k, whole, part.count);
      k.store(k.loadRow(part.input, from, k.add(part.begin, whole), mask),
              part.to, row, whole);
    });
  });
}
