"""A layer's `call` as functions that a SavedModel can hold."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import penstock as tf
from penstock.ir.convert import CompositeTensor
from penstock.keras import backend as K
from penstock.keras.engine.model import Model
from penstock.keras.saved_metadata import model_input_signature
from penstock.layers.call_context import call_context
from penstock.layers.core_layer import as_graph_code
from penstock.layers.input_spec import to_tensor_spec
from penstock.ops.function_arguments import Arguments
from penstock.ops.graph_functions import GraphFunction, PolymorphicFunction

__all__ = ["WITH_LOSSES", "LayerCallCollection", "effects_apart", "functions_of", "sublayers_of"]

#: By this name a SavedModel has the function that gives a layer's outputs and its losses.
WITH_LOSSES = "call_and_return_conditional_losses"
_EFFECTS = ("_losses", "_updates")
_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD


def sublayers_of(layer: Any) -> list[Any]:
    """The layers that a layer or model is made of."""
    return list(layer.layers if isinstance(layer, Model) else layer._layers)


@contextmanager
def effects_apart(layer: Any) -> Iterator[None]:
    """A block after which a layer and those inside have the losses and updates of before."""
    layers = [layer, *layer.submodules]
    before = [{name: each.__dict__[name] for name in _EFFECTS} for each in layers]
    of_calls = [each._eager_losses for each in layers]
    for each in layers:
        each.__dict__.update({name: [] for name in _EFFECTS})
        each._eager_losses = []
    try:
        yield
    finally:
        for each, kept, losses in zip(layers, before, of_calls, strict=True):
            each.__dict__.update(kept)
            each._eager_losses = losses


def functions_of(
    layer: Any, functions_of_sublayer: Callable[[Any], dict[str, Any]]
) -> dict[str, Any]:
    """The functions of a layer by the names that a SavedModel has them by.

    Args:
      functions_of_sublayer: gives those of a layer inside, which are called in their turn.
    """
    inside = [(each, functions_of_sublayer(each).get(WITH_LOSSES)) for each in sublayers_of(layer)]
    computed = _computed_by(layer)
    with ExitStack() as stack:
        for each, function in inside:
            if function is not None:
                stack.enter_context(_calling(each, function))
        return _made_functions(layer, computed)


def _computed_by(layer: Any) -> Callable[..., tuple[Any, Any]]:
    """What gives a layer's outputs and those of its losses that depend on the inputs."""
    call = layer.call

    def computed(inputs: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        with layer._computing():
            outputs = as_graph_code(call)(layer._cast_inputs(inputs), *args, **kwargs)
        return outputs, layer.get_losses_for(inputs)

    return computed


def _made_functions(layer: Any, computed: Callable[..., tuple[Any, Any]]) -> dict[str, Any]:
    calls = LayerCallCollection(layer)
    name = f"{layer.name}_layer_call"
    both = calls.add_function(computed, f"{name}_and_return_conditional_losses")

    def outputs_alone(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[0]

    made: dict[str, Any] = {
        WITH_LOSSES: both,
        "__call__": calls.add_function(outputs_alone, f"{name}_fn"),
        "call_and_return_all_conditional_losses": both,
    }
    if layer.activity_regularizer is None:
        return made
    penalty = made["activity_regularizer_fn"] = PolymorphicFunction(
        layer.activity_regularizer,
        f"{layer.name}_activity_regularizer",
        [tf.TensorSpec(None, layer.dtype or K.floatx())],
    )

    def with_penalty(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        outputs, losses = both(*args, **kwargs)
        return outputs, [*losses, penalty(outputs)]

    made["call_and_return_all_conditional_losses"] = calls.add_function(
        with_penalty, f"{name}_and_return_all_conditional_losses"
    )
    return made


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


class LayerCallCollection:
    """The functions of one layer.

    1. All take the same parameters: those of the layer's `call`, and `training` if it matters.
    2. A form of arguments (specs for tensors, `training` left out) that one of them meets is noted
       before anything is built for it, and all of them are built for it, trained or not.
    3. Who is added later is built for the forms that are known.
    """

    def __init__(self, layer: Any):
        self._layer = layer
        parameters = _parameters(layer)
        self.signature = inspect.Signature(parameters)
        self._has_training = "training" in self.signature.parameters
        specs = _specs(layer)
        is_single = len(parameters) == 1 and parameters[0].kind <= _POSITIONAL
        self._only_form = specs if is_single else None
        self._forms: dict[str, Arguments] = {}
        self._functions: list[LayerCall] = []
        if specs is not None:
            self._note((tuple(specs), {}))

    def add_function(self, call_fn: Callable[..., Any], name: str) -> LayerCall:
        """Makes a function of what takes the arguments of the layer's `call`."""
        function = LayerCall(self, call_fn, name, self._only_form)
        self._functions.append(function)
        for form in list(self._forms.values()):
            self._build([function], form)
        return function

    def meet(self, function: LayerCall, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Lets all functions be ready for the arguments that one of them is about to be given."""
        if self._only_form is not None:
            return
        bound = self.signature.bind_partial(*args, **kwargs)
        bound.arguments.pop("training", None)
        given = function.function_spec.canonicalize_function_inputs(*bound.args, **bound.kwargs)
        form = tf.nest.map_structure(_as_spec, given)
        if self._note(form):
            self._build(self._functions, form)

    def _note(self, form: Arguments) -> bool:
        """Notes a form; whether it is new. The names of tensors make no difference."""
        bound = self.signature.bind_partial(*form[0], **form[1])
        bound.apply_defaults()
        bound.arguments.pop("training", None)
        key = repr(tf.nest.map_structure(_without_name, (bound.args, bound.kwargs)))
        is_new = key not in self._forms
        self._forms.setdefault(key, form)
        return is_new

    def _build(self, functions: list[LayerCall], form: Arguments) -> None:
        args, kwargs = form
        with tf.init_scope():  # they belong to the layer, not to the function that calls it
            for function in functions:
                if not self._has_training:
                    function.build(*args, **kwargs)
                    continue
                for training in (True, False):
                    bound = self.signature.bind_partial(*args, **kwargs)
                    bound.arguments["training"] = training
                    with K.learning_phase_scope(int(training)):
                        function.build(*bound.args, **bound.kwargs)

    def run(self, call_fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """What a function computes: it is called as the layer would be, and leaves no effects."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        training = bound.arguments.get("training")
        if self._has_training and not self._layer._expects_training_arg:
            # The layers inside take it from the context.
            del bound.arguments["training"]
        inputs = args[0] if args else None
        entered = call_context.enter(self._layer, inputs, True, training)
        with effects_apart(self._layer), entered:
            return call_fn(*bound.args, **bound.kwargs)


class LayerCall(PolymorphicFunction):
    """A function of a layer, for which the others are built whenever it is."""

    def __init__(
        self,
        calls: LayerCallCollection,
        call_fn: Callable[..., Any],
        name: str,
        input_signature: Any = None,
    ):
        def called(*args: Any, **kwargs: Any) -> Any:
            return calls.run(call_fn, args, kwargs)

        called.__signature__ = calls.signature  # type: ignore[attr-defined]
        self._calls = calls
        super().__init__(called, name, input_signature)

    #: Builds the function for arguments, and no other.
    build = PolymorphicFunction.get_concrete_function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._calls.meet(self, args, kwargs)
        return super().__call__(*args, **kwargs)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        self._calls.meet(self, args, kwargs)
        return super().get_concrete_function(*args, **kwargs)

    def _list_all_concrete_functions_for_serialization(self) -> list[Any]:
        # Nothing is traced any more: layers may own what their calls make.
        made = self._all_concrete_functions()
        by_signature = {repr(each.structured_input_signature): each for each in reversed(made)}
        return list(reversed(by_signature.values()))


# Arguments ----------------------------------------------------------------------------------------


def _parameters(layer: Any) -> list[inspect.Parameter]:
    """The parameters of a layer's `call`; `training` is there if it matters, False by default."""
    given = list(inspect.signature(layer.call).parameters.values())
    if any(each.name == "training" for each in given):
        return [
            each.replace(default=False) if each.name == "training" and not each.default else each
            for each in given
        ]
    if not _uses_training(layer):
        return given
    is_last = all(each.kind <= _POSITIONAL for each in given)
    kind = _POSITIONAL if is_last else inspect.Parameter.KEYWORD_ONLY
    added = inspect.Parameter("training", kind, default=False)
    return sorted([*given, added], key=lambda each: each.kind)  # behind others of its kind


def _uses_training(layer: Any) -> bool:
    """Whether a layer or one inside of it behaves differently while it is trained."""
    return layer._expects_training_arg or any(map(_uses_training, sublayers_of(layer)))


def _specs(layer: Any) -> list[Any] | None:
    """The specs of a layer's inputs, if they are known."""
    signature = layer.call.input_signature if isinstance(layer.call, GraphFunction) else None
    if signature is not None:
        return list(signature)
    if isinstance(layer, Model):
        return model_input_signature(layer)
    if layer.input_spec is None:
        return None
    dtype = layer.dtype or K.floatx()
    specs = tf.nest.map_structure(lambda each: to_tensor_spec(each, dtype), layer.input_spec)
    has_any_shape = any(each.shape.ndims is None for each in tf.nest.flatten(specs))
    return None if has_any_shape else [specs]


def _as_spec(value: Any) -> Any:
    return tf.TensorSpec(value.shape, value.dtype) if isinstance(value, tf.Tensor) else value


def _without_name(value: Any) -> Any:
    if isinstance(value, tf.TensorSpec):
        return value.shape, value.dtype
    return value._type_spec if isinstance(value, CompositeTensor) else value
