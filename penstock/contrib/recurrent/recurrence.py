"""A function applied again and again along time, with a gradient that runs back along it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.recurrent.histories import loop_with_history, rows_at
from penstock.shapes import dimension_value

flatten, pack = tf.nest.flatten, tf.nest.pack_sequence_as


def _zeros_for_none(likes: Any, gradients: Any) -> list[tf.Tensor]:
    return [
        tf.zeros_like(like) if gradient is None else tf.convert_to_tensor(gradient)
        for like, gradient in zip(flatten(likes), flatten(gradients), strict=True)
    ]


def _derived_gradient(cell_fn: Callable[..., Any]) -> Callable[..., Any]:
    def cell_grad(theta: Any, state0: Any, inputs: Any, extras: Any, dstate1: Any) -> Any:
        # Copies inside the loop's body, so that paths to what is outside of it end there.
        arguments = tf.nest.map_structure(tf.identity, [theta, state0, inputs])
        state1, _ = cell_fn(*arguments)
        gradients = tf.gradients(flatten(state1), flatten(arguments), flatten(dstate1))
        return pack(arguments, _zeros_for_none(arguments, gradients))

    return cell_grad


def _is_single_step(inputs: Any, max_input_length: Any) -> bool:
    if not isinstance(max_input_length, tf.Tensor):
        return bool(max_input_length == 1)
    return all(
        each.shape.dims is not None and dimension_value(each.shape[0]) == 1
        for each in flatten(inputs)
    )


class _Recurrence:
    """The loop and its gradient's, on lists of tensors."""

    def __init__(
        self,
        cell_fn: Callable[..., Any],
        cell_grad: Callable[..., Any],
        structures: tuple[Any, Any, Any, Any],
        max_input_length: Any,
        aligned_end: bool,
    ):
        self._cell_fn = cell_fn
        self._cell_grad = cell_grad
        self._theta, self._state, self._inputs, self._extras = structures
        self._length = tf.shape(flatten(self._inputs)[0])[0]
        steps = self._length if max_input_length is None else max_input_length
        steps = tf.cast(steps, tf.int32)
        self._first = self._length - steps if aligned_end else tf.constant(0)
        self._end = self._length if aligned_end else steps

    def compute(self) -> tuple[Any, Any]:
        """The states after each step, and after the last."""
        parts = [self._theta, self._state, self._inputs]
        count = len(flatten(self._state))

        @tf.custom_gradient
        def run(*flat: tf.Tensor) -> Any:
            theta, state0, inputs = pack(parts, flat)
            final, states, extras = self._forward(theta, state0, inputs)

            def gradient(*upstream: tf.Tensor) -> list[tf.Tensor]:
                later = (list(upstream[:count]), list(upstream[count:]))
                return self._backward(theta, state0, inputs, states, extras, later)

            return [*states, *final], gradient

        made = run(*flatten(parts))
        return pack(self._state, made[:count]), pack(self._state, made[count:])

    def _forward(self, theta: Any, state0: Any, inputs: Any) -> tuple[list[Any], ...]:
        def step(time: tf.Tensor, state: list[Any]) -> tuple[list[Any], list[Any]]:
            made, extras = self._cell_fn(theta, pack(self._state, state), rows_at(inputs, time))
            flat = flatten(made)
            return flat, flat + flatten(extras)

        start = flatten(state0)
        kept = start + flatten(self._extras)
        final, histories = loop_with_history(
            step, start, kept, self._first, self._end, self._length
        )
        return final, histories[: len(start)], histories[len(start) :]

    def _backward(
        self,
        theta: Any,
        state0: Any,
        inputs: Any,
        states: list[Any],
        extras: list[Any],
        upstream: tuple[list[Any], list[Any]],
    ) -> list[Any]:
        by_states, by_final = upstream
        weights, start, fed = flatten(theta), flatten(state0), flatten(inputs)

        def step(time: tf.Tensor, carried: list[Any]) -> tuple[list[Any], list[Any]]:
            by_theta, by_state = carried[: len(weights)], carried[len(weights) :]
            by_state = [a + b for a, b in zip(rows_at(by_states, time), by_state, strict=True)]
            earlier = rows_at(states, tf.maximum(time - 1, 0))
            before = tf.cond(tf.equal(time, self._first), lambda: start, lambda: earlier)
            arguments = [theta, pack(self._state, flatten(before)), rows_at(inputs, time)]
            kept = pack(self._extras, rows_at(extras, time))
            made = self._cell_grad(*arguments, kept, pack(self._state, by_state))
            found = _zeros_for_none(arguments, list(made))
            by_theta = [a + b for a, b in zip(by_theta, found[: len(weights)], strict=True)]
            by_state = found[len(weights) : len(weights) + len(start)]
            return by_theta + by_state, found[len(weights) + len(start) :]

        carried = [tf.zeros_like(each) for each in weights] + by_final
        likes = flatten(rows_at(inputs, 0))
        final, by_inputs = loop_with_history(
            step, carried, likes, self._first, self._end, self._length, backward=True
        )
        for gradient, each in zip(by_inputs, fed, strict=True):
            gradient.set_shape(each.shape)
        return final + by_inputs


def Recurrent(
    theta: Any,
    state0: Any,
    inputs: Any,
    cell_fn: Callable[..., Any],
    cell_grad: Callable[..., Any] | None = None,
    extras: Any = None,
    max_input_length: Any = None,
    use_tpu: bool = False,
    aligned_end: bool = False,
) -> tuple[Any, Any]:
    """Applies `state, extras = cell_fn(theta, state, inputs[t])` to all times t.

    Args:
      theta: what is the same at all times.
      inputs: tensors whose first dimension is time.
      cell_grad: `dtheta, dstate0, dinputs = cell_grad(theta, state0, inputs, extras, dstate1)`;
        if None, it is derived from `cell_fn`.
      extras: tensors like those that `cell_fn` gives for `cell_grad`.
      max_input_length: how many steps are made.
      aligned_end: whether these are the last ones.

    Returns:
      The states after each step (zeros where none was made), and the one after the last.
    """
    theta, state0, inputs = (
        tf.nest.map_structure(tf.convert_to_tensor, each) for each in (theta, state0, inputs)
    )
    if cell_grad is None and _is_single_step(inputs, max_input_length):
        only = tf.nest.map_structure(lambda rows: tf.squeeze(rows, axis=0), inputs)
        state1, _ = cell_fn(theta, state0, only)
        return tf.nest.map_structure(lambda row: tf.expand_dims(row, axis=0), state1), state1
    if extras is None:
        _, extras = cell_fn(theta, state0, rows_at(inputs, 0))
    cell_grad = cell_grad or _derived_gradient(cell_fn)
    structures = (theta, state0, inputs, extras)
    return _Recurrence(cell_fn, cell_grad, structures, max_input_length, aligned_end).compute()
