"""Datasets of the records of CSV files."""

from __future__ import annotations

import itertools

from penstock import errors
from penstock.kernels.csv_records import fields_reader
from penstock.kernels.datasets.csv_parsing import CsvFile
from penstock.kernels.datasets.readers import compression_of, file_names, inflate_errors, open_text
from penstock.kernels.datasets.recipes import dataset_kernel
from penstock.kernels.sparse_rows import invalid
from penstock.kernels.values import to_array
from penstock.platform.file_errors import file_errors
from penstock.state.datasets import Context, Dataset, Elements


class _CsvRecords(Elements):
    """The records of one file after the other; a record that is wrong fails alone."""

    def __init__(self, names, compression, header, form, columns):
        self._names, self._compression, self._header = names, compression, header
        self._form, self._columns = form, columns
        self._number = 0
        self._count = 0
        self._file = None

    def next(self):
        while self._number < len(self._names):
            with file_errors(self._names[self._number]), inflate_errors():
                if self._file is None:
                    self._open()
                found = self._file.read()
            if found is not None:
                self._count += 1
                return self._columns.values(*found)
            self._file.close()
            self._file = None
            self._number += 1
        return None

    def _open(self):
        name = self._names[self._number]
        self._file = CsvFile(open_text(name, self._compression), *self._form)
        self._count = 0
        if self._header and self._file.read() is None:
            self._file.close()
            self._file = None
            self._number += 1
            raise invalid(f"Can't read header of file {name}")

    def save(self):
        return [self._number, None if self._file is None else self._count]

    def restore(self, state):
        self._number, count = state
        if count is not None:
            self._open()
            for _ in range(count):
                self._file.read()
            self._count = count

    def close(self):
        if self._file is not None:
            self._file.close()


class _Columns:
    """Reads the fields of a record that are wanted; all of them if none are named."""

    def __init__(self, wanted, types, defaults, na_value):
        if wanted and len(wanted) != len(types):
            raise invalid("select_cols should match output size")
        if any(place < 0 for place in wanted):
            raise invalid("select_cols should be non-negative indices")
        if any(after <= before for before, after in itertools.pairwise(wanted)):
            raise invalid("select_cols should be strictly increasing indices")
        self._wanted, self._count = wanted, len(types)
        self._read = fields_reader(types, defaults, na_value)
        self._read_some = lambda count: fields_reader(types[:count], defaults[:count], na_value)

    def values(self, fields, problem):
        if problem is not None:
            raise invalid(problem)
        if self._wanted:
            fields = [fields[place] for place in self._wanted if place < len(fields)]
        if len(fields) == self._count:
            return self._read(fields)
        there = fields[: self._count]
        self._read_some(len(there))(there)  # what is wrong with them is said first
        found = "more" if len(fields) > self._count else len(fields)
        raise invalid(f"Expect {self._count} fields but have {found} in record")


class _CsvDataset(Dataset):
    def __init__(self, *arguments):
        self._arguments = arguments

    @property
    def is_plain(self) -> bool:
        return True

    def iterate(self, context: Context) -> Elements:
        return _CsvRecords(*self._arguments)


@dataset_kernel("CSVDataset", "ExperimentalCSVDataset")
def _(node):
    types = node.attrs["output_types"]

    def run(names, compression, buffer, header, delimiter, quotes, na_value, columns, *defaults):
        if int(buffer) <= 0:
            raise invalid("buffer_size should be positive")
        if len(delimiter.item()) != 1:
            raise invalid("field_delim should be only 1 char")
        return _CsvDataset(
            file_names(names),
            compression_of(compression, "Unsupported compression_type: "),
            bool(header),
            (delimiter.item(), bool(quotes)),
            _Columns(to_array(columns).tolist(), types, defaults, na_value.item()),
        )

    return run


class _FileNames(Elements):
    def __init__(self, names):
        self._names = names
        self._position = 0

    def next(self):
        if not self._names:
            raise errors.NotFoundError(None, None, "Don't find any matched files")
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


@dataset_kernel("MatchingFilesDataset", "ExperimentalMatchingFilesDataset")
def _(node):
    return lambda patterns: _MatchingFiles([each.decode() for each in patterns.reshape(-1)])
