"""Reads a cubin independently of the linker: sections, and the attributes of one kernel."""
import struct

REGISTERS, BARRIERS, MAX_THREADS, SETS_REGISTERS, FRAME = 0x2F, 0x4C, 0x05, 0x54, 0x11


def sections(data):
    """Name → (type, flags, alignment, size, bytes, link, entry size) of a little-endian ELF64."""
    assert data[:5] == b"\x7fELF\x02", "no ELF64"
    offset, = struct.unpack_from("<Q", data, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
    names = data[headers[names_index][4]:][:headers[names_index][5]]
    table = {}
    for name, kind, _, _, at, length, link, _, align, entry in headers:
        text = names[name:names.index(b"\0", name)].decode()
        table[text] = {"type": kind, "align": align, "size": length, "link": link, "entry": entry,
                       "bytes": b"" if kind == 8 else data[at:at + length]}
    return table


def functions(data):
    """Names of all code symbols, by index."""
    table = sections(data)
    symbols, strings = table[".symtab"], table[".strtab"]["bytes"]
    found = {}
    for index in range(symbols["size"] // 24):
        name, info, _, _, _, _ = struct.unpack_from("<IBBHQQ", symbols["bytes"], index * 24)
        if info & 15 == 2:
            found[index] = strings[name:strings.index(b"\0", name)].decode()
    return found


def attributes(data):
    """(id, value) of an .nv.info section; a value is an integer or a tuple of words."""
    at, found = 0, []
    while at < len(data):
        form, number, value = struct.unpack_from("<BBH", data, at)
        at += 4
        if form == 4:
            found.append((number, struct.unpack_from(f"<{value // 4}I", data, at)))
            at += value
        else:
            found.append((number, value & 0xFF if form == 2 else value))
    return found


class Kernel:
    def __init__(self, data, name):
        self.name, table = name, sections(data)
        self.text = table[f".text.{name}"]["bytes"]
        self.functions = sorted(functions(data).values())
        self.sections = sorted(table)
        shared = table.get(f".nv.shared.{name}", {"size": 1024, "align": 0})
        self.shared_bytes, self.shared_align = shared["size"] - 1024, shared["align"]
        index = next(i for i, f in functions(data).items() if f == name)
        self.sets_registers, self.registers, self.barriers, self.threads, self.frame = False, 0, 0, 0, 0
        for section in (".nv.info", f".nv.info.{name}"):
            for number, value in attributes(table[section]["bytes"]) if section in table else []:
                of_kernel = isinstance(value, tuple) and value[0] == index
                if number == REGISTERS and of_kernel:
                    self.registers = value[1]
                elif number == FRAME and of_kernel:
                    self.frame = value[1]
                elif number == BARRIERS:
                    self.barriers = value & 0xFF
                elif number == MAX_THREADS:
                    self.threads = value[0] * value[1] * value[2]
                elif number == SETS_REGISTERS:
                    self.sets_registers = True
