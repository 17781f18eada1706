"""How often to save: what saving costs against what a failure loses."""

from __future__ import annotations

import math

_DAY = 86400.0


class CheckpointInterval:
    """The seconds between checkpoints at which saves and lost work cost the least together.

    That is Young's rule: the root of twice the cost of a save, times the time between failures. A
    failure a day is assumed until one is seen.

    Args:
      shortest: the least interval.
      longest: the greatest.
    """

    def __init__(self, shortest: float = 5.0, longest: float = 600.0):
        self._shortest = shortest
        self._longest = longest
        self._cost: float | None = None
        self._failures = 0
        self._began: float | None = None

    def session_made(self, now: float) -> None:
        """A session begins; if it is not the first one, there was a failure."""
        if self._began is None:
            self._began = now
        else:
            self._failures += 1

    def saved(self, seconds: float) -> None:
        """A save took so long."""
        self._cost = seconds if self._cost is None else 0.7 * self._cost + 0.3 * seconds

    def seconds(self, now: float) -> float:
        """The interval, as far as it is known now."""
        if self._cost is None:
            return self._shortest
        seen = 0.0 if self._began is None else now - self._began
        between_failures = seen / self._failures if self._failures else _DAY + seen
        best = math.sqrt(2.0 * self._cost * between_failures)
        return min(max(best, self._shortest), self._longest)
