"""Events of Chrome's trace viewer (chrome://tracing), as a list that becomes JSON."""

from __future__ import annotations

import json
from typing import Any


class ChromeTrace:
    """A trace under construction; times are in microseconds."""

    def __init__(self, show_memory: bool = False):
        self._show_memory = show_memory
        self._events: list[dict[str, Any]] = []
        self._metadata: list[dict[str, Any]] = []

    def _emit(
        self,
        phase: str,
        category: str,
        name: str,
        pid: int,
        tid: int,
        timestamp: int,
        **more: Any,
    ) -> None:
        event = {"ph": phase, "cat": category, "name": name, "pid": pid, "tid": tid}
        self._events.append({**event, "ts": timestamp, **more})

    def emit_pid(self, name: str, pid: int) -> None:
        """Names a process, which is a group of rows."""
        self._metadata.append(
            {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}}
        )

    def emit_tid(self, name: str, pid: int, tid: int) -> None:
        """Names a thread, which is a row."""
        self._metadata.append(
            {"name": "thread_name", "ph": "M", "pid": pid, "tid": tid, "args": {"name": name}}
        )

    def emit_region(
        self,
        timestamp: int,
        duration: int,
        pid: int,
        tid: int,
        category: str,
        name: str,
        args: dict[str, Any],
    ) -> None:
        """Adds a bar."""
        self._emit("X", category, name, pid, tid, timestamp, dur=duration, args=args)

    def emit_obj_create(
        self, category: str, name: str, timestamp: int, pid: int, tid: int, object_id: int
    ) -> None:
        """Begins the life of an object."""
        self._emit("N", category, name, pid, tid, timestamp, id=object_id)

    def emit_obj_delete(
        self, category: str, name: str, timestamp: int, pid: int, tid: int, object_id: int
    ) -> None:
        """Ends the life of an object."""
        self._emit("D", category, name, pid, tid, timestamp, id=object_id)

    def emit_obj_snapshot(
        self,
        category: str,
        name: str,
        timestamp: int,
        pid: int,
        tid: int,
        object_id: int,
        snapshot: dict[str, Any],
    ) -> None:
        """Adds what an object looks like at a time."""
        args = {"snapshot": snapshot}
        self._emit("O", category, name, pid, tid, timestamp, id=object_id, args=args)

    def emit_flow_start(self, name: str, timestamp: int, pid: int, tid: int, flow_id: int) -> None:
        """Adds the beginning of an arrow."""
        self._emit("s", "DataFlow", name, pid, tid, timestamp, id=flow_id)

    def emit_flow_end(self, name: str, timestamp: int, pid: int, tid: int, flow_id: int) -> None:
        """Adds the end of an arrow."""
        self._emit("t", "DataFlow", name, pid, tid, timestamp, id=flow_id)

    def emit_counter(
        self, category: str, name: str, pid: int, timestamp: int, counter: str, value: int
    ) -> None:
        """Adds a value of one curve."""
        self.emit_counters(category, name, pid, timestamp, {counter: value})

    def emit_counters(
        self, category: str, name: str, pid: int, timestamp: int, counters: dict[str, int]
    ) -> None:
        """Adds values of several curves."""
        self._emit("C", category, name, pid, 0, timestamp, args=dict(counters))

    def format_to_string(self, pretty: bool = False) -> str:
        """The trace as JSON."""
        trace = {"traceEvents": self._metadata + self._events}
        if pretty:
            return json.dumps(trace, indent=4, separators=(",", ": "))
        return json.dumps(trace, separators=(",", ":"))
