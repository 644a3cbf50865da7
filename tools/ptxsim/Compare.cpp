// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// setp, selp, testp.
#include "Decoder.h"
#include <cmath>

using namespace llvm;

namespace attn::ptx {

using Comparison = std::function<bool(const uint64_t *)>;

static const StringRef orderNames[] = {"eq", "ne", "lt", "le", "gt", "ge"};

/// Places of -1, 0, 1: whether a is below, equal to or above b.
static bool holds(StringRef order, int sign) {
  return order == "eq"   ? sign == 0
         : order == "ne" ? sign != 0
         : order == "lt" ? sign < 0
         : order == "le" ? sign <= 0
         : order == "gt" ? sign > 0
                         : sign >= 0;
}

/// `lo`, `ls`, `hi`, `hs` are unsigned names of the same.
static Comparison integerComparison(Decoder &decoder, Type type) {
  static const std::pair<StringRef, StringRef> unsignedNames[] = {
      {"lo", "lt"}, {"ls", "le"}, {"hi", "gt"}, {"hs", "ge"}};
  StringRef order = decoder.takeOneOf(orderNames);
  for (auto &[name, same] : unsignedNames)
    if (order.empty() && decoder.take(name))
      order = same;
  if (order.empty())
    decoder.fail("the comparison is not known");
  bool isSigned = type.isSigned();
  return [=](const uint64_t *in) {
    bool less = isSigned ? int64_t(in[0]) < int64_t(in[1]) : in[0] < in[1];
    return holds(order, less ? -1 : in[0] != in[1]);
  };
}

/// With a NaN, `lt` is false and `ltu` true.
static Comparison realComparison(Decoder &decoder, Type type) {
  bool flushes = decoder.take("ftz");
  auto load = [=](uint64_t bits) {
    double value = realOf(type, bits);
    return flushes ? flush(type, value) : value;
  };
  for (StringRef name : {"num", "nan"})
    if (decoder.take(name))
      return [=](const uint64_t *in) {
        bool unordered = std::isnan(load(in[0])) || std::isnan(load(in[1]));
        return unordered == (name == "nan");
      };
  StringRef order = decoder.takeOneOf(orderNames);
  bool ofNaN = false;
  for (StringRef name : orderNames)
    if (order.empty() && decoder.take((name + "u").str())) {
      order = name;
      ofNaN = true;
    }
  if (order.empty())
    decoder.fail("the comparison is not known");
  return [=](const uint64_t *in) {
    double a = load(in[0]), b = load(in[1]);
    if (std::isnan(a) || std::isnan(b))
      return ofNaN;
    return holds(order, a < b ? -1 : a > b);
  };
}

static bool combine(StringRef combination, bool a, bool b) {
  return combination == "and" ? a && b : combination == "or" ? a || b : a != b;
}

/// Two results, p|q, are the comparison and its opposite.
static Action decodeSetPredicate(Decoder &decoder) {
  Type type = decoder.takeType();
  Comparison compare = type.isReal() ? realComparison(decoder, type)
                                     : integerComparison(decoder, type);
  StringRef combination = decoder.takeOneOf({"and", "or", "xor"});
  unsigned sources = combination.empty() ? 2 : 3;
  if (type.elements > 1)
    return decoder.fail("comparisons of pairs are not supported");
  if (!decoder.expectOperands(sources + 1, sources + 1))
    return {};
  int to = decoder.destination(decoder.operand(0));
  int opposite = decoder.operand(0).second;
  Source a = decoder.source(1, type), b = decoder.source(2, type), c;
  if (sources == 3)
    c = decoder.source(3, predicate);
  return [=](Warp &warp, uint32_t lanes) {
    forEachLane(lanes, [&](unsigned lane) {
      Value x = warp.read(a, lane), y = warp.read(b, lane), z;
      if (sources == 3)
        z = warp.read(c, lane);
      uint8_t all = (1u << type.bytes()) - 1;
      uint8_t known = (x.known & y.known & all) == all ? z.known & 1 : 0;
      uint64_t in[] = {x.bits, y.bits};
      bool first = compare(in), second = !first;
      if (sources == 3) {
        first = combine(combination, first, z.bits);
        second = combine(combination, second, z.bits);
      }
      warp.write(to, lane, predicate, {first, known});
      warp.write(opposite, lane, predicate, {second, known});
    });
  };
}

/// What is not chosen may be unknown.
static Action decodeSelect(Decoder &decoder) {
  Type type = decoder.takeType();
  if (!decoder.expectOperands(4, 4))
    return {};
  int to = decoder.destination(decoder.operand(0));
  Source a = decoder.source(1, type), b = decoder.source(2, type);
  Source choice = decoder.source(3, predicate);
  return [=](Warp &warp, uint32_t lanes) {
    forEachLane(lanes, [&](unsigned lane) {
      Value chosen = warp.read(choice, lane);
      Value value = warp.read(chosen.bits ? a : b, lane);
      if (!(chosen.known & 1))
        value.known = 0;
      warp.write(to, lane, type, value);
    });
  };
}

static Action decodeTestProperty(Decoder &decoder) {
  StringRef property = decoder.takeOneOf(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  Type type = decoder.takeType();
  return decoder.map(predicate, {type}, [=](const uint64_t *in) -> uint64_t {
    double value = realOf(type, in[0]);
    bool normal = type.bits == 64 ? std::isnormal(value)
                                  : std::isfinite(value) && value != 0 &&
                                        flush(type, value) != 0;
    if (property == "finite")
      return std::isfinite(value);
    if (property == "infinite")
      return std::isinf(value);
    if (property == "normal")
      return normal;
    if (property == "subnormal")
      return std::isfinite(value) && value != 0 && !normal;
    return std::isnan(value) == (property == "notanumber");
  });
}

void addComparisons(DecodeTable &table) {
  table["setp"] = decodeSetPredicate;
  table["selp"] = decodeSelect;
  table["testp"] = decodeTestProperty;
}

} // namespace attn::ptx
