"""Constants that travel to a task once in a session, not with each step that uses them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from penstock import errors
from penstock.distributed.arena import SMALLEST
from penstock.distributed.step_run import Call
from penstock.ir.operation import Operation
from penstock.runtime.value_bytes import is_plain_array

Constants = Mapping[str, np.ndarray]  # the values of constants, by the names of their nodes


def large_constants(ops: Iterable[Operation]) -> dict[str, np.ndarray]:
    """Those of some nodes whose values are not to be described with the nodes."""
    found = {}
    for op in ops:
        if op.type == "Const":
            value = op.attrs["value"]
            # One number that fills a tensor is described by that number.
            if value.nbytes >= SMALLEST and any(value.strides) and is_plain_array(value):
                found[op.name] = value
    return found


class GivenConstants:
    """Which tasks have which constants of a session: what its master knows."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], np.ndarray] = {}  # by task and node

    def with_missing(self, call: Call, constants: Constants) -> Call:
        """A registration, with the constants that its task does not have yet."""
        missing = {
            name: value
            for name, value in constants.items()
            if self._known.get((call.task, name)) is not value
        }
        if not missing:
            return call
        fields = {**call.fields, "given": list(missing)}
        return Call(call.task, fields, [*call.values, *missing.values()])

    def took(self, tasks: Iterable[str], constants: Constants) -> None:
        """Tasks have registered a step with these constants."""
        for task in tasks:
            self._known.update({(task, name): value for name, value in constants.items()})


class TakenConstants:
    """The constants of a session that a task was given."""

    def __init__(self) -> None:
        self._values: dict[str, np.ndarray] = {}

    def take(self, names: Iterable[str], values: Iterable[Any]) -> None:
        """Keeps copies: what has come may lie in memory that both tasks share, and have room in."""
        for name, value in zip(names, values, strict=True):
            self._values[name] = value.numpy().copy()

    def of(self, names: Iterable[str]) -> Constants:
        """Those of a step."""
        found = {name: self._values[name] for name in names if name in self._values}
        missing = [name for name in names if name not in found]
        if missing:  # the session's parts were dropped, since its master was away for long
            text = f"the constants {missing} of this session were forgotten: make a new session"
            raise errors.AbortedError(None, None, text)
        return found
