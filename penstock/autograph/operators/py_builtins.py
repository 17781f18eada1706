"""Python's built-in functions, of Python values or of tensors."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FrameType
from typing import Any

import penstock as tf
from penstock.autograph.operators.python_calls import wrap_py_func
from penstock.autograph.operators.tensor_kinds import is_tensor, is_tensor_array, is_tensor_list
from penstock.data.dataset import DatasetV2
from penstock.ops.tensor_lists import TensorListLength

UNSPECIFIED = object()


def overload_of(f: Callable[..., Any]) -> Callable[..., Any]:
    """What takes the place of a built-in function in converted code."""
    return _OVERLOADS.get(f, f)


def abs_(x: Any) -> Any:
    """`abs(x)`."""
    return tf.abs(x) if is_tensor(x) else abs(x)


def float_(x: Any = 0) -> Any:
    """`float(x)`; of a tensor, one of float32."""
    if not is_tensor(x):
        return float(x)
    if x.dtype == tf.string:
        return tf.string_to_number(x, out_type=tf.float32)
    return tf.cast(x, dtype=tf.float32)


def int_(x: Any = 0, base: Any = UNSPECIFIED) -> Any:
    """`int(x, base)`; of a tensor, one of int32."""
    if not is_tensor(x):
        return int(x) if base is UNSPECIFIED else int(x, base)
    if base not in (10, UNSPECIFIED):
        raise NotImplementedError(f"base {base} not supported for int")
    if x.dtype == tf.string:
        return tf.string_to_number(x, out_type=tf.int32)
    return tf.cast(x, dtype=tf.int32)


def len_(s: Any) -> Any:
    """`len(s)`; of a tensor, its first dimension, as a number where that is known."""
    if is_tensor_array(s):
        return s.size()
    if is_tensor_list(s):
        return TensorListLength(s)
    return _tensor_length(s) if is_tensor(s) else len(s)


def _tensor_length(tensor: Any) -> Any:
    rank = tensor.shape.ndims
    if rank and tensor.shape.dims[0].value is not None:
        return tensor.shape.dims[0].value
    if rank == 0:
        raise ValueError(f"len requires a non-scalar tensor, got one of shape {tensor.shape}")
    if rank is not None:
        return tf.shape(tensor)[0]
    found = tf.rank(tensor)

    def refused() -> Any:
        message = tf.string_join(["len requires non-zero rank, got ", tf.as_string(found)])
        with tf.control_dependencies([tf.Assert(False, [message])]):
            return tf.constant(0, dtype=tf.int32)

    return tf.cond(found > 0, lambda: tf.shape(tensor)[0], refused)


def print_(*objects: Any, **kwargs: Any) -> Any:
    """`print(*objects)`; tensors are printed when the step runs."""
    unknown = tuple(set(kwargs) - {"sep", "end", "file", "flush"})
    if unknown:
        raise ValueError(f"invalid keyword arguments: {unknown}")
    if not any(is_tensor(each) for each in objects):
        print(*objects, **kwargs)  # noqa: T201
        return None
    options = {"flush": True} | {k: v for k, v in kwargs.items() if v is not UNSPECIFIED}

    def print_values(*values: Any) -> None:
        shown = [each.numpy() if hasattr(each, "numpy") else each for each in values]
        text = [each.decode() if isinstance(each, bytes) else each for each in shown]
        print(*text, **options)  # noqa: T201

    return wrap_py_func(print_values, None, objects, use_dummy_return=True)


def range_(start_or_stop: Any, stop: Any = UNSPECIFIED, step: Any = UNSPECIFIED) -> Any:
    """`range(...)`; with a tensor, `tf.range`, which is empty where Python's is."""
    given = [each for each in (start_or_stop, stop, step) if each is not UNSPECIFIED]
    if not any(is_tensor(each) for each in given):
        return range(*given)
    if len(given) == 3:
        return tf.range(*given)
    if len(given) == 2:
        return tf.range(start_or_stop, tf.maximum(start_or_stop, stop))
    return tf.range(tf.maximum(start_or_stop, 0))


def enumerate_(s: Any, start: Any = 0) -> Any:
    """`enumerate(s, start)`; of a dataset, a dataset."""
    return s.enumerate(start) if isinstance(s, DatasetV2) else enumerate(s, start)


def zip_(*iterables: Any, **kwargs: Any) -> Any:
    """`zip(*iterables)`; of datasets, a dataset."""
    if iterables and all(isinstance(each, DatasetV2) for each in iterables):
        return type(iterables[0]).zip(tuple(iterables))
    return zip(*iterables, **kwargs)  # noqa: B905


_OVERLOADS: dict[Any, Callable[..., Any]] = {
    abs: abs_,
    float: float_,
    int: int_,
    len: len_,
    print: print_,
    range: range_,
    enumerate: enumerate_,
    zip: zip_,
}

SUPPORTED_BUILTINS = tuple(_OVERLOADS)


def _frames_of(scope: Any) -> list[FrameType]:
    """The frames of a converted function and of its blocks, which are functions inside of it, from
    the innermost; its scope is a variable of each that uses it."""
    found = []
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_locals.get(scope.name) is scope:
            found.append(frame)
        frame = frame.f_back
    assert found, "the scope of a converted function is in one of the frames"
    return found


def eval_in_original_context(f: Any, args: Any, caller_fn_scope: Any) -> Any:
    """`eval(*args)` as if it were called where the converted function calls it."""
    namespace = _frames_of(caller_fn_scope)[0].f_globals
    return f(*args, *(namespace, locals_in_original_context(caller_fn_scope))[len(args) - 1 :])


def locals_in_original_context(caller_fn_scope: Any) -> dict[str, Any]:
    """`locals()` as if it were called where the converted function calls it."""
    frames = reversed(_frames_of(caller_fn_scope))
    return {name: value for frame in frames for name, value in frame.f_locals.items()}


def super_in_original_context(f: Any, args: Any, caller_fn_scope: Any) -> Any:
    """`super(*args)` as if it were called where the converted function calls it."""
    if args:
        return f(*args)
    frame = _frames_of(caller_fn_scope)[-1]
    return f(frame.f_locals["__class__"], frame.f_locals[frame.f_code.co_varnames[0]])
