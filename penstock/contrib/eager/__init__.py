"""`tf.contrib.eager`: what came with eager execution, in the names of its first years."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.eager import metrics
from penstock.contrib.eager.network import (
    Network,
    Sequential,
    restore_network_checkpoint,
    save_network_checkpoint,
)
from penstock.contrib.eager.restoring import restore_variables_on_create
from penstock.data.eager_iterator import EagerIterator as Iterator
from penstock.eager.callbacks import (
    ExecutionCallback,
    add_execution_callback,
    clear_execution_callbacks,
    errstate,
    inf_callback,
    inf_nan_callback,
    nan_callback,
    seterr,
)
from penstock.execution_modes import enable_eager_execution, executing_eagerly
from penstock.gradient_functions import (
    gradients_function,
    implicit_grad,
    implicit_val_and_grad,
    val_and_grad_function,
)
from penstock.internal_paths.eager_context import execution_mode, set_execution_mode
from penstock.internal_paths.framework_ops import eager_run as run
from penstock.internal_paths.framework_ops import (
    enable_eager_execution_internal as enable_remote_eager_execution,
)
from penstock.internal_paths.graph_mode import async_clear_error, async_wait
from penstock.ops.eager_variable_store import EagerVariableStore
from penstock.ops.graph_functions import defun
from penstock.ops.resource_variable import ResourceVariable as Variable
from penstock.testing.decorators import (
    run_all_in_graph_and_eager_modes as run_all_tests_in_graph_and_eager_modes,
)
from penstock.testing.decorators import (
    run_in_graph_and_eager_modes as run_test_in_graph_and_eager_modes,
)
from penstock.train.tracking import AutoTrackable as Checkpointable
from penstock.train.tracking.checkpoint import Checkpoint

__all__ = [
    "ASYNC",
    "DEVICE_PLACEMENT_EXPLICIT",
    "DEVICE_PLACEMENT_SILENT",
    "DEVICE_PLACEMENT_WARN",
    "SYNC",
    "Checkpoint",
    "Checkpointable",
    "EagerVariableStore",
    "ExecutionCallback",
    "GradientTape",
    "Iterator",
    "Network",
    "Saver",
    "Sequential",
    "TensorSpec",
    "Variable",
    "add_execution_callback",
    "async_clear_error",
    "async_wait",
    "clear_execution_callbacks",
    "custom_gradient",
    "defun",
    "enable_eager_execution",
    "enable_remote_eager_execution",
    "errstate",
    "executing_eagerly",
    "execution_mode",
    "function",
    "get_optimizer_variables",
    "gradients_function",
    "implicit_gradients",
    "implicit_value_and_gradients",
    "in_eager_mode",
    "inf_callback",
    "inf_nan_callback",
    "list_devices",
    "make_template",
    "metrics",
    "nan_callback",
    "num_gpus",
    "py_func",
    "restore_network_checkpoint",
    "restore_variables_on_create",
    "run",
    "run_all_tests_in_graph_and_eager_modes",
    "run_test_in_graph_and_eager_modes",
    "save_network_checkpoint",
    "set_execution_mode",
    "seterr",
    "value_and_gradients_function",
]

SYNC, ASYNC = 0, 1
DEVICE_PLACEMENT_EXPLICIT, DEVICE_PLACEMENT_WARN, DEVICE_PLACEMENT_SILENT = 0, 1, 2

TensorSpec = tf.TensorSpec
custom_gradient = tf.custom_gradient
function = tf.function
implicit_gradients = implicit_grad
implicit_value_and_gradients = implicit_val_and_grad
in_eager_mode = executing_eagerly
value_and_gradients_function = val_and_grad_function
GradientTape = tf.GradientTape
make_template = tf.make_template
py_func = tf.py_function


def list_devices() -> list[str]:
    """The names of this machine's devices."""
    if executing_eagerly():
        graph: Any = tf.get_default_graph()
        return list(graph.runtime.device_names)
    from penstock.client.device_lib import list_local_devices

    return [device.name for device in list_local_devices()]


def num_gpus() -> int:
    """How many GPUs this machine has."""
    return sum("GPU" in name for name in list_devices())


def get_optimizer_variables(optimizer: Any) -> list[Any]:
    """The variables of an optimizer: its slots and what it keeps beside them."""
    return list(optimizer.variables())


class Saver:
    """Saves and restores variables; a session is the default one.

    Args:
      var_list: the variables, or a dictionary of them by the names in the checkpoint.
    """

    def __init__(self, var_list: Any):
        self._saver = tf.train.Saver(var_list)

    def save(self, file_prefix: str, global_step: Any = None) -> str:
        """Writes a checkpoint; its path."""
        session = tf.get_default_session()
        return str(
            self._saver.save(session, file_prefix, write_meta_graph=False, global_step=global_step)
        )

    def restore(self, file_prefix: str) -> None:
        """Reads a checkpoint."""
        self._saver.restore(tf.get_default_session(), file_prefix)
