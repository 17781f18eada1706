"""Records of many files, shuffled through a buffer, epoch after epoch."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator

from penstock import errors
from penstock.platform.filesystem import glob
from penstock.platform.record_files import RecordReader


class RecordInput:
    """An endless sequence of records.

    1. Within an epoch every record of every file comes once; epochs don't mix.
    2. Files are shuffled anew in each epoch, then moved on by `shift_ratio` of their number.
    """

    def __init__(
        self,
        pattern: str,
        *,
        seed: int,
        shift_ratio: float,
        buffer_size: int,
        compression: str,
    ):
        self._pattern = pattern
        self._random = random.Random(seed)
        self._shift_ratio = shift_ratio
        self._buffer_size = buffer_size
        self._compression = compression
        self._lock = threading.Lock()
        self._records = self._epochs()

    def take(self, count: int) -> list[bytes]:
        """The next records."""
        with self._lock:
            try:
                return [next(self._records) for _ in range(count)]
            except errors.OpError:
                self._records = self._epochs()  # a generator that raised has ended
                raise

    def close(self) -> None:
        self._records.close()  # type: ignore[attr-defined]  # a generator

    def _epochs(self) -> Iterator[bytes]:
        number = 0
        while True:
            yield from self._shuffled(self._files(number))
            number += 1

    def _files(self, epoch: int) -> list[str]:
        files = sorted(glob(self._pattern))
        if not files:
            message = f"Found no files at {self._pattern}"
            raise errors.NotFoundError(None, None, message)
        self._random.shuffle(files)
        shift = int(epoch * self._shift_ratio * len(files)) % len(files)
        return files[shift:] + files[:shift]

    def _shuffled(self, files: list[str]) -> Iterator[bytes]:
        """The records of the files, each drawn at random from a buffer that is kept full."""
        buffer: list[bytes] = []
        for record in self._read(files):
            buffer.append(record)
            if len(buffer) >= self._buffer_size:
                yield self._draw(buffer)
        while buffer:
            yield self._draw(buffer)

    def _draw(self, buffer: list[bytes]) -> bytes:
        index = self._random.randrange(len(buffer))
        buffer[index], buffer[-1] = buffer[-1], buffer[index]
        return buffer.pop()

    def _read(self, files: list[str]) -> Iterator[bytes]:
        found = False
        for file in files:
            reader = RecordReader(file, self._compression)
            try:
                while (record := reader.read()) is not None:
                    found = True
                    yield record
            finally:
                reader.close()
        if not found:
            message = f"the files at {self._pattern} have no records"
            raise errors.OutOfRangeError(None, None, message)
