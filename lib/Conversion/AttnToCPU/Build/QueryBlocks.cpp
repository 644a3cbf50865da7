// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "QueryBlocks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

QueryBlocks::QueryBlocks(KernelBuilder &k, Value queries)
    : k(k), queries(queries) {
  count = k.div(k.add(queries, k.queryBlock - 1), k.queryBlock);
  if (llvm::isPowerOf2_64(k.vectors))
    return;
  Value needed = k.div(k.add(queries, k.lanes - 1), k.lanes);
  Value missing = k.sub(k.mul(count, k.vectors), needed);
  whole = k.max(k.sub(count, missing), k.index(0));
}

Value QueryBlocks::first(Value p) const {
  Value query = k.mul(p, k.queryBlock);
  if (!whole)
    return query;
  Value narrow = k.max(k.sub(p, whole), k.index(0));
  return k.sub(query, k.mul(narrow, k.lanes));
}

Value QueryBlocks::end(Value p) const {
  return k.min(first(k.add(p, 1)), queries);
}

Value QueryBlocks::isWhole(Value p) const {
  return whole ? k.less(p, whole) : Value();
}

SmallVector<RowBlocks> cpu::balancedBlocks(int64_t total, int64_t rows) {
  int64_t count = (total + rows - 1) / rows;
  if (count == 0)
    return {};
  int64_t small = total / count, larger = total - small * count;
  SmallVector<RowBlocks> blocks;
  if (larger)
    blocks.push_back({0, larger * (small + 1), small + 1});
  if (larger < count)
    blocks.push_back({larger * (small + 1), total, small});
  return blocks;
}
