// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Target/KernelModel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <tuple>

using namespace attn;
using namespace attn::target;

// NVIDIA, A100 Tensor Core GPU Architecture (2020): multiprocessors, boost
// clock, products per clock, 5120 bytes per clock of the level-2 cache for all;
// CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions"
// and "Shared Memory" (32 banks of 4 bytes), column 8.0. Packing two f32 into
// 16 bits is counted as the ALU's. Dao, FlashAttention-2 (arXiv:2307.08691,
// 2023): up to 73 % of the peak, forward.
// clang-format off
static constexpr GPUThroughput a100 = {
  "A100", /*multiprocessors=*/108, /*gigahertz=*/1.41, /*schedulers=*/4, /*tensorFlops=*/2048,
  /*fma=*/64, /*alu=*/64, /*special=*/16, /*doubles=*/32, /*sharedBytes=*/128, /*globalBytes=*/5120.0 / 108, /*reached=*/0.73,
};
// clang-format on

const GPUThroughput *target::throughputOf(llvm::StringRef target) {
  return target == "sm_80" ? &a100 : nullptr;
}

namespace {
/// Instructions that follow each other.
struct Piece {
  size_t begin, end;
  LoopMix mix;
  llvm::SmallVector<size_t, 2> next; ///< pieces
};

/// The pieces of a kernel, and the ways through them.
class Flow {
public:
  explicit Flow(const SassKernel &kernel);

  std::vector<LoopMix> loops();

private:
  void walk(size_t piece);
  LoopMix wayThrough(size_t header, size_t latch) const;
  size_t pieceAt(size_t instruction) const;
  bool isBack(size_t from, size_t to) const {
    return llvm::is_contained(backEdges, std::pair(from, to));
  }

  std::vector<Piece> pieces;
  std::vector<std::pair<size_t, size_t>> backEdges;
  enum State : uint8_t { New, Open, Done };
  std::vector<State> states;
  std::vector<size_t> order; ///< a piece behind all that follow it
};
} // namespace

static void add(LoopMix &mix, const SassInstruction &instruction) {
  ++mix.slots;
  mix.flops += instruction.flops;
  mix.unknown += instruction.name == "?";
  switch (instruction.unit) {
  case SassUnit::Tensor:
    ++mix.products;
    break;
  case SassUnit::FMA:
    ++mix.fma;
    break;
  case SassUnit::ALU:
    ++mix.alu;
    break;
  case SassUnit::Special:
    ++mix.special;
    break;
  case SassUnit::Double:
    ++mix.doubles;
    break;
  case SassUnit::Shared:
    mix.loadMatrix += instruction.name == "LDSM";
    mix.sharedBytes += instruction.bytes;
    break;
  case SassUnit::Copy:
    ++mix.copies;
    mix.sharedBytes += instruction.bytes;
    mix.globalBytes += instruction.bytes;
    break;
  case SassUnit::Global:
    mix.globalBytes += instruction.bytes;
    break;
  case SassUnit::Barrier:
    ++mix.barriers;
    break;
  case SassUnit::Other:
    mix.waits += instruction.name == "DEPBAR";
    break;
  case SassUnit::Control:
    break;
  }
}

static void add(LoopMix &sum, const LoopMix &mix) {
  for (auto field :
       {&LoopMix::slots, &LoopMix::products, &LoopMix::loadMatrix,
        &LoopMix::copies, &LoopMix::barriers, &LoopMix::waits, &LoopMix::flops,
        &LoopMix::fma, &LoopMix::alu, &LoopMix::special, &LoopMix::doubles,
        &LoopMix::sharedBytes, &LoopMix::globalBytes, &LoopMix::unknown})
    sum.*field += mix.*field;
}

/// Of two ways through a loop, the usual one: it leaves out no product, waits
/// for no more than it must (on a wrong guess keys are copied once more, behind
/// a wait for those that nobody reads), has all other copies, and is short.
static bool isMoreUsual(const LoopMix &a, const LoopMix &b) {
  auto key = [](const LoopMix &mix) {
    return std::tuple(-mix.flops, mix.barriers + mix.waits, -mix.copies,
                      mix.slots);
  };
  return key(a) < key(b);
}

Flow::Flow(const SassKernel &kernel) {
  const std::vector<SassInstruction> &code = kernel.code;
  std::vector<bool> begins(code.size() + 1, false);
  begins[0] = true;
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i].target && *code[i].target < code.size())
      begins[*code[i].target] = true;
    if (code[i].target || code[i].ends)
      begins[i + 1] = true;
  }
  for (size_t i = 0; i < code.size(); ++i) {
    if (begins[i])
      pieces.push_back({i, i, {}, {}});
    ++pieces.back().end;
    add(pieces.back().mix, code[i]);
  }
  for (auto [index, piece] : llvm::enumerate(pieces)) {
    const SassInstruction &last = code[piece.end - 1];
    if (!last.ends && index + 1 < pieces.size())
      piece.next.push_back(index + 1);
    if (last.target && *last.target < code.size())
      piece.next.push_back(pieceAt(*last.target));
  }
  states.assign(pieces.size(), New);
  if (!pieces.empty())
    walk(0);
}

size_t Flow::pieceAt(size_t instruction) const {
  auto behind =
      llvm::upper_bound(pieces, instruction, [](size_t at, const Piece &piece) {
        return at < piece.begin;
      });
  return behind - pieces.begin() - 1;
}

void Flow::walk(size_t first) {
  std::vector<std::pair<size_t, size_t>> path{{first, 0}};
  states[first] = Open;
  while (!path.empty()) {
    auto &[piece, edge] = path.back();
    if (edge == pieces[piece].next.size()) {
      states[piece] = Done;
      order.push_back(piece);
      path.pop_back();
      continue;
    }
    size_t next = pieces[piece].next[edge++];
    if (states[next] == Open)
      backEdges.emplace_back(piece, next);
    if (states[next] != New)
      continue;
    states[next] = Open;
    path.emplace_back(next, 0);
  }
}

/// The usual way from the header to the end of a turn, without going round in
/// loops inside. No slots: there is none.
LoopMix Flow::wayThrough(size_t header, size_t latch) const {
  std::vector<LoopMix> best(pieces.size());
  for (size_t piece : order) { // what follows a piece stands in front of it
    LoopMix &way = best[piece];
    for (size_t next : pieces[piece].next)
      if (piece != latch && next != header && !isBack(piece, next) &&
          best[next].slots && (!way.slots || isMoreUsual(best[next], way)))
        way = best[next];
    if (way.slots || piece == latch)
      add(way, pieces[piece].mix);
  }
  return best[header];
}

std::vector<LoopMix> Flow::loops() {
  std::vector<LoopMix> found;
  for (auto [latch, header] : backEdges) {
    LoopMix way = wayThrough(header, latch);
    if (!way.slots)
      continue;
    way.first = pieces[header].begin;
    way.last = pieces[latch].end - 1;
    auto same = llvm::find_if(
        found, [&](const LoopMix &mix) { return mix.first == way.first; });
    if (same == found.end())
      found.push_back(way);
    else if (isMoreUsual(way, *same))
      *same = way;
  }
  return found;
}

std::vector<LoopMix> target::loopsOf(const SassKernel &kernel) {
  std::vector<LoopMix> all = Flow(kernel).loops();
  bool multiplies =
      llvm::any_of(kernel.code, [](const SassInstruction &instruction) {
        return instruction.unit == SassUnit::Tensor;
      });
  // Behind the question whether there was a NaN stands what nearly no block
  // does.
  auto question =
      llvm::find_if(kernel.code, [](const SassInstruction &instruction) {
        return instruction.name == "BAR.RED";
      });
  size_t usual = question - kernel.code.begin();
  std::vector<LoopMix> loops;
  for (const LoopMix &mix : all) {
    if (mix.first > usual)
      continue;
    bool hasOther = llvm::any_of(all, [&](const LoopMix &other) {
      return other.first > mix.first && other.last <= mix.last &&
             (other.products > 0) == multiplies;
    });
    if ((mix.products > 0) == multiplies && !hasOther)
      loops.push_back(mix);
  }
  llvm::sort(loops, [](const LoopMix &a, const LoopMix &b) {
    return std::pair(a.slots - a.products, a.first) <
           std::pair(b.slots - b.products, b.first);
  });
  return loops;
}

LoopBound target::boundOf(const LoopMix &mix, int64_t warps,
                          const GPUThroughput &chip) {
  auto clocks = [&](int64_t work, double perClock) {
    return static_cast<double>(work * warps) / perClock;
  };
  constexpr int64_t lanes = 32;
  LoopBound bound;
  bound.issue = clocks(mix.slots, static_cast<double>(chip.schedulers));
  bound.tensor = clocks(mix.flops, static_cast<double>(chip.tensorFlops));
  bound.fma = clocks(mix.fma * lanes, static_cast<double>(chip.fma));
  bound.alu = clocks(mix.alu * lanes, static_cast<double>(chip.alu));
  bound.special =
      clocks(mix.special * lanes, static_cast<double>(chip.special));
  bound.shared = clocks(mix.sharedBytes, static_cast<double>(chip.sharedBytes));
  bound.global = clocks(mix.globalBytes, chip.globalBytes);
  bound.clocks = 0;
  for (auto [name, time] :
       {std::pair<llvm::StringRef, double>("tensor cores", bound.tensor),
        {"issue slots", bound.issue},
        {"shared memory", bound.shared},
        {"exp2 and its kind", bound.special},
        {"f32 arithmetic", bound.fma},
        {"integers and comparisons", bound.alu},
        {"the level-2 cache", bound.global}})
    if (time > bound.clocks)
      std::tie(bound.by, bound.clocks) = std::tie(name, time);
  return bound;
}

int64_t target::countOf(const SassKernel &kernel, llvm::StringRef name) {
  return llvm::count_if(kernel.code, [&](const SassInstruction &instruction) {
    return instruction.name == name;
  });
}
