"""The commands of a debugger that has stopped inside of a run."""

from __future__ import annotations

import difflib
import fnmatch
import linecache
import shlex
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from penstock.debugger.step_names import node_name, tensor_name
from penstock.debugger.value_text import numbers, sliced, split_slice, statistics_line

if TYPE_CHECKING:
    from penstock.debugger.stepper import GraphDebugger, Moment

_HELP = """\
c, continue           go on to the next stop
s, step [N]           run N nodes (1)
p, print TENSOR       a value with its statistics; a part of it: p x:0[0,:5]
i, inputs             what the node gets
w, where              the node, its attrs, and the line of the program that made it
n, nodes [GLOB]       nodes of this run, a + before those that have values
b, break GLOB         stop before nodes (type:MatMul for an op type)
watch GLOB            print values of nodes whenever they have run
d, delete GLOB        take a break or a watch back
info                  breaks and watches
detach                go on and stop no more
q, quit               end the program"""


class Commands:
    """Reads and does commands; `obey` says whether the run goes on."""

    def __init__(self, debugger: GraphDebugger):
        self._debugger = debugger
        self._say = debugger.say
        self._commands: dict[str, Callable[[Moment, list[str]], bool | None]] = {
            "continue": lambda moment, words: True,
            "step": self._step,
            "print": self._print,
            "inputs": lambda moment, words: self.show_inputs(moment),
            "where": self._where,
            "nodes": self._nodes,
            "break": self._break,
            "watch": self._watch,
            "delete": self._delete,
            "info": self._info,
            "detach": self._detach,
            "quit": self._quit,
            "help": lambda moment, words: self._say(_HELP),
        }
        self._short = {name[0]: name for name in self._commands if name[0] not in "wdh"}
        self._short |= {"w": "where", "d": "delete", "h": "help", "?": "help", "exit": "quit"}

    def obey(self, line: str, moment: Moment) -> bool:
        """Does one command; whether the run goes on."""
        try:
            words = shlex.split(line, comments=True)
            if not words:
                return False
            name = self._short.get(words[0], words[0])
            if name not in self._commands:
                known = ", ".join(self._commands)
                raise ValueError(f"unknown command {words[0]!r} (known: {known})")
            return bool(self._commands[name](moment, words[1:]))
        except (ValueError, LookupError) as error:
            self._say(f"error: {error.args[0] if error.args else error}")
            return False

    def _step(self, moment: Moment, words: list[str]) -> bool:
        count = int(words[0]) if words else 1
        if count < 1:
            raise ValueError("step: at least one node")
        self._debugger.step_over(count)
        return True

    def _print(self, moment: Moment, words: list[str]) -> None:
        if not words:
            raise ValueError("print: which tensor?")
        name, part = split_slice("".join(words))
        name = name if ":" in name else f"{name}:0"
        if name not in moment.run.values:
            raise LookupError(self._why_not(moment, name))
        array = moment.run.array(name)
        if array is None:
            self._say(f"{name}: no value (a handle, or not initialized)")
            return
        self._say(f"{name}: {statistics_line(array)}\n{numbers(sliced(array, part))}")

    def _why_not(self, moment: Moment, name: str) -> str:
        wanted = name.rpartition(":")[0]
        names = [node_name(node) for node in moment.run.nodes]
        if wanted in names:
            return f"{name} has no value yet: the node has not run"
        near = difflib.get_close_matches(wanted, names)
        hint = f" (near it: {', '.join(near)})" if near else ""
        return f"no node of this run is called {wanted!r}{hint}"

    def show_inputs(self, moment: Moment) -> None:
        """A line for each input of the node."""
        for index, edge in enumerate(moment.node.inputs):
            name = tensor_name(edge.node, edge.index)
            array = moment.run.array(name) if name in moment.run.values else None
            shown = "no value" if array is None else statistics_line(array)
            self._say(f"  input {index} {name} = {shown}")

    def _where(self, moment: Moment, words: list[str]) -> None:
        node = moment.node
        self._say(f"{'before' if moment.is_before else 'after'} {moment.place}")
        for key, value in sorted(node.attrs.items()):
            self._say(f"  attr {key} = {str(value)[:200]}")
        if node.origin is None or node.origin._line is None:
            return
        code, number = node.origin._line
        self._say(f"  {code.co_filename}:{number} in {code.co_name}")
        for line in range(max(1, number - 2), number + 3):
            text = linecache.getline(code.co_filename, line).rstrip()
            if text:
                self._say(f"  {'->' if line == number else '  '} {line:>5}  {text}")

    def _nodes(self, moment: Moment, words: list[str]) -> None:
        glob = words[0] if words else "*"
        shown = 0
        for node in moment.run.nodes:
            name = node_name(node)
            if fnmatch.fnmatchcase(name, glob):
                done = "+" if tensor_name(node, 0) in moment.run.values else " "
                kind = "fed" if node.type == "_Feed" else node.type
                self._say(f"{done} {name} ({kind})")
                shown += 1
        if not shown:
            raise LookupError(f"no node of this run matches {glob!r}")

    def _pattern(self, words: list[str]) -> Any:
        from penstock.debugger.stepper import Pattern

        if len(words) != 1:
            raise ValueError("one name or glob is expected")
        return Pattern(words[0])

    def _break(self, moment: Moment, words: list[str]) -> None:
        self._debugger.breakpoints.append(self._pattern(words))

    def _watch(self, moment: Moment, words: list[str]) -> None:
        self._debugger.watches.append(self._pattern(words))

    def _delete(self, moment: Moment, words: list[str]) -> None:
        text = self._pattern(words).text
        lists = (self._debugger.breakpoints, self._debugger.watches)
        if not any(pattern.text == text for each in lists for pattern in each):
            raise LookupError(f"there is no break or watch {text!r}")
        for each in lists:
            each[:] = [pattern for pattern in each if pattern.text != text]

    def _info(self, moment: Moment, words: list[str]) -> None:
        debugger = self._debugger
        for what, each in (("break", debugger.breakpoints), ("watch", debugger.watches)):
            for pattern in each:
                self._say(f"{what} {pattern.text}")
        for what in sorted(debugger.stop_on):
            self._say(f"stop on {what}")

    def _detach(self, moment: Moment, words: list[str]) -> bool:
        self._debugger.detach()
        return True

    def _quit(self, moment: Moment, words: list[str]) -> bool:
        sys.exit(1)
