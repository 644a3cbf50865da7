// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KeyParts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;

/// The most items per batch entry for which keys are cut into parts.
static constexpr int64_t fewItems = 8;

std::optional<KeyParts> attn::partsOfKeys(OpBuilder &b, SdpaGradOp op,
                                          Value keyLength) {
  Location loc = op.getLoc();
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  ScheduleInterface schedule = op.getScheduleAttr();
  HeadDims k = op.keyDims();
  RankedTensorType key = op.getKey().getType();
  int64_t heads = k.head < 0 ? 1 : key.getDimSize(k.head);
  if (ShapedType::isDynamic(heads))
    heads = 1;
  int64_t most = llvm::divideCeil(fewItems, heads);
  int64_t least = schedule.getSplitKeys(), length = key.getDimSize(k.sequence);
  if (most == 1 || least == 0 ||
      (!ShapedType::isDynamic(length) && length <= least))
    return std::nullopt;
  auto ceilDiv = [&](Value x, int64_t divisor) -> Value {
    return arith::CeilDivUIOp::create(b, loc, x, index(divisor));
  };
  int64_t unit = most * schedule.getKeyTile();
  Value count =
      arith::MinUIOp::create(b, loc, ceilDiv(keyLength, least), index(most));
  Value keys = arith::MulIOp::create(b, loc, ceilDiv(keyLength, unit),
                                     index(schedule.getKeyTile()));
  return KeyParts{count, arith::MaxUIOp::create(b, loc, keys, index(least))};
}
