"""Test cases for datasets that read files, each with the files that its tests read."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Any, NamedTuple

from penstock import dtypes
from penstock.data.experimental.files import make_batched_features_dataset
from penstock.data.readers import TFRecordDataset
from penstock.ops.feature_specs import FixedLenFeature, VarLenFeature
from penstock.platform.tf_record import TFRecordWriter
from penstock.proto import Example
from penstock.testing.dataset_test_case import DatasetTestBase

_LABEL = b"fake-label"


class FixedLengthRecordDatasetTestBase(DatasetTestBase):
    """Two files of seven records of three bytes, with a header and a footer."""

    def setUp(self) -> None:
        super().setUp()
        self._num_files = 2
        self._num_records = 7
        self._header_bytes = 5
        self._record_bytes = 3
        self._footer_bytes = 2

    def _record(self, f: int, r: int) -> bytes:
        return str(f * 2 + r).encode() * self._record_bytes

    def _createFiles(self) -> list[str]:
        names = []
        for number in range(self._num_files):
            records = b"".join(self._record(number, r) for r in range(self._num_records))
            names.append(os.path.join(self.get_temp_dir(), f"fixed_length_record.{number}.txt"))
            with open(names[-1], "wb") as file:
                file.write(b"H" * self._header_bytes + records + b"F" * self._footer_bytes)
        return names


class TextLineDatasetTestBase(DatasetTestBase):
    """Files of numbered lines."""

    def _lineText(self, f: int, l: int) -> bytes:  # noqa: E741
        return f"{f}: {l}".encode()

    def _createFiles(
        self,
        num_files: int,
        num_lines: int,
        crlf: bool = False,
        compression_type: str | None = None,
    ) -> list[str]:
        """Writes the files; only the first ends with the end of a line."""
        end = b"\r\n" if crlf else b"\n"
        compress = _COMPRESSIONS.get(compression_type or "")
        if compress is None:
            raise ValueError("Unsupported compression_type", compression_type)
        names = []
        for number in range(num_files):
            text = end.join(self._lineText(number, line) for line in range(num_lines))
            if number == 0 and num_lines:
                text += end
            names.append(os.path.join(self.get_temp_dir(), f"text_line.{number}.txt"))
            with open(names[-1], "wb") as file:
                file.write(compress(text))
        return names


_COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "GZIP": gzip.compress,
    "ZLIB": zlib.compress,
}


class _RecordFilesTestBase(DatasetTestBase):
    """Two TFRecord files of seven records."""

    def setUp(self) -> None:
        super().setUp()
        self._num_files = 2
        self._num_records = 7
        self.test_filenames = self._createFiles()

    def _file_record(self, file: int, record: int) -> bytes:
        raise NotImplementedError

    def _createFiles(self) -> list[str]:
        names = []
        for number in range(self._num_files):
            names.append(os.path.join(self.get_temp_dir(), f"tf_record.{number}.txt"))
            with TFRecordWriter(names[-1]) as writer:
                for record in range(self._num_records):
                    writer.write(self._file_record(number, record))
        return names

    def _interleave(self, iterators: Sequence[Any], cycle_length: int) -> Iterator[Any]:
        """Elements of `cycle_length` iterators in turn; the next one replaces one that is done."""
        waiting = list(iterators)
        open_ones: list[Any] = [waiting.pop(0) for _ in range(min(cycle_length, len(waiting)))]
        while any(each is not None for each in open_ones):
            for place, each in enumerate(open_ones):
                if each is None:
                    continue
                try:
                    yield next(each)
                except StopIteration:
                    open_ones[place] = waiting.pop(0) if waiting else None

    def _read_order(
        self, files: Sequence[int], num_epochs: int, cycle_length: int
    ) -> Iterator[tuple[int, int]]:
        """The (file, record) pairs in the order in which they are read."""
        for _ in range(num_epochs):
            each_file = [zip(repeat(f), range(self._num_records)) for f in files]
            yield from self._interleave(each_file, cycle_length)


def _in_batches(entries: Iterator[Any], size: int, drop_last: bool = False) -> Iterator[list[Any]]:
    batch: list[Any] = []
    for entry in entries:
        batch.append(entry)
        if len(batch) == size:
            yield batch
            batch = []
    if batch and not drop_last:
        yield batch


class TFRecordDatasetTestBase(_RecordFilesTestBase):
    """Two TFRecord files of seven texts that say where they are."""

    def _record(self, f: int, r: int) -> bytes:
        return f"Record {r} of file {f}".encode()

    def _file_record(self, file: int, record: int) -> bytes:
        return self._record(file, record)

    def _next_expected_batch(
        self,
        file_indices: Sequence[int],
        batch_size: int,
        num_epochs: int,
        cycle_length: int,
        drop_final_batch: bool,
        use_parser_fn: bool,
    ) -> Iterator[list[bytes]]:
        records = (
            self._record(f, r)[1 if use_parser_fn else 0 :]
            for f, r in self._read_order(file_indices, num_epochs, cycle_length)
        )
        return _in_batches(records, batch_size, drop_final_batch)

    def _verify_records(
        self,
        outputs: Callable[[], Any],
        batch_size: int,
        file_index: Any,
        num_epochs: int,
        interleave_cycle_length: int,
        drop_final_batch: bool,
        use_parser_fn: bool,
    ) -> None:
        """Asserts that `outputs()` gives the records of the files, or of some of them."""
        files = _chosen(file_index, self._num_files)
        for expected in self._next_expected_batch(
            files, batch_size, num_epochs, interleave_cycle_length, drop_final_batch, use_parser_fn
        ):
            self.assertAllEqual(expected, self.evaluate(outputs()))


def _chosen(file_index: Any, count: int) -> Sequence[int]:
    if file_index is None:
        return range(count)
    return file_index if isinstance(file_index, list) else [file_index]


class _ExpectedExamples(NamedTuple):
    """A batch of parsed examples, as the tests compare it: one entry after the other."""

    files: list[int]
    keyword_indices: list[list[int]]
    keywords: list[bytes]
    keywords_shape: list[int]
    records: list[int]
    labels: list[bytes]


class MakeBatchedFeaturesDatasetTestBase(_RecordFilesTestBase):
    """Two TFRecord files of seven examples with numbers, words, and a label."""

    outputs: Callable[[], Any]

    def make_batch_feature(
        self,
        filenames: Any,
        num_epochs: int | None,
        batch_size: int,
        label_key: str | None = None,
        reader_num_threads: int = 1,
        parser_num_threads: int = 1,
        shuffle: bool = False,
        shuffle_seed: int | None = None,
        drop_final_batch: bool = False,
    ) -> Any:
        """The dataset of the parsed examples of files."""
        self.filenames = filenames
        self.num_epochs = num_epochs
        self.batch_size = batch_size
        return make_batched_features_dataset(
            file_pattern=filenames,
            batch_size=batch_size,
            features={
                "file": FixedLenFeature([], dtypes.int64),
                "record": FixedLenFeature([], dtypes.int64),
                "keywords": VarLenFeature(dtypes.string),
                "label": FixedLenFeature([], dtypes.string),
            },
            label_key=label_key,
            reader=TFRecordDataset,
            num_epochs=num_epochs,
            shuffle=shuffle,
            shuffle_seed=shuffle_seed,
            reader_num_threads=reader_num_threads,
            parser_num_threads=parser_num_threads,
            drop_final_batch=drop_final_batch,
        )

    def _record(self, f: int, r: int, l: Any) -> bytes:  # noqa: E741
        example = Example()
        features = example.features.feature
        features["file"].int64_list.value.append(f)
        features["record"].int64_list.value.append(r)
        features["keywords"].bytes_list.value.extend(self._get_keywords(f, r))
        features["label"].bytes_list.value.append(l if isinstance(l, bytes) else l.encode())
        return bytes(example.SerializeToString())

    def _file_record(self, file: int, record: int) -> bytes:
        return self._record(file, record, _LABEL)

    def _get_keywords(self, f: int, r: int) -> list[bytes]:
        return [b"keyword%d" % number for number in range(1 + (f + r) % 2)]

    def _sum_keywords(self, num_files: int) -> int:
        places = self._read_order(range(num_files), 1, 1)
        return sum(len(self._get_keywords(f, r)) for f, r in places)

    def _run_actual_batch(
        self, outputs: Callable[[], Any], label_key_provided: bool = False
    ) -> list[Any]:
        values = self.evaluate(outputs())
        features, label = values if label_key_provided else (values, values["label"])
        words = features["keywords"]
        return [
            features["file"],
            words.indices,
            words.values,
            words.dense_shape,
            features["record"],
            label,
        ]

    def _next_actual_batch(self, label_key_provided: bool = False) -> list[Any]:
        return self._run_actual_batch(self.outputs, label_key_provided)

    def _next_expected_batch(
        self,
        file_indices: Sequence[int],
        batch_size: int,
        num_epochs: int,
        cycle_length: int = 1,
    ) -> Iterator[list[Any]]:
        order = self._read_order(file_indices, num_epochs, cycle_length)
        for batch in _in_batches(order, batch_size):
            words = [self._get_keywords(f, r) for f, r in batch]
            yield list(
                _ExpectedExamples(
                    files=[f for f, _ in batch],
                    keyword_indices=[
                        [row, place] for row, each in enumerate(words) for place in range(len(each))
                    ],
                    keywords=[word for each in words for word in each],
                    keywords_shape=[len(batch), max(map(len, words))],
                    records=[r for _, r in batch],
                    labels=[_LABEL] * len(batch),
                )
            )

    def verify_records(
        self,
        batch_size: int,
        file_index: int | None = None,
        num_epochs: int = 1,
        label_key_provided: bool = False,
        interleave_cycle_length: int = 1,
    ) -> None:
        """Asserts that `self.outputs()` gives the examples of the files, or of one of them."""
        files = _chosen(file_index, self._num_files)
        for expected in self._next_expected_batch(
            files, batch_size, num_epochs, interleave_cycle_length
        ):
            actual = self._next_actual_batch(label_key_provided)
            for wanted, value in zip(expected, actual, strict=True):
                self.assertAllEqual(wanted, value)
