"""What a scenario builds, as plain data: nodes, collections, and what the scenario returned.

A scenario is a function of the `tf` namespace. The same scenario is run by real TensorFlow (when
its snapshot is recorded) and by Penstock (when a test compares), so it uses nothing but `tf`.
"""

from __future__ import annotations

import gzip
import inspect
import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

FOLDERS = {
    release: Path(__file__).parents[1] / "recorded" / folder
    for release, folder in (("1.15", "graphs_1_15"), ("2.21", "graphs"))
}

# TensorFlow marks the targets of tf.control_dependencies for its own function transformations,
# and decides by a kernel's registration on which devices a handle is allowed. The token of a Python
# function is a number of its process.
_SKIPPED_ATTRS = {"_has_manual_control_dependencies", "allowed_devices", "token"}
_LONGEST_VALUE = 40  # elements of a constant that a snapshot spells out

Scenario = "Callable[[Any], Any]"  # recorded with Python 3.7, too


def scenarios_of(module: ModuleType) -> dict[str, Scenario]:
    """The scenarios that a module defines: its public functions of one argument, `tf`."""
    return {
        name: function
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and not name.startswith("_")
        and list(inspect.signature(function).parameters) == ["tf"]
    }


def file_of(module: ModuleType, release: str) -> Path:
    """Where a release's snapshots of a module's scenarios are recorded."""
    return FOLDERS[release] / f"{module.__name__.rpartition('.')[2]}.json.gz"


@lru_cache(maxsize=None)  # noqa: UP033  # recorded with Python 3.7, too
def recorded(module: ModuleType, release: str) -> dict[str, Any]:
    """A release's snapshots of a module's scenarios, by name."""
    path = file_of(module, release)
    if not path.exists():
        return {}
    return json.loads(gzip.decompress(path.read_bytes()).decode())  # type: ignore[no-any-return]


def take(tf: Any, scenario: Scenario) -> dict[str, Any]:
    """Builds a scenario in a graph of its own and describes the outcome."""
    graph = tf.Graph()
    with graph.as_default():
        result = scenario(tf)
    return {
        "nodes": [_node(op) for op in graph.get_operations()],
        "collections": {
            key: [_described(value) for value in graph.get_collection(key)]
            for key in sorted(graph.get_all_collection_keys())
            if key != tf.GraphKeys.COND_CONTEXT and graph.get_collection(key)
        },
        "result": _described(result),
    }


def _node(op: Any) -> dict[str, Any]:
    message = op.node_def
    attrs = {
        key: _attr(op, key, message.attr[key])
        for key in sorted(message.attr)
        if key not in _SKIPPED_ATTRS
    }
    return {
        "name": op.name,
        "op": op.type,
        "inputs": _inputs(message.input),
        "device": message.device,
        "attrs": attrs,
        "shapes": [str(output.shape) for output in op.outputs],
    }


def _inputs(names: Any) -> list[str]:
    """Inputs, then control inputs, whose order means nothing.

    A node's first output may be spelled with its number or without.
    """
    data = [name[:-2] if name.endswith(":0") else name for name in names if name[0] != "^"]
    return data + sorted(name for name in names if name.startswith("^"))


def _attr(op: Any, key: str, message: Any) -> Any:
    kind = message.WhichOneof("value")
    if kind == "tensor":
        return _constant(op)
    if kind == "list":
        entries = [entry for _, values in message.list.ListFields() for entry in values]
        return [_described(entry) for entry in entries]
    if kind == "shape":
        shape = message.shape
        return "unknown" if shape.unknown_rank else [dim.size for dim in shape.dim]
    value = getattr(message, kind)
    return value.decode() if isinstance(value, bytes) else value


def _constant(op: Any) -> Any:
    """The value of a Const node; a message may spell one value in several ways."""
    shape = op.outputs[0].shape
    if shape.num_elements() > _LONGEST_VALUE:
        return f"{shape.num_elements()} elements"
    message = op.node_def.attr["value"].tensor
    entries: list[Any] = []
    if message.tensor_content:
        dtype = np.dtype(op.outputs[0].dtype.as_numpy_dtype)
        entries = np.frombuffer(message.tensor_content, dtype).tolist()
    else:
        for field, values in message.ListFields():
            if field.name.endswith("_val"):
                entries = list(values)
    count = shape.num_elements()
    if entries and len(entries) < count:
        entries += [entries[-1]] * (count - len(entries))
    if not entries:
        entries = [0] * count
    return [_described(entry) for entry in entries]


def _described(value: Any) -> Any:
    """A value in the words of JSON: containers and plain values as they are, others by name."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, dict):
        return {str(key): _described(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_described(entry) for entry in value]
    if isinstance(value, Exception):
        return type(value).__name__
    if hasattr(value, "name"):
        dtype = getattr(value, "dtype", None)
        described = f"{_kind(value)} {value.name}"
        return described if dtype is None else f"{described} {dtype.name} {value.shape}"
    return str(value)


def _kind(value: Any) -> str:
    return "variable" if hasattr(value, "initializer") else "node"


def error_of(function: Callable[[], Any]) -> str:
    """The class of the error that a call raises; "no error" if it raises none."""
    try:
        function()
    except Exception as error:
        return type(error).__name__
    return "no error"
