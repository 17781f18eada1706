"""The switches between TensorFlow's ways to run a program: Penstock builds graphs and runs them.

What TensorFlow 1.x does by default can be asked for at any time; of what came after, the nodes of
functional control flow can be, and the rest is an error.
"""

from __future__ import annotations

from typing import Any, NoReturn

from penstock import absent
from penstock.ir import defaults
from penstock.ops.control import init_scope
from penstock.ops.flow_modes import (
    control_flow_v2_enabled,
    disable_control_flow_v2,
    enable_control_flow_v2,
)
from penstock.ops.variable_creation import disable_resource_variables
from penstock.proto import ConfigProto

__all__ = [
    "control_flow_v2_enabled",
    "disable_control_flow_v2",
    "disable_eager_execution",
    "disable_tensor_equality",
    "disable_v2_behavior",
    "disable_v2_tensorshape",
    "enable_control_flow_v2",
    "enable_eager_execution",
    "enable_tensor_equality",
    "enable_v2_behavior",
    "enable_v2_tensorshape",
    "executing_eagerly",
    "executing_eagerly_outside_functions",
]


def _refuse(symbol: str) -> NoReturn:
    absent.met.add(symbol)
    raise RuntimeError(
        f"{symbol}: Penstock follows TensorFlow 1.x. tf.enable_eager_execution() runs operations "
        "as they are called, tf.enable_resource_variables() and tf.enable_control_flow_v2() give "
        "these parts of version 2."
    )


def executing_eagerly() -> bool:
    """Whether operations run as they are called, and not in a session."""
    return defaults.executing_eagerly()


def executing_eagerly_outside_functions() -> bool:
    """Whether operations would run at once outside of the function that is being traced."""
    with init_scope():
        return defaults.executing_eagerly()


def enable_eager_execution(
    config: Any = None, device_policy: Any = None, execution_mode: Any = None
) -> None:
    """Lets operations run as they are called, for the rest of the program.

    It comes first in a program: a graph that has nodes already can't be left.
    """
    if config is not None and not isinstance(config, ConfigProto):
        raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
    if device_policy not in (None, *range(4)):
        raise ValueError("device_policy must be one of None, tf.contrib.eager.DEVICE_PLACEMENT_*")
    if execution_mode not in (None, 0, 1):
        raise ValueError(
            "execution_mode must be one of None, tf.contrib.eager.SYNC, tf.contrib.eager.ASYNC"
        )
    from penstock.eager import context

    context.enable()


def disable_eager_execution() -> None:
    """Lets operations be nodes of graphs again, for the rest of the program."""
    defaults.run_eagerly_from_start(None)


def enable_v2_behavior() -> NoReturn:
    """RuntimeError: Penstock follows TensorFlow 1.x."""
    _refuse("tf.enable_v2_behavior")


def disable_v2_behavior() -> None:
    """Goes back to variables by reference and to the primitives of control flow."""
    disable_resource_variables()
    disable_control_flow_v2()


def enable_v2_tensorshape() -> NoReturn:
    """RuntimeError: the dimensions of a shape are `tf.Dimension` objects."""
    _refuse("tf.enable_v2_tensorshape")


def disable_v2_tensorshape() -> None:
    """Nothing to do: the dimensions of a shape are `tf.Dimension` objects."""


def enable_tensor_equality() -> NoReturn:
    """RuntimeError: `==` compares which tensors they are, not their values."""
    _refuse("tf.enable_tensor_equality")


def disable_tensor_equality() -> None:
    """Nothing to do: `==` compares which tensors they are, not their values."""
