"""Looking on while steps run: what a debugger and a profiler of the whole process hook into.

Neither costs anything where it isn't used, but for one comparison with None in each step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from penstock.ir.step_graph import Node

if TYPE_CHECKING:
    from penstock.runtime.compiled import CompiledStep


class Observer(Protocol):
    """Sees one step node by node; whatever it raises ends the step.

    Attributes:
      steps_through: whether it holds a node up for as long as it likes. Then none runs beside
        another, not even while that waits; else several may be seen at once, in threads.
    """

    steps_through: bool

    def before(self, node: Node, iteration: int, inputs: Sequence[Any]) -> None:
        """A node is about to run, in an iteration of its innermost loop (0 outside of loops)."""

    def after(self, node: Node, iteration: int, outputs: Sequence[Any]) -> None:
        """A node has run, or a value was fed."""


class Listener(Protocol):
    """Sees all steps of a process and decides how each is run."""

    def run(
        self, step: CompiledStep, feeds: Sequence[Any], timeout: float | None
    ) -> tuple[Any, ...]:
        """Runs a step, by one of its `run_…` functions."""


#: Who sees all steps of this process; usually nobody. `listen` sets it.
listener: Listener | None = None


def listen(new: Listener | None) -> None:
    """Has all steps of this process run by a listener, from now on; None ends that."""
    global listener
    listener = new
