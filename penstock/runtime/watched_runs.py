"""The watched runs of a session: how they are numbered, and what is noted about each."""

from __future__ import annotations

import itertools
import json
import os
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from penstock import proto
from penstock.runtime.watching import METADATA_PREFIX, folders_of, write_event, write_limited
from penstock.state.waiting import Cancellation


class WatchedRuns:
    """Runs steps, each of whose tasks writes what its devices compute.

    Args:
      on_server: whether the session is one of a server. As in TensorFlow, such a session counts the
        runs of each form and choice of watches; another one all of its runs, and those of a form.
      limited: whether others choose the folders, so that not all are allowed.
    """

    def __init__(self, *, on_server: bool = False, limited: bool = False) -> None:
        self._on_server = on_server
        self._limited = limited
        self._all = itertools.count()
        self._runs_of: Counter[Any] = Counter()

    def run(
        self,
        step: Any,
        names: dict[str, list[str]],
        feeds: Sequence[Any],
        options: Any,
        metadata: Any,
        timeout: float | None,
        cancellation: Cancellation | None = None,
    ) -> tuple[Any, ...]:
        """Runs a step that was compiled with every node, and writes what RunOptions ask for.

        `names` are those of what is fed and fetched, and of the targets.
        """
        watched = options.debug_options
        self._note(folders_of(watched), self._about(step, watched, names))
        if metadata is not None and options.output_partition_graphs:
            metadata.partition_graphs.extend(step.partition_graphs())
        results: tuple[Any, ...] = step.run_watched(
            feeds, watched, timeout, cancellation, limited=self._limited
        )
        return results

    def _about(self, step: Any, options: Any, names: dict[str, list[str]]) -> dict[str, Any]:
        form = (id(step), hash(options.SerializeToString())) if self._on_server else id(step)
        number = self._runs_of[form]
        self._runs_of[form] += 1
        return {
            "global_step": options.global_step,
            "session_run_index": number if self._on_server else next(self._all),
            "executor_step_index": number,
            **names,
        }

    def _note(self, folders: list[str], about: dict[str, Any]) -> None:
        write = write_limited if self._limited else write_event
        now = time.time_ns() // 1000
        name = f"{METADATA_PREFIX}core_metadata_sessionrun{about['session_run_index']:014d}_{now}"
        event = proto.Event(wall_time=float(now))
        event.log_message.message = json.dumps(about)
        for folder in folders:
            write(os.path.join(folder, name), event)
