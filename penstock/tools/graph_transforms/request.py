"""The text of transforms: names, with arguments in parentheses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from penstock import errors

_NAME = re.compile(r"\s*([A-Za-z0-9_]+)\s*")
_OPENING = re.compile(r"\(\s*")
_ARGUMENT = re.compile(r"\s*([A-Za-z0-9_]+)")
_EQUALS = re.compile("=")
_VALUE = re.compile(r'"((?:[^"\\]|\\.)*)"|([A-Za-z0-9./_-]*)')
_BETWEEN = re.compile(r"\s*,\s*")
_END = re.compile(r"\s*\)\s*")
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True)
class Request:
    """One transform with its arguments, and the inputs and outputs of the graph."""

    name: str
    arguments: dict[str, list[str]]
    inputs: list[str]
    outputs: list[str]

    def several(self, argument: str) -> list[str]:
        """All values of an argument."""
        return self.arguments.get(argument, [])

    def text(self, argument: str, default: str) -> str:
        """The value of an argument that may be given once."""
        values = self.several(argument)
        if len(values) > 1:
            self.refuse(
                f"Expected a single '{argument}' parameter, but found {len(values)} occurrences"
            )
        return values[0] if values else default

    def required(self, example: str, *arguments: str) -> list[str]:
        """The values of arguments that must be given once each."""
        found = [self.several(argument) for argument in arguments]
        if any(len(values) != 1 for values in found):
            self.refuse(f"{self.name} expects exactly one {example}")
        return [values[0] for values in found]

    def number(self, argument: str, default: int) -> int:
        text = self.text(argument, str(default))
        try:
            return int(text)
        except ValueError:
            self.refuse(f"Couldn't interpret the {argument} argument as a number:{text}")

    def flag(self, argument: str, default: bool) -> bool:
        text = self.text(argument, str(default).lower())
        if text not in _TRUTH:
            self.refuse(
                f"Couldn't interpret the {argument} argument as a boolean:{text} (expected true, "
                "false, 0 or 1)"
            )
        return _TRUTH[text]

    def refuse(self, message: str) -> NoReturn:
        raise errors.InvalidArgumentError(None, None, message)


class _Reader:
    """Reads a text from left to right."""

    def __init__(self, text: str):
        self._rest = text.strip()

    @property
    def has_more(self) -> bool:
        return bool(self._rest)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self._rest)
        if found is not None:
            self._rest = self._rest[found.end() :]
        return found

    def need(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        found = self.take(pattern)
        if found is None:
            raise errors.InvalidArgumentError(
                None, None, f"Looking for {what}, but found {self._rest}"
            )
        return found


def requests(text: str, inputs: list[str], outputs: list[str]) -> list[Request]:
    """The transforms of a text, in their order; one whose parentheses stay open is left out."""
    reader = _Reader(text)
    found = []
    while reader.has_more:
        name = reader.need(_NAME, "transform name")[1]
        arguments: dict[str, list[str]] = {}
        if reader.take(_OPENING) and not _read_arguments(reader, arguments):
            break
        found.append(Request(name, arguments, inputs, outputs))
    return found


def _read_arguments(reader: _Reader, into: dict[str, list[str]]) -> bool:
    """Whether the list of arguments has an end."""
    if reader.take(_END):
        return True
    while reader.has_more:
        argument = reader.need(_ARGUMENT, "parameter name")[1]
        reader.need(_EQUALS, "=")
        value = reader.need(_VALUE, "parameter value")
        into.setdefault(argument, []).append(value[1] or value[2] or "")
        if reader.take(_BETWEEN) is None and reader.has_more:
            reader.need(_END, ") or ,")
            return True
    return False
