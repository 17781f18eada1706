"""`tf.keras.layers.RNN`: cells run along the time axis."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.engine.layer import Layer
from penstock.keras.engine.shapes import first_shape, map_shapes
from penstock.layers.core_layer import CoreLayer
from penstock.layers.input_spec import InputSpec

__all__ = ["RNN", "AbstractRNNCell", "StackedRNNCells"]


def zero_states(batch_size: Any, state_size: Any, dtype: Any) -> Any:
    """Zeros for a structure of state sizes."""
    if batch_size is None or dtype is None:
        raise ValueError(
            "batch_size and dtype cannot be None while constructing initial state: "
            f"batch_size={batch_size}, dtype={dtype}"
        )

    def zeros(size: Any) -> Any:
        return tf.zeros([batch_size, *tf.TensorShape(size).as_list()], dtype=dtype)

    return tf.nest.map_structure(zeros, state_size)


class AbstractRNNCell(Layer):
    """A step of a recurrence; a subclass defines `call(inputs, states)` and the sizes."""

    def call(self, inputs: Any, states: Any) -> Any:
        raise NotImplementedError("Abstract method")

    @property
    def state_size(self) -> Any:
        """The sizes of the states."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """The size of the output."""
        raise NotImplementedError("Abstract method")

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> Any:
        """The states before the first step: zeros."""
        if inputs is not None:
            batch_size, dtype = tf.shape(inputs)[0], inputs.dtype
        return zero_states(batch_size, self.state_size, dtype)


class StackedRNNCells(Layer):
    """Cells one upon the other, as one cell.

    The states of the first cell come first; `reverse_state_order=True` puts those of the last cell
    first, as old Keras did.
    """

    def __init__(self, cells: Any, **kwargs: Any):
        for cell in cells:
            if not hasattr(cell, "call"):
                raise ValueError("All cells must have a `call` method. received cells:", cells)
            if not hasattr(cell, "state_size"):
                raise ValueError(
                    "All cells must have a `state_size` attribute. received cells:", cells
                )
        self.reverse_state_order = kwargs.pop("reverse_state_order", False)
        super().__init__(**kwargs)
        self.cells = list(cells)

    def _in_order(self) -> list[Any]:
        return self.cells[::-1] if self.reverse_state_order else self.cells

    @property
    def state_size(self) -> tuple[Any, ...]:
        return tuple(cell.state_size for cell in self._in_order())

    @property
    def output_size(self) -> Any:
        last = self.cells[-1]
        if getattr(last, "output_size", None) is not None:
            return last.output_size
        return last.state_size[0] if _is_several(last.state_size) else last.state_size

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> Any:
        """The states before the first step, per cell."""
        found = []
        for cell in self._in_order():
            make = getattr(cell, "get_initial_state", None)
            if make is not None:
                found.append(make(inputs=inputs, batch_size=batch_size, dtype=dtype))
            else:
                found.append(zero_states(batch_size, cell.state_size, dtype))
        return tuple(found)

    def build(self, input_shape: Any) -> None:
        for cell in self.cells:
            if isinstance(cell, CoreLayer) and not cell.built:
                cell.build(input_shape)
                cell.built = True
            size = getattr(cell, "output_size", None)
            if size is None:
                size = cell.state_size[0] if _is_several(cell.state_size) else cell.state_size
            batch = tf.TensorShape(input_shape).as_list()[0]
            input_shape = (batch, *tf.TensorShape(size).as_list())
        self.built = True

    def call(
        self, inputs: Any, states: Any, constants: Any = None, **kwargs: Any
    ) -> tuple[Any, Any]:
        sizes = self.state_size
        nested = tf.nest.pack_sequence_as(sizes, tf.nest.flatten(states))
        nested = nested[::-1] if self.reverse_state_order else nested
        new_states = []
        for cell, cell_states in zip(self.cells, nested, strict=True):
            given = cell_states if _is_several(cell_states) else [cell_states]
            parameters = inspect.signature(cell.call).parameters
            arguments = {key: value for key, value in kwargs.items() if key in parameters}
            if constants is not None and "constants" in parameters:
                arguments["constants"] = constants
            inputs, new = called(cell, inputs, given, arguments)
            new_states.append(new if _is_several(cell.state_size) else new[0])
        new_states = new_states[::-1] if self.reverse_state_order else new_states
        return inputs, tf.nest.pack_sequence_as(sizes, tf.nest.flatten(new_states))

    def get_config(self) -> dict[str, Any]:
        cells = [
            {"class_name": type(cell).__name__, "config": cell.get_config()} for cell in self.cells
        ]
        return {**super().get_config(), "cells": cells}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        from penstock.keras.layers import deserialize

        config = dict(config)
        cells = [deserialize(each, custom_objects) for each in config.pop("cells")]
        return cls(cells, **config)


def parted(
    inputs: Any, initial_state: Any, constants: Any, num_constants: int
) -> tuple[Any, Any, Any]:
    """Inputs, states and constants, where they may come in one list."""
    if isinstance(inputs, list):
        if initial_state is not None or constants is not None:
            raise ValueError("give states and constants either in the list or by name")
        if num_constants:
            constants = inputs[-num_constants:]
            inputs = inputs[:-num_constants]
        if len(inputs) > 1:
            initial_state = inputs[1:]
        inputs = inputs[0]

    def listed(value: Any) -> Any:
        if value is None or isinstance(value, list):
            return value
        return list(value) if isinstance(value, tuple) else [value]

    return inputs, listed(initial_state), listed(constants)


def _is_several(states: Any) -> bool:
    return isinstance(states, (list, tuple))


def is_graph_cell(cell: Any) -> bool:
    """Whether a cell is one of `tf.nn.rnn_cell`, which take a single state without a list."""
    from penstock.rnn.cell import RNNCell

    return isinstance(cell, RNNCell)


def called(cell: Any, inputs: Any, states: Any, arguments: dict[str, Any]) -> tuple[Any, Any]:
    """A cell's output and its new states in a list."""
    if is_graph_cell(cell):
        output, new = cell(inputs, states[0] if len(states) == 1 else tuple(states), **arguments)
    else:
        output, new = cell.call(inputs, states, **arguments)
    return output, list(new) if _is_several(new) else [new]


class RNN(Layer):
    """Runs a cell along axis 1 of its inputs.

    Args:
      cell: an object with `call(inputs, states)` and `state_size`, or a list of them.
      return_sequences: whether to return the outputs of all steps.
      return_state: whether to return the last states as well.
      go_backwards: whether to start at the end.
      stateful: whether a batch goes on with the states of the one before.
      unroll: makes nodes for each step instead of a loop.
      time_major: whether the time axis comes first.
    """

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        time_major: bool = False,
        **kwargs: Any,
    ):
        if isinstance(cell, (list, tuple)):
            cell = StackedRNNCells(cell)
        if not hasattr(cell, "call"):
            raise ValueError("`cell` should have a `call` method. The RNN was passed:", cell)
        if not hasattr(cell, "state_size"):
            raise ValueError(
                "The RNN cell should have an attribute `state_size` (tuple of integers, one "
                "integer per RNN state)."
            )
        self.zero_output_for_mask = kwargs.pop("zero_output_for_mask", False)
        if "input_shape" not in kwargs and ("input_dim" in kwargs or "input_length" in kwargs):
            kwargs["input_shape"] = (
                kwargs.pop("input_length", None),
                kwargs.pop("input_dim", None),
            )
        super().__init__(**kwargs)
        self.cell = cell
        self.return_sequences = return_sequences
        self.return_state = return_state
        self.go_backwards = go_backwards
        self.stateful = stateful
        self.unroll = unroll
        self.time_major = time_major
        self.supports_masking = True
        self.state_spec: Any = None
        self.constants_spec: Any = None
        self._num_constants = 0
        self.__dict__["_states"] = None

    # States -------------------------------------------------------------------------------------

    @property
    def states(self) -> Any:
        """The states kept between batches; None for each if the layer isn't stateful."""
        known = self.__dict__.get("_states")
        if known is not None:
            return known
        nothing = tf.nest.map_structure(lambda _: None, self.cell.state_size)
        return list(nothing) if _is_several(self.cell.state_size) else [nothing]

    @states.setter
    def states(self, states: Any) -> None:
        self.__dict__["_states"] = states

    def _state_sizes(self) -> list[Any]:
        sizes = self.cell.state_size
        return list(sizes) if _is_several(sizes) else [sizes]

    def get_initial_state(self, inputs: Any) -> list[Any]:
        """The states before the first step: the cell's, else zeros."""
        first = tf.nest.flatten(inputs)[0]
        batch_size = tf.shape(first)[1 if self.time_major else 0]
        make = getattr(self.cell, "get_initial_state", None)
        if make is not None:
            states = make(inputs=None, batch_size=batch_size, dtype=first.dtype)
        else:
            states = zero_states(batch_size, self.cell.state_size, first.dtype)
        return list(states) if _is_several(states) else [states]

    def reset_states(self, states: Any = None) -> None:
        """Sets the states to zero, or to arrays."""
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        spec = tf.nest.flatten(self.input_spec[0])[0] if self.input_spec else None
        shape = None if spec is None else spec.shape
        batch_size = None if shape is None else shape[1 if self.time_major else 0]
        if not batch_size:
            raise ValueError(
                "If a RNN is stateful, it needs to know its batch size. Specify the batch size of "
                "your input tensors: \n- If using a Sequential model, specify the batch size by "
                "passing a `batch_input_shape` argument to your first layer.\n- If using the "
                "functional API, specify the batch size by passing a `batch_shape` argument to "
                "your Input layer."
            )
        sizes = tf.nest.flatten(self.cell.state_size)
        shapes = [(batch_size, *tf.TensorShape(size).as_list()) for size in sizes]
        if self.__dict__["_states"] is None:
            made = [K.zeros(shape) for shape in shapes]
            packed = tf.nest.pack_sequence_as(self.cell.state_size, made)
            self.states = list(packed) if _is_several(packed) else [packed]
        flat = tf.nest.flatten(self.states)
        if states is None:
            values: list[Any] = [np.zeros(shape) for shape in shapes]
        else:
            values = tf.nest.flatten(states)
            if len(values) != len(flat):
                raise ValueError(
                    f"Layer {self.name} expects {len(flat)} states, but it received {len(values)} "
                    f"state values. Input received: {states}"
                )
            for index, (value, wanted) in enumerate(zip(values, shapes, strict=True)):
                if np.shape(value) != wanted:
                    raise ValueError(
                        f"State {index} is incompatible with layer {self.name}: expected "
                        f"shape={wanted}, found shape={np.shape(value)}"
                    )
        K.batch_set_value(zip(flat, values, strict=True))

    # Shapes -------------------------------------------------------------------------------------

    def compute_output_shape(self, input_shape: Any) -> Any:
        if isinstance(input_shape, list):
            input_shape = input_shape[0]
        batch, steps = tf.TensorShape(first_shape(input_shape)).as_list()[:2]
        if self.time_major:
            batch, steps = steps, batch
        size = getattr(self.cell, "output_size", None)
        if size is None:
            size = self._state_sizes()[0]
        if self.return_sequences:
            lead = [steps, batch] if self.time_major else [batch, steps]
        else:
            lead = [batch]
        output = tf.nest.map_structure(
            lambda each: tf.TensorShape([*lead, *tf.TensorShape(each).as_list()]), size
        )
        if not self.return_state:
            return output
        states = [
            tf.TensorShape([batch, *tf.TensorShape(size).as_list()])
            for size in tf.nest.flatten(self.cell.state_size)
        ]
        return [output, *states]

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        mask = tf.nest.flatten(mask)[0]
        output_mask = mask if self.return_sequences else None
        if self.return_state:
            return [output_mask, *(None for _ in self.states)]
        return output_mask

    def build(self, input_shape: Any) -> None:
        if isinstance(input_shape, list):
            input_shape = input_shape[0]
        rest = self.input_spec[1:] if self.input_spec else []
        self.input_spec = [map_shapes(self._input_spec_of, input_shape), *rest]
        if (
            isinstance(self.cell, CoreLayer)
            and not self.cell.built
            and not is_graph_cell(self.cell)
        ):
            self.cell.build(map_shapes(self._step_shape, input_shape))
            self.cell.built = True
        self._check_states()
        if self.stateful:
            self.reset_states()
        self.built = True

    def _input_spec_of(self, shape: Any) -> InputSpec:
        """What inputs must be like after those that the layer was built on."""
        sizes = tf.TensorShape(shape).as_list()
        batch_axis, time_axis = (1, 0) if self.time_major else (0, 1)
        if not self.stateful:
            sizes[batch_axis] = None
        sizes[time_axis] = None
        return InputSpec(shape=tuple(sizes))

    def _step_shape(self, shape: Any) -> tuple[int | None, ...]:
        sizes = tf.TensorShape(shape).as_list()
        return (sizes[1 if self.time_major else 0], *sizes[2:])

    def _check_states(self) -> None:
        wanted = tf.nest.flatten(self._state_sizes())
        if self.state_spec is None:
            self.state_spec = [
                InputSpec(shape=[None, *tf.TensorShape(size).as_list()]) for size in wanted
            ]
            return
        given = tf.nest.flatten(self.state_spec)
        fits = len(given) == len(wanted) and all(
            tf.TensorShape(spec.shape[1:]).is_compatible_with(tf.TensorShape(size))
            for spec, size in zip(given, wanted, strict=True)
        )
        if not fits:
            raise ValueError(
                "An `initial_state` was passed that is not compatible with `cell.state_size`. "
                f"Received `state_spec`={self.state_spec}; however `cell.state_size` is "
                f"{self.cell.state_size}"
            )

    # Calling ------------------------------------------------------------------------------------

    def __call__(
        self, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any
    ) -> Any:
        """Runs the cell over the inputs.

        Args:
          initial_state: the states before the first step; also as the inputs' further elements.
          constants: tensors that each step gets.
        """
        inputs, initial_state, constants = parted(
            inputs, initial_state, constants, self._num_constants
        )
        if initial_state is None and constants is None:
            return super().__call__(inputs, **kwargs)
        more: list[Any] = []
        specs: list[Any] = []
        if initial_state is not None:
            more += initial_state
            self.state_spec = [InputSpec(shape=K.int_shape(state)) for state in initial_state]
            specs += self.state_spec
        if constants is not None:
            more += constants
            self.constants_spec = [InputSpec(shape=K.int_shape(each)) for each in constants]
            self._num_constants = len(constants)
            specs += self.constants_spec
        from_layers = {hasattr(each, "_keras_history") for each in more}
        if len(from_layers) > 1:
            raise ValueError(
                "The initial state or constants of an RNN layer cannot be specified with a mix of "
                'Keras tensors and non-Keras tensors (a "Keras tensor" is a tensor that was '
                "returned by a Keras layer, or by `Input`)"
            )
        if from_layers == {True}:
            # As inputs they become edges of the model.
            own = self.input_spec[:1] if self.input_spec else [None]
            self.input_spec = [*own, *specs]
            outputs = super().__call__([inputs, *more], **kwargs)
            self.input_spec = self.input_spec[:1]
            return outputs
        if initial_state is not None:
            kwargs["initial_state"] = initial_state
        if constants is not None:
            kwargs["constants"] = constants
        return super().__call__(inputs, **kwargs)

    def call(
        self,
        inputs: Any,
        mask: Any = None,
        training: Any = None,
        initial_state: Any = None,
        constants: Any = None,
    ) -> Any:
        if isinstance(inputs, list):
            inputs, initial_state, constants = parted(inputs, None, None, self._num_constants)
        if initial_state is None:
            initial_state = self.states if self.stateful else self.get_initial_state(inputs)
        if len(initial_state) != len(self.states):
            raise ValueError(
                f"Layer has {len(self.states)} states but was passed {len(initial_state)} initial "
                "states."
            )
        if mask is not None:
            mask = tf.nest.flatten(mask)[0]
        steps = K.int_shape(tf.nest.flatten(inputs)[0])[0 if self.time_major else 1]
        if self.unroll and steps is None:
            raise ValueError(
                "Cannot unroll a RNN if the time dimension is undefined. \n- If using a Sequential "
                "model, specify the time dimension by passing an `input_shape` or "
                "`batch_input_shape` argument to your first layer. If your first layer is an "
                "Embedding, you can also use the `input_length` argument.\n- If using the "
                "functional API, specify the time dimension by passing a `shape` or `batch_shape` "
                "argument to your Input layer."
            )
        self._forget_dropout()
        last_output, outputs, states = K.rnn(
            self._step(training, constants),
            inputs,
            initial_state,
            constants=constants,
            go_backwards=self.go_backwards,
            mask=mask,
            unroll=self.unroll,
            time_major=self.time_major,
            zero_output_for_mask=self.zero_output_for_mask,
        )
        if self.stateful:
            pairs = zip(tf.nest.flatten(self.states), tf.nest.flatten(states), strict=True)
            self.add_update([tf.assign(kept, new) for kept, new in pairs])
        output = outputs if self.return_sequences else last_output
        return [output, *states] if self.return_state else output

    def _step(self, training: Any, constants: Any) -> Any:
        parameters = inspect.signature(self.cell.call).parameters
        takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        arguments: dict[str, Any] = {}
        if "training" in parameters or (takes_any and isinstance(self.cell, StackedRNNCells)):
            arguments["training"] = training
        count = self._num_constants
        if constants and "constants" not in parameters:
            raise ValueError("RNN cell does not support constants")

        def step(inputs: Any, states: Any) -> tuple[Any, Any]:
            if constants:
                more = {**arguments, "constants": list(states[-count:])}
                return called(self.cell, inputs, list(states[:-count]), more)
            return called(self.cell, inputs, list(states), arguments)

        return step

    def _forget_dropout(self) -> None:
        """Lets cells draw new masks, which are kept for the steps of one call."""
        cells = self.cell.cells if isinstance(self.cell, StackedRNNCells) else [self.cell]
        for cell in cells:
            for name in ("reset_dropout_mask", "reset_recurrent_dropout_mask"):
                if hasattr(cell, name):
                    getattr(cell, name)()

    # Configuration ------------------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        config = {**super().get_config(), **self._rnn_config(), "time_major": self.time_major}
        if self._num_constants:
            config["num_constants"] = self._num_constants
        cell = {"class_name": type(self.cell).__name__, "config": self.cell.get_config()}
        return {**config, "cell": cell}

    def _rnn_config(self) -> dict[str, Any]:
        keys = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll")
        config = {key: getattr(self, key) for key in keys}
        if self.zero_output_for_mask:
            config["zero_output_for_mask"] = True
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        from penstock.keras.layers import deserialize

        config = dict(config)
        cell = deserialize(config.pop("cell"), custom_objects)
        constants = config.pop("num_constants", 0)
        layer = cls(cell, **config)
        layer._num_constants = constants
        return layer
