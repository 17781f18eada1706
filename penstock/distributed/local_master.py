"""The master of a task: the sessions of its clients, whatever runtime they run on."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock import errors, proto
from penstock.distributed.frames import Value
from penstock.distributed.master import Feeds, StepForm, StepResult
from penstock.distributed.master_session import MasterSession
from penstock.runtime.configured import configured_runtime
from penstock.state.containers import ResourceManager
from penstock.state.waiting import Cancellation

if TYPE_CHECKING:
    from penstock.distributed.cluster_task import ClusterTask


class LocalMaster:
    """A `Master` whose sessions share the state of one task, unless they are isolated.

    Args:
      task_name: the first part of the names of the task's devices.
      resources: the task's state.
      default_config: the ConfigProto under that of each session.
      cluster_for: gives the task's place in the cluster of a session with a ConfigProto; None if
        there is no other task.
    """

    def __init__(
        self,
        task_name: str,
        resources: ResourceManager,
        default_config: Any,
        cluster_for: Callable[[Any], ClusterTask | None] = lambda config: None,
    ):
        self._task_name = task_name
        self._resources = resources
        self._default_config = default_config
        self._cluster_for = cluster_for
        self._lock = threading.Lock()
        self._sessions: dict[str, MasterSession] = {}

    @property
    def has_sessions(self) -> bool:
        """Whether a client has a session here."""
        return bool(self._sessions)

    def _session(self, handle: str) -> MasterSession:
        session = self._sessions.get(handle)
        if session is None:
            raise errors.AbortedError(None, None, f"Session {handle} is not found.")
        return session

    def create_session(self, graph_def: Any, config: Any) -> str:
        merged = proto.ConfigProto()
        merged.CopyFrom(self._default_config)
        merged.MergeFrom(config)
        session = MasterSession(merged, self._runtime(merged))
        session.create(graph_def)
        handle = secrets.token_hex(8)
        with self._lock:
            self._sessions[handle] = session
        return handle

    def _runtime(self, config: Any) -> Any:
        cluster = self._cluster_for(config)
        if cluster is not None:
            return cluster.session_runtime(config)
        shared = None if config.isolate_session_state else self._resources
        return configured_runtime(
            config, server=self._default_config, task_name=self._task_name, resources=shared
        )

    def extend_session(self, handle: str, graph_def: Any, version: int) -> int:
        return self._session(handle).extend(graph_def, version)

    def run_step(
        self,
        handle: str,
        feeds: Feeds,
        fetches: Sequence[str],
        targets: Sequence[str],
        options: Any,
        cancellation: Cancellation,
    ) -> StepResult:
        return self._session(handle).run(feeds, fetches, targets, options, cancellation)

    def run_form(
        self,
        handle: str,
        form: StepForm,
        values: Sequence[Any],
        options: Any,
        cancellation: Cancellation,
    ) -> tuple[list[Value], Any]:
        return self._session(handle).run_form(form, values, options, cancellation)

    def partial_run_setup(self, handle: str, form: StepForm) -> str:
        return self._session(handle).partial_run_setup(form)

    def partial_run(
        self,
        handle: str,
        partial_handle: str,
        feeds: Feeds,
        fetches: Sequence[str],
        targets: Sequence[str],
    ) -> StepResult:
        return self._session(handle).partial_run(partial_handle, feeds, fetches, targets)

    def make_callable(self, handle: str, options: Any) -> int:
        return self._session(handle).make_callable(options)

    def run_callable(
        self, handle: str, number: int, feeds: Sequence[np.ndarray], cancellation: Cancellation
    ) -> StepResult:
        return self._session(handle).run_callable(number, feeds, cancellation)

    def release_callable(self, handle: str, number: int) -> None:
        self._session(handle).release_callable(number)

    def close_session(self, handle: str) -> None:
        with self._lock:
            session = self._sessions.pop(handle, None)
        if session is None:
            raise errors.AbortedError(
                None,
                None,
                f"Session {handle} is not found. Possibly, this master has restarted.",
            )
        session.close()

    def close_all(self) -> None:
        """Closes all sessions; the state of the task stays."""
        with self._lock:
            sessions, self._sessions = self._sessions, {}
        for session in sessions.values():
            session.close()

    def reset(self, containers: Sequence[str]) -> None:
        self.close_all()
        self._resources.reset(containers)
        cluster = self._cluster_for(self._default_config)
        if cluster is not None:
            cluster.reset(containers)

    def list_devices(self, handle: str) -> tuple[list[Any], list[Any]]:
        if handle:
            return self._session(handle).device_attributes(), []
        runtime = configured_runtime(self._default_config, task_name=self._task_name)
        try:
            return runtime.device_attributes(), []
        finally:
            runtime.close()
