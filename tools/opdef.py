"""Prints op registrations, ready to paste into penstock/ops, from the table of op signatures.

    python tools/opdef.py MatMul ResourceApplyAdam
    python tools/opdef.py --list 'Sparse*'

It reads files alone, so it works while Penstock itself can't be imported. Whether an op reads or
writes its variables (READS, WRITES) is not in the table: that is for you to add.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import fnmatch
import gzip
import json
import re
import struct
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "tests" / "data" / "opdefs.json.gz"
TYPE_SETS = ROOT / "penstock" / "ir" / "type_sets.py"
LINE_LENGTH = 100

# Flags of the table and the traits they stand for, as a registration writes them.
TRAITS = {
    "is_stateful": "STATEFUL",
    "is_commutative": "COMMUTATIVE",
    "is_aggregate": "AGGREGATE",
    "allows_uninitialized_input": "Trait.ALLOWS_UNINITIALIZED",
}


def read_table(path: Path = TABLE) -> dict[str, Any]:
    """The signatures of all ops by name."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        table: dict[str, Any] = json.load(file)
    return table


def read_type_sets(path: Path = TYPE_SETS) -> dict[str, tuple[str, ...]]:
    """The named sets of types, largest first, read from the source of `penstock.ir.type_sets`."""
    found: dict[str, tuple[str, ...]] = {}

    def members(node: ast.expr) -> tuple[str, ...]:
        if isinstance(node, ast.BinOp):
            return members(node.left) + members(node.right)
        if isinstance(node, ast.Name):
            return found[node.id]
        assert isinstance(node, ast.Tuple)
        return tuple(entry.attr for entry in node.elts if isinstance(entry, ast.Attribute))

    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            assert statement.value is not None
            found[statement.target.id] = members(statement.value)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


class Writer:
    """Writes registrations, and remembers which names they import."""

    def __init__(self, type_sets: dict[str, tuple[str, ...]]):
        self._type_sets = type_sets
        self._used: set[str] = set()

    def imports(self) -> str:
        """The import lines that the registrations written so far need."""
        lines = ["from penstock import dtypes"] if "dtypes" in self._used else []
        registry = sorted(self._used - {"dtypes"} - self._type_sets.keys(), key=_import_order)
        lines.append(_import("penstock.ir.registry", registry))
        if sets := sorted(self._used & self._type_sets.keys()):
            lines.append(_import("penstock.ir.type_sets", sets))
        return "\n".join(lines)

    def registration(self, name: str, definition: dict[str, Any]) -> str:
        """One `Name = op(...)` statement."""
        self._used.add("op")
        implied = _implied_attrs(definition)
        arguments = []
        for flag, trait in TRAITS.items():
            if definition.get(flag):
                self._used.add(trait.partition(".")[0])
                arguments.append(trait)
        for attr in definition["attrs"]:
            if implied.get(attr["name"]) != _without(attr, "name"):
                arguments.append(f"{attr['name']}={self._attr(attr)}")
        variable = re.sub(r"\W", "_", name)
        return _statement(variable, _signature_parts(name, definition), arguments)

    def _attr(self, attr: dict[str, Any]) -> str:
        kind = attr["type"]
        plain = "minimum" not in attr and "allowed" not in attr
        if kind == "type" and not plain:
            return self._types(attr)
        if plain and "default" in attr and kind in ("bool", "int", "float", "string", "type"):
            return self._value(kind, attr["default"])
        self._used.add("attr")
        arguments = [_quoted(kind)]
        if "default" in attr:
            arguments.append(self._value(kind, attr["default"]))
        if "allowed" in attr:
            arguments.append(f"allowed={self._allowed(kind, attr['allowed'])}")
        if "minimum" in attr:
            arguments.append(f"minimum={attr['minimum']}")
        return f"attr({', '.join(arguments)})"

    def _types(self, attr: dict[str, Any]) -> str:
        entries = self._cover(attr["allowed"])
        if "default" in attr:
            entries.append(f"default={self._value('type', attr['default'])}")
        elif len(entries) == 1 and entries[0] in self._type_sets:
            return entries[0]
        self._used.add("types")
        return f"types({', '.join(entries)})"

    def _allowed(self, kind: str, allowed: list[Any]) -> str:
        if kind not in ("type", "list(type)"):
            return _tuple(_quoted(entry) for entry in allowed)
        entries = self._cover(allowed)
        sets = [entry for entry in entries if entry in self._type_sets]
        single = [entry for entry in entries if entry not in self._type_sets]
        return " + ".join(sets + ([_tuple(single)] if single else []))

    def _cover(self, allowed: list[str]) -> list[str]:
        """The allowed types as named sets and single types."""
        sets, single = _disjoint_sets(allowed, self._type_sets, 2)
        if single:
            # A pair beside single types says less than the types themselves.
            sets, single = _disjoint_sets(allowed, self._type_sets, 4)
        self._used.update(sets)
        return sets + [self._value("type", entry) for entry in single]

    def _value(self, kind: str, value: Any) -> str:
        if kind.startswith("list("):
            return f"[{', '.join(self._value(kind[5:-1], entry) for entry in value)}]"
        if kind == "type":
            self._used.add("dtypes")
            return f"dtypes.{value}"
        if kind == "float":
            return _float(value)
        if kind == "shape":
            return "None" if value is None else _tuple(map(str, value))
        if kind == "tensor":
            return "..."  # the table only says that there is one
        return _quoted(value) if kind == "string" else repr(value)


def _import(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= LINE_LENGTH:
        return line
    return "\n".join([f"from {module} import (", *(f"    {name}," for name in names), ")"])


def _import_order(name: str) -> tuple[int, str]:
    """Ruff's order of imported names: CONSTANTS, Classes, functions."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def _disjoint_sets(
    allowed: list[str], type_sets: dict[str, tuple[str, ...]], smallest: int
) -> tuple[list[str], list[str]]:
    """Sets of at least `smallest` types that lie in `allowed` without overlap, and what is left."""
    sets = []
    left = list(allowed)
    for name, members in type_sets.items():
        if len(members) >= smallest and set(members) <= set(left):
            sets.append(name)
            left = [entry for entry in left if entry not in members]
    return sets, left


def _implied_attrs(definition: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What `op` assumes of attrs that only the types of inputs and outputs mention."""
    implied: dict[str, dict[str, Any]] = {}
    for arg in (*definition["inputs"], *definition["outputs"]):
        if "number_attr" in arg:
            implied[arg["number_attr"]] = {"type": "int", "minimum": 1}
        if "type_attr" in arg:
            implied[arg["type_attr"]] = {"type": "type"}
        if "type_list_attr" in arg:
            implied[arg["type_list_attr"]] = {"type": "list(type)", "minimum": 1}
    return implied


def _signature_parts(name: str, definition: dict[str, Any]) -> list[str]:
    """The signature line, in pieces between which it may be broken."""
    inputs = [_arg(arg) for arg in definition["inputs"]]
    outputs = [_arg(arg) for arg in definition["outputs"]]
    parts = [f"{part}, " for part in inputs[:-1]] + inputs[-1:]
    parts = [f"{name}({parts[0] if parts else ''}", *parts[1:]]
    parts[-1] += ")"
    if outputs:
        parts[-1] += " "
        parts += [f"-> {outputs[0]}"] + outputs[1:]
        parts[-len(outputs) : -1] = [f"{part}, " for part in parts[-len(outputs) : -1]]
    return parts


def _arg(arg: dict[str, Any]) -> str:
    if "type_list_attr" in arg:
        return f"{arg['name']}: *{arg['type_list_attr']}"
    number = f"{arg['number_attr']}*" if "number_attr" in arg else ""
    ref = "&" if arg.get("is_ref") else ""
    return f"{arg['name']}: {number}{ref}{arg.get('type_attr') or arg['type']}"


def _statement(variable: str, signature: list[str], arguments: list[str]) -> str:
    """The statement as `ruff format` lays it out."""
    text = _quoted("".join(signature))
    joined = ", ".join([text, *arguments])
    line = f"{variable} = op({joined})"
    if len(line) <= LINE_LENGTH:
        return line
    if 4 + len(joined) <= LINE_LENGTH:
        return f"{variable} = op(\n    {joined}\n)"
    lines = _broken(signature) if 4 + len(text) + 1 > LINE_LENGTH else [text]
    lines[-1] += ","
    for argument in arguments:
        lines += _broken_argument(argument)
    return "\n".join([f"{variable} = op(", *(f"    {line}" for line in lines), ")"])


def _broken(signature: list[str]) -> list[str]:
    """The signature as adjacent string literals that fit a line each."""
    lines = [""]
    for part in signature:
        if lines[-1] and 4 + len(lines[-1] + part) + 3 > LINE_LENGTH:
            lines.append("")
        lines[-1] += part
    return [_quoted(line) for line in lines]


def _broken_argument(argument: str) -> list[str]:
    if 4 + len(argument) + 1 <= LINE_LENGTH or "(" not in argument:
        return [f"{argument},"]
    head, _, rest = argument.partition("(")
    inner = rest.removesuffix(")")
    if 8 + len(inner) <= LINE_LENGTH:
        return [f"{head}(", f"    {inner}", "),"]
    return [f"{head}(", *(f"    {entry}," for entry in _split_arguments(inner)), "),"]


def _split_arguments(text: str) -> list[str]:
    """Splits at the commas that stand in no bracket and no quotes."""
    entries, depth, quoted = [""], 0, False
    for character in text:
        quoted ^= character == '"'
        depth += 0 if quoted else (character in "([") - (character in ")]")
        if character == "," and not depth and not quoted:
            entries.append("")
        else:
            entries[-1] += character
    return [entry.strip() for entry in entries]


def _without(attr: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in attr.items() if key not in keys}


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _tuple(entries: Iterable[str]) -> str:
    listed = list(entries)
    return f"({listed[0]},)" if len(listed) == 1 else f"({', '.join(listed)})"


def _float(value: float) -> str:
    """The shortest text that is the same number in single precision, which attrs have."""
    if value in (float("inf"), float("-inf")):
        return f'float("{value}")'
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if struct.pack("f", float(text)) == struct.pack("f", value):
            return repr(float(text))
    return repr(value)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ops", nargs="+", metavar="OP", help="op types, or patterns: 'Sparse*'")
    parser.add_argument("--list", action="store_true", help="print the names alone")
    options = parser.parse_args()
    table = read_table()
    names: list[str] = []
    for pattern in options.ops:
        found = fnmatch.filter(table, pattern)
        if not found:
            close = ", ".join(difflib.get_close_matches(pattern, table, 5)) or "none alike"
            print(f"no op {pattern!r} in {TABLE.name} (near: {close})", file=sys.stderr)
            return 1
        names += [name for name in found if name not in names]
    if options.list:
        print("\n".join(names))
        return 0
    writer = Writer(read_type_sets())
    statements = [writer.registration(name, table[name]) for name in names]
    print("\n".join([writer.imports(), "", *statements]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
