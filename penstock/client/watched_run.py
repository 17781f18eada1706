"""Runs whose tensors are written to files: `RunOptions.debug_options`, what tfdbg is built on.

A dump is a folder with a file for each value of each watched tensor, named after node, output,
debug op and time, below one folder for each device; and beside them the graph that was run and a
few words about the run. All of these files are Event messages.
"""

from __future__ import annotations

import itertools
import json
import os
import threading
import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from penstock import errors, proto
from penstock.client.tensor_summaries import DebugOp, debug_op, readable
from penstock.dtypes import DType, as_dtype
from penstock.ir.step_graph import Node
from penstock.platform.file_errors import file_errors

METADATA_PREFIX = "_tfdbg_"
_FILE_SCHEME = "file://"


class _Watch(NamedTuple):
    op: DebugOp
    folders: list[str]
    tolerant: bool


def device_folder(device: str) -> str:
    """The folder of a device in a dump."""
    return f"{METADATA_PREFIX}device_{device.replace('/', ',').replace(':', '_')}"


def _folders(urls: Iterable[str]) -> list[str]:
    found = []
    for url in urls:
        if not url.startswith(_FILE_SCHEME):
            raise errors.UnimplementedError(
                None, None, f"tensors can be watched in files (file://…), not at {url!r}"
            )
        found.append(url[len(_FILE_SCHEME) :])
    return found


def _watches(options: Any, nodes: Sequence[Node]) -> dict[tuple[str, int], list[_Watch]]:
    """The watches by tensor; the node name * stands for all nodes, the slot -1 for all outputs."""
    by_name = {node.name: node for node in nodes if node.type != "_Feed"}
    found: dict[tuple[str, int], list[_Watch]] = {}
    for asked in options.debug_tensor_watch_opts:
        names = by_name if asked.node_name == "*" else [asked.node_name]
        folders = _folders(asked.debug_urls)
        for name in names:
            node = by_name.get(name)
            if node is None:
                continue
            every = asked.output_slot < 0
            slots = range(len(node.dtypes)) if every else [asked.output_slot]
            for slot in slots:
                if slot < len(node.dtypes):
                    watched = found.setdefault((name, slot), [])
                    watched += _not_yet(watched, asked, node, slot, folders)
    return found


def _not_yet(
    watched: list[_Watch], asked: Any, node: Node, slot: int, folders: list[str]
) -> list[_Watch]:
    """The debug ops that a watch adds to those of the watches before it."""
    made = []
    for number, text in enumerate(asked.debug_ops):
        op = debug_op(text, node.name, slot, number)
        if any(each.op.name == op.name and each.folders == folders for each in watched):
            continue
        if not op.fits(node.dtypes[slot]):
            if asked.tolerate_debug_op_creation_failures:
                continue
            raise errors.FailedPreconditionError(
                None,
                None,
                f"Failed to create debug node {op.name} for tensor {node.name}:{slot}: it takes "
                f"numbers, not {node.dtypes[slot].base_dtype.name}",
            )
        made.append(_Watch(op, folders, asked.tolerate_debug_op_creation_failures))
    return made


class _DiskAllowance:
    """How many bytes of tensors the dumps of this process may have, and how many they have."""

    _DEFAULT = 100 * 10**9
    _VARIABLE = "TFDBG_DISK_BYTES_LIMIT"

    def __init__(self) -> None:
        self._used = 0
        self._lock = threading.Lock()

    def reset(self) -> None:
        with self._lock:
            self._used = 0

    def take(self, count: int, tensor: str) -> None:
        """Counts what is to be written; a ValueError ends the run where that is too much."""
        limit = int(os.environ.get(self._VARIABLE) or self._DEFAULT)
        with self._lock:
            if self._used + count > limit:
                # In TensorFlow the error of its debug node, whose name is no node's name.
                raise ValueError(
                    f"TensorFlow Debugger has exhausted file-system byte-size allowance ({limit}), "
                    f"therefore it cannot dump an additional {count} byte(s) of tensor data for "
                    f"the debug tensor {tensor}. You may use the environment variable "
                    f"{self._VARIABLE} to set a higher limit."
                )
            self._used += count


_disk = _DiskAllowance()


class _Dump:
    """An observer of a step that writes the values of watched tensors."""

    def __init__(self, watches: dict[tuple[str, int], list[_Watch]]):
        self._watches = watches
        self._last = 0

    def before(self, node: Node, iteration: int, inputs: Sequence[Any]) -> None:
        """Values are written when they are there."""

    def after(self, node: Node, iteration: int, outputs: Sequence[Any]) -> None:
        from penstock.kernels.control_flow import DEAD

        if node.type == "_Feed":
            return
        for slot, (value, dtype) in enumerate(zip(outputs, node.dtypes, strict=True)):
            watches = self._watches.get((node.name, slot))
            if watches and value is not DEAD:
                self._write_all(node, slot, value, dtype, watches)

    def _write_all(
        self, node: Node, slot: int, value: Any, dtype: DType, watches: list[_Watch]
    ) -> None:
        has_value, array = readable(value, dtype)
        for watch in watches:
            written = watch.op.write(array, dtype, node.shapes[slot]) if has_value else None
            if written is not None and not written.size and watch.op.name.endswith("Summary"):
                continue  # healthy, and asked to be silent then
            now = self._now()
            base = dtype.base_dtype
            kind = base if watch.op.name.startswith("DebugIdentity") else None
            event = _tensor_event(node, slot, watch.op.name, written, kind, now)
            for folder in watch.folders:
                if written is not None:
                    _disk.take(written.nbytes, f"{node.name}:{slot}")
                name = f"{node.name}_{slot}_{watch.op.name}_{now}"
                path = os.path.join(folder, device_folder(node.device), name)
                write_event(path, event)

    def _now(self) -> int:
        """The time in microseconds, later at each call: files are told apart and sorted by it."""
        self._last = max(self._last + 1, time.time_ns() // 1000)
        return self._last


def _tensor_event(
    node: Node, slot: int, op: str, array: np.ndarray | None, dtype: DType | None, now: int
) -> Any:
    event = proto.Event(wall_time=float(now))
    value = event.summary.value.add(node_name=f"{node.name}:{slot}:{op}", tag=node.name)
    value.metadata.plugin_data.plugin_name = "debugger"
    about = {"device": node.device, "outputSlot": slot, "numChunks": 1, "chunkIndex": 0}
    value.metadata.plugin_data.content = json.dumps(about).encode()
    if dtype is None:
        assert array is not None
        dtype = as_dtype(array.dtype)
    tensor = value.tensor
    tensor.dtype = dtype.as_datatype_enum
    if array is None:  # not initialized, or a handle: the type alone
        for length in node.shapes[slot] or ():
            tensor.tensor_shape.dim.add(size=1 if length is None else length)
        return event
    for length in array.shape:
        tensor.tensor_shape.dim.add(size=length)
    if array.dtype == object:
        tensor.string_val.extend(
            each if isinstance(each, bytes) else str(each).encode() for each in array.flat
        )
    else:
        tensor.tensor_content = np.ascontiguousarray(array).tobytes()
    return event


def write_event(path: str, event: Any) -> None:
    """Writes one Event message to a file of its own."""
    with file_errors(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(event.SerializeToString())


class WatchedRuns:
    """The watched runs of one session: they are counted, over all and for each form."""

    def __init__(self) -> None:
        self._run_index = itertools.count()
        self._step_index: dict[int, int] = {}

    def run(
        self,
        step: Any,
        feeds: Sequence[Any],
        timeout: float | None,
        options: Any,
        names: dict[str, list[str]],
    ) -> tuple[Any, ...]:
        """Runs a step that was compiled with every node, and writes what `options` asks for."""
        if options.reset_disk_byte_usage:
            _disk.reset()
        watches = _watches(options, step.graph.nodes)
        folders = {
            folder
            for each in options.debug_tensor_watch_opts
            for folder in _folders(each.debug_urls)
        }
        now = time.time_ns() // 1000
        about = self._about(step, options, names)
        for folder in sorted(folders):
            self._write_graph(folder, step, now)
            name = f"{METADATA_PREFIX}core_metadata_sessionrun{about['session_run_index']:014d}"
            event = proto.Event(wall_time=float(now))
            event.log_message.message = json.dumps(about)
            write_event(os.path.join(folder, f"{name}_{now}"), event)
        results: tuple[Any, ...] = step.run_observed(feeds, _Dump(watches), timeout)
        return results

    def _about(self, step: Any, options: Any, names: dict[str, list[str]]) -> dict[str, Any]:
        number = self._step_index.get(id(step), 0)
        self._step_index[id(step)] = number + 1
        return {
            "global_step": options.global_step,
            "session_run_index": next(self._run_index),
            "executor_step_index": number,
            **names,
        }

    @staticmethod
    def _write_graph(folder: str, step: Any, now: int) -> None:
        from penstock.runtime.tracing import graph_def_of

        whole = graph_def_of(step.placed)
        for device in dict.fromkeys(node.device for node in whole.node if node.device):
            # What is fed is on no device: it is there for all.
            nodes = [node for node in whole.node if node.device in ("", device)]
            part = proto.GraphDef(node=nodes)
            event = proto.Event(wall_time=float(now), graph_def=part.SerializeToString())
            name = f"{METADATA_PREFIX}graph_hash{hash(device) & 0xFFFFFFFF}_{now}"
            write_event(os.path.join(folder, device_folder(device), name), event)
