"""Reading and writing items: of Python's containers, of tensors, of lists of tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

import penstock as tf
from penstock.autograph.operators.tensor_kinds import is_tensor, is_tensor_array
from penstock.ops import list_functions


class GetItemOpts(NamedTuple):
    """What a list of tensors does not know of its items."""

    element_dtype: Any


def get_item(target: Any, i: Any, opts: GetItemOpts) -> Any:
    """`target[i]`; of a string tensor, its `i`-th character."""
    assert isinstance(opts, GetItemOpts)
    if is_tensor_array(target):
        return target.read(i)
    if is_tensor(target) and target.dtype == tf.variant:
        if opts.element_dtype is None:
            raise ValueError(
                "cannot retrieve from a list without knowing its element type; use "
                "set_element_type to annotate it"
            )
        return list_functions.tensor_list_get_item(target, i, element_dtype=opts.element_dtype)
    if is_tensor(target) and target.dtype == tf.string and target.shape.ndims == 0:
        return tf.substr(target, i, 1)
    return target[i]


def set_item(target: Any, i: Any, x: Any) -> Any:
    """`target[i] = x`; the target after that, which is a new one if it is a tensor."""
    if is_tensor_array(target):
        return target.write(i, x)
    if is_tensor(target):
        if target.dtype == tf.variant:
            return list_functions.tensor_list_set_item(target, i, x)
        return tf.tensor_scatter_update(target, ((i,),), (x,))
    target[i] = x
    return target
