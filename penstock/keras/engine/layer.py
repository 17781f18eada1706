"""`tf.keras.layers.Layer`."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

import penstock as tf
from penstock.ir.trackable import NoDependency
from penstock.keras import activations, constraints, initializers, regularizers
from penstock.keras import backend as K
from penstock.keras.dtype_behavior import v2_dtype_behavior_enabled
from penstock.keras.engine.added_metrics import AddedMetrics
from penstock.keras.engine.call_effects import (
    CallEffects,
    refuse_in_branch,
    refuse_value_as_loss,
)
from penstock.keras.engine.layer_configs import refuse_unknown_arguments
from penstock.keras.engine.layer_graph import has_symbols, is_layer_graph
from penstock.keras.engine.layer_list import LayerList
from penstock.keras.engine.mixed_precision_layers import MixedPrecision, settled_policy
from penstock.keras.engine.node import Node
from penstock.keras.engine.scope_strategy import strategy_of_scope
from penstock.keras.engine.shapes import map_shapes, tried_shape
from penstock.layers.core_layer import CoreLayer
from penstock.layers.input_spec import InputSpec
from penstock.ops.resource_variable import is_result_of_update
from penstock.train.tracking.data_structures import List, Mapping

__all__ = ["InputSpec", "Layer"]

_CHECKED = "_keras_history_checked"
_MASK = "_keras_mask"

# Attributes in which layers and variables are kept for other reasons than being parts.
_UNTRACKED = frozenset(
    """
    _tracked _own_layers _layers _metrics _trainable_weights _non_trainable_weights _updates _losses
    _callable_losses _eager_losses _inbound_nodes _outbound_nodes _call_fn_args inputs
    outputs optimizer history _initial_weights _input_spec _metrics_tensors _batch_input_shape
    callbacks metrics_names _given_arguments _collected_trainable_weights _endpoints _functions
    _metric_results _compile_arguments _output_loss_metrics _nested_inputs _nested_outputs
    _function_kwargs _stack input_names output_names loss loss_weights sample_weight_mode states
    _compiled_trainable_state
    """.split()
)


class Layer(MixedPrecision, AddedMetrics, CoreLayer):
    """A function of tensors that owns variables.

    A subclass makes its variables in `build` with `add_weight` and computes in `call`. Layers and
    variables that are set as attributes, alone or in lists and dictionaries, are parts of it.

    Args:
      trainable: whether the variables are trained.
      name: by default the class' name with a number.
      dtype: type of the variables; that of the first input if None.
      input_shape: shape of the inputs without the batch, for the first layer of a model.
      batch_input_shape: shape of the inputs with the batch.
    """

    #: The constructor's arguments that `get_config` gives, beside those that all layers have.
    _CONFIG: tuple[str, ...] = ()

    _is_metric = False
    _joint_output_and_mask = False

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Parts that are set while the program runs."""

    def __init__(
        self,
        trainable: bool = True,
        name: Any = None,
        dtype: Any = None,
        dynamic: bool = False,
        **kwargs: Any,
    ):
        if "input_dim" in kwargs and "input_shape" not in kwargs:
            kwargs["input_shape"] = (kwargs.pop("input_dim"),)
        kwargs.pop("implementation", None)
        self._metrics: list[Any] = []
        self._metrics_tensors: dict[str, Any] = {}
        policy = settled_policy(dtype)
        super().__init__(
            trainable=trainable,
            name=name,
            dtype=dtype if policy is None else policy.variable_dtype,
            dynamic=dynamic,
            **kwargs,
        )
        self._given_policy = policy
        self._autocast = kwargs.get("autocast", v2_dtype_behavior_enabled())
        regularizer = regularizers.get(kwargs.get("activity_regularizer"))
        if regularizer is not None:
            self._activity_regularizer = regularizer

    # Parts --------------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, NoDependency):  # a part of the layer, not of its checkpoints
            setattr(self, name, value.value)
            self._unconditional_dependency_names.pop(name, None)
            return
        if name not in _UNTRACKED and self.__dict__.get(name) is not value:
            self._disown(name)
        try:
            super().__setattr__(name, value)
        except AttributeError as error:
            raise AttributeError(
                f'Can\'t set the attribute "{name}", likely because it conflicts with an existing '
                "read-only @property of the object. Please choose a different name."
            ) from error
        if name in _UNTRACKED:
            return
        tracked = self.__dict__.setdefault("_tracked", {})
        if getattr(value, "_is_metric", False):
            self.__dict__.setdefault("_metrics", []).append(value)
            tracked.pop(name, None)
        elif isinstance(value, (CoreLayer, *_SEQUENCES, *_MAPPINGS)):
            tracked[name] = value
            for layer in tf.nest.flatten(value):
                if hasattr(layer, "_use_resource_variables"):  # one of tf.layers
                    layer._use_resource_variables = True
        else:
            tracked.pop(name, None)
        for variable in _variables_in(value):
            self._adopt(variable)

    def __delattr__(self, name: str) -> None:
        self._disown(name)
        self.__dict__.get("_tracked", {}).pop(name, None)
        super().__delattr__(name)

    def _disown(self, name: str) -> None:
        """Forgets a weight whose only attribute is about to go or to be something else."""
        old = self.__dict__.get(name)
        for weights in ("_trainable_weights", "_non_trainable_weights"):
            owned = self.__dict__.get(weights, ())
            if not any(weight is old for weight in owned):
                continue
            if not any(value is old for key, value in self.__dict__.items() if key != name):
                owned[:] = [weight for weight in owned if weight is not old]

    def _adopt(self, variable: Any) -> None:
        """Makes a variable that was set as an attribute a weight."""
        known = [
            *self.__dict__.setdefault("_trainable_weights", []),
            *self.__dict__.setdefault("_non_trainable_weights", []),
        ]
        if any(variable is weight for weight in known):
            return
        own = self._trainable_weights if variable.trainable else self._non_trainable_weights
        own.append(variable)
        K.track_variable(variable)

    @property
    def _layers(self) -> list[Any]:
        """The parts that are layers: those of the attributes, in the order they were set."""
        found: list[Any] = list(self.__dict__.get("_own_layers", ()))
        for value in self.__dict__.get("_tracked", {}).values():
            for layer in _layers_in(value):
                if not any(layer is known for known in found):
                    found.append(layer)
        return LayerList(found, functools.partial(setattr, self, "_layers"))

    @_layers.setter
    def _layers(self, layers: list[Any]) -> None:
        self.__dict__["_own_layers"] = layers

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The layers inside, and those inside them."""
        return tuple(
            inner for layer in self._layers for inner in (layer, *getattr(layer, "submodules", ()))
        )

    # Variables ----------------------------------------------------------------------------------

    def add_weight(self, name: Any = None, shape: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Makes a variable and adds it to the layer.

        Args:
          initializer: by default Glorot's for floats, zeros for other numbers.
          regularizer: a function of the variable whose value is added to the losses.
          constraint: a function of the variable that optimizers apply after an update.
        """
        if isinstance(name, (tuple, list, tf.TensorShape)) or (
            name is not None and not isinstance(name, str)
        ):
            raise ValueError(f"add_weight takes the name first, then the shape; got name={name!r}")
        if self._dtype_name is None and kwargs.get("dtype") is None and not args:
            kwargs["dtype"] = K.floatx()
        self._cast_reads_of_weights(kwargs)
        variable = super().add_weight(name, shape, *args, **kwargs)
        K.track_variable(variable)
        return variable

    def _session(self) -> Any:
        return K.get_session()

    def get_weights(self) -> list[Any]:
        """The variables' values, as arrays."""
        return K.batch_get_value(self.weights)

    def set_weights(self, weights: Any) -> None:
        """Sets the variables, in the order of `weights`, from arrays."""
        variables = self.weights
        if len(variables) != len(weights):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a  weight list of '
                f"length {len(weights)}, but the layer was expecting {len(variables)} weights. "
                f"Provided weights: {str(weights)[:50]}..."
            )
        for variable, value in zip(variables, weights, strict=True):
            if tuple(variable.shape.as_list()) != np.shape(value):
                raise ValueError(
                    f"Layer weight shape {variable.shape} not compatible with provided weight "
                    f"shape {np.shape(value)}"
                )
        K.batch_set_value(zip(variables, weights, strict=True))

    @property
    def _expects_training_arg(self) -> bool:
        return "training" in self._call_fn_args or self._call_accepts_kwargs

    @property
    def _expects_mask_arg(self) -> bool:
        return "mask" in self._call_fn_args or self._call_accepts_kwargs

    # Configuration ------------------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        config: dict[str, Any] = {"name": self.name, "trainable": self.trainable}
        if hasattr(self, "_batch_input_shape"):
            config["batch_input_shape"] = self._batch_input_shape
        config["dtype"] = self.dtype
        for key in self._CONFIG:
            config[key] = _in_config(key, getattr(self, key))
        refuse_unknown_arguments(self, config)
        return config

    #: What a layer is in the object graph of a SavedModel.
    _object_identifier = "_tf_keras_layer"

    @property
    def _tracking_metadata(self) -> str:
        """What a SavedModel says of the layer."""
        from penstock.keras.saved_metadata import layer_metadata

        return layer_metadata(self)

    def _list_functions_for_serialization(self, serialization_cache: Any) -> dict[str, Any]:
        from penstock.keras.saved_parts import parts_of

        return parts_of(self, serialization_cache).shown_functions

    def _list_extra_dependencies_for_serialization(
        self, serialization_cache: Any
    ) -> dict[str, Any]:
        from penstock.keras.saved_parts import parts_of

        return parts_of(self, serialization_cache).shown_objects

    # Losses and updates -------------------------------------------------------------------------

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses: tensors, or functions that make them.

        Args:
          inputs: None says that the losses don't depend on what the layer is called on.
        """
        for loss in tf.nest.flatten(losses):
            refuse_in_branch(loss, "add_loss")
            refuse_value_as_loss(loss)
        super().add_loss(losses, inputs)

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Adds operations that change the layer's state, or functions that make them."""
        if strategy_of_scope() is None:
            super().add_update(updates, inputs)
        # Else the replicas will make them, each for its part of a batch.

    def _add_activity_regularization(self, inputs: Any, outputs: Any) -> None:
        if self._activity_regularizer:
            for output in tf.nest.flatten(outputs):
                refuse_in_branch(output, "activity_regularizer")
        super()._add_activity_regularization(inputs, outputs)

    # Calling ------------------------------------------------------------------------------------

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Applies the layer, after building it on the first inputs."""
        from penstock.keras.engine.op_layers import (
            add_history,
            add_history_of_arguments,
            needs_history,
        )

        if tf.executing_eagerly() and has_symbols(inputs):
            with K.get_graph().as_default():
                return self(inputs, *args, **kwargs)
        if needs_history(inputs):
            add_history(inputs)
        given = dict(zip(self._call_fn_args[1:], args, strict=False)) | kwargs
        add_history_of_arguments(inputs, given)
        masks = tf.nest.map_structure(lambda each: getattr(each, "_keras_mask", None), inputs)
        has_mask = any(mask is not None for mask in tf.nest.flatten(masks))
        if has_mask and "mask" in self._call_fn_args and given.get("mask") is None:
            kwargs["mask"] = masks
        # A mask counts as an argument of the call only where a layer made it.
        self._given_arguments = {
            key: value
            for key, value in given.items()
            if key != "mask" or hasattr(value, "_keras_history")
        }
        return super().__call__(inputs, *args, **kwargs)

    def _inputs_of_calls(self) -> list[Any]:
        return [node.input_tensors for node in self._inbound_nodes]

    def _called(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        if tf.executing_eagerly() or not self.dynamic:
            effects = CallEffects(self) if is_layer_graph() else None
            with self._computing():
                outputs = super()._called(self._cast_inputs(inputs), *args, **kwargs)
            return outputs if effects is None else effects.before(outputs)
        # Such a layer can't be run in a graph: what it would give is known by its shape alone.
        shape = self.compute_output_shape(tf.nest.map_structure(lambda each: each.shape, inputs))
        dtype = self.dtype or tf.nest.flatten(inputs)[0].dtype.base_dtype
        return map_shapes(lambda each: tf.placeholder(dtype, shape=each), shape)

    def _default_training(self) -> Any:
        training = super()._default_training()
        if training is None and (K.global_learning_phase_is_set() or is_layer_graph()):
            return K.learning_phase()
        return training

    def _maybe_build(self, inputs: Any) -> None:
        if not self.built and not any(hasattr(each, "shape") for each in tf.nest.flatten(inputs)):
            self.build(None)
            self.built = True
        self._infer_policy(inputs)
        super()._maybe_build(inputs)

    def _after_call(self, inputs: Any, outputs: Any, args: Any, kwargs: Any) -> Any:
        given = self._given_arguments
        flat_inputs = tf.nest.flatten(inputs)
        if flat_inputs and all(hasattr(each, "_keras_history") for each in flat_inputs):
            outputs = tf.nest.map_structure(
                lambda each: tf.identity(each) if _needs_copy(each, flat_inputs) else each, outputs
            )
            Node(self, inputs, outputs, given)
        positional = dict(zip(self._call_fn_args[1:], args, strict=False))
        self._set_masks(inputs, outputs, (positional | kwargs).get("mask"))
        return outputs

    def _set_masks(self, inputs: Any, outputs: Any, given: Any) -> None:
        flat_outputs = tf.nest.flatten(outputs)
        if self._joint_output_and_mask:
            _leave_masks_without_layers(flat_outputs)
            return
        is_own = type(self).compute_mask is not Layer.compute_mask
        masks: Any = None
        if self.supports_masking or is_own:
            before = given
            if before is None:
                before = tf.nest.map_structure(
                    lambda each: getattr(each, "_keras_mask", None), inputs
                )
                if all(mask is None for mask in tf.nest.flatten(before)):
                    before = None
            masks = self.compute_mask(inputs, before)
        flat_masks = (
            [None] * len(flat_outputs)
            if masks is None
            else masks
            if isinstance(masks, (list, tuple))
            else [masks]
        )
        for output, mask in zip(flat_outputs, flat_masks, strict=False):
            if isinstance(output, tf.Tensor):
                setattr(output, _MASK, mask)
        _leave_masks_without_layers(flat_outputs)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the outputs: by default that of the inputs."""
        if not self.supports_masking:
            if any(each is not None for each in tf.nest.flatten(mask)):
                raise TypeError(
                    f"Layer {self.name} does not support masking, but was passed an input_mask: "
                    f"{mask}"
                )
            return None
        return mask

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The static shape of the outputs; by default the layer is tried in a graph of its own."""
        if tf.executing_eagerly():
            return tried_shape(self, input_shape)
        graph = tf.Graph()
        with graph.as_default():
            dtype = self.dtype or K.floatx()
            trial = map_shapes(lambda shape: tf.placeholder(dtype, shape=shape), input_shape)
            twin = type(self).from_config(self.get_config())
            outputs = twin(trial)
        return tf.nest.map_structure(lambda each: each.shape, outputs)

    def compute_output_signature(self, input_signature: Any) -> Any:
        """Shapes and types of the outputs for inputs of shapes and types."""
        shapes = tf.nest.map_structure(lambda spec: spec.shape, input_signature)
        dtype = self.dtype or tf.nest.flatten(input_signature)[0].dtype
        return map_shapes(
            lambda shape: tf.TensorSpec(shape=shape, dtype=tf.as_dtype(dtype)),
            self.compute_output_shape(shapes),
        )

    # Inputs and outputs of calls ----------------------------------------------------------------

    def _node(self, node_index: int, what: str) -> Node:
        if not self._inbound_nodes:
            raise RuntimeError(f"The layer has never been called and thus has no defined {what}.")
        if not node_index < len(self._inbound_nodes):
            raise ValueError(
                f"Asked to get {what} at node {node_index}, but the layer has only "
                f"{len(self._inbound_nodes)} inbound nodes."
            )
        return self._inbound_nodes[node_index]

    def get_input_at(self, node_index: int) -> Any:
        """The inputs of a call."""
        return _unwrapped(self._node(node_index, "input").input_tensors)

    def get_output_at(self, node_index: int) -> Any:
        """The outputs of a call."""
        return _unwrapped(self._node(node_index, "output").output_tensors)

    def get_input_shape_at(self, node_index: int) -> Any:
        """The shapes of the inputs of a call."""
        return _unwrapped(self._node(node_index, "input shape").input_shapes)

    def get_output_shape_at(self, node_index: int) -> Any:
        """The shapes of the outputs of a call."""
        return _unwrapped(self._node(node_index, "output shape").output_shapes)

    def get_input_mask_at(self, node_index: int) -> Any:
        """The masks of the inputs of a call."""
        return _masks_of(self.get_input_at(node_index))

    def get_output_mask_at(self, node_index: int) -> Any:
        """The masks of the outputs of a call."""
        return _masks_of(self.get_output_at(node_index))

    def _only_node(self, what: str) -> Node:
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self.name} is not connected, no {what} to return.")
        if len(self._inbound_nodes) > 1:
            raise AttributeError(
                f"Layer {self.name} has multiple inbound nodes, hence the notion of "
                f'"layer {what}" is ill-defined. Use `get_{what}_at(node_index)` instead.'
            )
        return self._inbound_nodes[0]

    @property
    def input(self) -> Any:
        """The inputs of the first call."""
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self.name} is not connected, no input to return.")
        return _unwrapped(self._inbound_nodes[0].input_tensors)

    @property
    def output(self) -> Any:
        """The outputs of the first call."""
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self.name} has no inbound nodes.")
        return _unwrapped(self._inbound_nodes[0].output_tensors)

    @property
    def input_mask(self) -> Any:
        return _masks_of(_unwrapped(self._only_node("input").input_tensors))

    @property
    def output_mask(self) -> Any:
        return _masks_of(_unwrapped(self._only_node("output").output_tensors))

    @property
    def input_shape(self) -> Any:
        """The shapes of the inputs, if they are the same for all calls."""
        return self._common_shape("input")

    @property
    def output_shape(self) -> Any:
        """The shapes of the outputs, if they are the same for all calls."""
        return self._common_shape("output")

    def _common_shape(self, what: str) -> Any:
        if not self._inbound_nodes:
            raise AttributeError(
                f"The layer has never been called and thus has no defined {what} shape."
            )
        shapes = [getattr(node, f"{what}_shapes") for node in self._inbound_nodes]
        if any(shape != shapes[0] for shape in shapes):
            raise AttributeError(
                f'The layer "{self.name}" has multiple inbound nodes, with different {what} '
                f'shapes. Hence the notion of "{what} shape" is ill-defined for the layer. Use '
                f"`get_{what}_shape_at(node_index)` instead."
            )
        return shapes[0]

    @property
    def inbound_nodes(self) -> list[Node]:
        """The calls of this layer."""
        return self._inbound_nodes

    @property
    def outbound_nodes(self) -> list[Node]:
        """The calls of other layers on outputs of this one."""
        return self._outbound_nodes


def _unwrapped(values: Any) -> Any:
    return values[0] if isinstance(values, list) and len(values) == 1 else values


#: What holds parts of a layer in an order, and by names.
_SEQUENCES = (list, tuple, List)
_MAPPINGS = (dict, Mapping)


def _layers_in(value: Any) -> Iterator[Any]:
    if isinstance(value, CoreLayer):
        if not getattr(value, "_is_metric", False):
            yield value
    elif isinstance(value, _SEQUENCES):
        for each in value:
            yield from _layers_in(each)
    elif isinstance(value, _MAPPINGS):
        for each in value.values():
            yield from _layers_in(each)


def _variables_in(value: Any) -> Iterator[Any]:
    if isinstance(value, tf.Variable):
        if not is_result_of_update(value):
            yield value
    elif isinstance(value, _SEQUENCES):
        for each in value:
            yield from _variables_in(each)
    elif isinstance(value, _MAPPINGS):
        for each in value.values():
            yield from _variables_in(each)


_SERIALIZERS = {
    "activation": activations.serialize,
    "initializer": initializers.serialize,
    "regularizer": regularizers.serialize,
    "constraint": constraints.serialize,
}


def _in_config(key: str, value: Any) -> Any:
    """An argument's value in the words of JSON; what it is follows from its name."""
    serialize = _SERIALIZERS.get(key.rpartition("_")[2])
    if serialize is None or value is None:
        return value
    return serialize(value)


def _masks_of(tensors: Any) -> Any:
    if isinstance(tensors, (list, tuple)):
        return [getattr(tensor, "_keras_mask", None) for tensor in tensors]
    return getattr(tensors, "_keras_mask", None)


def _needs_copy(output: Any, inputs: list[Any]) -> bool:
    """Whether an output must become a tensor of this call: a variable, or one of the inputs."""
    return isinstance(output, tf.Variable) or any(output is other for other in inputs)


def _leave_masks_without_layers(outputs: list[Any]) -> None:
    """Lets no layers be made of the operations of outputs' masks."""
    for output in outputs:
        mask: Any = getattr(output, _MASK, None)
        if isinstance(mask, tf.Tensor):
            setattr(mask, _CHECKED, True)
