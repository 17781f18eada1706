"""A layer's `call` as functions that a SavedModel can hold."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.engine.model import Model
from penstock.keras.saved_metadata import model_input_signature
from penstock.layers.call_context import call_context
from penstock.layers.core_layer import as_graph_code
from penstock.layers.input_spec import to_tensor_spec
from penstock.ops.graph_functions import GraphFunction, PolymorphicFunction

__all__ = ["LayerCall", "LayerCallCollection", "sublayers_of"]

_KEPT = ("_losses", "_eager_losses", "_updates")


def sublayers_of(layer: Any) -> list[Any]:
    """The layers that a layer or model is made of."""
    return list(layer.layers if isinstance(layer, Model) else layer._layers)


def uses_training(layer: Any) -> bool:
    """Whether a layer or one inside of it behaves differently while it is trained."""
    inside = sublayers_of(layer)
    return layer._expects_training_arg or any(uses_training(each) for each in inside)


@contextmanager
def effects_apart(layer: Any) -> Iterator[None]:
    """A block after which a layer and those inside have the losses and updates of before."""
    layers = [layer, *layer.submodules]
    before = [{name: each.__dict__[name] for name in _KEPT} for each in layers]
    for each in layers:
        each.__dict__.update({name: [] for name in _KEPT})
    try:
        yield
    finally:
        for each, kept in zip(layers, before, strict=True):
            each.__dict__.update(kept)


def _call_parameters(layer: Any) -> list[inspect.Parameter]:
    """The parameters of a layer's `call`; `training` is there if it matters, False by default."""
    given = inspect.signature(layer.call).parameters
    if "training" in given:
        own = [
            each.replace(default=False) if each.name == "training" and not each.default else each
            for each in given.values()
        ]
        return own
    parameters = list(given.values())
    if not uses_training(layer):
        return parameters
    by_position = [p for p in parameters if p.kind <= p.POSITIONAL_OR_KEYWORD]
    others = parameters[len(by_position) :]
    kind = inspect.Parameter.KEYWORD_ONLY if others else inspect.Parameter.POSITIONAL_OR_KEYWORD
    training = inspect.Parameter("training", kind, default=False)
    behind = [p for p in others if p.kind is p.VAR_KEYWORD]
    between = [p for p in others if p.kind is not p.VAR_KEYWORD]
    return [*by_position, *between, training, *behind]


def _input_specs(layer: Any) -> list[Any] | None:
    """The specs of a layer's inputs; with None for those that may have any shape."""
    if isinstance(layer.call, GraphFunction) and layer.call.input_signature is not None:
        return list(layer.call.input_signature)
    if isinstance(layer, Model):
        return model_input_signature(layer)
    if layer.input_spec is None:
        return None

    def spec_of(spec: Any) -> Any:
        found = to_tensor_spec(spec, layer.dtype or K.floatx())
        return None if found.shape.ndims is None else found

    return [tf.nest.map_structure(spec_of, layer.input_spec)]


class LayerCallCollection:
    """The functions of one layer: what one of them is called with, all are made for."""

    def __init__(self, layer: Any):
        self.layer = layer
        self.parameters = _call_parameters(layer)
        self.signature = inspect.Signature(self.parameters)
        self.has_training = "training" in self.signature.parameters
        self.tracing = False
        specs = _input_specs(layer)
        is_known = specs is not None and None not in tf.nest.flatten(specs)
        self._specs = specs if is_known else None
        self._functions: list[LayerCall] = []

    def add_function(self, call_fn: Callable[..., Any], name: str) -> LayerCall:
        """Makes a function of what takes the arguments of the layer's `call`.

        It is made for the layer's inputs at once, if their shapes are known.
        """
        takes_inputs_alone = len(self.parameters) == 1 and not self._takes_any_arguments()
        signature = self._specs if takes_inputs_alone else None
        function = LayerCall(self, call_fn, name, signature)
        self._functions.append(function)
        if self._specs is not None:
            self.add_trace(*self._specs)
        return function

    def _takes_any_arguments(self) -> bool:
        return any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in self.parameters)

    def add_trace(self, *args: Any, **kwargs: Any) -> None:
        """Makes all functions for such arguments, for training and for inference."""
        args, kwargs = tf.nest.map_structure(_as_spec, (args, kwargs))
        self.tracing = True
        try:
            with tf.init_scope():
                for function in self._functions:
                    self._trace(function, args, kwargs)
        finally:
            self.tracing = False

    def _trace(self, function: LayerCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not self.has_training:
            function.get_concrete_function(*args, **kwargs)
            return
        for training in (True, False):
            bound = self.signature.bind_partial(*args, **kwargs)
            bound.arguments["training"] = training
            with K.learning_phase_scope(int(training)):
                function.get_concrete_function(*bound.args, **bound.kwargs)

    def run(self, call_fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """What a function computes: it is called as the layer would be, without traces in it."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        training = bound.arguments.get("training")
        if self.has_training and not self.layer._expects_training_arg:
            # The layers inside take it from the context.
            del bound.arguments["training"]
        inputs = args[0] if args else None
        entered = call_context.enter(self.layer, inputs, True, training)
        with effects_apart(self.layer), entered:
            return call_fn(*bound.args, **bound.kwargs)


def _as_spec(value: Any) -> Any:
    if isinstance(value, tf.Tensor):
        return tf.TensorSpec(value.shape, value.dtype)
    return value


class LayerCall(PolymorphicFunction):
    """A function of a collection."""

    def __init__(
        self,
        call_collection: LayerCallCollection,
        call_fn: Callable[..., Any],
        name: str,
        input_signature: Any = None,
    ):
        def called(*args: Any, **kwargs: Any) -> Any:
            return call_collection.run(call_fn, args, kwargs)

        called.__signature__ = call_collection.signature  # type: ignore[attr-defined]
        self.call_collection = call_collection
        super().__init__(called, name, input_signature)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.call_collection.tracing:
            self.call_collection.add_trace(*args, **kwargs)
        return super().__call__(*args, **kwargs)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        if not self.call_collection.tracing:
            self.call_collection.add_trace(*args, **kwargs)
        return super().get_concrete_function(*args, **kwargs)

    def _list_all_concrete_functions_for_serialization(self) -> list[Any]:
        # Nothing is traced any more: layers may own what their calls make.
        made = self._all_concrete_functions()
        by_signature = {repr(each.structured_input_signature): each for each in reversed(made)}
        return list(reversed(by_signature.values()))


@contextmanager
def _calling(layer: Any, function: LayerCall) -> Iterator[None]:
    """A block in which a layer's `call` is its function, which also gives its losses."""

    def call(inputs: Any, *args: Any, **kwargs: Any) -> Any:
        outputs, losses = function(inputs, *args, **kwargs)
        layer.add_loss(losses, inputs)
        return outputs

    own = layer.__dict__.get("call")
    layer.__dict__["call"] = call
    try:
        yield
    finally:
        del layer.__dict__["call"]
        if own is not None:
            layer.__dict__["call"] = own


def functions_of(layer: Any, functions_of_sublayer: Callable[[Any], dict[str, Any]]) -> Any:
    """The functions of a layer by the names that a SavedModel has them by.

    Args:
      functions_of_sublayer: gives those of a layer inside, which are called in their turn.
    """
    replaced = [(each, functions_of_sublayer(each)) for each in sublayers_of(layer)]
    call = layer.call

    def with_losses(inputs: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        with layer._computing():
            outputs = as_graph_code(call)(layer._cast_inputs(inputs), *args, **kwargs)
        return outputs, layer.get_losses_for(inputs)

    def outputs_alone(*args: Any, **kwargs: Any) -> Any:
        return made["call_and_return_conditional_losses"](*args, **kwargs)[0]

    def with_all_losses(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        outputs, losses = made["call_and_return_conditional_losses"](*args, **kwargs)
        return outputs, [*losses, made["activity_regularizer_fn"](outputs)]

    collection = LayerCallCollection(layer)
    made: dict[str, Any] = {}
    name = f"{layer.name}_layer_call"
    with ExitStack() as stack:
        for each, functions in replaced:
            if "call_and_return_conditional_losses" in functions:
                function = functions["call_and_return_conditional_losses"]
                stack.enter_context(_calling(each, function))
        key = "call_and_return_conditional_losses"
        made[key] = collection.add_function(with_losses, f"{name}_and_return_conditional_losses")
        made["__call__"] = collection.add_function(outputs_alone, f"{name}_fn")
        made["call_and_return_all_conditional_losses"] = made[key]
        if layer.activity_regularizer is not None:
            spec = tf.TensorSpec(None, layer.dtype or K.floatx())
            made["activity_regularizer_fn"] = PolymorphicFunction(
                layer.activity_regularizer, f"{layer.name}_activity_regularizer", [spec]
            )
            made["call_and_return_all_conditional_losses"] = collection.add_function(
                with_all_losses, f"{name}_and_return_all_conditional_losses"
            )
    return made
