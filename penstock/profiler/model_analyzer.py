"""`tf.profiler.profile`: the parameters and operations of a graph, by scope or type."""

from __future__ import annotations

import os
import sys
from typing import Any

from penstock import errors
from penstock.ir.defaults import get_default_graph
from penstock.ir.graph import Graph
from penstock.platform import gfile
from penstock.profiler.name_scope_view import NameScopeView, tree_of
from penstock.profiler.node_statistics import merge_default_with_oplog, statistics_of
from penstock.profiler.op_type_view import OpTypeView
from penstock.profiler.option_builder import ProfileOptionBuilder

__all__ = ["Profiler", "profile", "write_op_log"]

_DEFAULT_PROFILE_OPTIONS = 0

_DOCS = {
    "scope": "scope: The nodes in the model graph are organized by their names, which is "
    "hierarchical like filesystem.",
    "op": "op: The nodes are operation kernel type, such as MatMul, Conv2D. Graph nodes belonging "
    "to the same type are aggregated together.",
    "params": "param: Number of parameters (in the Variable).",
    "float_ops": "flops: Number of float operations. Note: Please read the implementation for the "
    "math behind it.",
    "bytes": "requested bytes: The memory requested by the operation, accumulatively.",
    "micros": "total execution time: Sum of accelerator execution time and cpu execution time.",
}
_COLUMNS = {
    "params": "# parameters",
    "float_ops": "# float_ops",
    "bytes": "requested bytes",
    "micros": "total execution time",
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
    }


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
    selected = [kind for kind in _COLUMNS if kind in options["select"]]
    return [
        "",
        "Doc:",
        _DOCS[cmd],
        *(_DOCS[kind] for kind in sorted(selected)),
        "",
        "Profile:",
        " | ".join(["node name", *(_COLUMNS[kind] for kind in selected)]),
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


def _write(profile_part: list[str], options: dict[str, Any]) -> None:
    kind, _, settings = options["output"].partition(":")
    path = settings.partition("outfile=")[2] or options.get("dump_to_file", "")
    if kind == "file" or options.get("dump_to_file"):
        with gfile.Open(path, "w") as file:
            file.write("\n".join([*profile_part, ""]))
    elif kind == "stdout":
        sys.stdout.write("\n".join([*_report(options, profile_part), ""]))
    elif kind != "none":
        raise errors.UnimplementedError(
            None,
            None,
            f"profile: output {kind!r} is not there; use stdout, file or none, and "
            "tensorflow.python.client.timeline for a timeline",
        )


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
      cmd: "scope" for a tree of name scopes, "op" for types of operations.
      options: see `ProfileOptionBuilder`; the parameters of trainable variables by default.

    Returns:
      A `GraphNodeProto` for "scope", a `MultiGraphNodeProto` for "op".
    """
    if cmd in ("graph", "code"):
        raise errors.UnimplementedError(
            None, None, f"profile: cmd {cmd!r} is not there; use 'scope' or 'op'"
        )
    if cmd not in ("scope", "op"):
        raise errors.InvalidArgumentError(None, None, f"unknown cmd: {cmd}\n")
    if options is None or options == _DEFAULT_PROFILE_OPTIONS:
        options = ProfileOptionBuilder.trainable_variables_parameter()
    options = _complete(options)
    nodes = statistics_of(graph or get_default_graph(), run_meta, op_log)
    view = NameScopeView(tree_of(nodes), options) if cmd == "scope" else OpTypeView(nodes, options)
    _write(_profile_part(cmd, options, view.lines()), options)
    return view.message()


class Profiler:
    """Profiles a graph, and the steps that are added to it."""

    def __init__(self, graph: Graph | None = None, op_log: Any = None):
        self._graph = graph or get_default_graph()
        self._op_log = op_log
        self._steps: dict[int, Any] = {}

    def add_step(self, step: int, run_meta: Any) -> None:
        """Adds the `RunMetadata` of a traced step."""
        self._steps[step] = run_meta

    def _profile(self, cmd: str, options: dict[str, Any]) -> Any:
        step = options.get("step", -1)
        latest = next(reversed(self._steps.values()), None)
        return profile(self._graph, self._steps.get(step, latest), self._op_log, cmd, options)

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
