"""`RecordInput` of TensorFlow's data_flow_ops: shuffled records of many files."""

from __future__ import annotations

from typing import Any

from penstock.ir.name_scope import name_scope
from penstock.ir.registry import STATEFUL, attr, not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.ops.joining import split
from penstock.ops.shaping import reshape
from penstock.platform.tf_record import TFRecordCompressionType, TFRecordOptions
from penstock.shapes import Shape

_RecordInput = op(
    "RecordInput() -> records: string",
    STATEFUL,
    file_pattern=attr("string"),
    file_random_seed=301,
    file_shuffle_shift_ratio=0.0,
    file_buffer_size=10000,
    file_parallelism=16,
    batch_size=32,
    compression_type="",
)
not_differentiable(_RecordInput)


@_RecordInput.shape
def _(op: Any) -> Shape:
    return None


class RecordInput:
    """The records of all files that match a pattern, shuffled, again and again.

    Args:
      file_pattern: a pattern of names of TFRecord files.
      batch_size: how many records are given at once.
      buffer_size: how many records are kept to draw from.
      parallelism: without effect; TensorFlow's number of reading threads.
      shift_ratio: by how much of their number the files are moved on in each epoch.
      seed: a seed for the order.
      name: a name for the operation.
      batches: if not None, records are given as so many lists of `batch_size` scalars.
      compression_type: one of `tf.python_io.TFRecordCompressionType`.
    """

    def __init__(
        self,
        file_pattern: str,
        batch_size: int = 1,
        buffer_size: int = 1,
        parallelism: int = 1,
        shift_ratio: float = 0,
        seed: int = 0,
        name: str | None = None,
        batches: int | None = None,
        compression_type: Any = None,
    ):
        self._file_pattern = file_pattern
        self._batch_size = batch_size * (1 if batches is None else batches)
        self._batches = batches
        self._buffer_size = buffer_size
        self._parallelism = parallelism
        self._shift_ratio = shift_ratio
        self._seed = seed
        self._name = name
        self._compression_type = (
            TFRecordCompressionType.NONE if compression_type is None else compression_type
        )

    def get_yield_op(self) -> Tensor | list[list[Tensor]]:
        """The next records."""
        options = TFRecordOptions(self._compression_type)
        records: Tensor = _RecordInput(
            file_pattern=self._file_pattern,
            file_buffer_size=self._buffer_size,
            file_parallelism=self._parallelism,
            file_shuffle_shift_ratio=self._shift_ratio,
            batch_size=self._batch_size,
            file_random_seed=self._seed,
            compression_type=TFRecordOptions.get_compression_type_string(options),
            name=self._name,
        )
        if self._batches is None:
            return records
        with name_scope(self._name):
            scalars = [reshape(part, []) for part in split(records, self._batch_size, 0)]
            return [scalars[i :: self._batches] for i in range(self._batches)]
