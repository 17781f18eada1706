"""Python functions as nodes: `tf.py_func`, `tf.numpy_function`, `tf.py_function`."""

from __future__ import annotations

import itertools
import threading
import traceback
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from penstock import dtypes, errors
from penstock.dtypes import DType
from penstock.ir.apply import make_op
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.nest import flatten
from penstock.ir.registry import CALLS_PYTHON, STATEFUL, OpSpec, not_differentiable, op
from penstock.ir.signature import attr

__all__ = ["numpy_function", "py_func", "py_function"]

PyFunc = op(
    "PyFunc(input: *Tin) -> output: *Tout",
    STATEFUL,
    CALLS_PYTHON,
    token=attr("string"),
    Tin=attr("list(type)", minimum=0),
    Tout=attr("list(type)", minimum=0),
)
PyFuncStateless = op(
    "PyFuncStateless(input: *Tin) -> output: *Tout",
    token=attr("string"),
    Tin=attr("list(type)", minimum=0),
    Tout=attr("list(type)", minimum=0),
)
EagerPyFunc = op(
    "EagerPyFunc(input: *Tin) -> output: *Tout",
    STATEFUL,
    CALLS_PYTHON,
    token=attr("string"),
    is_async=False,
    Tin=attr("list(type)", minimum=0),
    Tout=attr("list(type)", minimum=0),
)
not_differentiable(PyFunc, PyFuncStateless)


class HostFunctions:
    """The Python functions of this process by token.

    A graph file can name a token, but only a function that this process registered is ever
    called. A function lives as long as the graph that it was registered for.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._functions: weakref.WeakValueDictionary[str, _Holder] = weakref.WeakValueDictionary()

    def add(self, function: Callable[..., Any]) -> str:
        graph = get_default_graph()
        with self._lock:
            token = f"pyfunc_{next(self._numbers)}"
            holder = _Holder(function)
            self._functions[token] = holder
            graph._py_functions[token] = holder
        return token

    def find(self, token: str) -> Callable[..., Any] | None:
        holder = self._functions.get(token)
        return None if holder is None else holder.function

    def size(self) -> int:
        """How many functions are registered."""
        return len(self._functions)


class _Holder:
    __slots__ = ("__weakref__", "function")

    def __init__(self, function: Callable[..., Any]):
        self.function = function


host_functions = HostFunctions()


class ConcreteFunction:
    """A function of arrays that may use TensorFlow's ops: they are computed as it calls them.

    `call` and `call_gradient` are what does so; the client, which has sessions, sets them.
    """

    call: Callable[[Callable[..., Any], Sequence[Any], Sequence[DType]], Any]
    call_gradient: Callable[[Callable[..., Any], Sequence[Any], Sequence[Any]], Any]

    def __init__(self, function: Callable[..., Any], types: Sequence[DType]):
        self.function = function
        self.types = types

    def __call__(self, *arrays: Any) -> Any:
        return ConcreteFunction.call(self.function, arrays, self.types)

    def gradient(self, *arrays: Any, inputs: int) -> Any:
        """The gradients by the first arrays, the inputs, given those by the outputs."""
        return ConcreteFunction.call_gradient(self.function, arrays[:inputs], arrays[inputs:])


@EagerPyFunc.gradient
def _(op, *dys):
    concrete: Any = host_functions.find(op.attrs["token"])
    inputs = list(op.inputs)
    by_inputs = partial(concrete.gradient, inputs=len(inputs))
    types = [tensor.dtype.base_dtype for tensor in inputs]
    attrs = {"token": host_functions.add(by_inputs), "Tout": types}
    grads = make_op(EagerPyFunc, [[*inputs, *dys]], attrs).outputs
    for grad, tensor in zip(grads, inputs, strict=True):
        grad.set_shape(tensor.shape)
    return [grad if grad.dtype.is_floating else None for grad in grads]


@PyFunc.shape
@PyFuncStateless.shape
@EagerPyFunc.shape
def _(op, *inputs):
    return [None] * len(op.attrs["Tout"])


def py_func(
    func: Callable[..., Any],
    inp: Sequence[Any],
    Tout: Any,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Calls a Python function on NumPy arrays in the middle of a step.

    A function without side effects may be declared `stateful=False`, and is then called only if
    its result is needed, and once for equal inputs.

    >>> y = tf.py_func(lambda a: np.sort(a), [x], tf.float32)
    """
    if executing_eagerly():
        return _called_now(func, inp)
    return _node(PyFunc if stateful else PyFuncStateless, func, inp, Tout, name)


def _called_now(func: Callable[..., Any], inp: Sequence[Any]) -> Any:
    """The function's result in eager mode: one tensor, or a list of them."""
    found = flatten(func(*[np.array(value) for value in inp]))
    results = [None if value is None else convert_to_tensor(value) for value in found]
    return results[0] if len(results) == 1 else results


def numpy_function(
    func: Callable[..., Any], inp: Sequence[Any], Tout: Any, name: str | None = None
) -> Any:
    """`tf.py_func` by its later name."""
    return py_func(func, inp, Tout, stateful=True, name=name)


def py_function(
    func: Callable[..., Any], inp: Sequence[Any], Tout: Any, name: str | None = None
) -> Any:
    """As `tf.py_func`, for functions that use TensorFlow's ops, or ask arguments for `.numpy()`.

    Gradients go through it where the function computes with ops and operators.
    """
    _check_callable(func)
    if executing_eagerly():
        return _called_with_tensors(func, inp, Tout)
    return _node(EagerPyFunc, ConcreteFunction(func, _types(Tout)), inp, Tout, name)


def _called_with_tensors(func: Callable[..., Any], inp: Sequence[Any], Tout: Any) -> Any:
    """The result of `py_function` in eager mode, whose operations tapes see like any others."""
    types = _types(Tout)
    tensors = [convert_to_tensor(value) for value in inp]
    results = call_function(lambda *values: tensors_of(func(*values), types), tensors)
    check_count("the function", len(results), len(types))
    return results if isinstance(Tout, (list, tuple)) else results[0]


def tensors_of(result: Any, types: Sequence[DType]) -> list[Any]:
    """The results of a function of eager tensors, converted to these types."""
    from penstock.ops.resource_variable import ResourceVariable

    if result is None:
        return []
    if not isinstance(result, (list, tuple)):
        result, types = [result], [types[0]]
    for value in result:
        if isinstance(value, ResourceVariable):
            raise RuntimeError(
                "Attempting to return a variable from an eagerly executed py_func; return a "
                f"tensor or an array, such as the variable's `.numpy()`: {value}"
            )
    return [convert_to_tensor(value, dtype) for value, dtype in zip(result, types, strict=False)]


def call_function(function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """Calls a Python function of a step; what it raises becomes an error of the step."""
    try:
        return function(*arguments)
    except Exception as error:
        frames = error.__traceback__.tb_next if error.__traceback__ else None  # from it on
        shown = traceback.TracebackException(type(error), error, frames)
        told = f"{type(error).__name__}: {error}\n{''.join(shown.format())}"
        raise _error_of(error)(None, None, told) from error


def _error_of(error: Exception) -> Callable[..., errors.OpError]:
    """The error class that TensorFlow gives an exception of a Python function."""
    if isinstance(error, (TypeError, ValueError)):
        return errors.InvalidArgumentError
    if isinstance(error, StopIteration):
        return errors.OutOfRangeError
    if isinstance(error, MemoryError):
        return errors.ResourceExhaustedError
    if isinstance(error, NotImplementedError):
        return errors.UnimplementedError
    return errors.UnknownError


def check_count(called: str, returned: int, expected: int) -> None:
    """Refuses another number of results than a node has outputs."""
    if returned != expected:
        message = f"{called} returns {returned} values, but expects to see {expected} values."
        raise errors.InvalidArgumentError(None, None, message)


def _node(
    spec: OpSpec, func: Callable[..., Any], inp: Sequence[Any], Tout: Any, name: str | None
) -> Any:
    _check_callable(func)
    types = _types(Tout)
    attrs = {"token": host_functions.add(func), "Tout": types}
    node = make_op(spec, [list(inp)], attrs, name)
    if not types:
        return [] if spec is PyFuncStateless else node
    return list(node.outputs) if isinstance(Tout, (list, tuple)) else node.outputs[0]


def _types(Tout: Any) -> list[DType]:
    listed = Tout if isinstance(Tout, (list, tuple)) else [Tout]
    return [dtypes.as_dtype(dtype) for dtype in listed]


def _check_callable(func: Any) -> None:
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
