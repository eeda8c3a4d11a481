#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""edit_object.py OBJECT EDIT...: changes a BPF object in place, without compiling it again.

  pass=SECTION     the entry of that section passes every packet; the verifier walks three
                   instructions of it
  tag=SECTION      one more instruction in the entry, without effect: a different tag
  return0=FUNCTION  the function returns 0; the verifier walks three instructions of it
  word=OFFSET:VALUE  32 bits of .rodata

Instructions are inserted before the entry's first one. All references to an instruction by its offset
in the section are adjusted: relocations, symbols, and the records of .BTF.ext. Only return0 replaces the
first instructions of its function.
"""
import struct
import sys

XDP_PASS = 2


def returning(value):
    """The verifier knows r0, and never continues with the instructions that follow."""
    return struct.pack("<BBhi", 0xB7, 0, 0, value) + \
        struct.pack("<BBhi", 0x55, 0, 1, value) + \
        struct.pack("<BBhi", 0x95, 0, 0, 0)  # r0 = value; if r0 != value goto +1; exit


INSTRUCTIONS = {
    "pass": returning(XDP_PASS),
    "tag": struct.pack("<BBhi", 0xB7, 0, 0, 0),  # r0 = 0
}
SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
RELOCATION = struct.Struct("<QQ")
STT_FUNC = 2


class Object:
    """An ELF object of 64 bits, little-endian: its sections by name."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = bytearray(file.read())
        if self.data[:6] != b"\x7fELF\x02\x01":
            sys.exit(f"{path}: no ELF object of 64 bits, little-endian")
        self.headers_at = struct.unpack_from("<Q", self.data, 40)[0]
        count, names = struct.unpack_from("<HH", self.data, 60)
        self.index = {}
        for i in range(count):
            self.index[self.text(self.header(names)[4] + self.header(i)[0])] = i

    def text(self, at):
        """The string there, up to its NUL."""
        return self.data[at:self.data.index(0, at)].decode()

    def header(self, index):
        """Name, type, flags, address, offset, size, ..."""
        return SECTION_HEADER.unpack_from(self.data, self.headers_at + index * SECTION_HEADER.size)

    def place(self, name):
        """Offset and size of a section."""
        return self.header(self.index[name])[4:6]

    def records(self, name, record):
        """The offset and the members of each record of a section."""
        at, size = self.place(name)
        for offset in range(at, at + size, record.size):
            yield offset, record.unpack_from(self.data, offset)

    def prepend(self, name, code):
        """Inserts code before the code of a section."""
        at, size = self.place(name)
        grown = code + self.data[at:at + size]
        self.data += bytes(-len(self.data) % 8)
        header = list(self.header(self.index[name]))
        header[4:6] = [len(self.data), len(grown)]
        SECTION_HEADER.pack_into(self.data, self.headers_at + self.index[name] * SECTION_HEADER.size, *header)
        self.data += grown
        for offset, (where, info) in self.records(".rel" + name, RELOCATION):
            RELOCATION.pack_into(self.data, offset, where + len(code), info)
        for offset, symbol in self.records(".symtab", SYMBOL):
            self.move_symbol(offset, list(symbol), self.index[name], len(code))
        self.move_records(name, len(code))

    def return0(self, function):
        """Replaces the first instructions of a function, which no relocation may change."""
        code = returning(0)
        names = self.place(".strtab")[0]
        symbol = next((symbol for _, symbol in self.records(".symtab", SYMBOL)
                       if symbol[1] & 15 == STT_FUNC and self.text(names + symbol[0]) == function), None)
        if not symbol or symbol[5] < len(code):
            sys.exit(f"no function '{function}' of {len(code)} bytes or more")
        section = next(name for name, i in self.index.items() if i == symbol[3])
        for _, (where, _) in self.records(".rel" + section, RELOCATION):
            if 0 <= where - symbol[4] < len(code):
                sys.exit(f"{function}: a relocation is in its first instructions")
        at = self.place(section)[0] + symbol[4]
        self.data[at:at + len(code)] = code

    def move_symbol(self, offset, symbol, section, by):
        """The start of the function is unchanged, and it is longer; labels in it have larger offsets."""
        if symbol[3] != section:
            return
        if symbol[1] & 15 == STT_FUNC and symbol[4] == 0:
            symbol[5] += by
        elif symbol[4]:
            symbol[4] += by
        SYMBOL.pack_into(self.data, offset, *symbol)

    def move_records(self, name, by):
        """Adjusts records of functions, lines and relocations by BTF. The first of a function remains at its start."""
        strings = self.place(".BTF")[0]
        header_size, strings_at = struct.unpack_from("<I", self.data, strings + 4)[0], \
            struct.unpack_from("<I", self.data, strings + 16)[0]
        at = self.place(".BTF.ext")[0]
        length = struct.unpack_from("<I", self.data, at + 4)[0]
        for part in range(8, length, 8):
            offset, size = struct.unpack_from("<II", self.data, at + part)
            begin = at + length + offset
            if not size:
                continue
            record_size = struct.unpack_from("<I", self.data, begin)[0]
            position = begin + 4
            while position < begin + size:
                section, count = struct.unpack_from("<II", self.data, position)
                position += 8
                is_wanted = self.text(section + strings + header_size + strings_at) == name
                for record in range(position, position + count * record_size, record_size):
                    where = struct.unpack_from("<I", self.data, record)[0]
                    if is_wanted and where:
                        struct.pack_into("<I", self.data, record, where + by)
                position += count * record_size


def main(path, *edits):
    """Applies the edits in their order."""
    made = Object(path)
    for edit in edits:
        kind, value = edit.split("=", 1)
        if kind == "word":
            offset, word = value.split(":")
            struct.pack_into("<I", made.data, made.place(".rodata")[0] + int(offset), int(word, 0))
        elif kind == "return0":
            made.return0(value)
        else:
            made.prepend(value, INSTRUCTIONS[kind])
    with open(path, "wb") as file:
        file.write(made.data)


main(*sys.argv[1:])
