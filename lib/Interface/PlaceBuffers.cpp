// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PlaceBuffers.h"
#include "attn/Interface/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <numeric>

using namespace mlir;
using namespace attn::cpu;

namespace {
/// Numbers for values, equal for those that pure ops compute alike.
class ValueNumbers {
public:
  size_t of(Value value) {
    if (auto known = numbers.find(value); known != numbers.end())
      return known->second;
    size_t number = compute(value);
    numbers[value] = number;
    return number;
  }

private:
  size_t compute(Value value) {
    Operation *op = value.getDefiningOp();
    std::vector<size_t> key;
    if (op && isPure(op) && op->getNumRegions() == 0) {
      key = {reinterpret_cast<size_t>(op->getName().getAsOpaquePointer()),
             reinterpret_cast<size_t>(
                 op->getAttrDictionary().getAsOpaquePointer()),
             cast<OpResult>(value).getResultNumber()};
      for (Value operand : op->getOperands())
        key.push_back(of(operand));
    } else {
      key = {reinterpret_cast<size_t>(value.getAsOpaquePointer())};
    }
    return known.try_emplace(key, known.size()).first->second;
  }

  DenseMap<Value, size_t> numbers;
  std::map<std::vector<size_t>, size_t> known;
};

/// Buffers whose sizes have the same factors.
struct Group {
  SmallVector<Value> factors;
  SmallVector<const SizedBuffer *> buffers;
};
} // namespace

/// The value that a factor has unless it is 0; null if it is always there.
static Value whereThere(Value factor) {
  auto choice = factor.getDefiningOp<arith::SelectOp>();
  if (!choice)
    return {};
  if (isZeroInteger(choice.getFalseValue()))
    return choice.getTrueValue();
  return isZeroInteger(choice.getTrueValue()) ? choice.getFalseValue()
                                              : Value();
}

static bool isConditional(const Group &group) {
  return llvm::any_of(group.factors, [](Value factor) {
    return bool(factor.getDefiningOp<arith::SelectOp>());
  });
}

/// The largest bytes that are needed at one time: of all buffers, and of two.
static std::pair<int64_t, int64_t>
mostAtOnce(ArrayRef<const SizedBuffer *> buffers) {
  int64_t all = 0, two = 0;
  for (const SizedBuffer *buffer : buffers) {
    // What is most at once, is so when some buffer begins.
    int64_t together = 0, largest = 0;
    for (const SizedBuffer *other : buffers) {
      bool atBegin =
          other->life.meets({buffer->life.first, buffer->life.first});
      together += atBegin ? other->bytes : 0;
      if (other != buffer && atBegin)
        largest = std::max(largest, other->bytes);
    }
    all = std::max(all, together);
    two = std::max(two, buffer->bytes + largest);
  }
  return {all, two};
}

/// Each in the given order at the lowest place that is free while it lives.
static Arena placeInOrder(const Group &group,
                          ArrayRef<const SizedBuffer *> order) {
  Arena arena;
  arena.factors = group.factors;
  arena.unitBytes = 0;
  for (const SizedBuffer *buffer : order)
    arena.unitBytes = std::gcd(arena.unitBytes, buffer->bytes);
  arena.unitBytes = std::max<int64_t>(arena.unitBytes, 1);
  struct Taken {
    int64_t begin, end;
    Lifetime life;
  };
  SmallVector<Taken> taken; // by `begin`
  for (const SizedBuffer *buffer : order) {
    int64_t begin = 0, size = buffer->bytes / arena.unitBytes;
    for (const Taken &other : taken)
      if (other.life.meets(buffer->life) && other.begin < begin + size)
        begin = std::max(begin, other.end);
    Taken place{begin, begin + size, buffer->life};
    taken.insert(llvm::upper_bound(taken, place,
                                   [](const Taken &a, const Taken &b) {
                                     return a.begin < b.begin;
                                   }),
                 place);
    arena.units = std::max(arena.units, place.end);
    arena.places.push_back({buffer->alloc, begin});
  }
  return arena;
}

/// Orders that are tried: from the largest on, one that stands at the end comes
/// to the front.
static constexpr unsigned mostOrders = 64;

/// The largest first; where that leaves holes, other orders.
static Arena pack(const Group &group) {
  auto [least, two] = mostAtOnce(group.buffers);
  SmallVector<const SizedBuffer *> order(group.buffers);
  llvm::sort(order, [](const SizedBuffer *a, const SizedBuffer *b) {
    return a->bytes == b->bytes ? a < b : a->bytes > b->bytes;
  });
  Arena best = placeInOrder(group, order);
  Arena last = best;
  for (unsigned i = 1; i < mostOrders && best.unitBytes * best.units > least;
       ++i) {
    size_t highest = 0;
    int64_t end = 0;
    for (auto [number, place] : llvm::enumerate(last.places))
      if (int64_t here = place.offset * last.unitBytes + order[number]->bytes;
          here > end) {
        end = here;
        highest = number;
      }
    if (highest == 0) // it is first already
      break;
    std::rotate(order.begin(), order.begin() + highest,
                order.begin() + highest + 1);
    last = placeInOrder(group, order);
    if (last.units < best.units)
      best = last;
  }
  best.unitsOfTwo = two / best.unitBytes;
  return best;
}

static Group joined(const Group &a, const Group &b) {
  Group both = a;
  llvm::append_range(both.buffers, b.buffers);
  return both;
}

static int64_t bytesOf(const Arena &arena) {
  return arena.unitBytes * arena.units;
}

/// Buffers by the factors of their sizes, in the order of the first.
static SmallVector<Group> groupsOf(ArrayRef<SizedBuffer> buffers,
                                   ValueNumbers &numbers) {
  SmallVector<Group> groups;
  std::map<std::vector<size_t>, size_t> byFactors;
  for (const SizedBuffer &buffer : buffers) {
    std::vector<size_t> key;
    for (Value factor : buffer.factors)
      key.push_back(numbers.of(factor));
    llvm::sort(key);
    auto [it, isNew] = byFactors.try_emplace(key, groups.size());
    if (isNew)
      groups.push_back({buffer.factors, {}});
    groups[it->second].buffers.push_back(&buffer);
  }
  return groups;
}

/// Buffers that are sometimes there join those of the same size that always
/// are, where both together take less so.
static void joinConditional(SmallVector<Group> &groups, ValueNumbers &numbers) {
  auto keyOf = [&](ArrayRef<Value> factors, bool whereTheyAre) {
    std::vector<size_t> key;
    for (Value factor : factors) {
      Value there = whereTheyAre ? whereThere(factor) : Value();
      key.push_back(numbers.of(there ? there : factor));
    }
    llvm::sort(key);
    return key;
  };
  auto isCopyOfArgument = [](Value factor) {
    Operation *op = factor.getDefiningOp();
    return op && op->hasAttr(contiguousCopyAttr);
  };
  for (Group &group : groups) {
    if (!isConditional(group) || llvm::any_of(group.factors, isCopyOfArgument))
      continue;
    auto *host = llvm::find_if(groups, [&](const Group &other) {
      return &other != &group && !other.buffers.empty() &&
             !isConditional(other) &&
             keyOf(other.factors, false) == keyOf(group.factors, true);
    });
    if (host == groups.end())
      continue;
    Group both = joined(*host, group);
    if (bytesOf(pack(both)) >= bytesOf(pack(*host)) + bytesOf(pack(group)))
      continue;
    *host = both;
    group.buffers.clear();
  }
  llvm::erase_if(groups, [](const Group &g) { return g.buffers.empty(); });
}

static bool meet(const Group &a, const Group &b) {
  return llvm::any_of(a.buffers, [&](const SizedBuffer *one) {
    return llvm::any_of(b.buffers, [&](const SizedBuffer *other) {
      return one->life.meets(other->life);
    });
  });
}

std::vector<SharedArenas>
attn::cpu::placeBuffers(ArrayRef<SizedBuffer> buffers) {
  ValueNumbers numbers;
  SmallVector<Group> groups = groupsOf(buffers, numbers);
  joinConditional(groups, numbers);
  std::vector<SharedArenas> all;
  SmallVector<SmallVector<const Group *>> groupsAt;
  for (const Group &group : groups) {
    size_t at = 0;
    auto hasRoom = [&](ArrayRef<const Group *> others) {
      return llvm::none_of(others, [&](const Group *other) {
        return isConditional(*other) || meet(*other, group);
      });
    };
    while (at < all.size() && (isConditional(group) || !hasRoom(groupsAt[at])))
      ++at;
    if (at == all.size()) {
      all.emplace_back();
      groupsAt.emplace_back();
    }
    all[at].push_back(pack(group));
    groupsAt[at].push_back(&group);
  }
  return all;
}
