"""Values of watched tensors as files: `RunOptions.debug_options`, what tfdbg is built on.

A dump is a folder with a file for each value of each watched tensor, named after node, output,
debug op and time, below one folder for each device; and beside them the graph that was run and a
few words about the run. All of these files are Event messages.

Each task writes what its own devices compute, into its own file system.
"""

from __future__ import annotations

import json
import os
import threading
import time
import zlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from penstock import errors, proto
from penstock.dtypes import DType, as_dtype
from penstock.ir.step_graph import Node
from penstock.platform import file_limits
from penstock.platform.file_errors import file_errors
from penstock.runtime.tensor_summaries import DebugOp, debug_op, readable

METADATA_PREFIX = "_tfdbg_"
_FILE_SCHEME = "file://"
_NOT_WRITTEN = ("_Feed", "_Copy")  # values of the client, and those on their way to another memory


class _Watch(NamedTuple):
    op: DebugOp
    folders: list[str]
    tolerant: bool


Watches = dict[tuple[str, int], list[_Watch]]


def device_folder(device: str) -> str:
    """The folder of a device in a dump."""
    return f"{METADATA_PREFIX}device_{device.replace('/', ',').replace(':', '_')}"


def folders_of(options: Any) -> list[str]:
    """The folders that DebugOptions name; UnimplementedError for URLs of other kinds."""
    return sorted(
        {folder for each in options.debug_tensor_watch_opts for folder in _folders(each.debug_urls)}
    )


def _folders(urls: Iterable[str]) -> list[str]:
    found = []
    for url in urls:
        if not url.startswith(_FILE_SCHEME):
            raise errors.UnimplementedError(
                None, None, f"tensors can be watched in files (file://…), not at {url!r}"
            )
        found.append(url[len(_FILE_SCHEME) :])
    return found


def _watches(options: Any, nodes: Iterable[Node]) -> Watches:
    """The watches by tensor; the node name * stands for all nodes, the slot -1 for all outputs."""
    by_name = {node.name: node for node in nodes if node.type not in _NOT_WRITTEN}
    found: Watches = {}
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
        """Counts what is to be written; an error ends the run where that is too much."""
        # In TensorFlow it is the error of a debug node, whose name is no node's name: a ValueError.
        limit = int(os.environ.get(self._VARIABLE) or self._DEFAULT)
        with self._lock:
            if self._used + count > limit:
                raise ValueError(
                    f"TensorFlow Debugger has exhausted file-system byte-size allowance ({limit}), "
                    f"therefore it cannot dump an additional {count} byte(s) of tensor data for "
                    f"the debug tensor {tensor}. You may use the environment variable "
                    f"{self._VARIABLE} to set a higher limit."
                )
            self._used += count


_disk = _DiskAllowance()


class Dump:
    """An observer of a step that writes the values of watched tensors.

    Args:
      options: the DebugOptions.
      nodes: what this process runs of the step.
      limited: whether the files are those of somebody else's program, which may touch those below
        the allowed folders alone.
    """

    steps_through = False

    def __init__(self, options: Any, nodes: Iterable[Node], *, limited: bool):
        self._limited = limited
        self._write = write_limited if limited else write_event
        self._folders = folders_of(options)
        self._watches = _watches(options, nodes)
        self._last = 0
        self._lock = threading.Lock()
        if options.reset_disk_byte_usage:
            _disk.reset()

    def before(self, node: Node, iteration: int, inputs: Sequence[Any]) -> None:
        """Values are written when they are there."""

    def after(self, node: Node, iteration: int, outputs: Sequence[Any]) -> None:
        if node.type not in _NOT_WRITTEN:
            for slot, value in enumerate(outputs):
                self.see(node, slot, value)

    def see(self, node: Node, slot: int, value: Any) -> None:
        """Writes one output of a node, if it is watched."""
        from penstock.kernels.control_flow import DEAD

        watches = self._watches.get((node.name, slot))
        if watches and value is not DEAD:
            self._write_all(node, slot, value, node.dtypes[slot], watches)

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
                    self._take(written.nbytes, f"{node.name}:{slot}")
                name = f"{node.name}_{slot}_{watch.op.name}_{now}"
                self._write(os.path.join(folder, device_folder(node.device), name), event)

    def _take(self, count: int, tensor: str) -> None:
        try:
            _disk.take(count, tensor)
        except ValueError as error:
            if not self._limited:
                raise
            # A client is told of it by a status.
            raise errors.ResourceExhaustedError(None, None, str(error)) from None

    def _now(self) -> int:
        """The time in microseconds, later at each call: files are told apart and sorted by it."""
        with self._lock:
            self._last = max(self._last + 1, time.time_ns() // 1000)
            return self._last

    def write_graphs(self, graphs: dict[str, Any]) -> None:
        """Writes what each device runs, a GraphDef."""
        for device, graph in graphs.items():
            now = self._now()
            message = graph.SerializeToString()
            event = proto.Event(wall_time=float(now), graph_def=message)
            name = f"{METADATA_PREFIX}graph_hash{zlib.crc32(message)}_{now}"
            for folder in self._folders:
                self._write(os.path.join(folder, device_folder(device), name), event)


def by_device(whole: Any) -> dict[str, Any]:
    """A placed GraphDef as one for each device."""
    found = {}
    for device in dict.fromkeys(node.device for node in whole.node if node.device):
        # What is fed is on no device: it is there for all.
        nodes = [node for node in whole.node if node.device in ("", device)]
        found[device] = proto.GraphDef(node=nodes)
    return found


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


def write_limited(path: str, event: Any) -> None:
    """Writes an Event message for a client, below the folders that its graphs may touch."""
    # The whole path, not the folder alone: a node's name is a part of it, and may hold dots.
    file_limits.check(path, "A watched tensor")
    write_event(path, event)
