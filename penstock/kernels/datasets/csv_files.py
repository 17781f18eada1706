"""Datasets of the records of CSV files."""

from __future__ import annotations

from penstock.kernels.csv_records import record_reader
from penstock.kernels.datasets.readers import compression_of, file_names, open_text
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.sparse_rows import invalid
from penstock.kernels.values import to_array
from penstock.platform.file_errors import file_errors
from penstock.state.datasets import Context, Dataset, Elements


def _record(file, quotes):
    """The next record: a line, or more of them if a quoted field goes on."""
    record = file.readline()
    while quotes and record.count(b'"') % 2:
        more = file.readline()
        if not more:
            break
        record += more
    return record


class _CsvRecords(Elements):
    def __init__(self, names, compression, header, quotes, read):
        self._names, self._compression = names, compression
        self._header, self._quotes, self._read = header, quotes, read
        self._number = 0
        self._count = 0
        self._file = None

    def next(self):
        while self._number < len(self._names):
            record = self._next_record()
            if record:
                self._count += 1
                return self._read(record.removesuffix(b"\n").removesuffix(b"\r"))
            self._file.close()
            self._file = None
            self._number += 1
        return None

    def _next_record(self):
        name = self._names[self._number]
        with file_errors(name):
            if self._file is None:
                self._open(name)
            return _record(self._file, self._quotes)

    def _open(self, name):
        self._file = open_text(name, self._compression)
        self._count = 0
        if self._header and not _record(self._file, self._quotes):
            raise invalid(f"Can't read header of empty file {name}")

    def save(self):
        return [self._number, None if self._file is None else self._count]

    def restore(self, state):
        self._number, count = state
        if count is not None:
            self._open(self._names[self._number])
            for _ in range(count):
                _record(self._file, self._quotes)
            self._count = count

    def close(self):
        if self._file is not None:
            self._file.close()


class _CsvDataset(Dataset):
    def __init__(self, *arguments):
        self._arguments = arguments

    @property
    def is_plain(self) -> bool:
        return True

    def iterate(self, context: Context) -> Elements:
        return _CsvRecords(*self._arguments)


@kernel("CSVDataset", "ExperimentalCSVDataset", devices=HOST)
def _(node):
    types = node.attrs["output_types"]

    def run(names, compression, buffer, header, delimiter, quotes, na_value, columns, *defaults):
        if int(buffer) < 0:
            raise invalid("buffer_size should be positive")
        quotes, chosen = bool(quotes), to_array(columns).tolist()
        read = record_reader(types, defaults, delimiter.item(), quotes, na_value.item(), chosen)
        return _CsvDataset(
            file_names(names), compression_of(compression), bool(header), quotes, read
        )

    return run


class _FileNames(Elements):
    def __init__(self, names):
        self._names = names
        self._position = 0

    def next(self):
        from penstock.kernels.datasets.readers import scalar_string

        if self._position == len(self._names):
            return None
        self._position += 1
        return (scalar_string(self._names[self._position - 1]),)

    def save(self):
        return self._position

    def restore(self, state):
        self._position = state


class _MatchingFiles(Dataset):
    def __init__(self, patterns):
        self._patterns = patterns

    def iterate(self, context: Context) -> Elements:
        from penstock.platform.file_io import get_matching_files

        names = sorted({name for each in self._patterns for name in get_matching_files(each)})
        return _FileNames([name.encode() for name in names])


@kernel("MatchingFilesDataset", "ExperimentalMatchingFilesDataset", devices=HOST)
def _(node):
    return lambda patterns: _MatchingFiles([each.decode() for each in patterns.reshape(-1)])
