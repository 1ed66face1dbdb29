#!/usr/bin/env python3
"""Writes covtune/_tables.py: the structs, enumerations and functions of the public headers, for ctypes.

    python3 generate.py CC INCLUDE OUT [--check PROGRAM]

The headers are expanded by the C compiler, and their declarations are parsed here. Nothing is written by hand, so
nothing can differ from the headers. --check compiles a program that prints sizes and offsets of every struct and
compares them with those of ctypes.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BASE = {
    "int": "c_int", "unsigned": "c_uint", "unsigned int": "c_uint", "char": "c_char", "double": "c_double",
    "float": "c_float", "size_t": "c_size_t", "int8_t": "c_int8", "uint8_t": "c_uint8", "int32_t": "c_int32",
    "uint32_t": "c_uint32", "int64_t": "c_int64", "uint64_t": "c_uint64", "long": "c_long",
}
TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)'|\.\.\.|<<|>>|[{}()\[\];,*=+\-/~|&<>:!?%^.]")


def expand(cc, include):
    """The declarations of covtune's headers, without those of the system."""
    with tempfile.NamedTemporaryFile("w", suffix=".c") as file:
        file.write("#include <covtune/covtune.h>\n")
        file.flush()
        text = subprocess.run([*cc.split(), "-E", f"-I{include}", file.name], check=True, capture_output=True,
                              text=True).stdout
    lines, ours = [], False
    for line in text.splitlines():
        mark = re.match(r'# \d+ "([^"]*)"', line)
        if mark:
            ours = "/covtune/" in mark.group(1)
        elif ours:
            lines.append(line)
    return re.sub(r"__attribute__\s*\(\(.*?\)\)(?=\s*;)", "", "\n".join(lines))


def macros(cc, include):
    """Macros of covtune's headers that are whole numbers."""
    def defined(text):
        return dict(re.findall(r"^#define (CT_\w+) (.+)$", subprocess.run(
            [*cc.split(), "-E", "-dM", f"-I{include}", "-x", "c", "-"], input=text, check=True, capture_output=True,
            text=True).stdout, re.M))
    return {name: int(value) for name, value in defined("#include <covtune/covtune.h>\n").items()
            if re.fullmatch(r"\d+", value.strip())}


class Parser:
    def __init__(self, text):
        self.tokens = TOKEN.findall(text)
        self.at = 0
        self.enums, self.constants, self.structs, self.opaque = {}, {}, {}, set()
        self.aliases, self.functions, self.objects, self.unions = {}, {}, {}, set()

    # ---- tokens

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ""

    def take(self, want=None):
        token = self.peek()
        if want is not None and token != want:
            where = " ".join(self.tokens[max(0, self.at - 12):self.at + 6])
            raise SystemExit(f"generate.py: expected {want!r}, found {token!r} in: {where}")
        self.at += 1
        return token

    def skip_block(self, opening, closing):
        self.take(opening)
        depth = 1
        while depth:
            token = self.take()
            depth += (token == opening) - (token == closing)

    # ---- declarations

    def parse(self):
        while self.peek():
            if self.peek() == ";":
                self.take()
            elif self.peek() == "typedef":
                self.take()
                self.typedef()
            elif self.peek() == "enum" and self.peek(1) == "{":
                self.enum()
                self.take(";")
            elif self.peek() == "struct" and self.peek(2) in ("{", ";"):
                self.take()
                tag = self.take()
                if self.peek() == "{":
                    self.structs[tag] = self.members()
                self.take(";")
            elif self.peek() == "extern" and self.peek(1).startswith('"'):
                self.take()
                self.take()
                self.take("{") if self.peek() == "{" else None
            else:
                self.declaration()
        return self

    def typedef(self):
        if self.peek() == "enum":
            values = self.enum()
            self.enums[self.take()] = values
        elif self.peek() == "struct" and "{" in (self.peek(1), self.peek(2)):
            self.take()
            tag = self.take() if self.peek() != "{" else None
            fields = self.members()
            name = self.take()
            self.structs[name] = fields
            if tag and tag != name:
                self.aliases[tag] = name
        else:
            name, kind = self.declarator(self.specifiers())
            if kind[0] == "struct":
                self.opaque.add(name)
            else:
                self.aliases[name] = kind
        self.take(";")

    def enum(self):
        self.take("enum")
        self.take("{")
        values, value = {}, -1
        while self.peek() != "}":
            name = self.take()
            value += 1
            if self.peek() == "=":
                self.take()
                words = []
                while self.peek() not in (",", "}"):
                    words.append(self.take())
                value = self.number(words)
            values[name] = value
            self.constants[name] = value
            if self.peek() == ",":
                self.take()
        self.take("}")
        return values

    def number(self, words):
        return int(eval(" ".join(re.sub(r"(?<=\d)[uUlL]+$", "", w) for w in words), {}, dict(self.constants)))

    def members(self):
        self.take("{")
        fields = []
        while self.peek() != "}":
            if self.peek() == "struct" and self.peek(1) == "{":
                self.take()
                inner = self.members()
                first = ("name", f"unnamed_{len(self.structs)}")
                self.structs[first[1]] = inner
            else:
                first = self.specifiers()
            while True:
                fields.append(self.declarator(first))
                if self.peek() == ",":
                    self.take()
                    continue
                break
            self.take(";")
        self.take("}")
        return fields

    def specifiers(self):
        """A type before its declarator: ("name", word), or ("struct", tag)."""
        words = []
        while True:
            token = self.peek()
            if token in ("const", "extern", "static", "inline", "volatile"):
                self.take()
            elif token == "struct":
                self.take()
                return ("struct", self.take())
            elif token in ("unsigned", "long") or not words:
                words.append(self.take())
            else:
                break
        while self.peek() == "const":
            self.take()
        return ("name", " ".join(words))

    def declarator(self, kind):
        """A name (or None) and its type: ("pointer", T), ("array", n, T), ("function", T, [T...])."""
        while self.peek() in ("*", "const"):
            if self.take() == "*":
                kind = ("pointer", kind)
        if self.peek() == "(" and self.peek(1) == "*":
            self.take()
            self.take()
            while self.peek() == "const":
                self.take()
            name = self.take() if self.peek() != ")" else None
            sizes = self.sizes()
            self.take(")")
            if self.peek() == "[":
                for size in reversed(self.sizes()):
                    kind = ("array", size, kind)
                return name, ("pointer", kind)
            kind = ("pointer", ("function", kind, self.parameters()))
            for size in reversed(sizes):
                kind = ("array", size, kind)
            return name, kind
        name = self.take() if re.match(r"[A-Za-z_]", self.peek()) else None
        for size in reversed(self.sizes()):
            kind = ("array", size, kind)
        return name, kind

    def sizes(self):
        sizes = []
        while self.peek() == "[":
            self.take()
            words = []
            while self.peek() != "]":
                words.append(self.take())
            self.take("]")
            sizes.append(self.number(words) if words else 0)
        return sizes

    def parameters(self):
        self.take("(")
        out = []
        while self.peek() != ")":
            if self.peek() == "...":
                self.take()
                out.append(("...",))
            else:
                _, kind = self.declarator(self.specifiers())
                if kind != ("name", "void"):
                    out.append(("pointer", kind[2]) if kind[0] == "array" else kind)
            if self.peek() == ",":
                self.take()
        self.take(")")
        return out

    def declaration(self):
        name, kind = self.declarator(self.specifiers())
        if self.peek() == "(":
            arguments = self.parameters()
            if self.peek() == "{":
                self.skip_block("{", "}")
                return
            self.functions[name] = (kind, arguments)
        else:
            self.objects[name] = kind
        self.take(";")


# ---- ctypes ----------------------------------------------------------------------------------------------------------


class Writer:
    def __init__(self, parsed):
        self.p = parsed

    def resolve(self, kind):
        while kind[0] == "name" and isinstance(self.p.aliases.get(kind[1]), tuple):
            kind = self.p.aliases[kind[1]]
        if kind[0] == "struct" and kind[1] in self.p.structs:
            kind = ("name", kind[1])
        return kind

    def ctype(self, kind, argument=False):
        kind = self.resolve(kind)
        if kind[0] == "array":
            return f"{self.ctype(kind[2])} * {kind[1]}"
        if kind[0] == "pointer":
            return self.pointer(self.resolve(kind[1]), argument)
        if kind[0] == "name":
            word = kind[1]
            if word in BASE:
                return BASE[word]
            if word in self.p.enums:
                return "c_int"
            if word in self.p.structs:
                return word
            if word == "void":
                return "None"
        raise SystemExit(f"generate.py: no type of ctypes for {kind}")

    def pointer(self, to, argument):
        if to[0] == "function":
            words = [self.ctype(to[1])] + [self.ctype(a) for a in to[2]]
            return f"CFUNCTYPE({', '.join(words)})"
        if to == ("name", "char"):
            return "c_char_p"
        if to[0] == "name" and to[1] in self.p.structs:
            return f"POINTER({to[1]})"
        if to[0] == "name" and to[1] in BASE and not argument:
            return f"POINTER({BASE[to[1]]})"
        if to[0] == "pointer" and to[1] == ("name", "char"):
            return "c_void_p" if argument else "POINTER(c_char_p)"
        if to[0] == "pointer" and not argument and self.resolve(to[1])[0] == "name" and \
                self.resolve(to[1])[1] in self.p.structs:
            return f"POINTER(POINTER({self.resolve(to[1])[1]}))"
        return "c_void_p"

    def ordered(self):
        """Structs after those that they contain."""
        done, out = set(), []

        def contained(kind):
            kind = self.resolve(kind)
            if kind[0] == "array":
                yield from contained(kind[2])
            elif kind[0] == "name" and kind[1] in self.p.structs:
                yield kind[1]

        def visit(name):
            if name in done:
                return
            done.add(name)
            for _, kind in self.p.structs[name]:
                for inner in contained(kind):
                    visit(inner)
            out.append(name)

        for name in self.p.structs:
            visit(name)
        return out

    def text(self, version):
        p, out = self.p, []
        out.append('"""Generated from covtune\'s public headers by generate.py."""')
        out.append("from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_float, c_int, c_int8, "
                   "c_int32, c_int64,\n                    c_long, c_size_t, c_uint, c_uint8, c_uint32, c_uint64, c_void_p)")
        out.append(f"\nVERSION = {version!r}\n")
        out += [f"{name} = {value}" for name, value in p.constants.items()]
        out.append("\nENUMS = {")
        out += [f"    {name!r}: {values!r}," for name, values in p.enums.items()]
        out.append("}\n")
        order = self.ordered()
        for name in order:
            out.append(f"\nclass {name}(Structure):\n    pass\n")
        out.append("")
        for name in order:
            out.append(f"{name}._fields_ = [")
            out += [f"    ({field!r}, {self.ctype(kind)})," for field, kind in p.structs[name]]
            out.append("]")
        out.append(f"\nSTRUCTS = [{', '.join(order)}]\n")
        out.append("FUNCTIONS = {")
        for name, (kind, arguments) in p.functions.items():
            if ("...",) in arguments:
                continue
            result = "None" if kind == ("name", "void") else self.ctype(kind)
            out.append(f"    {name!r}: ({result}, [{', '.join(self.ctype(a, True) for a in arguments)}]),")
        out.append("}\n")
        out.append("OBJECTS = {")
        out += [f"    {name!r}: {self.ctype(kind)}," for name, kind in p.objects.items() if kind[0] == "name"]
        out.append("}")
        return "\n".join(out) + "\n"

    def checker(self):
        """A C program that prints what ctypes must agree with."""
        lines = ["#include <covtune/covtune.h>", "#include <stdio.h>", "#include <stddef.h>", "int main(void) {"]
        for name in (n for n in self.ordered() if not n.startswith("unnamed_")):
            lines.append(f'    printf("{name} %zu\\n", sizeof({name}));')
            lines += [f'    printf("{name}.{field} %zu\\n", offsetof({name}, {field}));'
                      for field, _ in self.p.structs[name]]
        lines += [f'    printf("{name} %lld\\n", (long long){name});' for name in self.p.constants]
        return "\n".join(lines + ["    return 0;", "}", ""])


def check(cc, include, writer, tables):
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "check.c"), Path(folder, "check")
        source.write_text(writer.checker())
        subprocess.run([*cc.split(), f"-I{include}", str(source), "-o", str(program)], check=True)
        printed = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    scope = {}
    exec(tables, scope)
    import ctypes
    wrong = 0
    for line in printed.splitlines():
        name, value = line.split()
        struct, _, field = name.partition(".")
        mine = getattr(scope[struct], field).offset if field else \
            ctypes.sizeof(scope[struct]) if isinstance(scope[struct], type) else scope[struct]
        if mine != int(value):
            wrong += 1
            print(f"{name}: {value} in C, {mine} in Python", file=sys.stderr)
    print(f"{len(printed.splitlines())} sizes, offsets and constants, {wrong} wrong")
    return wrong


def main():
    cc, include, out = sys.argv[1:4]
    version = sys.argv[4]
    parsed = Parser(expand(cc, include)).parse()
    parsed.constants.update(macros(cc, include))
    writer = Writer(parsed)
    tables = writer.text(version)
    Path(out).write_text(tables)
    if "--check" in sys.argv:
        sys.exit(1 if check(cc, include, writer, tables) else 0)


if __name__ == "__main__":
    main()
