"""The switches between TensorFlow's ways to run a program: those of 1.x, and of version 2."""

from __future__ import annotations

from typing import Any

from penstock.ir import defaults
from penstock.ops.control import init_scope
from penstock.ops.flow_modes import (
    control_flow_v2_enabled,
    disable_control_flow_v2,
    enable_control_flow_v2,
)
from penstock.ops.tensor_equality import disable_tensor_equality, enable_tensor_equality
from penstock.ops.variable_creation import disable_resource_variables, enable_resource_variables
from penstock.platform import tf2
from penstock.proto import ConfigProto
from penstock.shapes import disable_v2_tensorshape, enable_v2_tensorshape

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

    context.enable(config, device_policy, execution_mode)


def disable_eager_execution() -> None:
    """Lets operations be nodes of graphs again, for the rest of the program."""
    defaults.run_eagerly_from_start(None)


def enable_v2_behavior() -> None:
    """Switches on what TensorFlow 2 does by default, for the rest of the program.

    Operations run as they are called, entries of shapes are numbers, variables are resources, `==`
    compares tensors by value, and conditionals and loops in functions are single nodes.
    """
    enable_eager_execution()
    tf2.enable()
    enable_v2_tensorshape()
    enable_resource_variables()
    enable_tensor_equality()
    enable_control_flow_v2()


def disable_v2_behavior() -> None:
    """Goes back to what TensorFlow 1.x does by default."""
    disable_eager_execution()
    tf2.disable()
    disable_v2_tensorshape()
    disable_resource_variables()
    disable_tensor_equality()
    disable_control_flow_v2()
