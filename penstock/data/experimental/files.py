"""Whole pipelines from files: CSV, Examples, records."""

from __future__ import annotations

import collections
import csv
import gzip
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.data import nest, structure
from penstock.data.dataset import AUTOTUNE, DatasetSource, DatasetV2, UnaryDataset, flat_structure
from penstock.data.experimental.transformations import (
    Transformation,
    ignore_errors,
    parallel_interleave,
    shuffle_and_repeat,
)
from penstock.data.mapped import MapDataset
from penstock.data.readers import TFRecordDataset, optional
from penstock.data.sources import TensorSliceDataset, files_matching
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.sparse_tensor_spec import SparseTensorSpec
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.ops.constants import constant
from penstock.ops.datasets import mapped as mapped_nodes
from penstock.ops.datasets import sources as nodes
from penstock.ops.feature_specs import SparseFeature
from penstock.ops.parsing import parsed_columns, with_sparse_features
from penstock.platform.file_io import FileIO, get_matching_files

_TYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)
_BUFFER_SIZE = 4 * 1024 * 1024


def _default(value: Any) -> Any:
    """A column's default: a tensor, or a type, which has none."""
    if not isinstance(value, (Tensor, np.ndarray, list, tuple)) and value in _TYPES:
        return constant([], dtype=value)
    return value


class CsvDataset(DatasetSource):
    """The records of CSV files, a scalar for each column.

    Args:
      filenames: one name or several.
      record_defaults: for each column its type, or the value of missing fields as a list of one.
      compression_type: "", "ZLIB" or "GZIP"; buffer_size: bytes to read at once.
      header: whether files begin with a line to skip.
      field_delim, use_quote_delim, na_value: as for `tf.decode_csv`.
      select_cols: the numbers of the columns to read, in increasing order.
    """

    _shown_as = "CsvDatasetV1"

    def __init__(
        self,
        filenames: Any,
        record_defaults: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        header: Any = False,
        field_delim: Any = ",",
        use_quote_delim: Any = True,
        na_value: Any = "",
        select_cols: Any = None,
    ):
        names = convert_to_tensor(filenames, dtypes.string, name="filenames")
        compression = optional("compression_type", compression_type, "", dtypes.string)
        defaults = [
            convert_to_tensor(_default(each), name=f"record_defaults_{number}")
            for number, each in enumerate(record_defaults)
        ]
        spec = tuple(TensorSpec([], default.dtype) for default in defaults)
        variant = nodes.CSVDataset(
            names,
            compression,
            optional("buffer_size", buffer_size, _BUFFER_SIZE),
            convert_to_tensor(header, dtypes.bool, name="header"),
            convert_to_tensor(field_delim, dtypes.string, name="field_delim"),
            convert_to_tensor(use_quote_delim, dtypes.bool, name="use_quote_delim"),
            convert_to_tensor(na_value, dtypes.string, name="na_value"),
            optional("select_cols", select_cols, np.array([], dtype=np.int64)),
            defaults,
            output_shapes=structure.get_flat_tensor_shapes(spec),
        )
        super().__init__(spec, variant)


class SqlDataset(DatasetSource):
    """The rows that a query of a database gives, a scalar for each column.

    Args:
      driver_name: "sqlite".
      data_source_name: the file of the database.
      query: in SQL.
      output_types: the types of the columns.
    """

    def __init__(self, driver_name: Any, data_source_name: Any, query: Any, output_types: Any):
        spec = nest.map_structure(lambda dtype: TensorSpec([], dtype), output_types)
        variant = nodes.SqlDataset(
            convert_to_tensor(driver_name, dtypes.string, name="driver_name"),
            convert_to_tensor(data_source_name, dtypes.string, name="data_source_name"),
            convert_to_tensor(query, dtypes.string, name="query"),
            **flat_structure(spec),
        )
        super().__init__(spec, variant)


class LMDBDataset(DatasetSource):
    """The keys and values of LMDB databases: files, or folders with a `data.mdb`."""

    def __init__(self, filenames: Any):
        spec = TensorSpec([], dtypes.string), TensorSpec([], dtypes.string)
        names = convert_to_tensor(filenames, dtypes.string, name="filenames")
        super().__init__(spec, nodes.LMDBDataset(names, **flat_structure(spec)))


# Columns of CSV files ---------------------------------------------------------------------------


class _CsvFiles:
    """Looks into CSV files while the graph is built: what are the columns, and of which types?"""

    def __init__(
        self, names: list[str], delimiter: str, quotes: bool, open_one: Callable[[str], Any]
    ):
        self._names = names
        self._format: dict[str, Any] = {
            "delimiter": delimiter,
            "quoting": csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        }
        self._open = open_one

    def column_names(self) -> list[str]:
        found: list[str] | None = None
        for name in self._names:
            with self._open(name) as file:
                header = next(csv.reader(file, **self._format), None)
            if header is None:
                raise ValueError(
                    f"Received StopIteration when reading the header line of {name}.  Empty file?"
                )
            if found is not None and header != found:
                raise ValueError("Files have different column names in the header row.")
            found = header
        assert found is not None
        return found

    def _rows(self, count: int, header: bool) -> Iterator[list[str]]:
        for name in self._names:
            with self._open(name) as file:
                reader = csv.reader(file, **self._format)
                if header:
                    next(reader)
                for row in reader:
                    if len(row) != count:
                        raise ValueError(
                            "Problem inferring types: CSV row has different number of fields than "
                            "expected."
                        )
                    yield row

    def defaults(
        self, count: int, na_value: str, header: bool, rows: int | None, chosen: list[int] | None
    ) -> list[Tensor]:
        """A default for each column, of the narrowest type that fits the first rows."""
        columns = list(range(count)) if chosen is None else chosen
        types: list[Any] = [None] * len(columns)
        for number, row in enumerate(self._rows(count, header)):
            if rows is not None and number >= rows:
                break
            for place, column in enumerate(columns):
                types[place] = _inferred(row[column], na_value, types[place])
        known = [each or dtypes.string for each in types]
        return [constant([0 if each != dtypes.string else ""], dtype=each) for each in known]


def _fits_int(text: str, bits: int) -> bool:
    try:
        return -(2 ** (bits - 1)) <= int(text) < 2 ** (bits - 1)
    except ValueError:
        return False


def _fits_float(text: str, kind: Any) -> bool:
    try:
        with np.errstate(over="ignore"):
            return bool(kind(text) < np.inf)
    except ValueError:
        return False


_INFERENCE: tuple[tuple[Any, Callable[[str], bool]], ...] = (
    (dtypes.int32, lambda text: _fits_int(text, 32)),
    (dtypes.int64, lambda text: _fits_int(text, 64)),
    (dtypes.float32, lambda text: _fits_float(text, np.float32)),
    (dtypes.float64, lambda text: _fits_float(text, np.float64)),
    (dtypes.string, lambda text: True),
)


def _inferred(text: str, na_value: str, before: Any) -> Any:
    """The narrowest type that holds a field and all fields before it."""
    if text in ("", na_value):
        return before
    narrower = []
    for dtype, fits in _INFERENCE:
        narrower.append(dtype)
        if fits(text) and (before is None or before in narrower):
            return dtype
    return dtypes.string


def _selected(columns: list[Any], names: list[str]) -> list[int]:
    """The numbers of columns that are given by number or name, in order."""
    numbers = []
    for column in columns:
        if isinstance(column, int):
            if not 0 <= column < len(names):
                raise ValueError(
                    f"Column index {column} specified in select_columns out of valid range."
                )
            numbers.append(column)
        elif column in names:
            numbers.append(names.index(column))
        else:
            raise ValueError(
                f"Value '{column}' specified in select_columns not a valid column index or name."
            )
    if len(set(numbers)) != len(numbers):
        raise ValueError("select_columns contains duplicate columns")
    return sorted(numbers)


def _opener(compression_type: Any) -> Callable[[str], Any]:
    if compression_type is None:
        return lambda name: FileIO(name, "r")
    value = compression_type
    if isinstance(compression_type, Tensor):
        known = constant_value(compression_type)
        if known is None:
            raise ValueError("Received unknown compression_type")
        value = known.item().decode()
    if value == "GZIP":
        return lambda name: gzip.open(name, "rt")
    if value == "ZLIB":
        raise ValueError(f"compression_type ({value}) is not supported for probing columns")
    if value != "":
        raise ValueError(f"compression_type ({value}) is not supported")
    return lambda name: FileIO(name, "r")


def _file_names(file_pattern: Any) -> list[str]:
    patterns = file_pattern if isinstance(file_pattern, list) else [file_pattern]
    if not patterns:
        raise ValueError("File pattern is empty.")
    names = [name for pattern in patterns for name in get_matching_files(pattern)]
    if not names:
        raise ValueError(f"No files match {file_pattern}.")
    return sorted(names)


def _in_random_order(
    dataset: DatasetV2, epochs: Any, shuffle: bool, buffer_size: Any, seed: Any
) -> DatasetV2:
    if epochs != 1 and shuffle:
        return dataset.apply(shuffle_and_repeat(buffer_size, epochs, seed))
    if shuffle:
        return dataset.shuffle(buffer_size, seed)
    return dataset if epochs == 1 else dataset.repeat(epochs)


def _interleaved(dataset: DatasetV2, read: Callable[[Any], Any], count: Any, sloppy: Any) -> Any:
    if count == AUTOTUNE:
        return dataset.interleave(read, num_parallel_calls=count)
    return dataset.apply(parallel_interleave(read, cycle_length=count, sloppy=sloppy))


def make_csv_dataset(
    file_pattern: Any,
    batch_size: Any,
    column_names: Any = None,
    column_defaults: Any = None,
    label_name: str | None = None,
    select_columns: Any = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    num_parallel_reads: Any = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: Any = None,
    ignore_errors: bool = False,
) -> DatasetV2:
    """Batches of CSV records as dicts of columns, or pairs (dict, label).

    Names and types of the columns that are not given are read off the files.
    """
    names = _file_names(file_pattern)
    dataset: DatasetV2 = TensorSliceDataset(names)
    if shuffle:
        dataset = dataset.shuffle(len(names), shuffle_seed)
    files = None
    if column_names is None or column_defaults is None:
        files = _CsvFiles(names, field_delim, use_quote_delim, _opener(compression_type))
    if column_names is None:
        if not header:
            raise ValueError("Cannot infer column names without a header line.")
        assert files is not None
        column_names = files.column_names()
    if len(column_names) != len(set(column_names)):
        raise ValueError("Cannot have duplicate column names.")
    chosen = None if select_columns is None else _selected(list(select_columns), column_names)
    if column_defaults is None:
        assert files is not None
        column_defaults = files.defaults(
            len(column_names), na_value, header, num_rows_for_inference, chosen
        )
    column_defaults = [_default(each) for each in column_defaults]
    if chosen is not None:
        if len(column_defaults) != len(chosen):
            raise ValueError(
                "If specified, column_defaults and select_columns must have same length."
            )
        column_names = [column_names[number] for number in chosen]
    if label_name is not None and label_name not in column_names:
        raise ValueError("`label_name` provided must be one of the columns.")
    read = _csv_reader(
        column_defaults,
        compression_type,
        header,
        field_delim,
        use_quote_delim,
        na_value,
        chosen,
        ignore_errors,
    )
    dataset = _interleaved(dataset, read, num_parallel_reads or 1, sloppy)
    dataset = _in_random_order(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None)

    def as_features(*columns: Any) -> Any:
        features = collections.OrderedDict(zip(column_names, columns, strict=False))
        return features if label_name is None else (features, features.pop(label_name))

    dataset = MapDataset(dataset, as_features, use_inter_op_parallelism=False)
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def _csv_reader(
    defaults: Any,
    compression: Any,
    header: Any,
    delimiter: Any,
    quotes: Any,
    na_value: Any,
    chosen: Any,
    without_errors: bool,
) -> Callable[[Any], DatasetV2]:
    def filename_to_dataset(filename: Any) -> DatasetV2:
        records: DatasetV2 = CsvDataset(
            filename, defaults, compression, None, header, delimiter, quotes, na_value, chosen
        )
        return records.apply(ignore_errors()) if without_errors else records

    return filename_to_dataset


# Examples -----------------------------------------------------------------------------------------


class _ParseExampleDataset(UnaryDataset):
    """Dicts of the features in vectors of serialized Examples; what sparse ones need is in them."""

    def __init__(self, input_dataset: DatasetV2, features: Any, num_parallel_calls: Any):
        if not structure.are_compatible(
            input_dataset.element_spec, TensorSpec([None], dtypes.string)
        ):
            raise TypeError("Input dataset should be a dataset of vectors of strings")
        columns = parsed_columns(features)
        if not columns.sparse_keys and not columns.dense_keys:
            raise ValueError("Must provide at least one sparse key or dense key")
        batch = input_dataset.output_shapes
        spec: dict[str, Any] = {
            key: TensorSpec(batch.concatenate(shape), dtype)
            for key, shape, dtype in zip(
                columns.dense_keys, columns.dense_shapes, columns.dense_types, strict=True
            )
        }
        for key, dtype in zip(columns.sparse_keys, columns.sparse_types, strict=True):
            spec[key] = SparseTensorSpec(batch.concatenate([None]), dtype)
        spec = {key: spec[key] for key in sorted(spec)}
        variant = mapped_nodes.ParseExampleDataset(
            input_dataset._variant_tensor,
            num_parallel_calls,
            columns.default_tensors(),
            sparse_keys=columns.sparse_keys,
            dense_keys=columns.dense_keys,
            sparse_types=columns.sparse_types,
            dense_shapes=columns.dense_shapes,
            **flat_structure(spec),
        )
        super().__init__(input_dataset, variant, spec)


def parse_example_dataset(features: Any, num_parallel_calls: Any = 1) -> Transformation:
    """Parses vectors of serialized Examples into dicts of tensors; see `tf.parse_example`."""
    if features is None:
        raise ValueError(f"Missing: features was {features}.")

    def apply(dataset: DatasetV2) -> DatasetV2:
        parsed = _ParseExampleDataset(dataset, features, num_parallel_calls)
        if any(isinstance(feature, SparseFeature) for feature in features.values()):
            return parsed.map(
                lambda parts: with_sparse_features(features, parts), num_parallel_calls
            )
        return parsed

    return apply


def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: Any,
    features: Any,
    reader: Any = TFRecordDataset,
    label_key: str | None = None,
    reader_args: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    reader_num_threads: Any = None,
    parser_num_threads: Any = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> DatasetV2:
    """Batches of parsed Examples, as dicts of tensors or pairs (dict, label)."""
    dataset: DatasetV2 = files_matching(file_pattern, shuffle, shuffle_seed)
    arguments = reader_args or []
    read = _interleaved(
        dataset, lambda name: reader(name, *arguments), reader_num_threads or 1, sloppy_ordering
    )
    if read.output_types == (dtypes.string, dtypes.string):
        read = MapDataset(read, lambda _, value: value, use_inter_op_parallelism=False)
    dataset = _in_random_order(read, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    dataset = dataset.apply(parse_example_dataset(features, parser_num_threads or 2))
    if label_key:
        if label_key not in features:
            raise ValueError(
                f"The `label_key` provided ({label_key!r}) must be one of the `features` keys."
            )
        dataset = dataset.map(lambda parsed: (parsed, parsed.pop(label_key)))
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def make_tf_record_dataset(
    file_pattern: Any,
    batch_size: Any,
    parser_fn: Callable[[Any], Any] | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int | None = None,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    num_parallel_reads: int | None = None,
    num_parallel_parser_calls: Any = None,
    drop_final_batch: bool = False,
) -> DatasetV2:
    """Batches of the records of TFRecord files, or of what `parser_fn` makes of each."""
    files = files_matching(file_pattern, shuffle, shuffle_seed)
    records = TFRecordDataset(files, num_parallel_reads=num_parallel_reads or 24)
    buffered = 10000 if shuffle_buffer_size is None else shuffle_buffer_size
    dataset = _in_random_order(records, num_epochs, shuffle, buffered, shuffle_seed)
    if parser_fn is not None:
        dataset = dataset.map(parser_fn, num_parallel_parser_calls or batch_size)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    if prefetch_buffer_size == 0:
        return dataset
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)
