"""Single tensors that a watched run left in files."""

from __future__ import annotations

import os
from math import prod
from typing import Any

import numpy as np

from penstock import proto
from penstock.debugger.value_text import has_bad_numbers
from penstock.dtypes import as_dtype
from penstock.ir.tensor_codec import proto_to_array
from penstock.platform import file_io
from penstock.runtime.watching import METADATA_PREFIX


class InconvertibleTensorProto:
    """A dumped tensor without a value: not initialized, or a handle."""

    def __init__(self, tensor_proto: Any, initialized: bool = True):
        self._tensor_proto = tensor_proto
        self._initialized = initialized

    @property
    def initialized(self) -> bool:
        return self._initialized

    def __str__(self) -> str:
        return ("" if self._initialized else "Uninitialized tensor:\n") + str(self._tensor_proto)


def read_event(path: str) -> Any:
    """The one Event message of a file."""
    with file_io.FileIO(path, "rb") as file:
        return proto.Event.FromString(file.read())


def load_tensor_from_event(event: Any) -> Any:
    """The value in an Event of a dump; an InconvertibleTensorProto where it has none."""
    message = event.summary.value[0].tensor
    size = prod(dim.size for dim in message.tensor_shape.dim)
    if as_dtype(message.dtype).name in ("resource", "variant"):
        return InconvertibleTensorProto(message)
    if not (message.tensor_content or message.string_val or not size):
        return InconvertibleTensorProto(message, initialized=False)
    return proto_to_array(message)


def load_tensor_from_event_file(event_file_path: str) -> Any:
    """The value in a file of a dump; see `load_tensor_from_event`."""
    return load_tensor_from_event(read_event(event_file_path))


def has_inf_or_nan(datum: Any, tensor: Any) -> bool:
    """Whether a dumped tensor holds an infinite number or a NaN; other than floats never do."""
    del datum  # the filter of a debugger gets the dump's description, too
    return isinstance(tensor, np.ndarray) and has_bad_numbers(tensor)


def device_path_to_device_name(device_dir: str) -> str:
    """The device whose tensors are in a folder of a dump."""
    parts = os.path.basename(device_dir)[len(f"{METADATA_PREFIX}device_") :].split(",")
    return "/".join(part.replace("device_", "device:").replace("_", ":", 1) for part in parts)


class DebugTensorDatum:
    """A value that a tensor had in a watched run: where it comes from, and its file.

    Args:
      dump_root: the folder of the dump.
      debug_dump_rel_path: the file below it: device/scope/node_slot_op_time.
    """

    def __init__(self, dump_root: str, debug_dump_rel_path: str):
        device, *scopes, base = os.path.normpath(debug_dump_rel_path).split(os.sep)
        if base.count("_") < 3:
            raise ValueError(f"Dump file path does not conform to the naming pattern: {base}")
        name, slot, self._debug_op, self._extended_timestamp = base.rsplit("_", 3)
        self._device_name = device_path_to_device_name(device)
        self._timestamp = int(self._extended_timestamp.partition("-")[0])
        self._output_slot = int(slot)
        self._node_name = "/".join([*scopes, name])
        self._file_path = os.path.join(dump_root, debug_dump_rel_path)
        self._size = os.path.getsize(self._file_path) if os.path.exists(self._file_path) else None

    def get_tensor(self) -> Any:
        """The value."""
        return load_tensor_from_event_file(self._file_path)

    @property
    def timestamp(self) -> int:
        """When the value was written, in microseconds."""
        return self._timestamp

    @property
    def extended_timestamp(self) -> str:
        """The time as it stands in the file's name."""
        return self._extended_timestamp

    @property
    def debug_op(self) -> str:
        return self._debug_op

    @property
    def device_name(self) -> str:
        return self._device_name

    @property
    def node_name(self) -> str:
        return self._node_name

    @property
    def output_slot(self) -> int:
        return self._output_slot

    @property
    def tensor_name(self) -> str:
        return f"{self._node_name}:{self._output_slot}"

    @property
    def watch_key(self) -> str:
        """The tensor and the debug op, as "node:0:DebugIdentity"."""
        return f"{self.tensor_name}:{self._debug_op}"

    @property
    def file_path(self) -> str:
        return self._file_path

    @property
    def dump_size_bytes(self) -> int | None:
        return self._size

    def __str__(self) -> str:
        return (
            f"{{DebugTensorDatum ({self.device_name}) {self.tensor_name} @ {self.debug_op} @ "
            f"{self.timestamp}}}"
        )

    __repr__ = __str__
