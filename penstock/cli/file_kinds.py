"""Which of TensorFlow's kinds a file is of, told by its contents."""

from __future__ import annotations

import os
import struct
from typing import Any, NamedTuple

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from penstock import proto
from penstock.checkpoint.safetensors import is_safetensors
from penstock.platform import crc32c

_TABLE_MAGIC = struct.pack("<Q", 0xDB4775248B80FB57)
_FOREIGN = {
    b"\x89HDF": "an HDF5 file (Keras weights?)",
    b"PK\x03\x04": "a zip archive (.npz, .zip, .keras?)",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"\x93NUMPY": "a NumPy array",
    b"\x7fELF": "a program or library",
    b"\x80\x02": "a Python pickle",
    b"\x80\x03": "a Python pickle",
    b"\x80\x04": "a Python pickle",
    b"\x80\x05": "a Python pickle",
    b"%PDF": "a PDF document",
}
_DATA_FILE = ".data-00000-of-"


class Unreadable(Exception):
    """A path that is nothing of TensorFlow's; the message says what it is, as far as known."""


class Found(NamedTuple):
    """A file of a known kind. `message` is set where the whole file is one message."""

    kind: str
    path: str
    message: Any = None
    form: str = ""


def find(path: str) -> Found:
    """The kind of a file, of a folder, or of a checkpoint's prefix; Unreadable if it is none."""
    if os.path.isdir(path):
        return _folder(path)
    if os.path.exists(f"{path}.index"):
        return Found("checkpoint", path, form="V2 checkpoint")
    if not os.path.exists(path):
        raise Unreadable(f"there is no file, folder or checkpoint {path!r}")
    if path.endswith(".index") or _DATA_FILE in path:
        prefix = path.removesuffix(".index").partition(_DATA_FILE)[0]
        if os.path.exists(f"{prefix}.index"):
            return Found("checkpoint", prefix, form="V2 checkpoint")
    return _file(path)


def _folder(path: str) -> Found:
    for name in ("saved_model.pb", "saved_model.pbtxt"):
        if os.path.exists(os.path.join(path, name)):
            from penstock.saved_model.loader import parse_saved_model

            return Found("SavedModel", path, parse_saved_model(path))
    state = os.path.join(path, "checkpoint")
    if os.path.exists(state):
        return find(state)
    prefixes = sorted(name[:-6] for name in os.listdir(path) if name.endswith(".index"))
    if len(prefixes) == 1:
        return find(os.path.join(path, prefixes[0]))
    if prefixes:
        raise Unreadable(f"the folder {path!r} has several checkpoints: {', '.join(prefixes)}")
    raise Unreadable(f"the folder {path!r} has neither a SavedModel nor a checkpoint")


def _file(path: str) -> Found:
    size = os.path.getsize(path)
    if size == 0:
        raise Unreadable(f"{path}: the file is empty")
    with open(path, "rb") as file:
        head = file.read(64)
        file.seek(max(0, size - 8))
        tail = file.read()
    if tail == _TABLE_MAGIC:
        return Found("checkpoint", path, form="V1 checkpoint")
    if is_safetensors(path):
        return Found("checkpoint", path, form="safetensors file")
    if compression := _compression(head):
        return Found("TFRecord file", path, form=compression)
    if _is_record(head):
        return Found("event file" if _is_event_file(path) else "TFRecord file", path)
    for magic, what in _FOREIGN.items():
        if head.startswith(magic):
            raise Unreadable(f"{path}: this is {what}, not a file of TensorFlow's")
    with open(path, "rb") as file:
        return _message(path, file.read())


def _compression(head: bytes) -> str:
    """GZIP or ZLIB, where a file is compressed as record files may be."""
    if head.startswith(b"\x1f\x8b"):
        return "GZIP"
    is_zlib = len(head) > 1 and head[0] == 0x78 and int.from_bytes(head[:2], "big") % 31 == 0
    return "ZLIB" if is_zlib else ""


def _is_record(head: bytes) -> bool:
    """Whether a file begins with a length and its checksum."""
    if len(head) < 12:
        return False
    (stored,) = struct.unpack("<I", head[8:12])
    return crc32c.masked_value(head[:8]) == stored


def _is_event_file(path: str) -> bool:
    from penstock import errors
    from penstock.platform.record_files import RecordReader

    reader = RecordReader(path)
    try:
        first = reader.read()
        event = proto.Event.FromString(first or b"")
    except (errors.OpError, DecodeError):
        return False
    finally:
        reader.close()
    return bool(event.file_version.startswith("brain.Event"))


def _message(path: str, data: bytes) -> Found:
    found = _text_message(path, data) if _is_text(data) else _binary_message(path, data)
    if found is None:
        raise Unreadable(
            f"{path}: not a checkpoint, GraphDef, MetaGraphDef, SavedModel, event file or TFRecord "
            "file, or a truncated one"
        )
    return found


def _is_text(data: bytes) -> bool:
    try:
        text = data[: 1 << 16].decode("utf-8", "strict" if len(data) <= 1 << 16 else "ignore")
    except UnicodeDecodeError:
        return False
    return all(each.isprintable() or each in "\n\r\t" for each in text)


_BY_FIRST_FIELD = {
    "node": ("GraphDef", "GraphDef"),
    "versions": ("GraphDef", "GraphDef"),
    "library": ("GraphDef", "GraphDef"),
    "meta_info_def": ("MetaGraphDef", "MetaGraphDef"),
    "graph_def": ("MetaGraphDef", "MetaGraphDef"),
    "saver_def": ("MetaGraphDef", "MetaGraphDef"),
    "saved_model_schema_version": ("SavedModel", "SavedModel"),
    "meta_graphs": ("SavedModel", "SavedModel"),
    "model_checkpoint_path": ("checkpoint state", "CheckpointState"),
}


def _text_message(path: str, data: bytes) -> Found | None:
    text = data.decode("utf-8", "replace")
    first = next((line for line in text.splitlines() if line.strip() and line[0] != "#"), "")
    field = first.strip().partition(" ")[0].partition(":")[0].partition("{")[0]
    if field not in _BY_FIRST_FIELD:
        return None
    kind, name = _BY_FIRST_FIELD[field]
    message = getattr(proto, name)()
    try:
        text_format.Merge(text, message, descriptor_pool=proto.POOL)
    except text_format.ParseError as error:
        raise Unreadable(f"{path}: a damaged text {name}: line {error}") from None
    return Found(kind, path, message, "text")


def _binary_message(path: str, data: bytes) -> Found | None:
    # Any bytes of one kind may parse as another, with fields that make no sense there.
    graph = _parsed(proto.GraphDef, data)
    if graph is not None and graph.node and all(map(_is_node, graph.node)):
        return Found("GraphDef", path, graph)
    saved_model = _parsed(proto.SavedModel, data)
    if saved_model is not None and saved_model.saved_model_schema_version:
        return Found("SavedModel", os.path.dirname(path) or ".", saved_model)
    meta = _parsed(proto.MetaGraphDef, data)
    if meta is not None and (meta.graph_def.node or meta.meta_info_def.tensorflow_version):
        return Found("MetaGraphDef", path, meta)
    return None


def _is_node(node: Any) -> bool:
    return bool(node.name) and node.op.isidentifier()


def _parsed(message_class: Any, data: bytes) -> Any:
    try:
        return message_class.FromString(data)
    except DecodeError:
        return None
