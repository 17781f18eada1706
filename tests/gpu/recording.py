"""An imitated recorder: what it records is run when it is replayed, with times that a test sets."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from tests.gpu.imitation import ImitatedTensor


class ImitatedReplay:
    """As a captured graph: it knows the memory of its inputs, and leaves its outputs in its own."""

    def __init__(self, recorder: ImitatedRecorder, function: Callable[[], tuple[Any, ...]]):
        self._recorder = recorder
        self._function = function
        self.outputs: tuple[Any, ...] = ()
        self.is_released = False

    def run(self) -> None:
        assert not self.is_released
        self._recorder.replays += 1
        made = self._function()
        for memory, value in zip(self.outputs, made, strict=True):
            memory.copy_(value)

    def release(self) -> None:
        self.is_released = True


class ImitatedRecorder:
    """Records on the imitated GPU.

    What a function does to variables while it is recorded is undone: on a GPU it does nothing then.
    """

    def __init__(self, states: Callable[[], list[Any]]):
        self.lock = threading.Lock()
        self.replays = 0
        self.recorded: list[ImitatedReplay] = []
        self.failure: Exception | None = None
        self.replay_seconds = 0.5  # a plan takes one
        self._states = states
        self._time = 0.0
        self._seen = 0
        self._begun = False

    def static_input(self, value: Any) -> Any:
        return torch.empty(value.shape, dtype=value.dtype, device="cuda")

    def record(self, function: Callable[[], tuple[Any, ...]]) -> ImitatedReplay:
        if self.failure is not None:
            raise self.failure
        before = [(state, state.value, state.value.clone()) for state in self._states()]
        replay = ImitatedReplay(self, function)
        replay.outputs = function()
        for _, memory, value in before:
            memory.copy_(value)
        self.recorded.append(replay)
        return replay

    def now(self) -> float:
        """A clock that goes on by a second for a plan between two looks, or less for a replay."""
        if self._begun:
            replayed = self.replays > self._seen
            self._time += self.replay_seconds if replayed else 1.0
        self._begun = not self._begun
        self._seen = self.replays
        return self._time

    @contextmanager
    def watch(self) -> Iterator[list[str]]:
        before = len(ImitatedTensor.syncs)
        waits: list[str] = []
        yield waits
        waits += ImitatedTensor.syncs[before:]
