"""Initializers that load matrices of checkpoints under another vocabulary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import dtypes
from penstock.ops.checkpoint_remapping import (
    load_and_remap_matrix_initializer,
    load_embedding_initializer,
)

__all__ = [
    "load_and_remap_matrix_initializer",
    "load_embedding_initializer",
    "load_linear_multiclass_bias_initializer",
    "load_variable_slot_initializer",
]

Initializer = Callable[..., Any]


def load_linear_multiclass_bias_initializer(
    ckpt_path: Any,
    bias_tensor_name: Any,
    new_class_vocab_size: int,
    old_class_vocab_file: Any,
    new_class_vocab_file: Any,
    num_class_oov_buckets: int = 0,
    initializer: Any = None,
    max_rows_in_memory: int = -1,
) -> Initializer:
    """The biases of a linear model's classes, a column, in the order of other classes."""
    return load_and_remap_matrix_initializer(
        ckpt_path=ckpt_path,
        old_tensor_name=bias_tensor_name,
        new_row_vocab_size=new_class_vocab_size,
        new_col_vocab_size=1,
        old_row_vocab_file=old_class_vocab_file,
        new_row_vocab_file=new_class_vocab_file,
        num_row_oov_buckets=num_class_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )


def load_variable_slot_initializer(
    ckpt_path: Any,
    old_tensor_name: Any,
    primary_partition_info: Any,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_file: Any = None,
    new_row_vocab_file: Any = None,
    old_col_vocab_file: Any = None,
    new_col_vocab_file: Any = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Any = None,
    max_rows_in_memory: int = -1,
) -> Initializer:
    """A slot of a variable, which is cut into parts as the variable is.

    Args:
      primary_partition_info: which part of the variable the slot is of.
    """
    load = load_and_remap_matrix_initializer(
        ckpt_path=ckpt_path,
        old_tensor_name=old_tensor_name,
        new_row_vocab_size=new_row_vocab_size,
        new_col_vocab_size=new_col_vocab_size,
        old_row_vocab_file=old_row_vocab_file,
        new_row_vocab_file=new_row_vocab_file,
        old_col_vocab_file=old_col_vocab_file,
        new_col_vocab_file=new_col_vocab_file,
        num_row_oov_buckets=num_row_oov_buckets,
        num_col_oov_buckets=num_col_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )

    def load_part(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Any:
        return load(shape, dtype, partition_info=primary_partition_info)

    return load_part
