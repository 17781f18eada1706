"""Snapshots: the elements of a pipeline in files, from which the next run reads them.

The files are TensorFlow's: below the path a folder by the fingerprint of the pipeline, in it
`snapshot.metadata`, which says which run's folder counts and whether it is whole, and the runs'
folders with `00000000.snapshot` and so on. A record is its length in 8 bytes and a message.
"""

from __future__ import annotations

import gzip
import os
import secrets
import struct
import time
from contextlib import suppress

from google.protobuf.message import DecodeError

from penstock import errors, proto
from penstock.ir.tensor_codec import array_to_proto, proto_to_array
from penstock.kernels.datasets.pipeline_graphs import fingerprint
from penstock.kernels.datasets.recipes import dataset_kernel
from penstock.kernels.sparse_rows import invalid
from penstock.kernels.values import from_array, to_array
from penstock.state.datasets import Dataset, Elements

_METADATA = "snapshot.metadata"
_LENGTH = struct.Struct("<Q")
_DEFAULTS = {
    "shard_size_bytes": 10 << 30,
    "pending_snapshot_expiry_seconds": 86400,
    "num_reader_threads": 1,
    "reader_buffer_size": 1,
    "num_writer_threads": 1,
    "writer_buffer_size": 1,
}


def _write_record(file, message) -> int:
    data = message.SerializeToString(deterministic=True)
    file.write(_LENGTH.pack(len(data)) + data)
    return len(data) + _LENGTH.size


def _read_record(file, message):
    """Fills a message with the next record, None at the end of the file."""
    head = file.read(_LENGTH.size)
    if not head:
        return None
    data = file.read(_LENGTH.unpack(head)[0]) if len(head) == _LENGTH.size else b""
    if len(head) < _LENGTH.size or len(data) < _LENGTH.unpack(head)[0]:
        raise errors.DataLossError(None, None, f"the snapshot file {file.name} is cut off")
    try:
        message.ParseFromString(data)
    except DecodeError:
        raise errors.DataLossError(
            None, None, f"the snapshot file {file.name} has no message where one is expected"
        ) from None
    return message


def _opened(path, mode, compression):
    return gzip.open(path, mode) if compression else open(path, mode)


class _Settings:
    """Where a snapshot is, and how its files are to be."""

    def __init__(self, attrs, path, digest):
        self.digest, self.path = digest, path
        self.compression = attrs["compression"]
        self.types = attrs["output_types"]
        self._reader_prefix = attrs["reader_path_prefix"]
        self._writer_prefix = attrs["writer_path_prefix"]
        for name, default in _DEFAULTS.items():
            setattr(self, name, attrs[name] if attrs[name] != -1 else default)

    @property
    def readers_folder(self):
        return os.path.join(self._reader_prefix + self.path, self.digest)

    @property
    def writers_folder(self):
        return os.path.join(self._writer_prefix + self.path, self.digest)

    def metadata(self):
        """What is known of a snapshot of this pipeline, None if nothing."""
        try:
            with open(os.path.join(self.readers_folder, _METADATA), "rb") as file:
                return _read_record(file, proto.SnapshotMetadataRecord())
        except FileNotFoundError:
            return None

    def write_metadata(self, record):
        os.makedirs(self.writers_folder, exist_ok=True)
        path = os.path.join(self.writers_folder, _METADATA)
        unfinished = f"{path}-tmp-{secrets.token_hex(4)}"
        with open(unfinished, "wb") as file:
            _write_record(file, record)
        os.replace(unfinished, path)


class _Snapshot(Dataset):
    def __init__(self, source, settings):
        self._source, self._settings = source, settings

    def iterate(self, context):
        return _SnapshotElements(self._source, self._settings, context)

    def cardinality(self):
        return self._source.cardinality()


class _SnapshotElements(Elements):
    """Reads a whole snapshot, or writes a new one, or neither while another run writes it.

    Which of them is decided when the first element is asked for.
    """

    def __init__(self, source, settings, context):
        self._source, self._settings, self._context = source, settings, context
        self._elements = None

    def next(self):
        if self._elements is None:
            self._elements = self._chosen()
        return self._elements.next()

    def _chosen(self):
        record = self._settings.metadata()
        if record is not None and record.finalized:
            return _Reader(self._settings, record.run_id)
        source = self._source.iterate(self._context)
        oldest = time.time() - self._settings.pending_snapshot_expiry_seconds
        if record is not None and record.creation_timestamp >= oldest * 1e6:
            return source
        return _Writer(self._settings, source)

    def save(self):
        if self._elements is None:
            return None
        return [isinstance(self._elements, _Reader), self._elements.save()]

    def restore(self, state):
        if state is None:
            return
        has_read, place = state
        if has_read:
            self._elements = _Reader(self._settings, place[0])
        else:  # a snapshot that begins here would lack what came before
            self._elements = self._source.iterate(self._context)
        self._elements.restore(place)

    def close(self):
        if self._elements is not None:
            self._elements.close()


class _Writer(Elements):
    """The elements of the source, which go into files in turns."""

    def __init__(self, settings, source):
        self._settings, self._source = settings, source
        self._run = secrets.token_hex(8)
        self._folder = os.path.join(settings.writers_folder, self._run)
        self._numbers = list(range(settings.num_writer_threads))
        self._sizes = [0] * len(self._numbers)
        self._files = [None] * len(self._numbers)
        self._written = 0
        self._is_over = False
        os.makedirs(self._folder, exist_ok=True)
        self._note()

    def _note(self, *, whole=False):
        self._settings.write_metadata(
            proto.SnapshotMetadataRecord(
                graph_hash=self._settings.digest,
                run_id=self._run,
                creation_timestamp=int(time.time() * 1e6),
                finalized=whole,
            )
        )

    def next(self):
        if self._is_over:
            return None
        element = self._source.next()
        if element is None:
            self._is_over = True
            self._close_files()
            self._note(whole=True)
            return None
        self._write(element)
        return element

    def _write(self, element):
        place = self._written % len(self._files)
        self._written += 1
        if self._files[place] is not None and self._sizes[place] > self._settings.shard_size_bytes:
            self._files[place].close()
            self._files[place] = None
            self._numbers[place] = max(self._numbers) + 1
            self._sizes[place] = 0
        if self._files[place] is None:
            path = os.path.join(self._folder, f"{self._numbers[place]:08d}.snapshot")
            self._files[place] = _opened(path, "wb", self._settings.compression)
        record = proto.SnapshotRecord()
        for value, dtype in zip(element, self._settings.types, strict=True):
            try:
                record.tensor.append(array_to_proto(to_array(value), dtype))
            except (KeyError, TypeError):
                raise errors.UnimplementedError(
                    None, None, f"a {dtype.name} can't be written to a snapshot"
                ) from None
        self._sizes[place] += _write_record(self._files[place], record)

    def _close_files(self):
        for file in self._files:
            if file is not None:
                file.close()
        self._files = [None] * len(self._files)

    def save(self):
        return self._source.save()

    def close(self):
        self._close_files()
        self._source.close()


class _Reader(Elements):
    """The elements in the files of a run."""

    def __init__(self, settings, run):
        self._run, self._compression = run, settings.compression
        folder = os.path.join(settings.readers_folder, run)
        names = sorted(name for name in os.listdir(folder) if name.endswith(".snapshot"))
        self._paths = [os.path.join(folder, name) for name in names]
        self._file, self._read = None, 0
        self._left = list(self._paths)

    def next(self):
        while True:
            if self._file is None:
                if not self._left:
                    return None
                self._file = _opened(self._left.pop(0), "rb", self._compression)
            record = _read_record(self._file, proto.SnapshotRecord())
            if record is not None:
                self._read += 1
                return tuple(from_array(proto_to_array(each)) for each in record.tensor)
            self.close()

    def save(self):
        return [self._run, self._read]

    def restore(self, state):
        _, read = state
        while self._read < read and self.next() is not None:
            pass

    def close(self):
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None


@dataset_kernel("SnapshotDataset")
def _(node):
    def run(source, path):
        if node.attrs["compression"] not in ("", "GZIP"):
            raise invalid("compression must be either '' or 'GZIP'.")
        return _Snapshot(source, _Settings(node.attrs, path.item().decode(), fingerprint(source)))

    return run
