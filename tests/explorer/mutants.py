#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""mutants.py FROM TO <MUTANTS: all mutants in one copy of the explored sources.

Each line of MUTANTS is a number, a function and a sed -E command, with tabs between. In the copy, a
changed function calls the variant that rf_mutant selects: the original function, or the function as
changed by the command with that number. Prints the numbers of the mutants in the copy. The others
change more than functions, for example a macro, and need a separate copy.
"""
import pathlib
import re
import subprocess
import sys

FUNCTION = re.compile(r"^(?:RF_INLINE|static) [^\n;]*\b(\w+)\(([^{;]*)\)\n\{.*?^\}\n", re.M | re.S)
PARAMETER = re.compile(r"(\w+)\s*(?:\[[^]]*\])*$")


def parts_of(text):
    """The text between functions, and the functions, alternately."""
    parts, end = [], 0
    for found in FUNCTION.finditer(text):
        parts += [text[end:found.start()], found.group()]
        end = found.end()
    return parts + [text[end:]]


def changed(path, function, command):
    """The file's text, with that function changed."""
    begin = rf"^(RF_INLINE|static|#define) .*\<{function}\("
    return subprocess.run(["sed", "-E", f"/{begin}/,/^}}/ {{ {command}\n}}", path], check=True,
                          capture_output=True, text=True).stdout


def renamed(function, name, suffix):
    """A function with a different name, and not inlined: each variant is compiled once."""
    text = re.sub(rf"\b{name}\(", f"{name}{suffix}(", function, count=1)
    return re.sub(r"^(RF_INLINE|static (inline )?)", "static __attribute__((noinline)) ", text)


def selected(function, variants):
    """A function that calls the variant of rf_mutant."""
    found = FUNCTION.match(function)
    name = found[1]
    parameters = [] if found[2] == "void" else re.sub(r"\s+", " ", found[2]).split(", ")
    arguments = ", ".join(PARAMETER.search(parameter)[1] for parameter in parameters)
    cases = "".join(f"\tcase {number}:\n\t\treturn {name}__{number}({arguments});\n" for number in variants)
    body = f"{{\n\tswitch (rf_mutant) {{\n{cases}\t}}\n\treturn {name}__0({arguments});\n}}\n"
    signature = re.sub(r"^RF_INLINE", "static __attribute__((unused))", function[:function.index("\n{") + 1])
    return renamed(function, name, "__0") + \
        "".join(renamed(text, name, f"__{number}") for number, text in variants.items()) + signature + body


def main(source, target):
    """Reads the mutants, and writes the copy."""
    paths = [path for path in pathlib.Path(source).rglob("*.[ch]") if path.is_file()]
    texts = {path: path.read_text() for path in paths}
    parts = {path: parts_of(text) for path, text in texts.items()}
    variants = {path: {} for path in paths}
    for line in sys.stdin:
        number, function, command = line.rstrip("\n").split("\t", 2)
        begin = re.compile(rf"^(RF_INLINE|static|#define) .*\b{function}\(", re.M)
        edits = []
        for path in paths:
            if not begin.search(texts[path]):
                continue
            after = parts_of(changed(path, function, command))
            if len(after) != len(parts[path]):
                edits = []
                break
            edits += [(path, i, text) for i, text in enumerate(after) if text != parts[path][i]]
        if not edits or any(i % 2 == 0 for _, i, _ in edits):
            continue
        for path, i, text in edits:
            variants[path].setdefault(i, {})[number] = text
        print(number)
    for path in paths:
        for i, of_function in variants[path].items():
            parts[path][i] = selected(parts[path][i], of_function)
        copy = pathlib.Path(target) / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text("".join(parts[path]))


main(*sys.argv[1:])
