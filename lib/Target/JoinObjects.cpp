// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What `ld -r` does, for objects that need little of it: sections are never
// merged (a linker merges those of one name), so that contents stay as they
// are, and only the numbers of sections and symbols change.
//
//   a.o: .text.f, .rela.text.f (hidden g), .symtab   .text.f, .rela.text.f,
//   b.o: .text.g (hidden g), .symtab             ->  .text.g,
//                                                    .symtab (g is local)
//
// Shared libraries and programs are linked from the result, too.
#include "JoinObjects.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/MC/StringTableBuilder.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/raw_ostream.h"

using namespace attn;
using llvm::ArrayRef;
using llvm::cantFail;
using llvm::StringRef;
using ELF = llvm::object::ELF64LE;
namespace elf = llvm::ELF;

namespace {
/// A section that the result keeps, with its relocations, if any.
struct Section {
  size_t part;
  ELF::Shdr header;
  StringRef name, contents;
  /// Where it stands: that of its function, or of the one in front of it.
  size_t rank;
  /// Its number in its part, and in the result.
  uint32_t oldIndex, index = 0;
  std::optional<ELF::Shdr> relocationHeader;
  StringRef relocationName;
  std::vector<ELF::Rela> relocations;
};

struct Symbol {
  StringRef name;
  ELF::Sym entry;
  size_t part;
  /// Its number in its part.
  size_t index;
};

class Joiner {
public:
  explicit Joiner(const llvm::StringMap<size_t> &functionOrder)
      : functionOrder(functionOrder), names(llvm::StringTableBuilder::ELF) {}

  void read(StringRef object);
  void write(llvm::SmallVectorImpl<char> &result);

private:
  using File = llvm::object::ELFFile<ELF>;
  void readSections(const File &file);
  void readSymbols(const File &file, const ELF::Shdr &table);
  void numberSections();
  void numberSymbols();
  uint32_t add(Symbol symbol);
  ELF::Shdr place(StringRef name, ELF::Shdr header, StringRef contents,
                  llvm::raw_ostream &out);
  void writeSection(Section &section, std::vector<ELF::Shdr> &headers,
                    llvm::raw_ostream &out);

  const llvm::StringMap<size_t> &functionOrder;
  std::optional<ELF::Ehdr> head;
  size_t parts = 0;
  std::vector<Section> sections;
  std::vector<Symbol> locals;
  /// By name; the definition where there is one.
  llvm::MapVector<StringRef, Symbol> globals;
  /// Of each part: numbers in the result.
  std::vector<std::vector<uint32_t>> sectionIndex, symbolIndex;
  /// Of each part: names of symbols that are not local.
  std::vector<std::vector<StringRef>> globalNames;
  std::vector<ELF::Sym> symbols;
  llvm::StringTableBuilder names;
  ELF::Shdr symbolHeader;
  uint32_t symbolTable = 0, firstGlobal = 0;
};
} // namespace

template <typename T> static StringRef bytes(ArrayRef<T> entries) {
  return {reinterpret_cast<const char *>(entries.data()),
          entries.size() * sizeof(T)};
}

/// What one part defines for the others.
static bool isShared(const Symbol &symbol) {
  return !symbol.entry.isUndefined() &&
         symbol.entry.getVisibility() == elf::STV_HIDDEN;
}

void Joiner::read(StringRef object) {
  File file = cantFail(File::create(object));
  if (!head)
    head = file.getHeader();
  auto headers = cantFail(file.sections());
  sectionIndex.emplace_back(headers.size());
  readSections(file);
  for (const ELF::Shdr &header : headers)
    if (header.sh_type == elf::SHT_SYMTAB)
      readSymbols(file, symbolHeader = header);
  ++parts;
}

void Joiner::readSections(const File &file) {
  auto headers = cantFail(file.sections());
  size_t first = sections.size(), rank = 0;
  for (auto [index, header] : llvm::enumerate(headers)) {
    if (llvm::is_contained(
            {elf::SHT_NULL, elf::SHT_STRTAB, elf::SHT_SYMTAB, elf::SHT_RELA},
            header.sh_type))
      continue;
    assert(header.sh_type != elf::SHT_GROUP &&
           header.sh_type != elf::SHT_SYMTAB_SHNDX &&
           !(header.sh_flags & elf::SHF_LINK_ORDER) && "cannot be joined");
    StringRef name = cantFail(file.getSectionName(header));
    // Each part has an empty .text and a note on the stack: one is enough.
    if (parts > 0 && header.sh_size == 0 &&
        llvm::any_of(sections, [&](auto &s) { return s.name == name; }))
      continue;
    StringRef function = name;
    if (function.consume_front(".text.") && functionOrder.contains(function))
      rank = functionOrder.lookup(function);
    sections.push_back(
        {parts, header, name, {}, rank, static_cast<uint32_t>(index)});
    if (header.sh_type != elf::SHT_NOBITS)
      sections.back().contents =
          llvm::toStringRef(cantFail(file.getSectionContents(header)));
  }
  for (const ELF::Shdr &header : headers) {
    if (header.sh_type != elf::SHT_RELA)
      continue;
    auto *of = std::find_if(
        sections.data() + first, sections.data() + sections.size(),
        [&](const Section &s) { return s.oldIndex == header.sh_info; });
    of->relocationHeader = header;
    of->relocationName = cantFail(file.getSectionName(header));
    auto entries = cantFail(file.relas(header));
    of->relocations.assign(entries.begin(), entries.end());
  }
}

void Joiner::readSymbols(const File &file, const ELF::Shdr &table) {
  StringRef strings = cantFail(file.getStringTableForSymtab(table));
  auto entries = cantFail(file.symbols(&table));
  symbolIndex.emplace_back(entries.size());
  globalNames.emplace_back(entries.size());
  for (size_t i = 1; i < entries.size(); ++i) {
    const ELF::Sym &entry = entries[i];
    StringRef name = cantFail(entry.getName(strings));
    Symbol symbol{name, entry, parts, i};
    if (entry.getBinding() == elf::STB_LOCAL) {
      if (parts == 0 || entry.getType() != elf::STT_FILE)
        locals.push_back(symbol);
      continue;
    }
    globalNames.back()[i] = name;
    auto [place, isNew] = globals.insert({name, symbol});
    if (!isNew && place->second.entry.isUndefined())
      place->second = symbol;
  }
}

void Joiner::numberSections() {
  llvm::sort(sections, [](const Section &a, const Section &b) {
    return std::tie(a.rank, a.part, a.oldIndex) <
           std::tie(b.rank, b.part, b.oldIndex);
  });
  uint32_t next = 1;
  for (Section &section : sections) {
    section.index = next;
    sectionIndex[section.part][section.oldIndex] = next;
    next += section.relocationHeader ? 2 : 1;
  }
  symbolTable = next;
}

uint32_t Joiner::add(Symbol symbol) {
  ELF::Sym &entry = symbol.entry;
  if (entry.st_shndx > 0 && entry.st_shndx < elf::SHN_LORESERVE)
    entry.st_shndx = sectionIndex[symbol.part][entry.st_shndx];
  entry.st_name = names.getOffset(symbol.name);
  symbols.push_back(entry);
  return symbols.size() - 1;
}

/// Local symbols come first.
void Joiner::numberSymbols() {
  symbols.push_back(ELF::Sym());
  for (const Symbol &symbol : locals)
    symbolIndex[symbol.part][symbol.index] = add(symbol);
  llvm::StringMap<uint32_t> numbers;
  for (auto &[name, symbol] : globals)
    if (isShared(symbol)) {
      Symbol local = symbol;
      local.entry.setBinding(elf::STB_LOCAL);
      local.entry.st_other = elf::STV_DEFAULT;
      numbers[name] = add(local);
    }
  firstGlobal = symbols.size();
  for (auto &[name, symbol] : globals)
    if (!isShared(symbol))
      numbers[name] = add(symbol);
  for (auto [part, uses] : llvm::enumerate(globalNames))
    for (auto [index, name] : llvm::enumerate(uses))
      if (!name.empty())
        symbolIndex[part][index] = numbers.lookup(name);
}

ELF::Shdr Joiner::place(StringRef name, ELF::Shdr header, StringRef contents,
                        llvm::raw_ostream &out) {
  out.write_zeros(llvm::offsetToAlignment(
      out.tell(), llvm::Align(std::max<uint64_t>(header.sh_addralign, 1))));
  header.sh_name = names.getOffset(name);
  header.sh_offset = out.tell();
  out << contents;
  return header;
}

/// The section's contents, then its relocations.
void Joiner::writeSection(Section &section, std::vector<ELF::Shdr> &headers,
                          llvm::raw_ostream &out) {
  headers.push_back(place(section.name, section.header, section.contents, out));
  if (!section.relocationHeader)
    return;
  bool isMips64 = false;
  for (ELF::Rela &relocation : section.relocations)
    relocation.setSymbol(
        symbolIndex[section.part][relocation.getSymbol(isMips64)], isMips64);
  ELF::Shdr header = *section.relocationHeader;
  header.sh_link = symbolTable;
  header.sh_info = section.index;
  headers.push_back(place(section.relocationName, header,
                          bytes<ELF::Rela>(section.relocations), out));
}

void Joiner::write(llvm::SmallVectorImpl<char> &result) {
  numberSections();
  for (const Section &section : sections) {
    names.add(section.name);
    names.add(section.relocationName);
  }
  for (const Symbol &symbol : locals)
    names.add(symbol.name);
  for (auto &[name, symbol] : globals)
    names.add(name);
  names.add(".symtab");
  names.add(".strtab");
  names.finalize();
  numberSymbols();

  llvm::raw_svector_ostream out(result);
  std::vector<ELF::Shdr> headers(1);
  out << bytes<ELF::Ehdr>(*head);
  for (Section &section : sections)
    writeSection(section, headers, out);
  ELF::Shdr table = symbolHeader, strings{};
  table.sh_link = symbolTable + 1;
  table.sh_info = firstGlobal;
  table.sh_size = symbols.size() * sizeof(ELF::Sym);
  headers.push_back(place(".symtab", table, bytes<ELF::Sym>(symbols), out));
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream textOut(text);
  names.write(textOut);
  strings.sh_type = elf::SHT_STRTAB;
  strings.sh_addralign = 1;
  strings.sh_size = text.size();
  headers.push_back(place(".strtab", strings, text, out));
  out.write_zeros(llvm::offsetToAlignment(out.tell(), llvm::Align(8)));

  head->e_shoff = out.tell();
  head->e_shnum = headers.size();
  head->e_shstrndx = symbolTable + 1;
  out << bytes<ELF::Shdr>(headers);
  memcpy(result.data(), &*head, sizeof(ELF::Ehdr));
}

void target::joinObjects(ArrayRef<StringRef> objects,
                         const llvm::StringMap<size_t> &functionOrder,
                         llvm::SmallVectorImpl<char> &result) {
  Joiner joiner(functionOrder);
  for (StringRef object : objects)
    joiner.read(object);
  joiner.write(result);
}
