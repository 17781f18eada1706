"""Running a step function along the time axis of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf

__all__ = ["rnn"]

Step = Callable[[Any, Any], tuple[Any, Any]]


def rnn(
    step_function: Step,
    inputs: Any,
    initial_states: Any,
    go_backwards: bool = False,
    mask: Any = None,
    constants: Any = None,
    unroll: bool = False,
    input_length: Any = None,
    time_major: bool = False,
    zero_output_for_mask: bool = False,
) -> tuple[Any, Any, Any]:
    """Runs a step function over time: the last output, all outputs, and the last states.

    Args:
      step_function: of a step's inputs and the list of states and constants; it returns the step's
        output and the new states.
      inputs: (structure of) tensors with axes batch, time, ….
      mask: which steps count, (batch, time); at others the states and the output stay.
      unroll: makes nodes for each step instead of a loop.
      time_major: whether the time axis comes first, in inputs and outputs.
      zero_output_for_mask: makes outputs zero where steps don't count.
    """
    if not time_major:
        inputs = tf.nest.map_structure(_swap_batch_and_time, inputs)
    flat_inputs = tf.nest.flatten(inputs)
    if mask is not None:
        mask = _prepared_mask(mask, time_major)
    run = _Run(
        step_function,
        inputs,
        mask,
        tuple(constants or ()),
        go_backwards=go_backwards,
        zero_output=zero_output_for_mask,
    )
    steps, batch = flat_inputs[0].shape.as_list()[:2]
    if unroll:
        if not steps:
            raise ValueError("Unrolling requires a fixed number of timesteps.")
        last_output, outputs, states = run.unrolled(tuple(initial_states), steps)
    else:
        last_output, outputs, states = run.looped(tuple(initial_states), input_length)

    def finish(output: Any) -> Any:
        output.set_shape([steps, batch, *output.shape.as_list()[2:]])
        return output if time_major else _swap_batch_and_time(output)

    return last_output, tf.nest.map_structure(finish, outputs), states


def _swap_batch_and_time(tensor: Any) -> Any:
    return tf.transpose(tensor, [1, 0, *range(2, tensor.shape.ndims)])


def _prepared_mask(mask: Any, time_major: bool) -> Any:
    if mask.dtype.base_dtype != tf.bool:
        mask = tf.cast(mask, tf.bool)
    if mask.shape.ndims == 2:
        mask = tf.expand_dims(mask, -1)
    return mask if time_major else _swap_batch_and_time(mask)


def _chosen(mask: Any, value: Any, other: Any, fixed: int = 1) -> Any:
    """`value` where the mask is true, else `other`; the mask has the first axes alone."""
    for _ in range(value.shape.ndims - mask.shape.ndims):
        mask = tf.expand_dims(mask, -1)
    repeats = [1] * fixed + value.shape.as_list()[fixed:]
    return tf.where(tf.tile(mask, repeats), value, other)


class _Run:
    """One recurrence: inputs are time major."""

    def __init__(
        self,
        step_function: Step,
        inputs: Any,
        mask: Any,
        constants: tuple[Any, ...],
        go_backwards: bool,
        zero_output: bool,
    ):
        self.step_function = step_function
        self.inputs = inputs
        self.flat_inputs = tf.nest.flatten(inputs)
        self.mask = mask
        self.constants = constants
        self.go_backwards = go_backwards
        self.zero_output = zero_output

    def _step(self, values: list[Any], states: Any) -> tuple[Any, Any]:
        packed = tf.nest.pack_sequence_as(self.inputs, values)
        return self.step_function(packed, tuple(states) + self.constants)

    # One set of nodes per step ------------------------------------------------------------------

    def unrolled(self, states: Any, steps: int) -> tuple[Any, Any, Any]:
        per_input = [self._in_order(tf.unstack(tensor)) for tensor in self.flat_inputs]
        masks = None if self.mask is None else self._in_order(tf.unstack(self.mask))
        outputs: list[Any] = []
        for index in range(steps):
            output, new_states = self._step([values[index] for values in per_input], states)
            if masks is None:
                states = new_states
            else:
                before = outputs[-1] if outputs else tf.zeros_like(output)
                output = _chosen(masks[index], output, before)
                states = [
                    _chosen(masks[index], new, old)
                    for old, new in zip(states, new_states, strict=True)
                ]
            outputs.append(output)
        last_output, stacked = outputs[-1], tf.stack(outputs)
        if masks is not None and self.zero_output:
            last_output = _chosen(masks[-1], last_output, tf.zeros_like(last_output))
            stacked = _chosen(self.mask, stacked, tf.zeros_like(stacked), fixed=2)
        return last_output, stacked, states

    def _in_order(self, values: list[Any]) -> list[Any]:
        return values[::-1] if self.go_backwards else values

    # A loop -------------------------------------------------------------------------------------

    def looped(self, states: tuple[Any, ...], input_length: Any) -> tuple[Any, Any, Any]:
        steps = tf.shape(self.flat_inputs[0])[0]
        arrays = [
            self._array(tensor, steps, f"input_ta_{i}") for i, tensor in enumerate(self.flat_inputs)
        ]
        # What a step gives is learned from one on the first inputs, whose value isn't used.
        sample, _ = self._step([tensor[0] for tensor in self.flat_inputs], states)
        flat_sample = tf.nest.flatten(sample)
        written = tuple(
            tf.TensorArray(
                dtype=each.dtype,
                size=steps,
                element_shape=each.shape,
                tensor_array_name=f"output_ta_{i}",
            )
            for i, each in enumerate(flat_sample)
        )
        time = tf.constant(0, dtype=tf.int32, name="time")
        mask_array: Any = None
        before: tuple[Any, ...] = ()
        if self.mask is not None:
            if not states:
                raise ValueError(
                    "No initial states provided! When using masking in an RNN, you should provide "
                    "initial states (and your step function should return as its first state at "
                    "time `t` the output at time `t-1`)."
                )
            mask_array = self._array(self.mask, steps, "mask_ta")
            before = tuple(tf.zeros_like(each) for each in flat_sample)

        def body(time: Any, written: Any, before: Any, states: Any) -> Any:
            output, new_states = self._step([array.read(time) for array in arrays], states)
            flat_output = tf.nest.flatten(output)
            flat_states = _with_shapes(tf.nest.flatten(new_states), tf.nest.flatten(states))
            if mask_array is not None:
                is_on = mask_array.read(time)
                others = zeros if self.zero_output else before
                flat_output = [
                    _chosen(is_on, o, b) for o, b in zip(flat_output, others, strict=True)
                ]
                flat_states = [
                    _chosen(is_on, new, old)
                    for new, old in zip(flat_states, tf.nest.flatten(states), strict=True)
                ]
                before = tuple(flat_output)
            written = tuple(
                array.write(time, o) for array, o in zip(written, flat_output, strict=True)
            )
            return time + 1, written, before, tf.nest.pack_sequence_as(states, flat_states)

        zeros = before
        _, written, _, states = tf.while_loop(
            cond=lambda time, *_: time < steps,
            body=body,
            loop_vars=(time, written, before, states),
            parallel_iterations=32,
            swap_memory=True,
            maximum_iterations=input_length,
        )
        stacked = [array.stack() for array in written]
        outputs = tf.nest.pack_sequence_as(sample, stacked)
        last_output = tf.nest.pack_sequence_as(sample, [each[-1] for each in stacked])
        return last_output, outputs, states

    def _array(self, tensor: Any, steps: Any, name: str) -> Any:
        array = tf.TensorArray(dtype=tensor.dtype, size=steps, tensor_array_name=name)
        return array.unstack(tf.reverse(tensor, [0]) if self.go_backwards else tensor)


def _with_shapes(new_states: list[Any], states: list[Any]) -> list[Any]:
    for new, old in zip(new_states, states, strict=True):
        new.set_shape(old.shape)
    return new_states
