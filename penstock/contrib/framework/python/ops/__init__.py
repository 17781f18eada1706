"""Functions of `tf.contrib.framework`; here `arg_scope` is the function, not the module."""

from penstock.contrib import lazy_paths
from penstock.contrib.framework.graph_parts import get_graph_from_inputs
from penstock.contrib.framework.python.ops.arg_scope import *
from penstock.contrib.framework.python.ops.variables import *
from penstock.contrib.framework.python_calls import py_func
from penstock.contrib.framework.remapped_checkpoints import *
from penstock.internal_paths.framework_ops import get_name_scope
from penstock.ops.sorting import argsort, sort

__getattr__ = lazy_paths.resolver(
    __name__,
    {
        "checkpoint_ops": "contrib.framework.remapped_checkpoints",
        "ops": "contrib.framework.python.ops.ops",
        "script_ops": "contrib.framework.python_calls",
        "sort_ops": "ops.sorting",
    },
)
