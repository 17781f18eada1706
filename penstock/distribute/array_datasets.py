"""Arrays as datasets by way of variables, for a graph that holds them has two gigabytes at most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock import nest
from penstock.data.dataset import Dataset
from penstock.ir.defaults import executing_eagerly
from penstock.ops.constants import placeholder
from penstock.ops.control import init_scope
from penstock.ops.filling import zeros
from penstock.ops.variable_creation import create_variable, variable_creator_scope

__all__ = ["SingleDevice", "init_var_from_numpy", "one_host_numpy_dataset"]

#: A step copies no fewer bytes than this, but for the last; twice as many are far below what a
#: message may have.
_SLICE_BYTES = 64 << 20


class SingleDevice:
    """A place that variables can be `colocate_with`: one device, without copies on others."""

    def __init__(self, device: str):
        self.device = device


def init_var_from_numpy(input_var: Any, numpy_input: Any, session: Any) -> None:
    """Gives a variable the value of an array: in graphs slice by slice, by steps of a session."""
    with init_scope():
        if executing_eagerly():
            input_var.assign(numpy_input)
            return
        assert session is not None, "a graph's variable needs a session"
        session.run(input_var.initializer)
        first, end = placeholder("int64", ()), placeholder("int64", ())
        values = placeholder(input_var.dtype.base_dtype)
        assigned = input_var[first:end].assign(values)
        row_bytes = int(np.prod(numpy_input.shape[1:])) * input_var.dtype.size
        rows = -(-_SLICE_BYTES // max(row_bytes, 1))
        total = numpy_input.shape[0]
        for start in range(0, total, rows):
            stop = min(start + rows, total)
            given = {first: start, end: stop, values: numpy_input[start:stop]}
            session.run(assigned.op, feed_dict=given)


def one_host_numpy_dataset(numpy_input: Any, colocate_with: Any, session: Any) -> Dataset:
    """A dataset of the rows of arrays, which variables at one place hold."""

    def at_the_place(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        return next_creator(**{**kwargs, "colocate_with": colocate_with})

    arrays = nest.flatten(numpy_input)
    with variable_creator_scope(at_the_place):
        held = [create_variable(zeros(each.shape, each.dtype), trainable=False) for each in arrays]
    for variable, array in zip(held, arrays, strict=True):
        init_var_from_numpy(variable, array, session)
    return Dataset.from_tensor_slices(nest.pack_sequence_as(numpy_input, held))
