// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decoding: an instruction's name, modifiers and operands become an action. A
// modifier that no decoder takes is an error, so none is ignored in silence.
#ifndef ATTN_TOOLS_PTXSIM_DECODER_H
#define ATTN_TOOLS_PTXSIM_DECODER_H

#include "Machine.h"
#include "Numbers.h"
#include "llvm/ADT/StringMap.h"

namespace attn::ptx {

/// A result from sources that are extended to 64 bits as their types say.
using Compute = std::function<uint64_t(const uint64_t *)>;

class Decoder {
public:
  Decoder(const Entry &entry, const Instruction &instruction);

  // Modifiers. Each is taken once.
  bool take(llvm::StringRef name);
  /// The first of `names` that stands there, or an empty one.
  llvm::StringRef takeOneOf(llvm::ArrayRef<llvm::StringRef> names);
  /// The leftmost type that is not taken.
  Type takeType();
  Space takeSpace();
  unsigned takeVector();
  /// Caches, scopes and orders of memory. The latter are those of hardware;
  /// here each access is done before the next one.
  void takeHints();
  bool hasReal() const;

  // Operands.
  unsigned count() const { return instruction.operands.size(); }
  bool expectOperands(unsigned least, unsigned most);
  const Operand &operand(unsigned i) const { return instruction.operands[i]; }
  Source source(const Operand &operand, Type type);
  Source source(unsigned i, Type type) { return source(operand(i), type); }
  /// A register, or -1 for `_`.
  int destination(const Operand &operand);
  Address address(unsigned i);
  /// The elements of `{...}`, or the operand itself.
  llvm::ArrayRef<Operand> list(unsigned i) const;
  bool isPredicate(unsigned i) const;

  /// An action that computes operand 0 from the following ones, lane by lane.
  Action map(Type result, llvm::ArrayRef<Type> sources, Compute compute);

  /// The instruction waits for the lanes that `mask` names.
  void gather(const Source &mask) { members = mask; }
  const std::optional<Source> &gathered() const { return members; }

  Action fail(const llvm::Twine &what);
  /// The first thing that went wrong, a modifier that is left, or "".
  std::string error() const;

private:
  const Entry &entry;
  const Instruction &instruction;
  std::vector<bool> taken;
  std::optional<Source> members;
  std::string message;
};

using Decode = Action (*)(Decoder &);
using DecodeTable = llvm::StringMap<Decode>;

// One per file of instructions. Names that integers and floats share stand in
// both of the first two tables.
void addIntegerInstructions(DecodeTable &table);
void addRealInstructions(DecodeTable &table);
void addBitInstructions(DecodeTable &table);
void addConversions(DecodeTable &table);
void addComparisons(DecodeTable &table);
void addMoves(DecodeTable &table);
void addMemoryInstructions(DecodeTable &table);
void addAtomics(DecodeTable &table);
void addAsyncCopies(DecodeTable &table);
void addWarpInstructions(DecodeTable &table);
void addMatrixInstructions(DecodeTable &table);

/// Calls `function(lane)` for each.
template <typename Function> void forEachLane(uint32_t lanes, Function f) {
  for (unsigned lane = 0; lane < warpSize; ++lane)
    if (lanes >> lane & 1)
      f(lane);
}

/// Value of bytes in memory, the first one lowest.
Value load(Bytes bytes, unsigned count);
void store(Bytes bytes, unsigned count, Value value);

/// Ends with a fault unless all lanes of the warp take part.
bool requireAllLanes(Warp &warp, uint32_t lanes);

/// Completes the copies of all but the last `kept` groups of one thread.
void waitForCopies(Warp &warp, unsigned lane, size_t kept);
/// Does what a copy does, before it is waited for.
void performCopy(Block &block, AsyncCopy &copy);

} // namespace attn::ptx

#endif
