"""A debugger that stops inside of runs: at a node, at a value that is not finite, at an error.

Runs are made node by node while it is on, as the graph is written. Commands come from any iterable
of lines and answers go to any text stream, so that a terminal is not needed.
"""

from __future__ import annotations

import fnmatch
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, TextIO

import numpy as np

from penstock import errors
from penstock.debugger.step_commands import Commands
from penstock.debugger.step_names import node_name, tensor_name
from penstock.debugger.value_text import has_bad_numbers, statistics_line
from penstock.ir.source import describe
from penstock.runtime.tensor_summaries import readable

_STOPS = ("nan", "inf", "error")


@dataclass
class Moment:
    """Where a run has stopped: before or after a node, with its inputs or outputs."""

    run: RunState
    node: Any
    iteration: int
    is_before: bool
    values: Sequence[Any]

    @property
    def place(self) -> str:
        """The node, its op, the iteration, the run and the user's line, in one line."""
        text = f"{self.node.name} ({self.node.type})"
        if self.iteration:
            text += f", iteration {self.iteration}"
        return f"{text}, run {self.run.number}{made_at(self.node)}"


@dataclass
class RunState:
    """A run under way: its nodes, and the values that they have given so far."""

    number: int
    nodes: list[Any]
    values: dict[str, Any] = field(default_factory=dict)  # the newest of each tensor
    dtypes: dict[str, Any] = field(default_factory=dict)
    ran: int = 0

    def array(self, name: str) -> np.ndarray | None:
        """The newest value of a tensor; None where it has none that can be shown."""
        _, array = readable(self.values[name], self.dtypes[name])
        return array


def made_at(node: Any) -> str:
    """` (made at train.py:41)`, where the user's line is known."""
    line = describe(node.origin._line) if node.origin is not None else ""
    return f" (made at {line})" if line else ""


class Pattern:
    """A node or a set of them: a name or a glob, `type:OP` for op types, `name:1` for an output."""

    def __init__(self, text: str):
        self.text = text
        self._by_type = text.startswith("type:")
        glob = text.removeprefix("type:")
        name, sign, slot = glob.rpartition(":")
        self.slot = int(slot) if sign and slot.isdigit() and not self._by_type else None
        self._glob = name if self.slot is not None else glob

    def matches(self, node: Any) -> bool:
        return fnmatch.fnmatchcase(node.type if self._by_type else node_name(node), self._glob)


class GraphDebugger:
    """Stops at nodes, watches tensors and looks for numbers that are not finite.

    >>> with tf.debugger.GraphDebugger(breakpoints=["dense/MatMul"], stop_on=["nan"]):
    ...     sess.run(train_op)

    Args:
      breakpoints: names or globs of nodes to stop before; `type:MatMul` for an op type.
      watches: names or globs of nodes whose values are printed whenever they have run.
      stop_on: "nan", "inf", "error": what to stop at wherever it happens.
      commands: lines; the standard input without it. When they end, runs no longer stop.
      output: where answers go; the standard output without it.
    """

    def __init__(
        self,
        breakpoints: Iterable[str] = (),
        watches: Iterable[str] = (),
        stop_on: Iterable[str] = (),
        commands: Iterable[str] | None = None,
        output: TextIO | None = None,
    ):
        self.breakpoints = [Pattern(text) for text in breakpoints]
        self.watches = [Pattern(text) for text in watches]
        self.stop_on = set(stop_on)
        unknown = self.stop_on - set(_STOPS)
        if unknown:
            raise ValueError(f"stop_on: {sorted(unknown)} (known: {', '.join(_STOPS)})")
        self._lines: Iterator[str] = iter(sys.stdin if commands is None else commands)
        self._asks = commands is None and sys.stdin is not None and sys.stdin.isatty()
        self._output = output
        self._runs = 0
        self._steps_left = 0  # nodes to run until the next stop; 0: until a breakpoint
        self._is_detached = False
        self._turn = threading.RLock()
        self._commands = Commands(self)

    # As a listener ----------------------------------------------------------------------------

    def __enter__(self) -> GraphDebugger:
        from penstock.runtime import observation

        observation.listen(self)
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        from penstock.runtime import observation

        observation.listen(None)

    def run(self, step: Any, feeds: Sequence[Any], timeout: float | None) -> tuple[Any, ...]:
        """Makes one run of a session."""
        with self._turn:
            self._runs += 1
            state = RunState(self._runs, list(step.as_written().graph.nodes))
        observer = _Observer(self, state)
        try:
            results: tuple[Any, ...] = step.run_observed(feeds, observer, timeout)
        except errors.OpError as error:
            if "error" in self.stop_on and observer.last is not None:
                self._stop(f"error: {error.message.splitlines()[0]}", observer.last)
            raise
        return results

    # Stops ------------------------------------------------------------------------------------

    def is_break(self, node: Any) -> bool:
        """Whether to stop before a node."""
        if self._is_detached or node.type == "_Feed":
            return False
        if self._steps_left:
            self._steps_left -= 1
            if not self._steps_left:
                return True
        return any(pattern.matches(node) for pattern in self.breakpoints)

    def stop_before(self, moment: Moment) -> None:
        with self._turn:
            self._stop("stopped before", moment)

    def check(self, moment: Moment) -> None:
        """Prints what is watched of a node that has run, and stops at bad numbers."""
        for pattern in self.watches:
            if pattern.matches(moment.node):
                self._print_watched(moment, pattern.slot)
        if not self.stop_on & {"nan", "inf"}:
            return
        for slot, value in enumerate(moment.values):
            has_value, array = readable(value, moment.node.dtypes[slot])
            if has_value and array is not None and self._is_bad(array):
                what = f"{statistics_line(array)} in output {slot} of"
                with self._turn:
                    self._stop(what, moment)
                return

    def _is_bad(self, array: np.ndarray) -> bool:
        return has_bad_numbers(array, nan="nan" in self.stop_on, inf="inf" in self.stop_on)

    def _print_watched(self, moment: Moment, slot: int | None) -> None:
        node = moment.node
        for index, value in enumerate(moment.values):
            if slot not in (None, index):
                continue
            has_value, array = readable(value, node.dtypes[index])
            shown = "no value" if not has_value or array is None else statistics_line(array)
            iteration = f" iteration {moment.iteration}" if moment.iteration else ""
            name = tensor_name(node, index)
            self.say(f"watch run {moment.run.number}{iteration}: {name} = {shown}")

    def _stop(self, what: str, moment: Moment) -> None:
        if self._is_detached:
            return
        self.say(f"{what} {moment.place}")
        if not moment.is_before:
            self._commands.show_inputs(moment)
        while True:
            line = self._next_line()
            if line is None:
                self._is_detached = True
                return
            if self._commands.obey(line, moment):
                return

    def _next_line(self) -> str | None:
        if self._asks:
            print("(penstock) ", end="", file=self._output or sys.stdout, flush=True)
        return next(self._lines, None)

    def step_over(self, nodes: int) -> None:
        """Goes on for some nodes."""
        self._steps_left = nodes

    def detach(self) -> None:
        """Stops no more."""
        self._is_detached = True

    def say(self, text: str) -> None:
        print(text, file=self._output or sys.stdout, flush=True)


class _Observer:
    """Passes what happens in one run on to the debugger."""

    steps_through = True

    def __init__(self, debugger: GraphDebugger, state: RunState):
        self._debugger = debugger
        self._state = state
        self.last: Moment | None = None  # the node that ran last, or was about to

    def before(self, node: Any, iteration: int, inputs: Sequence[Any]) -> None:
        self.last = Moment(self._state, node, iteration, True, inputs)
        if self._debugger.is_break(node):
            self._debugger.stop_before(self.last)

    def after(self, node: Any, iteration: int, outputs: Sequence[Any]) -> None:
        from penstock.kernels.control_flow import DEAD

        state = self._state
        live = []
        for slot, value in enumerate(outputs):
            if value is not DEAD:
                name = tensor_name(node, slot)
                state.values[name] = value
                state.dtypes[name] = node.dtypes[slot]
                live.append(value)
        state.ran += 1
        if len(live) == len(outputs):
            self._debugger.check(Moment(state, node, iteration, False, outputs))
