"""A dataset that is remembered in a file of tensors, which is complete once there is an index.

While an iterator writes the file, a lock file keeps others from doing so too.
"""

from __future__ import annotations

import os

from penstock import dtypes, errors, proto
from penstock.ir.tensor_codec import array_to_proto, proto_to_array
from penstock.kernels.values import from_array, to_array
from penstock.platform.record_files import RecordReader
from penstock.platform.tf_record import TFRecordWriter
from penstock.state.datasets import Context, Dataset, Elements


def packed(value) -> bytes:
    """A runtime value as a serialized TensorProto."""
    array = to_array(value)
    dtype = dtypes.string if array.dtype == object else dtypes.as_dtype(array.dtype)
    return array_to_proto(array, dtype).SerializeToString(deterministic=True)


def unpacked(data: bytes):
    """The runtime value of a serialized TensorProto."""
    return from_array(proto_to_array(proto.TensorProto.FromString(data)))


class _Writing(Elements):
    """The elements of a source, which go into the file; it is there when all have come.

    A lock keeps others from writing it, from the first element on.
    """

    def __init__(self, dataset, name, context):
        self._name = name
        self._lock_file = f"{name}_0.lockfile"
        self._writer = None
        self._source = dataset.iterate(context)
        self._count = 0
        self._is_over = False

    def _begin(self):
        try:
            os.close(os.open(self._lock_file, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            raise errors.AlreadyExistsError(
                None,
                None,
                "There appears to be a concurrent caching iterator running - cache lockfile "
                f"already exists ('{self._lock_file}'). If you are sure no other running "
                "computation is using this cache prefix, delete the lockfile and re-initialize "
                "the iterator.",
            ) from None
        except OSError as error:
            raise errors.NotFoundError(None, None, f"{self._lock_file}; {error.strerror}") from None
        self._writer = TFRecordWriter(f"{self._name}.data-00000-of-00001")

    def next(self):
        if self._is_over:
            return None
        if self._writer is None:
            self._begin()
        element = self._source.next()
        if element is not None:
            for value in element:
                self._writer.write(packed(value))
            self._count += 1
            return element
        self._is_over = True
        self._writer.close()
        self._writer = None
        with open(f"{self._name}.index", "w") as file:
            file.write(str(self._count))
        os.remove(self._lock_file)
        return None

    def save(self):
        return [self._count, None if self._is_over else [self._source.save()]]

    def restore(self, state):
        count, place = state
        if place is None:
            raise errors.NotFoundError(None, None, f"the cache file {self._name} is gone")
        for _ in range(count):  # what was read before the place belongs into the file too
            self.next()
        self._source.restore(place[0])

    def close(self):
        if self._writer is not None:
            self._writer.close()
            self._writer = None
            os.remove(self._lock_file)
        self._source.close()

    def __del__(self):
        if getattr(self, "_writer", None) is not None:
            self.close()


class _Reading(Elements):
    def __init__(self, name, width):
        with open(f"{name}.index") as file:
            self._count = int(file.read())
        self._reader = RecordReader(f"{name}.data-00000-of-00001")
        self._width = width
        self._position = 0

    def next(self):
        if self._position == self._count:
            return None
        self._position += 1
        return tuple([unpacked(self._reader.read()) for _ in range(self._width)])

    def save(self):
        return [self._position, None]

    def restore(self, state):
        while self._position < state[0]:
            self.next()

    def close(self):
        self._reader.close()


class FileCacheDataset(Dataset):
    """The elements of a source, read from a file where an iterator has been through it before."""

    def __init__(self, source: Dataset, name: str, width: int):
        self._source, self._name, self._width = source, name, width

    def iterate(self, context: Context) -> Elements:
        if os.path.exists(f"{self._name}.index"):
            return _Reading(self._name, self._width)
        return _Writing(self._source, self._name, context)

    def cardinality(self) -> int:
        return self._source.cardinality()
