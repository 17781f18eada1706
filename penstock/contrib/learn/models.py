"""`tf.contrib.learn.models`: models of the first TensorFlow programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import penstock as tf
from penstock.contrib import rnn
from penstock.contrib.learn import old_losses

_CELLS: dict[str, Callable[..., Any]] = {
    "rnn": tf.nn.rnn_cell.BasicRNNCell,
    "gru": tf.nn.rnn_cell.GRUCell,
    "lstm": partial(tf.nn.rnn_cell.BasicLSTMCell, state_is_tuple=False),
}


def linear_regression_zero_init(x: Any, y: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """`linear_regression` that begins with zeros."""
    return linear_regression(x, y, init_mean=0.0, init_stddev=0.0)


def logistic_regression_zero_init(x: Any, y: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """`logistic_regression` that begins with zeros."""
    return logistic_regression(x, y, init_mean=0.0, init_stddev=0.0)


def _weights_and_bias(
    x: Any, y: Any, units: Any, init_mean: float | None, init_stddev: float
) -> tuple[Any, Any]:
    """The variables of a linear model, summarized with its data."""
    scope, dtype = tf.get_variable_scope().name, x.dtype.base_dtype
    tf.summary.histogram(f"{scope}.x", x)
    tf.summary.histogram(f"{scope}.y", y)
    initializer = None
    if init_mean is not None:
        initializer = tf.random_normal_initializer(init_mean, init_stddev, dtype=dtype)
    weights = tf.get_variable(
        "weights", [x.get_shape()[1], units], initializer=initializer, dtype=dtype
    )
    bias = tf.get_variable("bias", [units], initializer=initializer, dtype=dtype)
    tf.summary.histogram(f"{scope}.weights", weights)
    tf.summary.histogram(f"{scope}.bias", bias)
    return weights, bias


def linear_regression(
    x: Any, y: Any, init_mean: float | None = None, init_stddev: float = 1.0
) -> tuple[tf.Tensor, tf.Tensor]:
    """Predictions and loss of a linear model; weights begin with random numbers."""
    with tf.variable_scope("linear_regression"):
        units = 1 if len(y.get_shape()) == 1 else y.get_shape()[1]
        weights, bias = _weights_and_bias(x, y, units, init_mean, init_stddev)
        return old_losses.mean_squared_error_regressor(x, y, weights, bias)


def logistic_regression(
    x: Any,
    y: Any,
    class_weight: Any = None,
    init_mean: float | None = None,
    init_stddev: float = 1.0,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Probabilities and loss of a linear model of classes.

    Args:
      class_weight: factors of classes; a tensor `class_weight:0` of the graph if None.
    """
    with tf.variable_scope("logistic_regression"):
        units = y.get_shape()[-1]
        weights, bias = _weights_and_bias(x, y, units, init_mean, init_stddev)
        if class_weight is None:
            try:
                class_weight = tf.get_default_graph().get_tensor_by_name("class_weight:0")
            except KeyError:
                class_weight = None
        return old_losses.softmax_classifier(x, y, weights, bias, class_weight=class_weight)


def _reverse_seq(input_seq: Sequence[Any], lengths: Any) -> list[Any]:
    if lengths is None:
        return list(reversed(input_seq))
    return tf.unstack(tf.reverse_sequence(tf.stack(input_seq), lengths, 0, 1))


def bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: str | None = None,
) -> tuple[list[Any], tf.Tensor]:
    """Outputs and last states of two unrolled networks, side by side; states are tensors."""
    for name, cell in (("cell_fw", cell_fw), ("cell_bw", cell_bw)):
        if not isinstance(cell, tf.nn.rnn_cell.RNNCell):
            raise TypeError(f"{name} must be an instance of RNNCell")
    if not isinstance(inputs, list):
        raise TypeError("inputs must be a list")
    if not inputs:
        raise ValueError("inputs must not be empty")
    name = scope or "BiRNN"
    with tf.variable_scope(f"{name}_FW"):
        forward, state_fw = tf.nn.static_rnn(
            cell_fw, inputs, initial_state_fw, dtype, sequence_length
        )
    with tf.variable_scope(f"{name}_BW"):
        backward, state_bw = tf.nn.static_rnn(
            cell_bw, _reverse_seq(inputs, sequence_length), initial_state_bw, dtype, sequence_length
        )
    pairs = zip(forward, _reverse_seq(backward, sequence_length), strict=True)
    outputs = [tf.concat(pair, 1) for pair in pairs]
    return outputs, tf.concat([state_fw, state_bw], 1)


def get_rnn_model(
    rnn_size: int,
    cell_type: str,
    num_layers: int,
    input_op_fn: Callable[[Any], Any],
    bidirectional: bool,
    target_predictor_fn: Callable[[Any, Any], Any],
    sequence_length: Any,
    initial_state: Any,
    attn_length: int | None,
    attn_size: int | None,
    attn_vec_size: int | None,
) -> Callable[[Any, Any], Any]:
    """A function of inputs and labels: a recurrent network, and what is made of its last state.

    Args:
      cell_type: `rnn`, `gru` or `lstm`.
      input_op_fn: makes steps of inputs.
      target_predictor_fn: makes predictions and a loss of the state and the labels.
      attn_length: over how many last steps cells attend; None for none.
    """

    def cell() -> Any:
        if cell_type not in _CELLS:
            raise ValueError(f"cell_type {cell_type} is not supported. ")
        made = _CELLS[cell_type](rnn_size)
        if attn_length is None:
            return made
        return rnn.AttentionCellWrapper(
            made,
            attn_length=attn_length,
            attn_size=attn_size,
            attn_vec_size=attn_vec_size,
            state_is_tuple=False,
        )

    def stacked() -> Any:
        cells = [cell() for _ in range(num_layers)]
        return tf.nn.rnn_cell.MultiRNNCell(cells, state_is_tuple=False)

    def rnn_estimator(x: Any, y: Any) -> Any:
        steps = input_op_fn(x)
        if bidirectional:
            _, encoding = bidirectional_rnn(
                stacked(),
                stacked(),
                steps,
                dtype=tf.float32,
                sequence_length=sequence_length,
                initial_state_fw=initial_state,
                initial_state_bw=initial_state,
            )
        else:
            _, encoding = tf.nn.static_rnn(
                stacked(),
                steps,
                dtype=tf.float32,
                sequence_length=sequence_length,
                initial_state=initial_state,
            )
        return target_predictor_fn(encoding, y)

    return rnn_estimator
