"""What fills a table: tensors of keys and values, or a vocabulary file."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.dtypes import DType
from penstock.ir.collections import GraphKeys
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ir.trackable import Trackable
from penstock.ops.control import add_to_collection, init_scope
from penstock.ops.lookup_tables import InitializeTableFromTextFileV2, LookupTableImportV2
from penstock.train.tracking.resources import TrackableAsset


class TableInitializerBase(Trackable):
    """Fills tables of `key_dtype` and `value_dtype`."""

    def __init__(self, key_dtype: Any, value_dtype: Any):
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        return self._value_dtype

    @property
    def _shared_name(self) -> str:
        """The name under which tables that are filled alike may be one."""
        return ""

    def initialize(self, table: Any) -> Operation:
        """The operation that fills `table`."""
        raise NotImplementedError

    def _check_types(self, table: Any) -> None:
        for what, ours, tables in (
            ("key", self._key_dtype, table.key_dtype),
            ("value", self._value_dtype, table.value_dtype),
        ):
            if ours.base_dtype is not tables:
                raise TypeError(f"Invalid {what} dtype, expected {tables} but got {ours}.")


class KeyValueTensorInitializer(TableInitializerBase):
    """Fills a table with a tensor of keys and one of their values."""

    def __init__(
        self,
        keys: Any,
        values: Any,
        key_dtype: Any = None,
        value_dtype: Any = None,
        name: str | None = None,
    ):
        with init_scope():
            self._keys = convert_to_tensor(keys, key_dtype, "keys")
            self._values = convert_to_tensor(values, value_dtype, "values")
        self._name = "key_value_init" if name is None else name
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table: Any) -> Any:
        self._check_types(table)
        with name_scope(self._name, values=(table.resource_handle, self._keys, self._values)):
            init_op: Operation = LookupTableImportV2(
                table.resource_handle, self._keys, self._values
            )
        _list_initializer(init_op)
        return init_op


def _list_initializer(operation: Operation) -> None:
    """Lets `tf.tables_initializer` run an operation, unless it is part of a function.

    Keras' graph of layers is none: it is run step by step in eager mode.
    """
    graph: Any = get_default_graph()
    if not graph.building_function or getattr(graph, "takes_eager_ops", False):
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, operation)


class TextFileIndex:
    """Which part of a line is a key or a value, besides the number of a column."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer(TableInitializerBase):
    """Fills a table with the lines of a text file.

    Args:
      filename: The file's name: a string or a tensor.
      key_index: The column that holds the key, or a `TextFileIndex`; `value_index` likewise.
      vocab_size: How many lines to read, all if None.
      delimiter: The character between columns.
    """

    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
    ):
        if not isinstance(filename, Tensor) and not filename:
            raise ValueError(f"Filename required for {name}.")
        key_dtype, value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        _check_key(key_index, key_dtype)
        _check_value(value_index, value_dtype)
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"Invalid vocab_size {vocab_size}.")
        self._filename_arg = filename
        self._key_index = key_index
        self._value_index = value_index
        self._vocab_size = vocab_size
        self._delimiter = delimiter
        self._name = name
        asset = self._track_trackable(TrackableAsset(filename), name="_filename")
        self._filename = asset.asset_path
        super().__init__(key_dtype, value_dtype)

    def initialize(self, table: Any) -> Operation:
        self._check_types(table)
        with name_scope(self._name, "text_file_init", (table.resource_handle,)):
            init_op: Operation = InitializeTableFromTextFileV2(
                table.resource_handle,
                self._filename,
                key_index=self._key_index,
                value_index=self._value_index,
                vocab_size=-1 if self._vocab_size is None else self._vocab_size,
                delimiter=self._delimiter,
            )
        _list_initializer(init_op)
        op = self._filename._op
        if op.type == "Const" and op.graph is get_default_graph():
            add_to_collection(GraphKeys.ASSET_FILEPATHS, self._filename)
        return init_op

    @property
    def _shared_name(self) -> str:
        parts = [self._filename_arg, self._vocab_size, self._key_index, self._value_index]
        return "_".join(["hash_table", *[str(part) for part in parts if part is not None]])


def _check_key(index: int, dtype: DType) -> None:
    if index < -2:
        raise ValueError(f"Invalid key index {index}.")
    if index == TextFileIndex.LINE_NUMBER and dtype is not dtypes.int64:
        raise ValueError(f"Signature mismatch. Keys must be dtype {dtypes.int64}, got {dtype}.")
    is_text_or_number = dtype.is_integer or dtype is dtypes.string
    if index == TextFileIndex.WHOLE_LINE and not is_text_or_number:
        raise ValueError(f"Signature mismatch. Keys must be integer or string, got {dtype}.")


def _check_value(index: int, dtype: DType) -> None:
    if index < -2:
        raise ValueError(f"Invalid value index {index}.")
    for special, wanted in (
        (TextFileIndex.LINE_NUMBER, dtypes.int64),
        (TextFileIndex.WHOLE_LINE, dtypes.string),
    ):
        if index == special and dtype is not wanted:
            raise ValueError(f"Signature mismatch. Values must be dtype {wanted}, got {dtype}.")


class TextFileStringTableInitializer(TextFileInitializer):
    """From int64 ids to strings: by default line numbers and whole lines."""

    def __init__(
        self,
        filename: Any,
        key_column_index: int = TextFileIndex.LINE_NUMBER,
        value_column_index: int = TextFileIndex.WHOLE_LINE,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = "text_file_string_table_init",
    ):
        super().__init__(
            filename,
            dtypes.int64,
            key_column_index,
            dtypes.string,
            value_column_index,
            vocab_size,
            delimiter,
            name,
        )


class TextFileIdTableInitializer(TextFileInitializer):
    """From strings (or integers) to int64 ids: by default whole lines and line numbers."""

    def __init__(
        self,
        filename: Any,
        key_column_index: int = TextFileIndex.WHOLE_LINE,
        value_column_index: int = TextFileIndex.LINE_NUMBER,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = "text_file_id_table_init",
        key_dtype: Any = dtypes.string,
    ):
        super().__init__(
            filename,
            key_dtype,
            key_column_index,
            dtypes.int64,
            value_column_index,
            vocab_size,
            delimiter,
            name,
        )
