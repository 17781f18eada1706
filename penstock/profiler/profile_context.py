"""`tf.contrib.tfprof.ProfileContext`: traces and profiles some of the runs inside of a block."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from penstock import errors, proto
from penstock.client.fetches import Fetches
from penstock.client.session import BaseSession
from penstock.platform import gfile
from penstock.profiler.model_analyzer import Profiler

__all__ = ["MAX_TRACED_STEPS", "WARMUP_STEPS", "ProfileContext"]

WARMUP_STEPS = 10
MAX_TRACED_STEPS = 100

_KINDS = ("graph", "scope", "op", "code")


class ProfileContext:
    """Traces runs of all sessions in a `with` block, and profiles or writes down what it saw.

    >>> with tf.contrib.tfprof.ProfileContext("/tmp/train", trace_steps=[10], dump_steps=[20]):
    ...     train()

    Args:
      profile_dir: the folder for profiles.
      trace_steps: the runs to trace, counted from 0; None traces each form of a run once.
      dump_steps: the runs after which a profile is written to `profile_dir`; None stands for 100.
      enabled: if False, nothing is done.
      debug: whether the RunMetadata of traced runs are written to `profile_dir` as text.
    """

    _active: ProfileContext | None = None

    def __init__(
        self,
        profile_dir: str,
        trace_steps: Iterable[int] | None = None,
        dump_steps: Iterable[int] | None = None,
        enabled: bool = True,
        debug: bool = False,
    ):
        self._enabled = enabled
        if not enabled:
            return
        if not profile_dir:
            raise ValueError("Must have a directory for profile.\n")
        self._folder = profile_dir
        self._debug = debug
        self._traces_itself = trace_steps is None
        self._trace_steps = set(trace_steps or ())
        if len(self._trace_steps) > MAX_TRACED_STEPS:
            raise ValueError("Only support tracing up to 100 steps.\n")
        self._dump_steps = {MAX_TRACED_STEPS} if dump_steps is None else set(dump_steps)
        self._step = 0
        self._traced = 0
        self._seen: set[str] = set()
        self._profiles: list[tuple[str, Any, list[int]]] = []
        self._views: dict[str, dict[int, Any]] = {}
        self._profiler: Profiler | None = None
        self._traces_next = self._dumps_next = False
        self._lock = threading.Lock()

    @property
    def profiler(self) -> Profiler | None:
        """The `Profiler` with the traced runs."""
        if not self._enabled:
            return None
        if self._profiler is None:
            self._profiler = Profiler()
        return self._profiler

    def get_profiles(self, cmd: str) -> dict[int, Any]:
        """The profiles that `add_auto_profiling` has made, by the numbers of their runs."""
        if cmd not in self._views:
            raise ValueError(f"No autoprofiler for command: {cmd}, was run")
        return self._views[cmd]

    def add_auto_profiling(self, cmd: str, options: Any, profile_steps: Iterable[int]) -> None:
        """Traces some runs and profiles ("scope", "graph", "op", "code") after each."""
        if not self._enabled:
            return
        steps = list(profile_steps)
        self._profiles.append((cmd, options, steps))
        self._trace_steps |= set(steps)

    def trace_next_step(self) -> None:
        """Traces the next run."""
        if self._enabled:
            self._traces_next = True

    def dump_next_step(self) -> None:
        """Writes a profile after the next run."""
        if self._enabled:
            self._dumps_next = True

    # Runs ---------------------------------------------------------------------------------------

    def __enter__(self) -> ProfileContext:
        if not self._enabled:
            return self
        if ProfileContext._active is not None:
            raise errors.InternalError(None, None, "Already in context or context not cleaned.")
        ProfileContext._active = self
        context = self
        self._plain_run = plain_run = BaseSession.run

        def run(
            session: Any,
            fetches: Any,
            feed_dict: Any = None,
            options: Any = None,
            run_metadata: Any = None,
        ) -> Any:
            call = session, fetches, feed_dict, options, run_metadata
            # A run that begins while another is looked at is not counted among the looked at.
            if not context._lock.acquire(blocking=False):
                return plain_run(*call)
            try:
                return context._run(*call)
            finally:
                context._lock.release()

        BaseSession.run = run  # type: ignore[assignment,method-assign]
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._enabled:
            BaseSession.run = self._plain_run  # type: ignore[method-assign]
            ProfileContext._active = None

    def _run(
        self, session: Any, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any
    ) -> Any:
        step = self._step
        if self._should_trace(session, step, fetches):
            self._traced += 1
            traced = proto.RunOptions()
            if options is not None:
                traced.CopyFrom(options)
            traced.trace_level = proto.RunOptions.FULL_TRACE
            metadata = proto.RunMetadata() if run_metadata is None else run_metadata
            result = self._plain_run(session, fetches, feed_dict, traced, metadata)
            profiler = self.profiler
            assert profiler is not None
            profiler._graph = session.graph
            profiler.add_step(step, metadata)
            if self._debug:
                self._write(f"run_meta_{step}", str(metadata))
        else:
            result = self._plain_run(session, fetches, feed_dict, options, run_metadata)
        if step in self._dump_steps or self._dumps_next:
            assert self.profiler is not None
            self._write(f"profile_{step}", self.profiler.serialize_to_string())
        self._profile(step)
        self._step += 1
        self._traces_next = self._dumps_next = False
        return result

    def _should_trace(self, session: Any, step: int, fetches: Any) -> bool:
        if self._traced > MAX_TRACED_STEPS:
            return False
        if step in self._trace_steps or self._traces_next:
            return True
        if not self._traces_itself or step <= WARMUP_STEPS:
            return False
        flat = Fetches(session.graph, fetches, session)
        names = [tensor.name for tensor in flat.tensors] + [op.name for op in flat.targets]
        form = "-".join(sorted(names))
        is_new = form not in self._seen
        self._seen.add(form)
        return is_new

    def _profile(self, step: int) -> None:
        for cmd, options, steps in self._profiles:
            if step not in steps:
                continue
            if cmd not in _KINDS:
                raise ValueError(f"Unknown cmd: {cmd}\n")
            assert self.profiler is not None
            self._views.setdefault(cmd, {})[step] = self.profiler._profile(cmd, options)

    def _write(self, name: str, content: Any) -> None:
        gfile.MakeDirs(self._folder)
        with gfile.Open(os.path.join(self._folder, name), "w") as file:
            file.write(content)
