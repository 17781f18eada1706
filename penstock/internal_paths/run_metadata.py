"""Metadata of eager runs: the graphs of the functions that were called."""

from __future__ import annotations

from typing import Any

from penstock.ops import concrete_functions
from penstock.summary.op_traces import graphs_of


def enable_graph_collection() -> None:
    """Begins to collect the graphs of the functions that are called, in all threads."""
    if concrete_functions.traced_calls is None:
        concrete_functions.traced_calls = []


def disable_graph_collection() -> None:
    """Ends what `enable_graph_collection` began, and forgets what was not exported."""
    concrete_functions.traced_calls = None


def export_run_metadata() -> Any:
    """A RunMetadata with what was collected since the last one."""
    calls = concrete_functions.traced_calls
    if calls is not None:
        concrete_functions.traced_calls = []
    return graphs_of(calls or [])


enable_run_metadata = enable_graph_collection
disable_run_metadata = disable_graph_collection
