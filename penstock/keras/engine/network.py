"""Layers joined to a graph: what `Model` and `Sequential` have in common without training."""

from __future__ import annotations

import importlib
import json
from functools import cached_property
from typing import Any

import numpy as np

import penstock as tf
from penstock.ir.trackable import TrackableReference
from penstock.keras import backend as K
from penstock.keras.engine import network_config
from penstock.keras.engine.added_layers import AddLoss, AddMetric
from penstock.keras.engine.layer import Layer
from penstock.keras.engine.layer_graph import in_layer_graph
from penstock.keras.engine.node import Node
from penstock.keras.engine.op_layers import add_history, needs_history
from penstock.keras.engine.static_batches import check_batch_sizes_of_inputs
from penstock.keras.engine.subclass_building import built_by_call
from penstock.keras.engine.topology import GraphOfLayers
from penstock.layers.call_context import call_context
from penstock.layers.core_layer import CoreLayer
from penstock.train.tracking import TrackableSaver, saver_with_op_caching

__all__ = ["Network"]

_WITH_WEIGHTS = "layer_with_weights-"  # the beginning of a name in a checkpoint


class Network(Layer):
    """A layer of layers.

    Made from input and output tensors it is the graph of layers between them; a subclass with a
    `call` of its own is what it computes there.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        self.__dict__["_has_init"] = True
        inputs, outputs, name = _network_arguments(args, kwargs)
        trainable = kwargs.pop("trainable", True)
        if outputs is not None and kwargs:
            raise TypeError(
                "A model of inputs and outputs takes `name` and `trainable` beside them. Got an "
                f"unexpected argument: {sorted(kwargs)}"
            )
        super().__init__(name=name, trainable=trainable, dtype=kwargs.pop("dtype", None), **kwargs)
        self._is_graph_network = False
        self.inputs: Any = []
        self.outputs: Any = []
        self._graph_of_layers: GraphOfLayers | None = None
        self.supports_masking = True
        self._joint_output_and_mask = True
        if outputs is not None:
            self._init_graph_network(inputs, outputs)

    def __setattr__(self, name: str, value: Any) -> None:
        if not self.__dict__.get("_has_init") and all(map(_has_weights, tf.nest.flatten(value))):
            raise RuntimeError(
                "It looks like you are subclassing `Model` and you forgot to call "
                "`super(YourClass, self).__init__()`. Always start with this line."
            )
        super().__setattr__(name, value)

    @cached_property
    def _trackable_saver(self) -> TrackableSaver:
        """What saves and loads weights as checkpoints; it makes its nodes once."""
        return saver_with_op_caching(self)

    @property
    def _layers_in_checkpoints(self) -> dict[str, Any]:
        """The layers by the names that TensorFlow gives them in object-based checkpoints."""
        if self.__dict__.get("_is_graph_network"):
            return _names_in_checkpoints(self._layers)
        if "_stack" not in self.__dict__:
            return {}  # the layers of a subclass have the names of its attributes
        # A stack that is built late has had its layers before these had weights.
        names = _names_in_checkpoints(self.layers)
        return dict(sorted(names.items(), key=lambda item: item[0].startswith(_WITH_WEIGHTS)))

    @property
    def _checkpoint_dependencies(self) -> list[Any]:
        layers = [TrackableReference(*item) for item in self._layers_in_checkpoints.items()]
        return layers + super()._checkpoint_dependencies

    def _lookup_dependency(self, name: str) -> Any:
        return self._layers_in_checkpoints.get(name) or super()._lookup_dependency(name)

    _object_identifier = "_tf_keras_network"

    def _restore_waiting_layer(self, layer: Any) -> None:
        """Restores a layer that came after a checkpoint which has it was restored."""
        for name, owned in list(self._layers_in_checkpoints.items()):
            if owned is layer:
                self._handle_deferred_dependencies(name=name, trackable=layer)

    @in_layer_graph
    def _init_graph_network(self, inputs: Any, outputs: Any) -> None:
        if needs_history(outputs):
            add_history(outputs)
        inputs, outputs = _out_of_its_list(inputs), _out_of_its_list(outputs)
        self.inputs = tf.nest.flatten(inputs)
        self.outputs = tf.nest.flatten(outputs)
        self._nested_inputs = inputs
        self._nested_outputs = outputs
        _check_inputs(self.inputs)
        check_batch_sizes_of_inputs(self.inputs)
        for tensor in self.outputs:
            if not hasattr(tensor, "_keras_history"):
                raise ValueError(
                    "Output tensors to a " + type(self).__name__ + " must be the output of a "
                    f"TensorFlow `Layer` (thus holding past layer metadata). Found: {tensor}"
                )
        graph = GraphOfLayers(self.inputs, self.outputs, self.name)
        refuse_legacy_layers(graph.layers)
        self._graph_of_layers = graph
        self._layers = graph.layers
        self._is_graph_network = True
        self._autocast = False  # its layers cast their inputs themselves
        self.built = True
        self.input_names = [tensor._keras_history.layer.name for tensor in self.inputs]
        self.output_names = _unique_names(self.outputs)
        # Not by attributes' usual way: a program's own lists of layers of these names are parts.
        self.__dict__["_input_layers"] = [tensor._keras_history.layer for tensor in self.inputs]
        self.__dict__["_output_layers"] = [tensor._keras_history.layer for tensor in self.outputs]
        # A graph network is itself a call of a layer, so that `model.output` and other models work.
        histories = [tensor._keras_history for tensor in self.outputs]
        Node(self, inputs, outputs, {})
        for tensor, history in zip(self.outputs, histories, strict=True):
            tensor._keras_history = history

    @property
    def _is_connected(self) -> bool:
        """Whether the layers are a graph, be it of a stack that was built on its first data."""
        return self._is_graph_network or self.__dict__.get("_is_built_late", False)

    # What is added later ------------------------------------------------------------------------

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        for loss in tf.nest.flatten(losses):
            if self._is_computed_here(loss):
                self._insert_call(AddLoss(unconditional=False), loss)
            else:
                super().add_loss(loss, inputs)

    def add_metric(
        self, value: Any, aggregation: str | None = None, name: str | None = None
    ) -> Any:
        if not self._is_computed_here(value) or hasattr(value, "_metric_obj") or name is None:
            return super().add_metric(value, aggregation, name)
        self._insert_call(AddMetric(aggregation, name), value)
        return value

    def _is_computed_here(self, value: Any) -> bool:
        """Whether a tensor was made, outside of all calls, from what this network computes."""
        return (
            self._is_graph_network
            and not call_context.in_call
            and isinstance(value, tf.Tensor)
            and (hasattr(value, "_keras_history") or needs_history(value))
        )

    def _insert_call(self, layer: Any, value: Any) -> None:
        layer(value)
        leading = GraphOfLayers(self.inputs, [value], self.name).nodes
        self._insert_layers([], [*leading, *layer.inbound_nodes])

    def _insert_layers(self, layers: Any, relevant_nodes: Any = None) -> None:
        """Makes layers that were called on this network's tensors parts of it."""
        assert self._graph_of_layers is not None
        flat = tf.nest.flatten(layers)
        refuse_legacy_layers(flat)
        nodes = relevant_nodes or [node for layer in flat for node in layer._inbound_nodes]
        for layer in self._graph_of_layers.insert(list(nodes)):
            if all(layer is not known for known in self._layers):  # a stack has a list of its own
                self._layers.append(layer)

    # Layers -------------------------------------------------------------------------------------

    @property
    def layers(self) -> list[Any]:
        """The layers, in the order of the graph or of the attributes."""
        return list(self._layers)

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """A layer by its name or its index."""
        if index is not None:
            if len(self.layers) <= index:
                raise ValueError(
                    f"Was asked to retrieve layer at index {index} but model only has "
                    f"{len(self.layers)} layers."
                )
            return self.layers[index]
        if not name:
            raise ValueError("Provide either a layer name or layer index.")
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}")

    @property
    def input_spec(self) -> Any:
        """As many inputs as the network has; what each must be like is up to its layers."""
        count = len(self.inputs or ()) if self._is_graph_network else 1
        return None if count == 1 else [None] * count

    @input_spec.setter
    def input_spec(self, value: Any) -> None:
        """A network's layers have their own."""

    @property
    def dynamic(self) -> bool:
        return self._dynamic or any(layer.dynamic for layer in self._layers)

    @property
    def stateful(self) -> bool:
        return any(getattr(layer, "stateful", False) for layer in self._layers)

    @stateful.setter
    def stateful(self, value: bool) -> None:
        """A network is stateful if one of its layers is."""

    def reset_states(self) -> None:
        """Forgets the states of stateful recurrent layers."""
        for layer in self._layers:
            if hasattr(layer, "reset_states") and getattr(layer, "stateful", False):
                layer.reset_states()

    @property
    def state_updates(self) -> list[Any]:
        """The updates of stateful layers, which predictions run too."""
        return [
            update
            for layer in self._layers
            if getattr(layer, "stateful", False) and hasattr(layer, "updates")
            for update in layer.updates
        ]

    # Inputs that are fed ------------------------------------------------------------------------

    @property
    def _feed_inputs(self) -> list[Any]:
        return [tensor for tensor in self.inputs if K.is_placeholder(tensor)]

    @property
    def _feed_input_names(self) -> list[str]:
        return [
            name
            for name, tensor in zip(self.input_names, self.inputs, strict=True)
            if K.is_placeholder(tensor)
        ]

    @property
    def _feed_input_shapes(self) -> list[Any]:
        return [K.int_shape(tensor) for tensor in self._feed_inputs]

    # Calling ------------------------------------------------------------------------------------

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Computes the outputs; subclasses without a graph define it."""
        if self._graph_of_layers is None:
            raise NotImplementedError(
                "When subclassing the `Model` class, you should implement a `call` method."
            )
        outputs = self._graph_of_layers.run(inputs, training=training, mask=mask)
        return tf.nest.pack_sequence_as(self._nested_outputs, outputs)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        if self._graph_of_layers is None:
            return None
        outputs = self._graph_of_layers.run(inputs, mask=mask)
        masks = [getattr(output, "_keras_mask", None) for output in outputs]
        return masks[0] if len(masks) == 1 else masks

    def compute_output_shape(self, input_shape: Any) -> Any:
        if self._graph_of_layers is None:
            raise NotImplementedError("the network isn't one of layers: call it to get its shape")
        flat = self._graph_of_layers.output_shapes(input_shape)
        if isinstance(self._nested_outputs, dict):
            return dict(zip(sorted(self._nested_outputs), flat, strict=True))
        return flat[0] if len(flat) == 1 else flat

    def build(self, input_shape: Any) -> None:
        """Makes the variables of a subclassed model, on inputs of a shape."""
        if self._is_graph_network or self._building:
            self.built = True
            return
        if not _is_overridden(self):
            raise NotImplementedError(
                "When subclassing the `Model` class, you should implement a `call` method."
            )
        built_by_call(self, input_shape)
        self.built = True

    @property
    def _building(self) -> bool:
        return call_context.layer is self

    # Saving -------------------------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        if not self._is_graph_network:
            raise NotImplementedError
        return network_config.config_of(self)

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The model that `get_config` described, with new weights."""
        inputs, outputs, nodes = network_config.tensors_from(config, custom_objects)
        model = cls(inputs=inputs, outputs=outputs, name=config.get("name"))
        if nodes:  # also of losses and metrics, to which no output leads
            model._insert_layers([], nodes)
        return model

    def to_json(self, **kwargs: Any) -> str:
        """The architecture as JSON; `json.dumps` takes the further arguments."""
        return json.dumps(network_config.described(self), default=json_value, **kwargs)

    def to_yaml(self, **kwargs: Any) -> str:
        """The architecture as YAML; `yaml.dump` takes the further arguments."""
        plain = json.loads(json.dumps(network_config.described(self), default=json_value))
        text: str = yaml_module().dump(plain, **kwargs)
        return text

    def save(
        self,
        filepath: str,
        overwrite: bool = True,
        include_optimizer: bool = True,
        save_format: str | None = None,
        signatures: Any = None,
        options: Any = None,
    ) -> None:
        """Writes architecture, weights and the optimizer's state.

        Args:
          save_format: "h5", the default, or "tf" for a SavedModel.
          signatures: of a SavedModel, as `tf.saved_model.save` takes them.
        """
        from penstock.keras.saving import save_model

        save_model(self, filepath, overwrite, include_optimizer, save_format, signatures)

    def save_weights(
        self, filepath: str, overwrite: bool = True, save_format: str | None = None
    ) -> None:
        """Writes the weights: into HDF5 for ".h5" and ".keras", else into a checkpoint."""
        from penstock.keras.saving import save_weights

        save_weights(self, filepath, overwrite, save_format)

    def load_weights(self, filepath: str, by_name: bool = False) -> Any:
        """Reads weights that `save_weights` wrote.

        Args:
          by_name: sets layers of the same name only.
        """
        from penstock.keras.saving import load_weights

        return load_weights(self, filepath, by_name)

    def get_weights(self) -> list[Any]:
        return K.batch_get_value(self.weights)

    @property
    def weights(self) -> list[Any]:
        """All variables, layer by layer."""
        self._assert_weights_created()
        found: list[Any] = []
        for layer in self._layers:
            found += [w for w in layer.weights if not any(w is known for known in found)]
        own = [*self._trainable_weights, *self._non_trainable_weights]
        return found + own

    @property
    def trainable_weights(self) -> list[Any]:
        self._assert_weights_created()
        if not self.trainable:
            return []
        return self._of_sublayers("trainable_weights") + self._trainable_weights

    @property
    def non_trainable_weights(self) -> list[Any]:
        self._assert_weights_created()
        fixed = self._of_sublayers("non_trainable_weights") + self._non_trainable_weights
        if self.trainable:
            return fixed
        return self._of_sublayers("trainable_weights") + self._trainable_weights + fixed

    def _assert_weights_created(self) -> None:
        # A model without a `build` of its own has what its attributes own, called or not.
        builds = "build" in type(self).__dict__
        if self.dynamic or self.built or self._is_graph_network or not builds:
            return
        raise ValueError(
            f"Weights for model {self.name} have not yet been created. Weights are created when "
            "the Model is first called on inputs or `build()` is called with an `input_shape`."
        )

    def summary(
        self,
        line_length: int | None = None,
        positions: Any = None,
        print_fn: Any = None,
    ) -> None:
        """Prints the layers with their output shapes and numbers of weights."""
        from penstock.keras.utils.layer_summary import print_summary

        if not self.built:
            raise ValueError(
                "This model has not yet been built. Build the model first by calling `build()` or "
                "calling `fit()` with some data, or specify an `input_shape` argument in the first "
                "layer(s) for automatic build."
            )
        print_summary(self, line_length=line_length, positions=positions, print_fn=print_fn)


def _network_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, Any]:
    if len(args) in (2, 3) or "outputs" in kwargs or "inputs" in kwargs:
        names = ("inputs", "outputs", "name")
        given = dict(zip(names, args, strict=False))
        given.update({key: kwargs.pop(key) for key in names if key in kwargs})
        return given.get("inputs"), given.get("outputs"), given.get("name")
    name = args[0] if args else None
    if isinstance(name, Network):  # `super().__init__(self)`, as some programs write it
        name = None
    if name is not None and not isinstance(name, str):
        raise ValueError("A model needs inputs and outputs")
    return None, None, kwargs.pop("name", name)


def yaml_module() -> Any:
    """PyYAML, which only descriptions of models in YAML need."""
    try:
        return importlib.import_module("yaml")
    except ImportError:
        raise ImportError("Requires yaml module installed (`pip install pyyaml`).") from None


def refuse_legacy_layers(layers: list[Any]) -> None:
    """TypeError if some of the layers are of `tf.layers`, which models can't describe."""
    legacy = [
        each for each in layers if isinstance(each, CoreLayer) and not isinstance(each, Layer)
    ]
    if legacy:
        shown = "\n".join(f"  {layer}" for layer in legacy)
        raise TypeError(
            f"The following are legacy tf.layers.Layers:\n{shown}\nTo use keras as a framework "
            "(for instance using the Network, Model, or Sequential classes), please use the "
            "tf.keras.layers implementation instead. (Or, if writing custom layers, subclass from "
            "tf.keras.layers rather than tf.layers)"
        )


def _names_in_checkpoints(layers: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with_weights = 0
    for index, layer in enumerate(layers):
        # A model inside that is not built yet counts as one without weights.
        if (not isinstance(layer, Network) or layer.built) and layer.weights:
            found[f"{_WITH_WEIGHTS}{with_weights}"] = layer
            with_weights += 1
        found[f"layer-{index}"] = layer
    return found


def _has_weights(value: Any) -> bool:
    return isinstance(value, (CoreLayer, tf.Variable))


def _out_of_its_list(nested: Any) -> Any:
    """A list of one tensor is that tensor; tuples and dicts stay what they are."""
    is_one = isinstance(nested, list) and len(tf.nest.flatten(nested)) == 1
    return nested[0] if is_one else nested


def _check_inputs(inputs: list[Any]) -> None:
    if len({id(tensor) for tensor in inputs}) != len(inputs):
        raise ValueError(
            "The list of inputs passed to the model is redundant. All inputs should only appear "
            f"once. Found: {inputs}"
        )
    for tensor in inputs:
        if not hasattr(tensor, "_keras_history"):
            raise ValueError(
                "Input tensors to a Model must come from `tf.keras.Input`. Received: "
                f"{tensor} (missing previous layer metadata)."
            )
    for tensor in inputs:
        _check_sources(tensor, inputs)


def _check_sources(tensor: Any, inputs: list[Any]) -> None:
    """Refuses an input that a layer made of what the other inputs do not lead to."""
    known = {id(each) for each in inputs if each is not tensor}
    pending = [tensor]
    while pending:
        layer, node_index, _ = pending.pop()._keras_history
        sources = tf.nest.flatten(layer._inbound_nodes[node_index].input_tensors)
        for source in sources:
            if id(source) in known or source is tensor:
                continue
            history = source._keras_history
            if not history.layer._inbound_nodes[history.node_index].histories:
                raise ValueError(
                    f"Graph disconnected: cannot obtain value for tensor {source} at layer "
                    f'"{layer.name}". The following previous layers were accessed without issue: []'
                )
            pending.append(source)


def _unique_names(outputs: list[Any]) -> list[str]:
    names: list[str] = []
    counts: dict[str, int] = {}
    for tensor in outputs:
        name = tensor._keras_history.layer.name
        counts[name] = counts.get(name, -1) + 1
        names.append(f"{name}_{counts[name]}" if counts[name] else name)
    return names


def _is_overridden(network: Network) -> bool:
    return type(network).call is not Network.call


def json_value(value: Any) -> Any:
    """What JSON lacks: numbers of NumPy, types, shapes, functions by their names."""
    if hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tf.TensorShape):
        return value.as_list()
    if isinstance(value, tf.DType):
        return value.name
    if hasattr(value, "__name__"):
        return value.__name__
    raise TypeError(f"Not JSON Serializable: {value!r}")
