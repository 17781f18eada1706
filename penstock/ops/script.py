"""Python functions as nodes: `tf.py_func`, `tf.numpy_function`, `tf.py_function`."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from penstock import dtypes
from penstock.ir.apply import make_op
from penstock.ir.defaults import get_default_graph
from penstock.ir.registry import STATEFUL, OpSpec, not_differentiable, op
from penstock.ir.signature import attr

__all__ = ["numpy_function", "py_func", "py_function"]

PyFunc = op(
    "PyFunc(input: *Tin) -> output: *Tout",
    STATEFUL,
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
    token=attr("string"),
    is_async=False,
    Tin=attr("list(type)", minimum=0),
    Tout=attr("list(type)", minimum=0),
)
not_differentiable(PyFunc, PyFuncStateless)
not_differentiable(EagerPyFunc)


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


class _Holder:
    __slots__ = ("__weakref__", "function")

    def __init__(self, function: Callable[..., Any]):
        self.function = function


host_functions = HostFunctions()


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
    return _node(PyFunc if stateful else PyFuncStateless, func, inp, Tout, name)


def numpy_function(
    func: Callable[..., Any], inp: Sequence[Any], Tout: Any, name: str | None = None
) -> Any:
    """`tf.py_func` by its later name."""
    return py_func(func, inp, Tout, stateful=True, name=name)


def py_function(
    func: Callable[..., Any], inp: Sequence[Any], Tout: Any, name: str | None = None
) -> Any:
    """As `tf.py_func`, for functions that ask their arguments for `.numpy()`."""
    return _node(EagerPyFunc, func, inp, Tout, name)


def _node(
    spec: OpSpec, func: Callable[..., Any], inp: Sequence[Any], Tout: Any, name: str | None
) -> Any:
    if not callable(func):
        raise ValueError(f"Expected func to be callable. Received func={func!r} of {type(func)}")
    is_list = isinstance(Tout, (list, tuple))
    types = [dtypes.as_dtype(dtype) for dtype in (Tout if is_list else [Tout])]
    attrs = {"token": host_functions.add(func), "Tout": types}
    node = make_op(spec, [list(inp)], attrs, name)
    if not types:
        return node
    return list(node.outputs) if is_list else node.outputs[0]
