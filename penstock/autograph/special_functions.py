"""Functions of converted code that Python has not: lists of tensors, and stacking anything."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.autograph.operators.data_structures import (
    ListStackOpts,
    list_stack,
    tf_tensor_array_new,
    tf_tensor_list_new,
)
from penstock.autograph.operators.tensor_kinds import is_tensor


def match_staging_level(value: Any, like_value: Any) -> Any:
    """A value as a constant, if another one is a tensor."""
    return tf.constant(value) if is_tensor(like_value) else value


def tensor_list(
    elements: Any,
    element_dtype: Any = None,
    element_shape: Any = None,
    use_tensor_array: bool = False,
) -> Any:
    """A list of tensors.

    Args:
      elements: what is in it.
      element_dtype: the type of elements, of an empty list.
      element_shape: the shape of elements, of an empty list.
      use_tensor_array: whether to make a TensorArray.
    """
    if element_dtype is None or element_shape is None:
        _check_elements(elements)
    make = tf_tensor_array_new if use_tensor_array else tf_tensor_list_new
    return make(elements, element_dtype, element_shape)


def _check_elements(elements: Any) -> None:
    if is_tensor(elements):
        return
    if not isinstance(elements, (list, tuple)):
        raise ValueError(
            f"unknown type for elements: {type(elements)}; only Tensor, list and tuple are allowed"
        )
    if not elements:
        raise ValueError("element_dtype and element_shape are required when elements are empty")


def stack(list_or_tensor: Any, element_dtype: Any = None, strict: bool = True) -> Any:
    """The elements of a list as one tensor.

    Args:
      list_or_tensor: a list of tensors, or anything.
      element_dtype: the type of a list's elements.
      strict: whether what can't be stacked is an error; else it is given back.
    """

    def not_stackable(value: Any) -> Any:
        if strict:
            raise ValueError(f"{value} must be stackable when strict=True")
        return value

    return list_stack(
        list_or_tensor, ListStackOpts(element_dtype=element_dtype, original_call=not_stackable)
    )
