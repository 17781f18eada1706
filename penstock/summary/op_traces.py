"""Summaries of what ran: metadata of runs, graphs of functions, Keras models."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import penstock as tf
from penstock import proto
from penstock.ops import concrete_functions
from penstock.platform import logging
from penstock.summary.op_summaries import summary_scope, write


def _described(plugin: str) -> Any:
    """Metadata of a summary that a plugin of TensorBoard's reads, in its first format."""
    metadata = proto.SummaryMetadata()
    metadata.plugin_data.plugin_name = plugin
    metadata.plugin_data.content = b"1"
    return metadata


def _write_text(plugin: str, name: str, data: Any, step: Any) -> Any:
    with summary_scope(name, plugin) as (tag, _):
        with tf.device("cpu:0"):
            tensor = tf.constant(data, dtype=tf.string)
        return write(tag=tag, tensor=tensor, step=step, metadata=_described(plugin))


def run_metadata(name: str, data: Any, step: Any = None) -> Any:
    """Writes a RunMetadata message; gives whether that happened."""
    return _write_text("graph_run_metadata", name, data.SerializeToString(), step)


def run_metadata_graphs(name: str, data: Any, step: Any = None) -> Any:
    """Writes the graphs of functions of a RunMetadata message; gives whether that happened."""
    graphs = proto.RunMetadata(
        function_graphs=data.function_graphs, partition_graphs=data.partition_graphs
    )
    return _write_text("graph_run_metadata_graph", name, graphs.SerializeToString(), step)


def keras_model(name: str, data: Any, step: Any = None) -> Any:
    """Writes the configuration of a Keras model; gives whether that happened.

    A model that has none must not stop a program: it is told, and nothing is written.
    """
    try:
        text = data.to_json()
    except Exception as error:
        logging.warn(f"Model failed to serialize as JSON. Ignoring... {error}")
        return False
    return _write_text("graph_keras_model", name, text, step)


# Traces ------------------------------------------------------------------------------------------

_lock = threading.Lock()


def trace_on(graph: bool = True, profiler: bool = False) -> None:
    """Begins to collect the graphs of the functions that are called, in all threads.

    Args:
      graph: whether to collect them; there is nothing else to collect here.
      profiler: refused: `tf.profiler` and `penstock profile` measure times.
    """
    if tf.get_default_graph().building_function:
        logging.warn("Cannot enable trace inside a tf.function.")
        return
    if not tf.executing_eagerly():
        logging.warn("Must enable trace in eager mode.")
        return
    if profiler:
        raise tf.errors.UnimplementedError(
            None, None, "trace_on(profiler=True): use tf.profiler or `penstock profile`"
        )
    with _lock:
        if concrete_functions.traced_calls is not None:
            logging.warn("Trace already enabled")
            return
        concrete_functions.traced_calls = []


def trace_export(name: str, step: Any = None, profiler_outdir: str | None = None) -> None:
    """Writes what was collected since `trace_on`, and ends the trace.

    Args:
      step: the one of `set_step` by default.
      profiler_outdir: without effect, as there are no profiles.
    """
    if tf.get_default_graph().building_function:
        logging.warn("Cannot export trace inside a tf.function.")
        return
    if not tf.executing_eagerly():
        logging.warn("Can only export trace while executing eagerly.")
        return
    with _ended_trace() as calls:
        if calls is None:
            raise ValueError("Must enable trace before export.")
        run_metadata_graphs(name, graphs_of(calls), step)


def trace_off() -> None:
    """Ends a trace; what was collected is forgotten."""
    with _ended_trace():
        pass


@contextmanager
def _ended_trace() -> Iterator[list[Any] | None]:
    """A block with the functions that were called in the trace that it ends, None without one."""
    with _lock:
        calls, concrete_functions.traced_calls = concrete_functions.traced_calls, None
    yield calls


def graphs_of(calls: list[Any]) -> Any:
    """Metadata with the graph of each function that was called, once."""
    metadata = proto.RunMetadata()
    for function in dict.fromkeys(calls):
        graphs = metadata.function_graphs.add()
        graphs.pre_optimization_graph.CopyFrom(function.graph.as_graph_def())
        graphs.post_optimization_graph.CopyFrom(graphs.pre_optimization_graph)
    return metadata
