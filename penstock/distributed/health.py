"""Finds tasks that have gone silent: stopped, cut off, without a word to say so.

A task that dies tells so by itself, since the system closes its connections. One that hangs, or
whose network drops everything, does not. So every connection on which nothing is heard is asked
from time to time; a task that says nothing for too long after that is given up, and the steps that
wait for it end.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeVar

from penstock.distributed.numbers_of_environment import number_of_environment

if TYPE_CHECKING:
    from penstock.distributed.connection import Connection

VARIABLE = "PENSTOCK_SILENCE_SECONDS"
_DEFAULT_PATIENCE = 20.0
LOOKS = 4  # at a connection, in the time that a task may be silent
Link = TypeVar("Link", bound=Hashable)
_log = logging.getLogger("penstock")


def patience_of_environment() -> float:
    """The seconds that a task may be silent."""
    return number_of_environment(VARIABLE, _DEFAULT_PATIENCE)


class Advice(Enum):
    """What to do about a connection."""

    WAIT = 0
    ASK = 1
    GIVE_UP = 2


@dataclass
class Watch:
    """The life of one connection: times in, advice out, no sockets, no clocks.

    Any byte is a sign of life, so that a large tensor on a slow link is not taken for silence.
    """

    patience: float
    asked: float | None = None  # when the question was put that nothing has followed yet

    def look(self, now: float, heard: float) -> Advice:
        """What to do at a time, given the time when something was last heard."""
        if self.asked is None or heard >= self.asked:
            self.asked = now
            return Advice.ASK
        return Advice.GIVE_UP if now - self.asked >= self.patience else Advice.WAIT


class Vigil:
    """The watches over all connections of a task."""

    def __init__(self, patience: float):
        self._patience = patience
        self._watches: dict[Hashable, Watch] = {}

    def look(self, now: float, heard: Mapping[Link, float]) -> dict[Link, Advice]:
        """What to do about each connection, given when something was last heard on it."""
        self._watches = {link: self._watches.get(link) or Watch(self._patience) for link in heard}
        return {link: self._watches[link].look(now, last) for link, last in heard.items()}


class HealthChecks:
    """A thread that looks after the connections of one task.

    Args:
      connections: gives those that are open.
      patience: the seconds that another task may be silent.
      chores: called at every look.
    """

    def __init__(
        self,
        connections: Callable[[], Iterable[Connection]],
        patience: float,
        chores: Callable[[float], None],
    ):
        self._connections = connections
        self._patience = patience
        self._chores = chores
        self._vigil = Vigil(patience)
        self._closed = threading.Event()
        threading.Thread(target=self._work, name="penstock-health", daemon=True).start()

    def _work(self) -> None:
        while not self._closed.wait(self._patience / LOOKS):
            now = time.monotonic()
            self.look(now)
            self._chores(now)

    def look(self, now: float) -> None:
        """Asks where nothing was heard, and gives up connections that stay silent."""
        heard = {connection: connection.heard for connection in self._connections()}
        for connection, advice in self._vigil.look(now, heard).items():
            if advice is Advice.GIVE_UP:
                reason = f"it has been silent for {now - heard[connection]:.0f} seconds"
                _log.warning("%s is given up: %s", connection.task, reason)
                connection.close(reason)
            elif advice is Advice.ASK:
                connection.ping()

    def close(self) -> None:
        self._closed.set()
