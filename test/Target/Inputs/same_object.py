# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares two ELF objects of 64 bits: functions and data in order, their bytes, what each relocation means, and the symbols that are
seen from outside. Names of private data, numbers of symbols and the order of constants may differ."""
import struct
import sys

RELA, SYMTAB, NOBITS = 4, 2, 8
ALLOCATED, MERGED = 2, 16
SECTION_SYMBOL = 3


class Object:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        at, = struct.unpack_from("<Q", self.bytes, 0x28)
        count, strings = struct.unpack_from("<HH", self.bytes, 0x3C)
        self.headers = [struct.unpack_from("<IIQQQQIIQQ", self.bytes, at + 64 * i) for i in range(count)]
        self.data = [self.bytes[h[4]:h[4] + h[5]] if h[1] != NOBITS else b"" for h in self.headers]
        self.names = [self.text(strings, h[0]).replace(".rodata..L", ".rodata.") for h in self.headers]
        table, = (i for i, h in enumerate(self.headers) if h[1] == SYMTAB)
        symbols = [struct.unpack("<IBBHQQ", self.data[table][i:i + 24]) for i in range(0, len(self.data[table]), 24)]
        self.symbols = [(self.text(self.headers[table][6], s[0]), *s[1:]) for s in symbols]

    def text(self, strings, at):
        return self.data[strings][at:self.data[strings].index(b"\0", at)].decode()

    def target(self, symbol, kind, addend):
        """What a relocation means: a name, or a place in a section, or the bytes of a constant."""
        name, info, _, section, value, _ = self.symbols[symbol]
        if section == 0:
            return name, addend
        size = self.headers[section][9] if self.headers[section][2] & MERGED else self.headers[section][8]
        if self.names[section].startswith(".rodata.cst") or self.names[section] == ".rodata":
            # The processor adds the length of what follows the field, at most 8 bytes.
            at = value if info & 15 != SECTION_SYMBOL and self.headers[section][2] & MERGED else (value + addend + 8) // size * size
            return self.data[section][at:at + size], value + addend - at, kind
        return self.names[section], value + addend, kind

    def functions(self):
        """Name, bytes and relocations of what is loaded, but constants, which others refer to, and unwinding."""
        relocations = {}
        for header, data in zip(self.headers, self.data):
            if header[1] == RELA:
                relocations[header[7]] = [(at, *self.target(info >> 32, info & 0xFFFFFFFF, addend)) for at, info, addend in struct.iter_unpack("<QQq", data)]
        return [(name, header[8], data, relocations.get(i, [])) for i, (name, header, data) in enumerate(zip(self.names, self.headers, self.data))
                if header[2] & ALLOCATED and not header[2] & MERGED and data and name not in (".rodata", ".eh_frame")]

    def shown(self):
        return sorted((name, info, other, section and self.names[section], value, size)
                      for name, info, other, section, value, size in self.symbols if info >> 4)


def main():
    a, b = (Object(path) for path in sys.argv[1:])
    if a.shown() != b.shown():
        sys.exit(f"symbols differ: {a.shown()} {b.shown()}")
    names = [[f[0] for f in o.functions() if f[0].startswith(".text")] for o in (a, b)]
    if names[0] != names[1]:
        sys.exit(f"functions differ: {names}")
    for one, other in zip(sorted(a.functions()), sorted(b.functions())):
        if one != other:
            sys.exit(f"{one[0]} differs from {other[0]}")
    print(f"the same functions: {len(names[0])}")


main()
