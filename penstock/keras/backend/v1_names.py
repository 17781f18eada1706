"""Further names of `tensorflow.python.keras.backend`, which programs and tests use."""

from __future__ import annotations

import importlib
from typing import Any

import penstock as tf
from penstock.distribute.values import current_device
from penstock.keras.backend.neural import _padding
from penstock.keras.backend.session import Function, _state, get_session, learning_phase_scope

eager_learning_phase_scope = learning_phase_scope
py_all, py_any, py_sum = all, any, sum
_preprocess_padding = _padding
GraphExecutionFunction = Function

#: TensorFlow's modules that Keras' backend has under names of its own.
_MODULES = {"dtypes_module": "framework.dtypes", "variables_module": "ops.variables"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(name)
    return importlib.import_module(f"penstock.python.{_MODULES[name]}")


def _get_current_tf_device() -> tf.DeviceSpec:
    """What `with tf.device` blocks say here."""
    return tf.DeviceSpec.from_string(current_device())


def _is_current_explicit_device(device_type: str) -> bool:
    """Whether a block says that nodes made here are on a device of this type."""
    wanted = device_type.upper()
    if wanted not in ("CPU", "GPU"):
        raise ValueError('`device_type` should be either "CPU" or "GPU".')
    return _get_current_tf_device().device_type == wanted


def _get_available_gpus() -> list[str]:
    """The names of the GPUs of Keras' session."""
    return [each.name for each in get_session().list_devices() if each.device_type == "GPU"]


def _has_nchw_support() -> bool:
    return not _is_current_explicit_device("CPU") and bool(_get_available_gpus())


def _get_variables(graph: Any = None) -> list[Any]:
    """The variables of a graph that Keras has still to initialize."""
    return list(_state.variables.get(graph, ()))


def _constant_to_tensor(x: Any, dtype: Any) -> tf.Tensor:
    return tf.constant(x, dtype=dtype)


def _to_tensor(x: Any, dtype: Any) -> Any:
    return tf.convert_to_tensor(x, dtype=dtype)


def is_tpu_strategy(strategy: Any) -> bool:
    """Whether a strategy is one of TPUs."""
    return strategy is not None and type(strategy).__name__.startswith("TPUStrategy")
