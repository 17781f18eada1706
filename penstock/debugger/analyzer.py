"""Commands about a finished run: which tensors there are, what is in them, where they come from."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.debugger.dump_folder import DebugDumpDir
from penstock.debugger.dumped_graph import node_and_slot
from penstock.debugger.value_text import numbers, sliced, split_slice, statistics_line


class UnknownCommand(ValueError):
    """A command that nobody knows."""

    def __init__(self, word: str, known: str):
        super().__init__(f"unknown command {word!r} (known: {known})")


class _Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise ValueError(f"{self.prog}: {message}")


class Analyzer:
    """Answers commands about one dump, line by line, through `say`."""

    def __init__(
        self,
        dump: DebugDumpDir,
        filters: dict[str, Callable[[Any, Any], bool]],
        say: Callable[[str], None],
    ):
        self._dump = dump
        self._filters = filters
        self._say = say
        self._commands: dict[str, tuple[Callable[[list[str]], None], str]] = {
            "lt": (self._list_tensors, "[-f FILTER] [-n NODE_RE] [-t TYPE_RE]  list tensors"),
            "pt": (self._print_tensor, "TENSOR[SLICE] [-n NUMBER] [-a]  print a tensor"),
            "ni": (self._node_info, "[-t] NODE  a node's type, device, edges; -t its line"),
            "li": (self._list_inputs, "[-r] NODE  what a node is computed from"),
            "lo": (self._list_outputs, "NODE  what uses a node"),
            "find": (self._find, "FILTER  the tensors that pass a filter"),
        }
        self._long = {
            "list_tensors": "lt",
            "print_tensor": "pt",
            "node_info": "ni",
            "list_inputs": "li",
            "list_outputs": "lo",
        }

    def help(self) -> str:
        """A line for each command."""
        return "\n".join(f"{name} {text}" for name, (_, text) in self._commands.items())

    def obey(self, words: list[str]) -> None:
        """Does one command; ValueError or LookupError says what is wrong with it."""
        name = self._long.get(words[0], words[0])
        if name not in self._commands:
            raise UnknownCommand(words[0], ", ".join([*self._commands, "run", "exit", "help"]))
        self._commands[name][0](words[1:])

    def _filter(self, name: str) -> Callable[[Any, Any], bool]:
        if name not in self._filters:
            known = ", ".join(sorted(self._filters))
            raise ValueError(f"no tensor filter {name!r} (known: {known})")
        return self._filters[name]

    def _list_tensors(self, words: list[str]) -> None:
        parser = _Arguments(prog="lt", add_help=False)
        parser.add_argument("-f", "--tensor_filter", default="")
        parser.add_argument("-n", "--node_name_filter", default="")
        parser.add_argument("-t", "--op_type_filter", default="")
        given = parser.parse_args(words)
        data = self._dump.dumped_tensor_data
        if given.tensor_filter:
            data = self._dump.find(self._filter(given.tensor_filter))
        data = [
            datum
            for datum in data
            if re.match(given.node_name_filter, datum.node_name)
            and re.match(given.op_type_filter, self._dump.node_op_type(datum.node_name))
        ]
        self._say(f"{len(data)} dumped tensor(s):")
        for datum in data:
            ms = (datum.timestamp - self._dump.t0) / 1000
            kind = self._dump.node_op_type(datum.node_name)
            self._say(
                f"[{ms:9.3f} ms] {datum.dump_size_bytes:>9} B  {kind:<20} {datum.tensor_name}"
            )

    def _print_tensor(self, words: list[str]) -> None:
        parser = _Arguments(prog="pt", add_help=False)
        parser.add_argument("tensor_name")
        parser.add_argument("-n", "--number", type=int, default=-1)
        parser.add_argument("-a", "--all", action="store_true")
        given = parser.parse_args(words)
        self.print_tensor(given.tensor_name, given.number, whole=given.all)

    def print_tensor(self, text: str, number: int = -1, *, whole: bool = False) -> None:
        """Prints a value of a tensor, of those that it had in the run the `number`th."""
        name, part = split_slice(text)
        node, slot = node_and_slot(name)
        data = [
            datum
            for datum in self._dump.dumped_tensor_data
            if (datum.node_name, datum.output_slot) == (node, slot)
        ]
        if not data:
            raise ValueError(f"there is no dumped tensor {node}:{slot}")
        if not -len(data) <= number < len(data):
            raise ValueError(f"{node}:{slot} has {len(data)} values, there is no number {number}")
        index = number % len(data)
        which = f" (value {index} of {len(data)})" if len(data) > 1 else ""
        value = data[number].get_tensor()
        if not isinstance(value, np.ndarray):
            self._say(f"{node}:{slot}{which}: {value}")
            return
        self._say(f"{node}:{slot}{which}: {statistics_line(value)}")
        shown = sliced(value, part)
        self._say(numbers(shown, shown.size + 1 if whole else 1000))

    def _node_info(self, words: list[str]) -> None:
        parser = _Arguments(prog="ni", add_help=False)
        parser.add_argument("node_name")
        parser.add_argument("-t", "--traceback", action="store_true")
        parser.add_argument("-a", "--attributes", action="store_true")
        given = parser.parse_args(words)
        dump, name = self._dump, node_and_slot(given.node_name)[0]
        self._say(f"node {name}: {dump.node_op_type(name)} on {dump.node_device(name)}")
        for what, found in (
            ("inputs", dump.node_inputs(name)),
            ("control inputs", dump.node_inputs(name, is_control=True)),
            ("recipients", dump.node_recipients(name)),
            ("dumps", dump.debug_watch_keys(name)),
        ):
            self._say(f"  {what}: {', '.join(found) or 'none'}")
        if given.attributes:
            for key, value in sorted(dump.node_attributes(name).items()):
                self._say(f"  attr {key}: {str(value).strip()}")
        if given.traceback:
            for frame in dump.node_traceback(name):
                self._say(f"  made at {frame[0]}:{frame[1]} in {frame[2]}")

    def _list_inputs(self, words: list[str]) -> None:
        parser = _Arguments(prog="li", add_help=False)
        parser.add_argument("node_name")
        parser.add_argument("-r", "--recursive", action="store_true")
        given = parser.parse_args(words)
        name = node_and_slot(given.node_name)[0]
        inputs = self._dump.transitive_inputs if given.recursive else self._dump.node_inputs
        self._say("\n".join(inputs(name)) or "none")

    def _list_outputs(self, words: list[str]) -> None:
        if len(words) != 1:
            raise ValueError("lo: one node is expected")
        name = node_and_slot(words[0])[0]
        self._say("\n".join(self._dump.node_recipients(name)) or "none")

    def _find(self, words: list[str]) -> None:
        if len(words) != 1:
            raise ValueError("find: one filter is expected")
        for datum in self._dump.find(self._filter(words[0])):
            self._say(f"{datum.tensor_name}: {statistics_line(datum.get_tensor())}")
