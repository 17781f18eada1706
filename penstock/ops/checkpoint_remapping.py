"""Matrices of a checkpoint whose rows or columns are words, for another vocabulary."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.operation import Operation
from penstock.ir.registry import STATEFUL, attr, not_differentiable, op
from penstock.ops.filling import range as number_range
from penstock.ops.initializers import truncated_normal_initializer, zeros_initializer
from penstock.ops.joining import concat
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

LoadAndRemapMatrix = op(
    "LoadAndRemapMatrix(ckpt_path: string, old_tensor_name: string, row_remapping: int64, "
    "col_remapping: int64, initializing_values: float32) -> output_matrix: float32",
    STATEFUL,
    num_rows=attr("int", minimum=0),
    num_cols=attr("int", minimum=1),
    max_rows_in_memory=-1,
)
GenerateVocabRemapping = op(
    "GenerateVocabRemapping(new_vocab_file: string, old_vocab_file: string) -> remapping: int64, "
    "num_present: int32",
    new_vocab_offset=attr("int", minimum=0),
    num_new_vocab=attr("int", minimum=0),
    old_vocab_size=attr("int", -1, minimum=-1),
)

not_differentiable(LoadAndRemapMatrix, GenerateVocabRemapping)


@LoadAndRemapMatrix.shape
def _(node: Operation, path: Shape, name: Shape, rows: Shape, columns: Shape, _: Shape) -> Shape:
    # The path may be of any shape, with one element.
    with_rank(name, 0)
    with_rank(rows, 1)
    with_rank(columns, 1)
    return node.attrs["num_rows"], node.attrs["num_cols"]


@GenerateVocabRemapping.shape
def _(node: Operation, new: Shape, old: Shape) -> list[Shape]:
    with_rank(new, 0)
    with_rank(old, 0)
    return [(node.attrs["num_new_vocab"],), ()]


def _check_vocabularies(old: Any, new: Any, axis: str) -> bool:
    """Whether a side of the matrix is to be remapped; both files are needed for it."""
    if bool(old) != bool(new):
        raise ValueError(
            f"old_{axis}_vocab_file and new_{axis}_vocab_file must both be specified or left "
            f"unspecified. old_{axis}_vocab_file='{old}', new_{axis}_vocab_file='{new}'"
        )
    return bool(new)


def load_and_remap_matrix(
    ckpt_path: Any,
    old_tensor_name: str,
    new_row_vocab_offset: int,
    num_rows_to_load: int,
    new_col_vocab_size: int,
    initializer: Callable[..., Any],
    old_row_vocab_size: int = -1,
    old_row_vocab_file: Any = None,
    new_row_vocab_file: Any = None,
    old_col_vocab_file: Any = None,
    new_col_vocab_file: Any = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    max_rows_in_memory: int = -1,
) -> Any:
    """A matrix of a checkpoint with its rows, its columns or both moved to another vocabulary.

    Args:
      ckpt_path: the checkpoint.
      old_tensor_name: the name of the matrix in it.
      new_row_vocab_offset: the first row to load, in the new vocabulary.
      num_rows_to_load: how many rows to load.
      new_col_vocab_size: how many columns to load.
      initializer: makes values for words that the old vocabulary lacks.
      old_row_vocab_size: how many words of the old vocabulary count; -1 for all.
      old_row_vocab_file: the vocabularies of rows, one word a line; None for no change.
      new_row_vocab_file: see there.
      old_col_vocab_file: the same of columns.
      new_col_vocab_file: see there.
      num_row_oov_buckets: rows to add for unknown words.
      num_col_oov_buckets: columns to add for them.
      max_rows_in_memory: how many rows to read at once.
    """
    for axis, buckets in (("row", num_row_oov_buckets), ("col", num_col_oov_buckets)):
        if buckets < 0:
            raise ValueError(f"num_{axis}_oov_buckets must be >= 0, but received {buckets}")
    remap_rows = _check_vocabularies(old_row_vocab_file, new_row_vocab_file, "row")
    remap_columns = _check_vocabularies(old_col_vocab_file, new_col_vocab_file, "col")
    if not (remap_rows or remap_columns):
        raise ValueError(
            "Must provide either row or column vocab files. If no remapping is necessary, "
            "consider using `tf.contrib.framework.init_from_checkpoint` instead."
        )
    rows_present: Any = num_rows_to_load
    if remap_rows:
        rows, rows_present = GenerateVocabRemapping(
            new_row_vocab_file,
            old_row_vocab_file,
            new_vocab_offset=new_row_vocab_offset,
            num_new_vocab=num_rows_to_load,
            old_vocab_size=old_row_vocab_size,
        )
    else:
        end = new_row_vocab_offset + num_rows_to_load
        rows = number_range(new_row_vocab_offset, end, dtype=dtypes.int64)
    columns: Any = []
    columns_present: Any = new_col_vocab_size
    if remap_columns:
        columns, columns_present = GenerateVocabRemapping(
            new_col_vocab_file,
            old_col_vocab_file,
            new_vocab_offset=0,
            num_new_vocab=new_col_vocab_size,
        )
    missing = num_rows_to_load * new_col_vocab_size - rows_present * columns_present
    matrix = LoadAndRemapMatrix(
        ckpt_path,
        old_tensor_name,
        rows,
        columns,
        initializer([missing, 1]),
        num_rows=num_rows_to_load,
        num_cols=new_col_vocab_size,
        max_rows_in_memory=max_rows_in_memory,
    )
    if num_row_oov_buckets > 0:
        added = initializer([num_row_oov_buckets, new_col_vocab_size])
        matrix = concat([matrix, convert_to_tensor(added)], 0)
    if num_col_oov_buckets > 0:
        height = num_rows_to_load + num_row_oov_buckets
        added = initializer([height, num_col_oov_buckets])
        matrix = concat([matrix, convert_to_tensor(added)], 1)
    return matrix


def load_and_remap_matrix_initializer(
    ckpt_path: Any,
    old_tensor_name: str,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_size: int = -1,
    old_row_vocab_file: Any = None,
    new_row_vocab_file: Any = None,
    old_col_vocab_file: Any = None,
    new_col_vocab_file: Any = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Callable[..., Any] | None = None,
    max_rows_in_memory: int = -1,
) -> Callable[..., Any]:
    """An initializer of a variable, or of the parts of one, that does `load_and_remap_matrix`."""
    make = zeros_initializer() if initializer is None else initializer
    if not callable(make):
        raise TypeError(
            f"initializer must be callable, instead of being {make} of type {type(make)}."
        )

    def initialize(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Any:
        if dtype != dtypes.float32:
            raise TypeError(f"Currently, only float32 is supported. Received dtype: {dtype}")
        if len(shape) != 2:
            raise ValueError(f"Expected 2-dim shape, but received: {shape}")
        if shape[0] <= 0:
            raise ValueError(f"Expected 1st dim of shape to be > 0, but received shape: {shape}")
        width = new_col_vocab_size + num_col_oov_buckets
        if shape[1] != width:
            raise ValueError(
                f"Expected 2nd dim of shape to be new_col_vocab_size ({new_col_vocab_size}) + "
                f"num_col_oov_buckets ({num_col_oov_buckets}) = {width}, but received shape: "
                f"{shape}"
            )
        offset = 0 if partition_info is None else partition_info.single_offset(shape)
        height = new_row_vocab_size + num_row_oov_buckets
        if offset + shape[0] > height:
            raise ValueError(
                f"Trying to initialize {shape[0]} additional rows after {offset} rows have already "
                "been initialized, which would exceed expected total row count of "
                f"new_row_vocab_size ({new_row_vocab_size}) + num_row_oov_buckets "
                f"({num_row_oov_buckets}) = {height}."
            )
        # The rows of unknown words come last: a part may have some, or be made of them alone.
        unknown = min(shape[0], max(0, offset + shape[0] - new_row_vocab_size))
        if offset > new_row_vocab_size:
            return make(shape)
        return load_and_remap_matrix(
            ckpt_path=ckpt_path,
            old_tensor_name=old_tensor_name,
            new_row_vocab_offset=offset,
            num_rows_to_load=shape[0] - unknown,
            new_col_vocab_size=new_col_vocab_size,
            initializer=make,
            old_row_vocab_size=old_row_vocab_size,
            old_row_vocab_file=old_row_vocab_file,
            new_row_vocab_file=new_row_vocab_file,
            old_col_vocab_file=old_col_vocab_file,
            new_col_vocab_file=new_col_vocab_file,
            num_row_oov_buckets=unknown,
            num_col_oov_buckets=num_col_oov_buckets,
            max_rows_in_memory=max_rows_in_memory,
        )

    return initialize


def load_embedding_initializer(
    ckpt_path: Any,
    embedding_tensor_name: str,
    new_vocab_size: int,
    embedding_dim: int,
    old_vocab_file: Any,
    new_vocab_file: Any,
    old_vocab_size: int = -1,
    num_oov_buckets: int = 0,
    initializer: Callable[..., Any] | None = None,
    max_rows_in_memory: int = -1,
) -> Callable[..., Any]:
    """An initializer of an embedding whose vocabulary has changed since the checkpoint."""
    if initializer is None:
        initializer = truncated_normal_initializer(stddev=1.0 / math.sqrt(embedding_dim))
    return load_and_remap_matrix_initializer(
        ckpt_path=ckpt_path,
        old_tensor_name=embedding_tensor_name,
        new_row_vocab_size=new_vocab_size,
        new_col_vocab_size=embedding_dim,
        old_row_vocab_size=old_vocab_size,
        old_row_vocab_file=old_vocab_file,
        new_row_vocab_file=new_vocab_file,
        num_row_oov_buckets=num_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )


_load_and_remap_matrix = load_and_remap_matrix
_load_and_remap_matrix_initializer = load_and_remap_matrix_initializer
_load_embedding_initializer = load_embedding_initializer
