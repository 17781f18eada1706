"""Layers around layers: per time step, and in both directions of time."""

from __future__ import annotations

import copy
from typing import Any

import penstock as tf
from penstock.ir.trackable import no_automatic_dependency_tracking_scope
from penstock.keras import backend as K
from penstock.keras.engine.call_effects import refuse_in_branch
from penstock.keras.engine.layer import Layer
from penstock.keras.layers.recurrent import parted
from penstock.keras.utils.serialization import CustomObjectScope
from penstock.layers.input_spec import InputSpec

__all__ = ["Bidirectional", "TimeDistributed", "Wrapper"]


class Wrapper(Layer):
    """A layer that uses another one."""

    def __init__(self, layer: Any, **kwargs: Any):
        if not isinstance(layer, Layer):
            raise ValueError(f"a wrapper needs a layer, got {layer}")
        self.layer = layer
        super().__init__(**kwargs)

    def build(self, input_shape: Any = None) -> None:
        if not self.layer.built:
            self.layer.build(input_shape)
            self.layer.built = True
        self.built = True

    def get_config(self) -> dict[str, Any]:
        inner = {"class_name": type(self.layer).__name__, "config": self.layer.get_config()}
        return {**super().get_config(), "layer": inner}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        from penstock.keras.layers import deserialize

        config = copy.deepcopy(config)
        layer = deserialize(config.pop("layer"), custom_objects)
        return cls(layer, **config)


class TimeDistributed(Wrapper):
    """Applies a layer to each step of its inputs, along axis 1."""

    def __init__(self, layer: Any, **kwargs: Any):
        if not isinstance(layer, Layer):
            raise ValueError(
                "Please initialize `TimeDistributed` layer with a `Layer` instance. You passed: "
                f"{layer}"
            )
        super().__init__(layer, **kwargs)
        self.supports_masking = True
        # Layers of Keras treat the examples of a batch alike: all steps can be one batch.
        is_builtin = type(layer).__module__.startswith("penstock.keras.layers")
        self._always_use_reshape = is_builtin and not layer.stateful

    def build(self, input_shape: Any = None) -> None:
        sizes = tf.TensorShape(input_shape).as_list()
        if len(sizes) < 3:
            raise ValueError(
                "`TimeDistributed` Layer should be passed an `input_shape ` with at least 3 "
                f"dimensions, received: {sizes}"
            )
        if any(size is None for size in sizes[2:]) and not sizes[2:]:
            raise ValueError("the inputs of `TimeDistributed` need known sizes behind the time")
        self.input_spec = InputSpec(shape=[None, None, *sizes[2:]])
        super().build(tf.TensorShape([sizes[0], *sizes[2:]]))

    def compute_output_shape(self, input_shape: Any) -> Any:
        sizes = tf.TensorShape(input_shape).as_list()
        inner = tf.TensorShape(self.layer.compute_output_shape([sizes[0], *sizes[2:]])).as_list()
        return tf.TensorShape([inner[0], sizes[1], *inner[1:]])

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        arguments: dict[str, Any] = {}
        if "training" in self.layer._call_fn_args and training is not None:
            arguments["training"] = training
        sizes = inputs.shape.as_list()
        steps = tf.shape(inputs)[1] if sizes[1] is None else sizes[1]
        if self._goes_by_steps(sizes[0]):
            return self._regularized(inputs, self._by_steps(inputs, steps, arguments))
        flat = self._flattened(inputs, sizes[2:])
        if "mask" in self.layer._call_fn_args and mask is not None:
            arguments["mask"] = self._flattened(mask, mask.shape.as_list()[2:])
        outputs = self._regularized(inputs, self.layer.call(flat, **arguments))
        inner = outputs.shape.as_list()[1:]
        dynamic = tf.shape(outputs)
        rest = [dynamic[i + 1] if size is None else size for i, size in enumerate(inner)]
        outputs = tf.reshape(outputs, [-1 if sizes[0] is None else sizes[0], steps, *rest])
        outputs.set_shape([sizes[0], sizes[1], *inner])
        return outputs

    def _goes_by_steps(self, batch_size: int | None) -> bool:
        """Whether the layer is called on one step after the other, in a loop."""
        return bool(batch_size) and not self._always_use_reshape

    def _by_steps(self, inputs: Any, steps: Any, arguments: dict[str, Any]) -> Any:
        def step(one: Any, states: Any) -> tuple[Any, Any]:
            return self.layer.call(one, **arguments), []

        outputs = K.rnn(step, inputs, initial_states=[], input_length=steps)[1]
        # The steps of a loop may have been counted only when it ran.
        sizes = inputs.shape.as_list()
        outputs.set_shape([sizes[0], sizes[1], *outputs.shape.as_list()[2:]])
        return outputs

    def _regularized(self, inputs: Any, outputs: Any) -> Any:
        if getattr(self.layer, "activity_regularizer", None) is not None:
            refuse_in_branch(outputs, "activity_regularizer")
            self.add_loss(self.layer.activity_regularizer(outputs), inputs)
        return outputs

    @staticmethod
    def _flattened(tensor: Any, sizes: list[Any]) -> Any:
        """Batch and time as one axis."""
        dynamic = tf.shape(tensor)
        rest = [dynamic[i + 2] if size is None else size for i, size in enumerate(sizes)]
        flat = tf.reshape(tensor, [-1, *rest])
        flat.set_shape([None, *sizes])
        return flat

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask that the layer inside gives each step; that of the steps if it gives none."""
        batch_size, steps, *sizes = inputs.shape.as_list()
        if self._goes_by_steps(batch_size):
            return mask
        flat_mask = None if mask is None else self._flattened(mask, mask.shape.as_list()[2:])
        found = self.layer.compute_mask(self._flattened(inputs, sizes), flat_mask)
        if found is None:
            deeper = [] if mask is None else list(range(2, mask.shape.ndims))
            return tf.reduce_any(mask, axis=deeper) if deeper else mask
        length = tf.shape(inputs)[1] if steps is None else steps
        return tf.reshape(found, tf.concat([[-1, length], tf.shape(found)[1:]], axis=0))


class Bidirectional(Wrapper):
    """Runs a recurrent layer in both directions and joins the outputs.

    Args:
      merge_mode: "concat", "sum", "mul", "ave", or None for a list of both.
      backward_layer: the layer that goes backwards; by default a copy.
    """

    def __init__(
        self,
        layer: Any,
        merge_mode: str | None = "concat",
        weights: Any = None,
        backward_layer: Any = None,
        **kwargs: Any,
    ):
        if not isinstance(layer, Layer):
            raise ValueError(
                "Please initialize `Bidirectional` layer with a `Layer` instance. You passed: "
                f"{layer}"
            )
        if backward_layer is not None and not isinstance(backward_layer, Layer):
            raise ValueError(
                f"`backward_layer` need to be a `Layer` instance. You passed: {backward_layer}"
            )
        if merge_mode not in ("sum", "mul", "ave", "concat", None):
            raise ValueError(
                f'Invalid merge mode. Merge mode should be one of {{"sum", "mul", "ave", "concat", '
                f"None}}, got {merge_mode!r}"
            )
        with no_automatic_dependency_tracking_scope(self):  # it is used as its forward copy
            super().__init__(layer, **kwargs)
        self.__dict__["_tracked"].pop("layer", None)
        self.merge_mode = merge_mode
        self.forward_layer = self._again(layer)
        if backward_layer is None:
            self.backward_layer = self._again(layer, go_backwards=not layer.go_backwards)
        else:
            self._backward_config = {
                "class_name": type(backward_layer).__name__,
                "config": backward_layer.get_config(),
            }
            self.backward_layer = backward_layer
            self._check_directions()
        for each in (self.forward_layer, self.backward_layer):
            if hasattr(each, "zero_output_for_mask"):
                each.zero_output_for_mask = each.return_sequences
        self.forward_layer._name = f"forward_{self.forward_layer.name}"
        self.backward_layer._name = f"backward_{self.backward_layer.name}"
        if weights:
            half = len(weights) // 2
            self.forward_layer._initial_weights = weights[:half]
            self.backward_layer._initial_weights = weights[half:]
        self.stateful = layer.stateful
        self.return_sequences = layer.return_sequences
        self.return_state = layer.return_state
        self.supports_masking = True
        self._num_constants = 0
        self.input_spec = layer.input_spec

    def _check_directions(self) -> None:
        if self.forward_layer.go_backwards == self.backward_layer.go_backwards:
            raise ValueError(
                "Forward layer and backward layer should have different `go_backwards` value."
            )
        for attribute in ("stateful", "return_sequences", "return_state"):
            forward = getattr(self.forward_layer, attribute)
            backward = getattr(self.backward_layer, attribute)
            if forward != backward:
                raise ValueError(
                    "Forward layer and backward layer are expected to have the same value for "
                    f"attribute {attribute}, got {forward} and {backward}"
                )

    @staticmethod
    def _again(layer: Any, **changes: Any) -> Any:
        """A layer like this one; the classes of its cells need not be known by their names."""
        config = {**layer.get_config(), **changes}
        cell = getattr(layer, "cell", None)
        cells = {type(each).__name__: type(each) for each in [cell, *getattr(cell, "cells", ())]}
        with CustomObjectScope(cells):
            return type(layer).from_config(config)

    def build(self, input_shape: Any = None) -> None:
        for layer in (self.forward_layer, self.backward_layer):
            if not layer.built:
                with tf.name_scope(layer.name):
                    layer.build(input_shape)
                    layer.built = True
        self.built = True

    def __call__(
        self, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any
    ) -> Any:
        """Runs both layers; the first half of the initial states is the forward layer's."""
        inputs, initial_state, constants = parted(
            inputs, initial_state, constants, self._num_constants
        )
        if initial_state is None and constants is None:
            return super().__call__(inputs, **kwargs)
        if initial_state is not None and len(initial_state) % 2:
            raise ValueError(
                "When passing `initial_state` to a Bidirectional RNN, the state should be a list "
                "containing the states of the underlying RNNs. Found: " + str(initial_state)
            )
        if constants is not None:
            self._num_constants = len(constants)
            for layer in (self.forward_layer, self.backward_layer):
                layer._num_constants = len(constants)
        spec, self.input_spec = self.input_spec, None
        more = [*(initial_state or ()), *(constants or ())]
        outputs = super().__call__([inputs, *more], **kwargs)
        self.input_spec = spec
        return outputs

    def _maybe_build(self, inputs: Any) -> None:
        super()._maybe_build(inputs[0] if isinstance(inputs, list) else inputs)

    def call(
        self, inputs: Any, training: Any = None, mask: Any = None, initial_state: Any = None
    ) -> Any:
        arguments: dict[str, Any] = {}
        if training is not None and "training" in self.forward_layer._call_fn_args:
            arguments["training"] = training
        if mask is not None and "mask" in self.forward_layer._call_fn_args:
            arguments["mask"] = tf.nest.flatten(mask)[0]
        forward_arguments, backward_arguments = dict(arguments), dict(arguments)
        inputs, initial_state, constants = parted(inputs, initial_state, None, self._num_constants)
        if constants:
            forward_arguments["constants"] = backward_arguments["constants"] = constants
        if initial_state:
            half = len(initial_state) // 2
            forward_arguments["initial_state"] = list(initial_state[:half])
            backward_arguments["initial_state"] = list(initial_state[half:])
        forward = self.forward_layer.call(inputs, **forward_arguments)
        backward = self.backward_layer.call(inputs, **backward_arguments)
        states: list[Any] = []
        if self.return_state:
            states = [*forward[1:], *backward[1:]]
            forward, backward = forward[0], backward[0]
        if self.return_sequences:
            time_axis = 0 if getattr(self.forward_layer, "time_major", False) else 1
            backward = K.reverse(backward, time_axis)
        joins: dict[Any, Any] = {
            "concat": lambda: K.concatenate([forward, backward]),
            "sum": lambda: forward + backward,
            "ave": lambda: (forward + backward) / 2,
            "mul": lambda: forward * backward,
            None: lambda: [forward, backward],
        }
        output = joins[self.merge_mode]()
        if not self.return_state:
            return output
        return [*output, *states] if self.merge_mode is None else [output, *states]

    @property
    def updates(self) -> list[Any]:
        return [*self.forward_layer.updates, *self.backward_layer.updates]

    def compute_output_shape(self, input_shape: Any) -> Any:
        shapes = self.forward_layer.compute_output_shape(input_shape)
        states = []
        if self.return_state:
            shapes, states = shapes[0], shapes[1:]
        output = tf.TensorShape(shapes)
        if self.merge_mode == "concat":
            sizes: list[Any] = output.as_list()
            output = tf.TensorShape([*sizes[:-1], sizes[-1] * 2])
        joined = [output, output] if self.merge_mode is None else [output]
        if self.return_state:
            return [*joined, *states, *states]
        return joined if self.merge_mode is None else output

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        mask = tf.nest.flatten(mask)[0]
        kept = mask if self.return_sequences else None
        output_mask = [kept, kept] if self.merge_mode is None else kept
        if self.return_state:
            count = len(self.forward_layer.states) * 2
            listed = output_mask if isinstance(output_mask, list) else [output_mask]
            return [*listed, *[None] * count]
        return output_mask

    def reset_states(self) -> None:
        """Sets the states of both layers to zero."""
        self.forward_layer.reset_states()
        self.backward_layer.reset_states()

    def get_config(self) -> dict[str, Any]:
        config = {**super().get_config(), "merge_mode": self.merge_mode}
        if self._num_constants:
            config["num_constants"] = self._num_constants
        if hasattr(self, "_backward_config"):
            config["backward_layer"] = self._backward_config
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        from penstock.keras.layers import deserialize

        config = copy.deepcopy(config)
        num_constants = config.pop("num_constants", 0)
        if config.get("backward_layer") is not None:
            config["backward_layer"] = deserialize(config["backward_layer"], custom_objects)
        made = super().from_config(config, custom_objects)
        made._num_constants = num_constants
        return made
