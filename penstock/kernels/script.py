"""Kernels that call Python functions."""

import numpy as np

from penstock import dtypes, errors
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.values import from_array, to_array
from penstock.ops.literals import to_array as literal_array
from penstock.ops.script import call_function, check_count, host_functions
from penstock.state.waiting import MustWait


@kernel("PyFunc", "EagerPyFunc", devices=HOST, step=True)
def _(node):
    call = _caller(node)

    def run(step, *inputs):
        # A function can't be tried, and it may wait for another function of the same step.
        if step.only_tries:
            raise MustWait
        return call(*inputs)

    return run


@kernel("PyFuncStateless", devices=HOST)
def _caller(node):
    token, types = node.attrs["token"], node.attrs["Tout"]
    as_argument = np.asarray if node.type == "EagerPyFunc" else _plain

    def run(*inputs):
        function = host_functions.find(token)
        if function is None:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"callback {token} is not found: a graph file names a Python function that this "
                "process has not registered (tf.py_func functions don't travel with a graph)",
            )
        result = call_function(function, [_argument(value, as_argument) for value in inputs])
        if result is None:
            result = ()
        elif not isinstance(result, (list, tuple)):
            result = (result,)
        check_count(token, len(result), len(types))
        pairs = enumerate(zip(result, types, strict=True))
        values = tuple(_checked(token, index, value, dtype) for index, (value, dtype) in pairs)
        return values if len(values) != 1 else values[0]

    return run


def _argument(value, as_argument):
    array = to_array(value)
    return as_argument(array) if isinstance(array, np.ndarray) else array  # a handle is itself


def _plain(array):
    return array if array.ndim else array[()]


def _checked(token, index, value, dtype):
    array = _array_of(value)
    given = dtypes.string if array.dtype == object else dtypes.as_dtype(array.dtype)
    if dtype is given is dtypes.string:
        return literal_array(value, dtypes.string)[0]
    if given is not dtype:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"{index}-th value returned by {token} is {dtypes.runtime_name(given)}, but "
            f"expects {dtypes.runtime_name(dtype)}",
        )
    # The function may keep and change what it returned: the step gets memory of its own.
    return from_array(array.copy())


def _array_of(value):
    """A result as an array, which is of numbers, of booleans or of strings."""
    array = np.asarray(value)
    if array.dtype.kind == "V" and array.dtype.names:
        raise errors.InternalError(None, None, "Unsupported numpy data type")
    if array.dtype.kind in "mM" or array.dtype.char in "gG":
        raise errors.InternalError(None, None, f"Unsupported numpy type: {array.dtype}")
    if array.dtype == object:
        for item in array.flat:
            if not isinstance(item, (bytes, str)):
                kind = type(item).__name__
                raise errors.InternalError(None, None, f"Unsupported object type {kind}")
    return array
