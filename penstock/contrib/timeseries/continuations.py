"""Times that go on where a model's earlier results end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import penstock as tf
from penstock.contrib.timeseries.feature_keys import FilteringResults


def fully_connected(
    inp: Any,
    inp_size: int,
    layer_size: int,
    name: str,
    activation: Callable[[Any], Any] | None = tf.nn.relu,
    dtype: Any = tf.float32,
) -> tf.Tensor:
    """A dense layer of variables `<name>_weight` and `<name>_bias`."""
    weights = tf.get_variable(name=f"{name}_weight", shape=[inp_size, layer_size], dtype=dtype)
    bias = tf.get_variable(
        name=f"{name}_bias", shape=[layer_size], initializer=tf.zeros_initializer()
    )
    output = tf.nn.xw_plus_b(inp, weights, bias)
    return output if activation is None else activation(output)


def parameter_switch(parameter_overrides: Mapping[Any, Any]) -> Callable[[Any], Any]:
    """A function that gives the value of a parameter: the one that was given, or its own."""

    def value(parameter: Any) -> Any:
        return tf.convert_to_tensor(parameter_overrides.get(parameter, parameter)).eval()

    return value


def canonicalize_times_or_steps_from_output(
    times: Any, steps: int | None, previous_model_output: Mapping[str, Any]
) -> Any:
    """The times to predict for, a row for each series: those given, or the next `steps`."""
    if steps is not None and times is not None:
        raise ValueError("Only one of `steps` and `times` may be specified.")
    if steps is None and times is None:
        raise ValueError("One of `steps` and `times` must be specified.")
    known = previous_model_output[FilteringResults.TIMES]
    if steps is not None:
        return known[:, -1:] + 1 + np.arange(steps)[None, ...]
    times = np.array(times)
    if len(times.shape) != 2:
        times = times[None, ...]
    if known.shape[0] != times.shape[0]:
        raise ValueError(
            "`times` must have a batch dimension matching the previous model output (got a batch "
            f"dimension of {times.shape[0]} for `times` and {known.shape[0]} for the previous "
            "model output)."
        )
    if not (known[:, -1] < times[:, 0]).all():
        raise ValueError("Prediction times must be after the corresponding previous model output.")
    return times
