// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Decoder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace attn::ptx {

Decoder::Decoder(const Entry &entry, const Instruction &instruction)
    : entry(entry), instruction(instruction),
      taken(instruction.modifiers.size(), false) {}

bool Decoder::take(StringRef name) {
  for (auto [i, modifier] : enumerate(instruction.modifiers))
    if (!taken[i] && modifier == name)
      return taken[i] = true;
  return false;
}

StringRef Decoder::takeOneOf(ArrayRef<StringRef> names) {
  for (StringRef name : names)
    if (take(name))
      return name;
  return "";
}

Type Decoder::takeType() {
  for (auto [i, modifier] : enumerate(instruction.modifiers))
    if (!taken[i])
      if (std::optional<Type> type = parseType(modifier)) {
        taken[i] = true;
        return *type;
      }
  fail("'" + instruction.opcode + "' lacks a type");
  return {};
}

bool Decoder::hasReal() const {
  return any_of(instruction.modifiers, [](StringRef modifier) {
    std::optional<Type> type = parseType(modifier);
    return type && type->isReal();
  });
}

Space Decoder::takeSpace() {
  if (take("global"))
    return Space::Global;
  if (take("shared") || take("shared::cta"))
    return Space::Shared;
  if (take("local"))
    return Space::Local;
  if (take("param") || take("param::entry"))
    return Space::Param;
  return take("const") ? Space::Const : Space::Generic;
}

unsigned Decoder::takeVector() { return take("v2") ? 2 : take("v4") ? 4 : 1; }

void Decoder::takeHints() {
  takeOneOf({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  takeOneOf({"weak", "volatile", "relaxed", "acquire", "release", "acq_rel"});
  takeOneOf({"cta", "cluster", "gpu", "sys"});
  take("nc");
  for (auto [i, modifier] : enumerate(instruction.modifiers))
    if (StringRef(modifier).starts_with("L1::") ||
        (StringRef(modifier).starts_with("L2::") &&
         modifier != "L2::cache_hint"))
      taken[i] = true;
}

bool Decoder::expectOperands(unsigned least, unsigned most) {
  if (count() >= least && count() <= most)
    return true;
  fail("'" + instruction.opcode + "' has " + Twine(count()) +
       " operands, expected " + Twine(least) +
       (most > least ? " to " + Twine(most).str() : ""));
  return false;
}

Source Decoder::source(const Operand &operand, Type type) {
  Source source{operand.kind, operand.index, operand.negated, operand.value,
                type};
  switch (operand.kind) {
  case Operand::Register:
  case Operand::Special:
  case Operand::Immediate:
    break;
  case Operand::Real:
    source.kind = Operand::Immediate;
    source.value = bitsOf(type.element(), operand.real);
    break;
  default:
    fail("a register or a number is expected as source");
  }
  return source;
}

int Decoder::destination(const Operand &operand) {
  if (operand.kind == Operand::Register)
    return operand.index;
  if (operand.kind != Operand::Sink)
    fail("a register is expected as destination");
  return -1;
}

Address Decoder::address(unsigned i) {
  if (operand(i).kind != Operand::Address)
    fail("operand " + Twine(i + 1) + " is no address");
  return {operand(i).index, operand(i).value};
}

ArrayRef<Operand> Decoder::list(unsigned i) const {
  if (operand(i).kind == Operand::List)
    return operand(i).elements;
  return operand(i);
}

bool Decoder::isPredicate(unsigned i) const {
  return operand(i).kind == Operand::Register &&
         entry.registers[operand(i).index].bits == 1;
}

Action Decoder::map(Type result, ArrayRef<Type> types, Compute compute) {
  if (!expectOperands(types.size() + 1, types.size() + 1))
    return {};
  int to = destination(operand(0));
  SmallVector<Source, 4> sources;
  for (auto [i, type] : enumerate(types))
    sources.push_back(source(i + 1, type));
  return [=](Warp &warp, uint32_t lanes) {
    forEachLane(lanes, [&](unsigned lane) {
      std::array<uint64_t, 4> inputs;
      Value value;
      for (auto [i, from] : enumerate(sources)) {
        Value input = warp.read(from, lane);
        uint8_t all = maskTrailingOnes<uint8_t>(from.type.bytes());
        inputs[i] = input.bits;
        value.known = (input.known & all) == all ? value.known : 0;
      }
      value.bits = compute(inputs.data());
      warp.write(to, lane, result, value);
    });
  };
}

Action Decoder::fail(const Twine &what) {
  if (message.empty())
    message = what.str();
  return {};
}

std::string Decoder::error() const {
  if (!message.empty())
    return message;
  for (auto [i, modifier] : enumerate(instruction.modifiers))
    if (!taken[i])
      return "'." + modifier + "' of '" + instruction.opcode +
             "' is not supported";
  return "";
}

Value load(Bytes bytes, unsigned count) {
  Value value{0, 0};
  for (unsigned i = 0; i < count; ++i) {
    value.bits |= uint64_t(bytes.data[i]) << (8 * i);
    value.known |= (bytes.known[i] != 0) << i;
  }
  return value;
}

void store(Bytes bytes, unsigned count, Value value) {
  for (unsigned i = 0; i < count; ++i) {
    bytes.data[i] = value.bits >> (8 * i);
    bytes.known[i] = value.known >> i & 1;
  }
}

bool requireAllLanes(Warp &warp, uint32_t lanes) {
  if (lanes == warp.present)
    return true;
  warp.block.fail("not all threads of warp " + Twine(warp.index) +
                  " execute it together");
  return false;
}

static Action doNothing(Decoder &decoder) {
  for (StringRef hint :
       {"proxy", "async", "acq_rel", "sc", "cta", "gpu", "sys", "gl", "u32",
        "global", "L1", "L2", "evict_last", "evict_normal"})
    decoder.take(hint);
  return [](Warp &, uint32_t) {};
}

/// `bra` and `ret` are steps of the warp itself.
static Action decodeFlow(Decoder &decoder) {
  decoder.take("uni");
  return [](Warp &, uint32_t) {};
}

static Action decodeTrap(Decoder &) {
  return [](Warp &warp, uint32_t lanes) {
    warp.block.fail(warp, countr_zero(lanes), "the kernel traps");
  };
}

static DecodeTable makeCommonTable() {
  DecodeTable table;
  addBitInstructions(table);
  addConversions(table);
  addComparisons(table);
  addMoves(table);
  addMemoryInstructions(table);
  addAtomics(table);
  addAsyncCopies(table);
  addWarpInstructions(table);
  addMatrixInstructions(table);
  for (StringRef name :
       {"membar", "fence", "prefetch", "prefetchu", "nanosleep"})
    table[name] = doNothing;
  for (StringRef name : {"bra", "ret", "exit"})
    table[name] = decodeFlow;
  table["trap"] = decodeTrap;
  return table;
}

static Decode findDecoder(const Decoder &decoder, StringRef opcode) {
  static const DecodeTable common = makeCommonTable();
  static const DecodeTable integers = [] {
    DecodeTable table;
    addIntegerInstructions(table);
    return table;
  }();
  static const DecodeTable reals = [] {
    DecodeTable table;
    addRealInstructions(table);
    return table;
  }();
  if (Decode found = common.lookup(opcode))
    return found;
  return (decoder.hasReal() ? reals : integers).lookup(opcode);
}

/// Branches and returns, which change where a lane goes on.
static void decodeNext(Instruction &instruction, Decoder &decoder) {
  if (instruction.opcode == "ret" || instruction.opcode == "exit")
    instruction.flow = Instruction::Return;
  if (instruction.opcode != "bra")
    return;
  instruction.flow = Instruction::Branch;
  if (decoder.expectOperands(1, 1) && decoder.operand(0).kind != Operand::Label)
    decoder.fail("expected a label");
}

Error decode(const Module &module, Entry &entry) {
  for (Instruction &instruction : entry.instructions) {
    Decoder decoder(entry, instruction);
    std::string error;
    if (Decode decode = findDecoder(decoder, instruction.opcode)) {
      instruction.action = decode(decoder);
      if (std::optional<Source> mask = decoder.gathered())
        instruction.members = [mask = *mask](Warp &warp, unsigned lane) {
          return warp.read(mask, lane).bits & warp.present;
        };
      decodeNext(instruction, decoder);
      error = decoder.error();
    } else {
      error = "'" + instruction.opcode + "' is not supported";
    }
    if (!error.empty())
      return createStringError(module.file + ":" + Twine(instruction.line) +
                               ": error: " + error + ": " + instruction.text);
  }
  return Error::success();
}

} // namespace attn::ptx
