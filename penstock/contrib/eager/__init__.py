"""`tf.contrib.eager`: those of its names that mean something in a graph.

What runs operations as they are called raises a RuntimeError that says what to do instead.
"""

from __future__ import annotations

from typing import Any, NoReturn

import penstock as tf
from penstock import absent
from penstock.contrib.eager import metrics
from penstock.execution_modes import enable_eager_execution, executing_eagerly
from penstock.ops.resource_variable import ResourceVariable as Variable
from penstock.platform.app import run
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
    "Iterator",
    "Saver",
    "TensorSpec",
    "Variable",
    "custom_gradient",
    "defun",
    "enable_eager_execution",
    "executing_eagerly",
    "function",
    "get_optimizer_variables",
    "gradients_function",
    "implicit_gradients",
    "implicit_value_and_gradients",
    "in_eager_mode",
    "list_devices",
    "make_template",
    "metrics",
    "num_gpus",
    "py_func",
    "run",
    "run_all_tests_in_graph_and_eager_modes",
    "run_test_in_graph_and_eager_modes",
    "value_and_gradients_function",
]

SYNC, ASYNC = 0, 1
DEVICE_PLACEMENT_EXPLICIT, DEVICE_PLACEMENT_WARN, DEVICE_PLACEMENT_SILENT = 0, 1, 2

TensorSpec = tf.TensorSpec
custom_gradient = tf.custom_gradient
defun = function = tf.function
in_eager_mode = executing_eagerly
make_template = tf.make_template
py_func = tf.py_function


def list_devices() -> list[str]:
    """The names of this machine's devices."""
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


def _refuse(name: str, instead: str) -> NoReturn:
    symbol = f"tf.contrib.eager.{name}"
    absent.met.add(symbol)
    raise RuntimeError(f"{symbol}: Penstock runs graphs. {instead}")


class Iterator:
    """RuntimeError: a dataset's elements are tensors of a graph."""

    def __init__(self, dataset: Any):
        _refuse("Iterator", "Use dataset.make_one_shot_iterator().get_next().")


def implicit_gradients(f: Any) -> NoReturn:
    """RuntimeError: gradients of a function with respect to the variables that it reads."""
    _refuse("implicit_gradients", "Use optimizer.compute_gradients(loss).")


def implicit_value_and_gradients(f: Any) -> NoReturn:
    """RuntimeError: value and gradients of a function, by the variables that it reads."""
    _refuse("implicit_value_and_gradients", "Use optimizer.compute_gradients(loss).")


def gradients_function(f: Any, params: Any = None) -> NoReturn:
    """RuntimeError: gradients of a function by its arguments."""
    _refuse("gradients_function", "Use tf.gradients(f(x), x).")


def value_and_gradients_function(f: Any, params: Any = None) -> NoReturn:
    """RuntimeError: value and gradients of a function by its arguments."""
    _refuse("value_and_gradients_function", "Use tf.gradients(f(x), x).")
