// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The registers of 32 threads, and how they go through a kernel: those that
// are furthest behind run first, so that threads that part meet again, unless
// they wait for others of the warp.
#include "Machine.h"
#include "llvm/Support/MathExtras.h"
#include <tuple>

using namespace llvm;

namespace attn::ptx {

ArrayRef<StringLiteral> specialRegisters() {
  static constexpr StringLiteral names[] = {"%tid.x",
                                            "%tid.y",
                                            "%tid.z",
                                            "%ntid.x",
                                            "%ntid.y",
                                            "%ntid.z",
                                            "%ctaid.x",
                                            "%ctaid.y",
                                            "%ctaid.z",
                                            "%nctaid.x",
                                            "%nctaid.y",
                                            "%nctaid.z",
                                            "%laneid",
                                            "%warpid",
                                            "%nwarpid",
                                            "%lanemask_eq",
                                            "%lanemask_le",
                                            "%lanemask_lt",
                                            "%lanemask_ge",
                                            "%lanemask_gt",
                                            "%clock",
                                            "%clock64",
                                            "%smid",
                                            "%nsmid",
                                            "%dynamic_smem_size"};
  return names;
}

uint64_t extend(Type type, uint64_t bits) {
  unsigned width = type.kind == Type::Predicate ? 1 : type.bits * type.elements;
  if (type.isSigned())
    return SignExtend64(bits, width);
  return bits & maskTrailingOnes<uint64_t>(width);
}

Warp::Warp(Block &block, unsigned index)
    : block(block), index(index), copies(warpSize),
      values(block.device.entry.registers.size() * warpSize),
      known(values.size()) {
  unsigned threads = block.threads() - index * warpSize;
  present = alive = maskTrailingOnes<uint32_t>(std::min(threads, warpSize));
}

uint64_t Warp::special(int which, unsigned lane) const {
  auto thread = block.coordinates(threadOf(lane));
  const Launch &launch = block.device.launch;
  uint32_t below = (uint32_t(1) << lane) - 1, own = uint32_t(1) << lane;
  if (which < 12) {
    const std::array<uint32_t, 3> *sizes[] = {&thread, &launch.block,
                                              &block.index, &launch.grid};
    return (*sizes[which / 3])[which % 3];
  }
  const uint64_t rest[] = {lane,
                           index,
                           block.warps.size(),
                           own,
                           below | own,
                           below,
                           ~below,
                           ~(below | own),
                           block.device.executed,
                           block.device.executed,
                           0,
                           1,
                           launch.sharedBytes};
  return rest[which - 12];
}

Value Warp::read(const Source &source, unsigned lane) {
  Value value;
  if (source.kind == Operand::Register) {
    size_t place = source.index * warpSize + lane;
    value = {values[place], known[place]};
  } else {
    value.bits = source.kind == Operand::Special ? special(source.index, lane)
                                                 : source.value;
  }
  if (source.negated)
    value.bits = !value.bits;
  value.bits = extend(source.type, value.bits);
  return value;
}

/// A register wider than the type gets the value extended.
void Warp::write(int index, unsigned lane, Type type, Value value) {
  if (index < 0)
    return;
  size_t place = index * warpSize + lane;
  unsigned bits = block.device.entry.registers[index].bits;
  values[place] = extend(type, value.bits) & maskTrailingOnes<uint64_t>(bits);
  uint8_t own = maskTrailingOnes<uint8_t>(std::min(type.bytes(), 8u));
  known[place] = (value.known & own) == own ? 0xff : value.known & own;
}

uint64_t Warp::addressOf(Address address, unsigned lane) {
  if (address.base < 0)
    return address.offset;
  size_t place = address.base * warpSize + lane;
  unsigned bits = block.device.entry.registers[address.base].bits;
  uint8_t all = maskTrailingOnes<uint8_t>(bits / 8);
  if ((known[place] & all) != all)
    block.fail(*this, lane,
               "has an address that depends on what was never written");
  uint64_t sum = values[place] + address.offset;
  return bits == 32 ? uint32_t(sum) : sum;
}

/// Of `lanes`, those whose guard lets them.
uint32_t Warp::guarded(const Instruction &instruction, uint32_t lanes) {
  if (instruction.guard < 0)
    return lanes;
  uint32_t result = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if (!(lanes >> lane & 1))
      continue;
    size_t place = instruction.guard * warpSize + lane;
    if (!(known[place] & 1))
      block.fail(*this, lane,
                 "has a guard that depends on what was never written");
    bool holds = values[place] & 1;
    result |= uint32_t(holds != instruction.guardNegated) << lane;
  }
  return result;
}

void Warp::follow(const Instruction &instruction, uint32_t active,
                  uint32_t lanes) {
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if (!(active >> lane & 1))
      continue;
    bool taken = lanes >> lane & 1;
    if (taken && instruction.flow == Instruction::Branch)
      counters[lane] = instruction.target;
    else
      ++counters[lane];
    if (!taken || instruction.flow != Instruction::Return)
      continue;
    alive &= ~(uint32_t(1) << lane);
    if (!copies[lane].empty())
      block.fail(*this, lane,
                 "ends before its cp.async of line " +
                     Twine(copies[lane].firstLine()) + " has been waited for");
  }
}

/// The lanes that run next, and where they are. Where all wait for each other,
/// the first ones do.
size_t Warp::chooseLanes(uint32_t &active) {
  const std::vector<Instruction> &code = block.device.entry.instructions;
  size_t first = SIZE_MAX;
  uint32_t firstLanes = 0;
  for (size_t from = 0;;) {
    size_t counter = SIZE_MAX;
    active = 0;
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (!(alive >> lane & 1) || counters[lane] < from)
        continue;
      if (counters[lane] < counter) {
        counter = counters[lane];
        active = 0;
      }
      active |= uint32_t(counters[lane] == counter) << lane;
    }
    if (counter == SIZE_MAX) {
      active = firstLanes;
      return first;
    }
    if (active == alive || counter >= code.size() || !code[counter].members)
      return counter;
    unsigned lane = countr_zero(active);
    if (!(code[counter].members(*this, lane) & alive & ~active))
      return counter;
    if (first == SIZE_MAX)
      std::tie(first, firstLanes) = std::tie(counter, active);
    from = counter + 1;
  }
}

bool Warp::step() {
  if (!alive)
    return false;
  uint32_t active = 0;
  size_t counter = chooseLanes(active);
  Device &device = block.device;
  if (counter >= device.entry.instructions.size()) {
    block.fail("the kernel does not end with ret");
    return false;
  }
  const Instruction &instruction = device.entry.instructions[counter];
  block.current = &instruction;
  device.report.countInstruction(instruction);
  if (++device.executed > device.launch.limit)
    block.fail("more than " + Twine(device.launch.limit) +
               " instructions of warps; --limit allows more");
  uint32_t lanes = guarded(instruction, active);
  if (lanes && !block.failed())
    instruction.action(*this, lanes);
  follow(instruction, active, lanes);
  return true;
}

} // namespace attn::ptx
