// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A PTX file as it is after parsing, and after decoding what its instructions
// do.
#ifndef ATTN_TOOLS_PTXSIM_PROGRAM_H
#define ATTN_TOOLS_PTXSIM_PROGRAM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace attn::ptx {

class Warp;

enum class Space { Generic, Global, Shared, Local, Param, Const };

/// Where the state spaces lie among generic addresses. Global addresses are
/// generic ones, and no two allocations share 4 GiB.
constexpr uint64_t sharedWindow = 0x100'0000'0000;
constexpr uint64_t localWindow = 0x200'0000'0000;
constexpr uint64_t paramWindow = 0x300'0000'0000;
constexpr uint64_t constWindow = 0x400'0000'0000;
constexpr uint64_t globalWindow = 0x500'0000'0000;
/// Where in shared memory that begins whose size the launch gives.
constexpr uint64_t dynamicShared = 0x10'0000;
constexpr uint64_t windowBytes = 0x1'0000'0000;

constexpr unsigned warpSize = 32;
constexpr uint32_t allLanes = 0xffffffff;

struct Type {
  enum Kind { Bits, Unsigned, Signed, Float, BFloat, TFloat, Predicate };
  Kind kind = Bits;
  unsigned bits = 32;    // of one element
  unsigned elements = 1; // 2 of f16x2

  bool isReal() const {
    return kind == Float || kind == BFloat || kind == TFloat;
  }
  bool isSigned() const { return kind == Signed; }
  unsigned bytes() const { return kind == Predicate ? 1 : bits * elements / 8; }
  Type element() const { return {kind, bits, 1}; }
};
constexpr Type b32{Type::Bits, 32};
constexpr Type u32{Type::Unsigned, 32};
constexpr Type f32{Type::Float, 32};
constexpr Type predicate{Type::Predicate, 1};
std::optional<Type> parseType(llvm::StringRef name);

struct Operand {
  enum Kind { Sink, Register, Immediate, Real, Special, Address, List, Label };
  Kind kind = Sink;
  /// A register, a special register, an address's base or -1, a label's
  /// instruction.
  int index = -1;
  int second = -1; // q of p|q
  bool negated = false;
  uint64_t value = 0; // an immediate's bits, an address's offset
  double real = 0;
  std::vector<Operand> elements;
};

/// Executes an instruction for these lanes of a warp.
using Action = std::function<void(Warp &, uint32_t lanes)>;

struct Instruction {
  enum Flow { Next, Branch, Return };

  unsigned line = 0;
  std::string text;
  std::string opcode;
  std::vector<std::string> modifiers;
  std::vector<Operand> operands;
  int guard = -1;
  bool guardNegated = false;

  Flow flow = Next;
  size_t target = 0;
  Action action;
  /// Of one that waits until others of the warp are there: the lanes, as this
  /// one names them.
  std::function<uint32_t(Warp &, unsigned lane)> members;
};

struct Register {
  std::string name;
  unsigned bits;
};

struct Parameter {
  std::string name;
  uint64_t offset, bytes;
};

struct Variable {
  std::string name;
  Space space;
  uint64_t offset, bytes;
  std::vector<uint8_t> initial; // of global and constant ones
};

struct Entry {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<Register> registers;
  std::vector<Instruction> instructions;
  uint64_t parameterBytes = 0, localBytes = 0;
  uint64_t sharedBytes = 0; // without what the launch adds
  std::array<uint32_t, 3> required = {0, 0, 0}, maximum = {0, 0, 0};
};

struct Module {
  std::string file;
  std::string target;
  std::vector<Variable> variables;
  std::vector<Entry> entries;
};

/// Messages begin with the file and the line.
llvm::Expected<Module> parseModule(llvm::StringRef text, llvm::StringRef file);

/// Decodes all instructions, so that none is met that is not known.
llvm::Error decode(const Module &module, Entry &entry);

/// Special registers, in the order of `Operand::index`.
llvm::ArrayRef<llvm::StringLiteral> specialRegisters();

} // namespace attn::ptx

#endif
