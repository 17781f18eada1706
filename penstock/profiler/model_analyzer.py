"""`tf.profiler.profile`: what a graph consists of and costs, by scope, edge, line or type."""

from __future__ import annotations

import os
import sys
from typing import Any

from penstock import errors
from penstock.ir.defaults import get_default_graph
from penstock.ir.graph import Graph
from penstock.platform import gfile
from penstock.profiler.advice import ALL_ADVICE, advice
from penstock.profiler.data_flow_tree import DataFlowView, tree_of_inputs
from penstock.profiler.name_scope_view import NameScopeView, tree_of
from penstock.profiler.node_statistics import (
    NodeStatistics,
    merge_default_with_oplog,
    statistics_of,
)
from penstock.profiler.op_type_view import MULTIPLE_COLUMNS, OpTypeView
from penstock.profiler.option_builder import ProfileOptionBuilder
from penstock.profiler.profile_message import profile_message
from penstock.profiler.source_line_view import SourceLineView, tree_of_lines
from penstock.tracing.timeline import Timeline

__all__ = ["ALL_ADVICE", "Profiler", "advise", "profile", "write_op_log"]

_DEFAULT_PROFILE_OPTIONS = 0

_SCOPE = (
    "scope: The nodes in the model graph are organized by their names, which is hierarchical like "
    "filesystem."
)
_ACCELERATOR = (
    "accelerator execution time: Time spent executing on the accelerator. This is normally "
    "measured by the actual hardware library."
)
_CPU = (
    "cpu execution time: The time from the start to the end of the operation. It's the sum of "
    "actual cpu run time plus the time that it spends waiting if part of computation is launched "
    "asynchronously."
)

# What TensorFlow's reports say of their words.
_DOCS = {
    "scope": _SCOPE,
    "graph": _SCOPE,
    "code": "code: When python trace is available, the nodes are python lines and their are "
    "organized by the python call stack.",
    "op": "op: The nodes are operation kernel type, such as MatMul, Conv2D. Graph nodes belonging "
    "to the same type are aggregated together.",
    "params": "param: Number of parameters (in the Variable).",
    "float_ops": "flops: Number of float operations. Note: Please read the implementation for the "
    "math behind it.",
    "bytes": "requested bytes: The memory requested by the operation, accumulatively.",
    "peak_bytes": "peak bytes: The peak amount of memory that the operation is holding at some "
    "point.",
    "residual_bytes": "residual bytes: The memory not de-allocated after the operation finishes.",
    "output_bytes": "output bytes: The memory that is output from the operation (not necessarilty "
    "allocated by the operation)",
    "micros": "total execution time: Sum of accelerator execution time and cpu execution time.\n"
    f"{_CPU}\n{_ACCELERATOR}",
    "accelerator_micros": _ACCELERATOR,
    "cpu_micros": _CPU,
    "device": "device: which device is placed on.",
    "op_types": "op_types: The attributes of the operation, includes the Kernel name device placed "
    "on and user-defined strings.",
    "occurrence": "occurrence: The number of times it occurs",
    "input_shapes": "input shape: The shape of input tensors",
}
_COLUMNS = {
    "params": "# parameters",
    "float_ops": "# float_ops",
    "bytes": "requested bytes",
    "peak_bytes": "peak bytes",
    "residual_bytes": "residual bytes",
    "output_bytes": "output bytes",
    "micros": "total execution time",
    "accelerator_micros": "accelerator execution time",
    "cpu_micros": "cpu execution time",
    "device": "assigned devices",
    "op_types": "op types",
    "occurrence": "op count (run|defined)",
    "input_shapes": "input shapes",
}
_LISTED_OPTIONS = """
max_depth min_bytes min_peak_bytes min_residual_bytes min_output_bytes min_micros
min_accelerator_micros min_cpu_micros min_params min_float_ops min_occurrence step order_by
account_type_regexes start_name_regexes trim_name_regexes show_name_regexes hide_name_regexes
account_displayed_op_only select output
""".split()


def _complete(options: Any) -> dict[str, Any]:
    """Options with a value for each; TensorFlow's names, and its values where none is given."""
    zeros = {name: 0 for name in _LISTED_OPTIONS if name.startswith("min_")}
    lists: dict[str, Any] = {name: [] for name in _LISTED_OPTIONS if name.endswith("_regexes")}
    return {
        **zeros,
        **lists,
        "max_depth": 10,
        "step": -1,
        "order_by": "name",
        "account_displayed_op_only": False,
        "select": [],
        "output": "stdout",
        **options,
        "shown": _shown(options.get("select", ())),
    }


def _shown(selected: Any) -> list[str]:
    """The columns that are asked for; the whole time has its parts beside it."""
    parts = ["accelerator_micros", "cpu_micros"] if "micros" in selected else []
    return [*selected, *(part for part in parts if part not in selected)]


def _listed(name: str, value: Any) -> str:
    if isinstance(value, bool):
        value = str(value).lower()
    elif isinstance(value, (list, tuple)):
        value = ",".join(sorted(value) if name == "select" else value)
    elif name == "output" and ":" not in value:
        value = f"{value}:"
    return f"-{name:<26} {value}"


def _profile_part(cmd: str, options: dict[str, Any], lines: list[str]) -> list[str]:
    """What a file gets too: the explanations and the profile itself."""
    columns = [kind for kind in _COLUMNS if kind in options["shown"]]
    heads = dict(_COLUMNS)
    if cmd in ("op", "code"):
        columns = [kind for kind in MULTIPLE_COLUMNS if kind in columns]
        heads["occurrence"] = "op occurrence (run|defined)"
    return [
        "",
        "Doc:",
        _DOCS[cmd],
        *(_DOCS[kind] for kind in sorted(options["select"]) if kind in _DOCS),
        "",
        "Profile:",
        " | ".join(["node name", *(heads[kind] for kind in columns)]),
        *lines,
    ]


def _report(options: dict[str, Any], profile_part: list[str]) -> list[str]:
    return [
        "",
        "=========================Options=============================",
        *(_listed(name, options[name]) for name in _LISTED_OPTIONS),
        "",
        "==================Model Analysis Report======================",
        *profile_part,
        "",
        "======================End of Report==========================",
    ]


def _write(profile_part: list[str], options: dict[str, Any], run_meta: Any) -> None:
    kind, _, settings = options["output"].partition(":")
    path = settings.partition("outfile=")[2] or options.get("dump_to_file", "")
    if kind == "file" or options.get("dump_to_file"):
        with gfile.Open(path, "w") as file:
            file.write("\n".join([*profile_part, ""]))
    elif kind == "timeline":
        if run_meta:
            with gfile.Open(f"{path}_{max(options['step'], 0)}", "w") as file:
                file.write(Timeline(run_meta.step_stats).generate_chrome_trace_format())
    elif kind == "stdout":
        sys.stdout.write("\n".join([*_report(options, profile_part), ""]))
    elif kind != "none":
        raise errors.UnimplementedError(
            None,
            None,
            f"profile: output {kind!r} is not there; use stdout, file, timeline or none",
        )


def _analysed(graph: Graph, steps: list[list[Any]], op_log: Any, cmd: str, options: Any) -> Any:
    """Prints a profile and gives it as a message."""
    if cmd not in ("scope", "graph", "op", "code"):
        raise errors.InvalidArgumentError(None, None, f"unknown cmd: {cmd}\n")
    if options is None or options == _DEFAULT_PROFILE_OPTIONS:
        options = ProfileOptionBuilder.trainable_variables_parameter()
    options = _complete(options)
    view = _view(cmd, statistics_of(graph, None, op_log, steps), graph, options)
    latest = steps[-1][-1] if steps else None
    _write(_profile_part(cmd, options, view.lines()), options, latest)
    return view.message()


def profile(
    graph: Graph | None = None,
    run_meta: Any = None,
    op_log: Any = None,
    cmd: str = "scope",
    options: Any = _DEFAULT_PROFILE_OPTIONS,
) -> Any:
    """Prints and returns what a graph consists of.

    >>> options = tf.profiler.ProfileOptionBuilder.float_operation()
    >>> tf.profiler.profile(graph, options=options).total_float_ops

    Args:
      graph: the graph; the default one if None.
      run_meta: the `RunMetadata` of a traced step, for times and memory.
      op_log: an `OpLogProto` with more types and operations of nodes.
      cmd: "scope" for a tree of name scopes, "graph" for nodes with their inputs below them,
        "code" for lines of the program, "op" for types of operations.
      options: see `ProfileOptionBuilder`; the parameters of trainable variables by default.

    Returns:
      A `GraphNodeProto` for "scope" and "graph", a `MultiGraphNodeProto` for "op" and "code".
    """
    steps = [[run_meta]] if run_meta else []
    return _analysed(graph or get_default_graph(), steps, op_log, cmd, options)


def _view(cmd: str, nodes: list[NodeStatistics], graph: Graph, options: dict[str, Any]) -> Any:
    if cmd == "op":
        return OpTypeView(nodes, options)
    if cmd == "code":
        return SourceLineView(tree_of_lines(nodes, graph, options), options)
    if cmd == "graph":
        return DataFlowView(tree_of_inputs(nodes, graph), options)
    return NameScopeView(tree_of(nodes), options)


def advise(graph: Graph | None = None, run_meta: Any = None, options: Any = 0) -> Any:
    """Prints and returns (`AdviceProto`) what could make a traced step faster.

    Args:
      graph: the graph; the default one if None.
      run_meta: the `RunMetadata` of a traced step.
      options: the checkers by name, as in `ALL_ADVICE`, which is the default.
    """
    graph = graph or get_default_graph()
    return advice(graph, statistics_of(graph, run_meta), options or ALL_ADVICE)


class Profiler:
    """Profiles a graph, and the steps that are added to it."""

    def __init__(self, graph: Graph | None = None, op_log: Any = None):
        self._graph = graph or get_default_graph()
        self._op_log = op_log
        self._steps: dict[int, list[Any]] = {}

    def add_step(self, step: int, run_meta: Any) -> None:
        """Adds the `RunMetadata` of a traced run; several may belong to one step."""
        self._steps.setdefault(step, []).append(run_meta)

    def _profile(self, cmd: str, options: dict[str, Any]) -> Any:
        step = options.get("step", -1)
        steps = list(self._steps.values()) if step < 0 else [self._steps.get(step, [])]
        steps = [traces for traces in steps if traces]
        return _analysed(self._graph, steps, self._op_log, cmd, options)

    @property
    def _coverage(self) -> float:
        """The share of the graph's nodes that the added steps ran."""
        nodes = self._graph.get_operations()
        ran = {
            stats.node_name
            for traces in self._steps.values()
            for run_meta in traces
            for row in run_meta.step_stats.dev_stats
            for stats in row.node_stats
        }
        return sum(op.name in ran for op in nodes) / len(nodes) if nodes else 0.0

    def advise(self, options: Any = 0) -> Any:
        """What could make the steps faster; see `tf.profiler.advise`."""
        nodes = statistics_of(self._graph, steps=list(self._steps.values()))
        return advice(self._graph, nodes, options or ALL_ADVICE)

    def serialize_to_string(self) -> bytes:
        """The nodes with their times and memory, as a serialized `ProfileProto`."""
        serialized: bytes = profile_message(self._graph, self._steps).SerializeToString()
        return serialized

    def _write_profile(self, filename: Any) -> None:
        with gfile.Open(filename, "wb") as file:
            file.write(self.serialize_to_string())

    def profile_name_scope(self, options: dict[str, Any]) -> Any:
        """The profile by name scopes."""
        return self._profile("scope", options)

    def profile_operations(self, options: dict[str, Any]) -> Any:
        """The profile by types of operations."""
        return self._profile("op", options)

    def profile_graph(self, options: dict[str, Any]) -> Any:
        """The profile along the edges of the graph."""
        return self._profile("graph", options)

    def profile_python(self, options: dict[str, Any]) -> Any:
        """The profile by lines of the program."""
        return self._profile("code", options)


def write_op_log(
    graph: Graph | None,
    log_dir: str,
    op_log: Any = None,
    run_meta: Any = None,
    add_trace: bool = True,
) -> None:
    """Writes an `OpLogProto` with the operations and types of a graph's nodes to `tfprof_log`."""
    message = merge_default_with_oplog(graph or get_default_graph(), op_log, run_meta, add_trace)
    with gfile.Open(os.path.join(log_dir, "tfprof_log"), "w") as file:
        file.write(message.SerializeToString())
