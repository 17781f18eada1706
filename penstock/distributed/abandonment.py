"""When a task that only serves others has been left alone for so long that the job counts as dead.

Who ends as it should says so (`departures.py`); who is killed says nothing, and may come back. So
a task that nobody uses any more waits, tells from time to time whom it waits for, and ends after a
day, which no restart takes: else the parameter servers of jobs that died would stay for ever.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from penstock.distributed.numbers_of_environment import number_of_environment

VARIABLE = "PENSTOCK_ABANDONED_SECONDS"
_DEFAULT_LIMIT = 24 * 3600.0
_FIRST_WORD = 60.0  # seconds
_log = logging.getLogger("penstock")


def limit_of_environment() -> float:
    """The seconds after which a job counts as dead; without end if it is 0."""
    return number_of_environment(VARIABLE, _DEFAULT_LIMIT) or float("inf")


class Abandonment:
    """The patience of one task: times in, conclusions out.

    Args:
      limit: the seconds after which the job counts as dead.
    """

    def __init__(self, limit: float):
        self._limit = limit
        self._next_word = _FIRST_WORD

    def look(self, missing: Sequence[str], seconds: float) -> str | None:
        """What to end with, if it is time to.

        Args:
          missing: the tasks that were lost and did not come back; none while somebody is there.
          seconds: for how long nobody has been there.
        """
        if not missing:
            self._next_word = _FIRST_WORD
            return None
        who = ", ".join(missing)
        if seconds >= self._limit:
            return (
                f"Nobody has used this task for {seconds:.0f} seconds, since {who} ended without "
                f"a farewell: the job is given up. {VARIABLE} sets another time, 0 none."
            )
        if seconds >= self._next_word:
            self._next_word = 2 * seconds  # later and later: the log is not for this alone
            _log.warning(
                "Nobody has used this task for %.0f seconds. It waits for %s, lost without a "
                "farewell, to be started again%s.",
                seconds,
                who,
                "" if self._limit == float("inf") else f", for {self._limit:.0f} seconds in all",
            )
        return None
