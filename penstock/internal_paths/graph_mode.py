"""What code asks of `tensorflow.python.eager`: the mode of a thread, tapes, and devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from penstock.client.session_defaults import fix_settings
from penstock.eager.settings import (  # noqa: F401 - the names of `eager.context`
    ASYNC,
    DEVICE_PLACEMENT_EXPLICIT,
    DEVICE_PLACEMENT_SILENT,
    DEVICE_PLACEMENT_SILENT_FOR_INT32,
    DEVICE_PLACEMENT_WARN,
    SYNC,
)
from penstock.gradient_functions import (  # noqa: F401 - the names of `eager.backprop`
    gradients_function,
    implicit_grad,
    implicit_val_and_grad,
    make_vjp,
    val_and_grad_function,
)
from penstock.ir import defaults, tapes
from penstock.ir.defaults import executing_eagerly

GRAPH_MODE = 0
EAGER_MODE = 1

in_eager_mode = executing_eagerly


def in_graph_mode() -> bool:
    """Whether operations are added to a graph."""
    return not executing_eagerly()


def eager_mode() -> AbstractContextManager[Any]:
    """A block in which operations run at once."""
    from penstock.eager import context as modes

    return modes.eager_mode()


def graph_mode() -> AbstractContextManager[Any]:
    """A block in which operations are added to a graph: the innermost one that is open."""
    from penstock.eager import context as modes

    return modes.graph_mode()


def ensure_initialized() -> None:
    """Takes the settings of devices and threads as they are now."""
    if defaults.starts_eagerly():
        fix_settings()


def async_wait() -> None:
    """Nothing to wait for."""


def async_clear_error() -> None:
    """Nothing that could have failed in the background."""


def shared_name(name: Any = None) -> Any:
    """The name by which state is shared: in eager mode state belongs to its Python object."""
    return name if name or not executing_eagerly() else "cd2c89b7-88b7-44c8-ad83-06c2a9158347"


def global_seed() -> int | None:
    """The seed that `tf.set_random_seed` has set."""
    return defaults.get_default_graph().seed


def set_global_seed(seed: Any) -> None:
    defaults.get_default_graph().seed = seed


def internal_operation_seed() -> int:
    """A seed that follows from the global one, in eager mode."""
    return defaults.get_default_graph().drawn_seed()


def list_devices() -> list[str]:
    from penstock.contrib import eager

    return eager.list_devices()


# Tapes ----------------------------------------------------------------------------------------

stop_recording = tapes.stop_recording


def should_record(tensors: Sequence[Any]) -> bool:
    """Whether a tape would record an operation with these inputs."""
    return any(tape.knows(tensors) for tape in tapes.recording())


def could_possibly_record() -> bool:
    """Whether a tape records."""
    return bool(tapes.recording())


def record_operation(
    op_type: str, output_tensors: Any, input_tensors: Any, backward_function: Callable[..., Any]
) -> None:
    """Tells tapes of something that was computed, and how to differentiate it."""
    graph: Any = defaults.get_default_graph()
    graph.record_function(op_type, list(input_tensors), list(output_tensors), backward_function)


def variable_accessed(variable: Any) -> None:
    """Tells tapes that a variable is read."""
    if variable.trainable:
        tapes.variable_accessed(variable)
