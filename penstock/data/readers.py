"""Datasets of the lines or records of files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import dtypes
from penstock.data.dataset import AUTOTUNE, Dataset, DatasetSource, DatasetV2, flat_structure
from penstock.data.mapped import MappedDataset
from penstock.data.mapped_function import StructuredFunctionWrapper
from penstock.data.sources import TensorSliceDataset
from penstock.ir.convert import convert_to_tensor
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.ops.datasets import mapped as mapped_nodes
from penstock.ops.datasets import sources as nodes
from penstock.ops.shaping import reshape
from penstock.shapes import TensorShape

__all__ = ["FixedLengthRecordDataset", "TFRecordDataset", "TextLineDataset"]

_BUFFER_SIZE = 256 * 1024
_STRING = TensorSpec([], dtypes.string)


def optional(name: str, value: Any, default: Any = 0, dtype: Any = dtypes.int64) -> Tensor:
    """An argument as a tensor, or its default."""
    tensor: Tensor = convert_to_tensor(default if value is None else value, dtype, name=name)
    return tensor


def _file_names(filenames: Any) -> Dataset:
    """A dataset of file names, from one or from what is convertible to a tensor of them."""
    if not isinstance(filenames, DatasetV2):
        names = convert_to_tensor(filenames, dtypes.string)
        return TensorSliceDataset(reshape(names, [-1], name="flat_filenames"))
    if filenames.output_types != dtypes.string:
        raise TypeError("`filenames` must be a `tf.data.Dataset` of `tf.string` elements.")
    if not filenames.output_shapes.is_compatible_with(TensorShape([])):
        raise TypeError("`filenames` must be a `tf.data.Dataset` of scalar `tf.string` elements.")
    return filenames  # type: ignore[return-value]


class ParallelInterleaveDataset(MappedDataset):
    """`tf.data.experimental.parallel_interleave`: turns among datasets that a function makes."""

    def __init__(
        self,
        input_dataset: DatasetV2,
        map_func: Callable[..., Any],
        cycle_length: Any,
        block_length: Any = 1,
        sloppy: Any = False,
        buffer_output_elements: Any = None,
        prefetch_input_elements: Any = None,
    ):
        from penstock.data.dataset import DatasetSpec

        name = "tf.data.experimental.parallel_interleave()"
        function = StructuredFunctionWrapper(map_func, name, dataset=input_dataset)
        if not isinstance(function.output_structure, DatasetSpec):
            raise TypeError("`map_func` must return a `Dataset` object.")
        spec = function.output_structure.element_spec
        variant = mapped_nodes.ParallelInterleaveDataset(
            input_dataset._variant_tensor,
            function.captured_inputs,
            convert_to_tensor(cycle_length, dtypes.int64, name="cycle_length"),
            convert_to_tensor(block_length, dtypes.int64, name="block_length"),
            convert_to_tensor(sloppy, dtypes.bool, name="sloppy"),
            optional("buffer_output_elements", buffer_output_elements, 2 * block_length),
            optional("prefetch_input_elements", prefetch_input_elements, 2 * cycle_length),
            f=function.function,
            **flat_structure(spec),
        )
        super().__init__(input_dataset, variant, [function], spec)


class _FilesDataset(DatasetSource):
    """Files that are read one after the other, or in turns with `num_parallel_reads`."""

    def __init__(self, filenames: Any, read: Callable[[Tensor], Any], num_parallel_reads: Any):
        names = _file_names(filenames)
        self._filenames = names

        def read_one_file(filename: Tensor) -> DatasetSource:
            return DatasetSource(_STRING, read(filename))

        if num_parallel_reads is None:
            files = names.flat_map(read_one_file)
        elif num_parallel_reads == AUTOTUNE:
            files = names.interleave(read_one_file, num_parallel_calls=num_parallel_reads)
        else:
            files = ParallelInterleaveDataset(names, read_one_file, num_parallel_reads)
        self._files = files
        super().__init__(_STRING, files._variant_tensor)


def _read_lines(names: Any, compression_type: Any, buffer_size: Any) -> Any:
    kind = optional("compression_type", compression_type, "", dtypes.string)
    return nodes.TextLineDataset(names, kind, optional("buffer_size", buffer_size, _BUFFER_SIZE))


def _read_records(names: Any, compression_type: Any, buffer_size: Any) -> Any:
    kind = optional("compression_type", compression_type, "", dtypes.string)
    return nodes.TFRecordDataset(names, kind, optional("buffer_size", buffer_size, _BUFFER_SIZE))


def _read_fixed_lengths(
    names: Any,
    record_bytes: Any,
    header_bytes: Any,
    footer_bytes: Any,
    buffer_size: Any,
    compression_type: Any,
) -> Any:
    length = convert_to_tensor(record_bytes, dtypes.int64, name="record_bytes")
    header = optional("header_bytes", header_bytes)
    footer = optional("footer_bytes", footer_bytes)
    size = optional("buffer_size", buffer_size, _BUFFER_SIZE)
    kind = optional("compression_type", compression_type, "", dtypes.string)
    return nodes.FixedLengthRecordDatasetV2(names, header, length, footer, size, kind)


class _TextLineDataset(DatasetSource):
    """The lines of files, read by one node."""

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None):
        names = convert_to_tensor(filenames, dtypes.string, name="filenames")
        super().__init__(_STRING, _read_lines(names, compression_type, buffer_size))


class _TFRecordDataset(DatasetSource):
    """The records of files, read by one node."""

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None):
        names = convert_to_tensor(filenames, dtypes.string, name="filenames")
        super().__init__(_STRING, _read_records(names, compression_type, buffer_size))


class _FixedLengthRecordDataset(DatasetSource):
    """The records of a fixed length in files, read by one node."""

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
    ):
        names = convert_to_tensor(filenames, dtypes.string, name="filenames")
        node = _read_fixed_lengths(
            names, record_bytes, header_bytes, footer_bytes, buffer_size, compression_type
        )
        super().__init__(_STRING, node)


class TextLineDataset(_FilesDataset):
    """The lines of text files, without their ends.

    Args:
      filenames: names, a tensor of them, or a dataset of them.
      compression_type: "", "ZLIB" or "GZIP".
      buffer_size: bytes to read at once.
      num_parallel_reads: how many files are read at the same time, in turns.
    """

    _shown_as = "TextLineDatasetV1"

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
    ):
        def read(name: Tensor) -> Any:
            return _read_lines(name, compression_type, buffer_size)

        super().__init__(filenames, read, num_parallel_reads)


class TFRecordDataset(_FilesDataset):
    """The records of TFRecord files; see `TextLineDataset` for the arguments."""

    _shown_as = "TFRecordDatasetV1"

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
    ):
        def read(name: Tensor) -> Any:
            return _read_records(name, compression_type, buffer_size)

        super().__init__(filenames, read, num_parallel_reads)

    def _inputs(self) -> list[Any]:
        # TensorFlow counts the names as an input here, and of no other kind of file.
        return self._files._inputs()


class FixedLengthRecordDataset(_FilesDataset):
    """Records of `record_bytes` bytes each, between a header and a footer of the file."""

    _shown_as = "FixedLengthRecordDatasetV1"

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
    ):
        def read(name: Tensor) -> Any:
            return _read_fixed_lengths(
                name, record_bytes, header_bytes, footer_bytes, buffer_size, compression_type
            )

        super().__init__(filenames, read, num_parallel_reads)
