"""What `tensorflow.python.ops.script_ops` has besides the public API."""

from __future__ import annotations

from typing import Any

from penstock.ops.script import HostFunctions as FuncRegistry
from penstock.ops.script import host_functions as _py_funcs
from penstock.ops.script import py_func
from penstock.ops.script import py_function as eager_py_func

__all__ = ["FuncRegistry", "_py_funcs", "eager_py_func", "py_func_common"]


def py_func_common(
    func: Any, inp: Any, Tout: Any, stateful: bool = True, name: str | None = None
) -> Any:
    """`tf.py_func` by the name of what its versions share."""
    return py_func(func, inp, Tout, stateful, name)
