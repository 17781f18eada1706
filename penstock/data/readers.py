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
        variant = mapped_nodes.LegacyParallelInterleaveDatasetV2(
            input_dataset._variant_tensor,
            function.captured_inputs,
            convert_to_tensor(cycle_length, dtypes.int64, name="cycle_length"),
            convert_to_tensor(block_length, dtypes.int64, name="block_length"),
            optional("buffer_output_elements", buffer_output_elements, 2 * block_length),
            optional("prefetch_input_elements", prefetch_input_elements, 2 * cycle_length),
            f=function.function,
            deterministic="false" if isinstance(sloppy, bool) and sloppy else "true",
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
            kind = optional("compression_type", compression_type, "", dtypes.string)
            size = optional("buffer_size", buffer_size, _BUFFER_SIZE)
            return nodes.TextLineDataset(name, kind, size)

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
            kind = optional("compression_type", compression_type, "", dtypes.string)
            size = optional("buffer_size", buffer_size, _BUFFER_SIZE)
            return nodes.TFRecordDataset(name, kind, size)

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
            length = convert_to_tensor(record_bytes, dtypes.int64, name="record_bytes")
            header = optional("header_bytes", header_bytes)
            footer = optional("footer_bytes", footer_bytes)
            size = optional("buffer_size", buffer_size, _BUFFER_SIZE)
            kind = optional("compression_type", compression_type, "", dtypes.string)
            return nodes.FixedLengthRecordDatasetV2(name, header, length, footer, size, kind)

        super().__init__(filenames, read, num_parallel_reads)
