"""`debug.lib.profiling`: how long operations ran, one by one and together."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any


class ProfileDatum:
    """One execution of an operation, and the line that made the operation."""

    def __init__(
        self,
        device_name: str,
        node_exec_stats: Any,
        file_path: str | None,
        line_number: int,
        func_name: str,
        op_type: str,
    ):
        self.device_name = device_name
        self.node_exec_stats = node_exec_stats
        self.file_path = file_path
        self.line_number = line_number
        self.func_name = func_name
        self.op_type = op_type
        self.file_line_func = (
            f"{os.path.basename(file_path)}:{line_number}({func_name})" if file_path else ""
        )
        self.start_time = node_exec_stats.all_start_micros
        self.op_time = node_exec_stats.op_end_rel_micros - node_exec_stats.op_start_rel_micros

    @property
    def exec_time(self) -> int:
        """Microseconds from its start to its end, with what came before and after the kernel."""
        return int(self.node_exec_stats.all_end_rel_micros)


class AggregateProfile:
    """The sums of several executions."""

    def __init__(self, profile_datum: ProfileDatum):
        self.total_op_time = 0
        self.total_exec_time = 0
        self._executions: Counter[str] = Counter()
        self.add(profile_datum)

    def add(self, profile_datum: ProfileDatum) -> None:
        """Adds an execution."""
        self.total_op_time += profile_datum.op_time
        self.total_exec_time += profile_datum.exec_time
        node = profile_datum.node_exec_stats.node_name
        self._executions[f"{profile_datum.device_name}:{node}"] += 1

    @property
    def node_count(self) -> int:
        """How many nodes there were."""
        return len(self._executions)

    @property
    def node_exec_count(self) -> int:
        """How many executions there were."""
        return self._executions.total()
