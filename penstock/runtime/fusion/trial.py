"""Two plans of one step: they take turns in its next runs, and the faster one stays."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.runtime.compiled import Runnable
    from penstock.runtime.step import Step

_log = logging.getLogger("penstock.fusion")

#: How often each plan runs before one is chosen; the first run of each does not count.
TURNS = 17
#: The second plan is chosen if it takes at most this part of the time of the first one.
_WORTH_IT = 0.97


class Trial:
    """Runs `plans`, first the one that is known, in turn; `chosen` is told the faster one's number.

    Several threads may run it at once: what is measured then says less, but each step is whole.
    """

    def __init__(self, plans: tuple[Runnable, Runnable], chosen: Callable[[int], None]):
        self._plans = plans
        self._chosen = chosen
        self._times: tuple[list[float], list[float]] = ([], [])
        self._turn = 0

    @property
    def source(self) -> str:
        return self._plans[0].source

    def run(self, step: Step | None, feeds: Sequence[Any]) -> tuple[Any, ...]:
        self._turn = 1 - self._turn
        turn = self._turn
        begin = time.perf_counter()
        results = self._plans[turn].run(step, feeds)
        self._times[turn].append(time.perf_counter() - begin)
        if min(map(len, self._times)) >= TURNS:
            self._choose()
        return results

    def _choose(self) -> None:
        # What others do on the machine makes runs longer, never shorter.
        known, new = (sorted(times[1:])[len(times) // 4] for times in self._times)
        _log.info("products beside loops: %.3g instead of %.3g ms", 1e3 * new, 1e3 * known)
        self._chosen(int(new <= _WORTH_IT * known))
