"""What `tensorflow.python.ops.script_ops` has besides the public API."""

from __future__ import annotations

from penstock.ops.script import HostFunctions as FuncRegistry
from penstock.ops.script import host_functions as _py_funcs
from penstock.ops.script import py_function as eager_py_func

__all__ = ["FuncRegistry", "_py_funcs", "eager_py_func"]
