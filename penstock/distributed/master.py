"""What a master does for clients, whichever way they reach it.

`LocalMaster` is the master of a cluster of one task. A master of several tasks has the same
methods; the services that clients talk to (`grpc_master`) know nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from penstock import proto
from penstock.distributed.frames import Value
from penstock.distributed.step_messages import Sent
from penstock.state.waiting import Cancellation

Feeds = Mapping[str, np.ndarray]


class StepForm(NamedTuple):
    """Which step: names of tensors to feed, of tensors to fetch, of operations to run."""

    feeds: tuple[str, ...]
    fetches: tuple[str, ...]
    targets: tuple[str, ...]


@dataclass
class StepResult:
    """What a step gives back: the fetched tensors, in their order, and what it tells of itself."""

    tensors: list[Sent]
    metadata: Any = field(default_factory=proto.RunMetadata)  # None if no options were given


class Master(Protocol):
    """Sessions of clients, by handle. Every method raises errors of `penstock.errors`.

    `cancellation` is that of the client's call: it ends the step.
    """

    def create_session(self, graph_def: Any, config: Any) -> str:
        """A new session on a graph; its handle."""
        ...

    def extend_session(self, handle: str, graph_def: Any, version: int) -> int:
        """Adds nodes to a session's graph, which the caller thinks is at `version`; the next."""
        ...

    def run_step(
        self,
        handle: str,
        feeds: Feeds,
        fetches: Sequence[str],
        targets: Sequence[str],
        options: Any,
        cancellation: Cancellation,
    ) -> StepResult: ...

    def run_form(
        self,
        handle: str,
        form: StepForm,
        values: Sequence[Any],
        options: Any,
        cancellation: Cancellation,
    ) -> tuple[list[Value], Any]:
        """Runs a step on runtime values, in the order of the form; `options` may be None.

        Gives what was fetched, ready to be sent, and RunMetadata if there were options.
        """
        ...

    def partial_run_setup(self, handle: str, form: StepForm) -> str:
        """Prepares a step that is run in parts; its handle."""
        ...

    def partial_run(
        self,
        handle: str,
        partial_handle: str,
        feeds: Feeds,
        fetches: Sequence[str],
        targets: Sequence[str],
    ) -> StepResult: ...

    def make_callable(self, handle: str, options: Any) -> int:
        """Prepares the step of CallableOptions; its number."""
        ...

    def run_callable(
        self, handle: str, number: int, feeds: Sequence[np.ndarray], cancellation: Cancellation
    ) -> StepResult: ...

    def release_callable(self, handle: str, number: int) -> None: ...

    def close_session(self, handle: str) -> None: ...

    def reset(self, containers: Sequence[str]) -> None:
        """Closes all sessions and clears containers of state; without names, the default one."""
        ...

    def list_devices(self, handle: str) -> tuple[list[Any], list[Any]]:
        """DeviceAttributes of this task and of the others."""
        ...
