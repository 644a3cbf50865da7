// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "attn/Target/Sass.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace attn;
using namespace attn::target;
using llvm::StringRef;

namespace {
struct Opcode {
  uint16_t bits; // the low 9
  StringRef name;
  SassUnit unit;
};
} // namespace

using U = SassUnit;
// clang-format off
static constexpr Opcode opcodes[] = {
  {0x03c, "HMMA", U::Tensor}, {0x037, "IMMA", U::Tensor}, {0x03f, "DMMA", U::Tensor},
  {0x020, "FMUL", U::FMA}, {0x021, "FADD", U::FMA}, {0x023, "FFMA", U::FMA}, {0x022, "FSWZADD", U::FMA}, {0x024, "IMAD", U::FMA}, {0x025, "IMAD.WIDE", U::FMA},
  {0x027, "IMAD.HI", U::FMA}, {0x030, "HADD2", U::FMA}, {0x031, "HFMA2", U::FMA}, {0x035, "HFMA2", U::FMA}, {0x032, "HMUL2", U::FMA},
  {0x002, "MOV", U::ALU}, {0x003, "P2R", U::ALU}, {0x004, "R2P", U::ALU}, {0x005, "CS2R", U::ALU}, {0x007, "SEL", U::ALU}, {0x008, "FSEL", U::ALU},
  {0x009, "FMNMX", U::ALU}, {0x00a, "FSET", U::ALU}, {0x00b, "FSETP", U::ALU}, {0x00c, "ISETP", U::ALU}, {0x010, "IADD3", U::ALU}, {0x011, "LEA", U::ALU},
  {0x012, "LOP3", U::ALU}, {0x013, "IABS", U::ALU}, {0x016, "PRMT", U::ALU}, {0x017, "IMNMX", U::ALU}, {0x019, "SHF", U::ALU}, {0x01a, "SGXT", U::ALU}, {0x01c, "PLOP3", U::ALU},
  {0x033, "HSET2", U::ALU}, {0x034, "HSETP2", U::ALU}, {0x03e, "F2FP", U::ALU}, {0x040, "HMNMX2", U::ALU}, {0x006, "VOTE", U::ALU},
  {0x100, "FLO", U::Special}, {0x101, "BREV", U::Special}, {0x102, "FCHK", U::Special}, {0x104, "F2F", U::Special}, {0x105, "F2I", U::Special},
  {0x106, "I2F", U::Special}, {0x107, "FRND", U::Special}, {0x108, "MUFU", U::Special}, {0x109, "POPC", U::Special},
  {0x110, "F2F.64", U::Special}, {0x111, "F2I.64", U::Special}, {0x112, "I2F.64", U::Special}, {0x113, "FRND.64", U::Special},
  {0x028, "DMUL", U::Double}, {0x029, "DADD", U::Double}, {0x02a, "DSETP", U::Double}, {0x02b, "DFMA", U::Double},
  {0x03b, "LDSM", U::Shared}, {0x184, "LDS", U::Shared}, {0x188, "STS", U::Shared}, {0x18c, "ATOMS", U::Shared}, {0x189, "SHFL", U::Shared},
  {0x180, "LD", U::Global}, {0x181, "LDG", U::Global}, {0x183, "LDL", U::Global}, {0x185, "ST", U::Global}, {0x186, "STG", U::Global}, {0x187, "STL", U::Global},
  {0x18a, "ATOM", U::Global}, {0x18e, "RED", U::Global}, {0x1a8, "ATOMG", U::Global}, {0x1ae, "LDGSTS", U::Copy},
  {0x11d, "BAR", U::Barrier},
  {0x141, "BSYNC", U::Control}, {0x142, "BREAK", U::Control}, {0x144, "CALL", U::Control}, {0x145, "BSSY", U::Control}, {0x147, "BRA", U::Control},
  {0x148, "WARPSYNC", U::Control}, {0x149, "BRX", U::Control}, {0x14a, "JMP", U::Control}, {0x14d, "EXIT", U::Control}, {0x150, "RET", U::Control},
  {0x158, "BRX", U::Control}, {0x15b, "KILL", U::Control}, {0x15c, "BPT", U::Control},
  {0x118, "NOP", U::Other}, {0x119, "S2R", U::Other}, {0x11a, "DEPBAR", U::Other}, {0x1af, "LDGDEPBAR", U::Other}, {0x1c3, "S2UR", U::Other},
  {0x182, "LDC", U::Other}, {0x0b9, "ULDC", U::Other}, {0x1c2, "R2UR", U::Other}, {0x192, "MEMBAR", U::Other}, {0x1ab, "ERRBAR", U::Other},
  {0x18f, "CCTL", U::Other}, {0x1c4, "REDUX", U::Other}, {0x1a1, "MATCH", U::Other}, {0x146, "YIELD", U::Other}, {0x15d, "NANOSLEEP", U::Other},
  {0x155, "BMOV", U::Other}, {0x11c, "B2R", U::Other}, {0x156, "BMOV", U::Other}, {0x157, "BMOV", U::Other}, {0x086, "VOTEU", U::Other},
  {0x082, "UMOV", U::Other}, {0x087, "USEL", U::Other}, {0x08c, "UISETP", U::Other}, {0x090, "UIADD3", U::Other}, {0x091, "ULEA", U::Other},
  {0x092, "ULOP3", U::Other}, {0x096, "UPRMT", U::Other}, {0x099, "USHF", U::Other}, {0x09c, "UPLOP3", U::Other}, {0x0a4, "UIMAD", U::Other},
  {0x0a5, "UIMAD.WIDE", U::Other}, {0x0a7, "UIMAD.HI", U::Other}, {0x0bd, "UFLO", U::Other}, {0x0bf, "UPOPC", U::Other},
};
// clang-format on

static constexpr int64_t instructionBytes = 16, warpThreads = 32;

namespace {
/// The 128 bits of an instruction.
struct Word {
  uint64_t low, high;

  uint64_t bits(unsigned from, unsigned count) const {
    uint64_t value = from >= 64 ? high >> (from - 64) : low >> from;
    if (from < 64 && from + count > 64)
      value |= high << (64 - from);
    return value & llvm::maskTrailingOnes<uint64_t>(count);
  }
  /// Whether it is executed in any case: the guard is the predicate that always
  /// holds.
  bool isUnguarded() const { return bits(12, 4) == 7; }
};
} // namespace

static const Opcode *find(uint64_t bits) {
  static const auto table = [] {
    std::vector<const Opcode *> all(512, nullptr);
    for (const Opcode &opcode : opcodes)
      all[opcode.bits] = &opcode;
    return all;
  }();
  return table[bits];
}

/// Bytes of a thread that a load or store of memory moves.
static int64_t bytesOf(const Word &word) {
  static constexpr int64_t sizes[] = {1, 1, 2, 2, 4, 8, 16, 16};
  return sizes[word.bits(73, 3)];
}

/// Operations of HMMA: 16 rows and 8 columns in steps of 4, 8 or 16.
static int64_t productFlops(const Word &word) {
  bool isTF32 = word.bits(76, 2) == 3;
  bool isLong = word.bits(75, 1);
  int64_t depth = isTF32 ? (isLong ? 8 : 4) : (isLong ? 16 : 8);
  return 2 * 16 * 8 * depth;
}

static SassInstruction decode(const Word &word, size_t place, size_t count) {
  SassInstruction result;
  const Opcode *opcode = find(word.bits(0, 9));
  if (!opcode) {
    result.name = "?";
    return result;
  }
  result.name = opcode->name;
  result.unit = opcode->unit;
  switch (opcode->unit) {
  case SassUnit::Tensor:
    result.flops = productFlops(word);
    break;
  case SassUnit::Shared:
    result.bytes =
        warpThreads * (opcode->name == "LDSM"   ? int64_t(4) << word.bits(72, 2)
                       : opcode->name == "SHFL" ? 4
                                                : bytesOf(word));
    break;
  case SassUnit::Global:
  case SassUnit::Copy:
    result.bytes = warpThreads * bytesOf(word);
    break;
  case SassUnit::Control:
    result.ends = word.isUnguarded() &&
                  (opcode->name == "BRA" || opcode->name == "EXIT" ||
                   opcode->name == "RET" || opcode->name == "BRX" ||
                   opcode->name == "JMP");
    break;
  case SassUnit::Barrier:
    if (word.bits(72, 8)) // joins predicates
      result.name = "BAR.RED";
    break;
  default:
    break;
  }
  if (opcode->name != "BRA")
    return result;
  int64_t offset = llvm::SignExtend64<50>(word.bits(32, 50));
  int64_t target = static_cast<int64_t>(place) + 1 + offset / instructionBytes;
  if (target >= 0 && target < static_cast<int64_t>(count))
    result.target = target;
  result.ends &= word.bits(87, 4) == 7; // a second guard
  return result;
}

static std::vector<SassInstruction> decodeAll(llvm::ArrayRef<uint8_t> bytes) {
  std::vector<SassInstruction> code;
  size_t count = bytes.size() / instructionBytes;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t *at = bytes.data() + i * instructionBytes;
    Word word{llvm::support::endian::read64le(at),
              llvm::support::endian::read64le(at + 8)};
    code.push_back(decode(word, i, count));
  }
  // What aligns the end: a branch to itself, and what is never executed.
  while (!code.empty() &&
         (code.back().name == "NOP" || code.back().target == code.size() - 1))
    code.pop_back();
  return code;
}

llvm::Expected<std::vector<SassKernel>> target::readCubin(StringRef cubin) {
  using File = llvm::object::ELFFile<llvm::object::ELF64LE>;
  llvm::Expected<File> file = File::create(cubin);
  if (!file)
    return file.takeError();
  auto sections = file->sections();
  if (!sections)
    return sections.takeError();
  std::vector<SassKernel> kernels;
  for (const auto &section : *sections) {
    llvm::Expected<StringRef> name = file->getSectionName(section);
    if (!name)
      return name.takeError();
    if (!name->consume_front(".text."))
      continue;
    auto contents = file->getSectionContents(section);
    if (!contents)
      return contents.takeError();
    kernels.push_back({name->str(), decodeAll(*contents)});
  }
  llvm::sort(kernels, [](const SassKernel &a, const SassKernel &b) {
    return a.name < b.name;
  });
  return kernels;
}
