"""Small Keras models of several kinds for tests: TensorFlow's `keras.testing_utils`.

A test asks for a model without saying how it is made; `model_type_scope` says it: "sequential",
"functional", "subclass" or "subclass_custom_build".
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from penstock import keras
from penstock.ir.defaults import executing_eagerly
from penstock.keras import dtype_behavior, optimizers
from penstock.testing.keras_layers import layer_test

__all__ = [
    "disable_v2_dtype_behavior",
    "enable_v2_dtype_behavior",
    "experimental_run_tf_function_scope",
    "get_expected_metric_variable_names",
    "get_model_from_layers",
    "get_model_type",
    "get_multi_io_model",
    "get_small_functional_mlp",
    "get_small_mlp",
    "get_small_sequential_mlp",
    "get_small_subclass_mlp",
    "get_small_subclass_mlp_with_custom_build",
    "get_test_data",
    "get_v2_optimizer",
    "layer_test",
    "model_type_scope",
    "run_eagerly_scope",
    "should_run_eagerly",
    "should_run_tf_function",
]

Layers = Sequence[Any]
Test = Callable[..., Any]


class _Settings(threading.local):
    """What the scopes around a test say, in its thread."""

    model_type: str | None = None
    run_eagerly: bool | None = None
    experimental_run_tf_function: bool | None = None


_settings = _thread_local_data = _Settings()  # the second name is TensorFlow's


@contextmanager
def _setting(name: str, value: Any) -> Iterator[Any]:
    before = getattr(_settings, name)
    setattr(_settings, name, value)
    try:
        yield value
    finally:
        setattr(_settings, name, before)


def model_type_scope(value: str) -> Any:
    """A `with` block in which models are made in the way of `value`."""
    return _setting("model_type", value)


def run_eagerly_scope(value: bool) -> Any:
    """A `with` block for `should_run_eagerly`."""
    return _setting("run_eagerly", value)


def experimental_run_tf_function_scope(value: bool) -> Any:
    """A `with` block for `should_run_tf_function`."""
    return _setting("experimental_run_tf_function", value)


def should_run_eagerly() -> bool:
    """What a test gives to `compile(run_eagerly=)`."""
    if _settings.run_eagerly is None:
        raise ValueError(
            "Cannot call `should_run_eagerly()` outside of a `run_eagerly_scope()` or "
            "`run_all_keras_modes` decorator."
        )
    return _settings.run_eagerly and executing_eagerly()


def should_run_tf_function() -> bool:
    """What a test gives to `compile(experimental_run_tf_function=)`."""
    if _settings.experimental_run_tf_function is None:
        raise ValueError(
            "Cannot call `should_run_tf_function()` outside of a "
            "`experimental_run_tf_function_scope()` or `run_all_keras_modes` decorator."
        )
    return _settings.experimental_run_tf_function and executing_eagerly()


def get_model_type() -> str:
    """How models are to be made."""
    if _settings.model_type is None:
        raise ValueError(
            "Cannot call `get_model_type()` outside of a `model_type_scope()` or "
            "`run_with_all_model_types` decorator."
        )
    return _settings.model_type


def get_test_data(
    train_samples: int,
    test_samples: int,
    input_shape: tuple[int, ...],
    num_classes: int,
    random_seed: int | None = None,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Points around one centre per class, with their classes: those to train on, and the rest."""
    if random_seed is not None:
        np.random.seed(random_seed)  # noqa: NPY002
    count = train_samples + test_samples
    centres = 2 * num_classes * np.random.random((num_classes, *input_shape))  # noqa: NPY002
    labels = np.random.randint(0, num_classes, size=(count,))  # noqa: NPY002
    points = np.zeros((count, *input_shape), np.float32)
    for index, label in enumerate(labels):  # one draw per point, as TensorFlow's draws come
        points[index] = centres[label] + np.random.normal(loc=0, scale=1.0, size=input_shape)  # noqa: NPY002
    return (
        (points[:train_samples], labels[:train_samples]),
        (points[train_samples:], labels[train_samples:]),
    )


def _mlp_layers(num_hidden: int, num_classes: int, **first: Any) -> list[Any]:
    last = "sigmoid" if num_classes == 1 else "softmax"
    return [
        keras.layers.Dense(num_hidden, activation="relu", **first),
        keras.layers.Dense(num_classes, activation=last),
    ]


def get_small_sequential_mlp(
    num_hidden: int, num_classes: int, input_dim: int | None = None
) -> Any:
    """Two dense layers in a `Sequential`."""
    first = {"input_dim": input_dim} if input_dim else {}
    return keras.models.Sequential(_mlp_layers(num_hidden, num_classes, **first))


def get_small_functional_mlp(num_hidden: int, num_classes: int, input_dim: int) -> Any:
    """Two dense layers called on an `Input`."""
    inputs = keras.Input(shape=(input_dim,))
    return keras.Model(inputs, _chained(_mlp_layers(num_hidden, num_classes), inputs))


class _SmallMlp(keras.Model):
    """Two dense layers, as attributes."""

    def __init__(self, num_hidden: int, num_classes: int):
        super().__init__()
        self.layer_a, self.layer_b = _mlp_layers(num_hidden, num_classes)

    def call(self, inputs: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        return self.layer_b(self.layer_a(inputs))


class _SmallMlpOfBuild(keras.Model):
    """Two dense layers that `build` makes."""

    def __init__(self, num_hidden: int, num_classes: int):
        super().__init__()
        self.layer_a: Any = None
        self.layer_b: Any = None
        self.num_hidden = num_hidden
        self.num_classes = num_classes

    def build(self, input_shape: Any) -> None:
        self.layer_a, self.layer_b = _mlp_layers(self.num_hidden, self.num_classes)

    def call(self, inputs: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        return self.layer_b(self.layer_a(inputs))


def get_small_subclass_mlp(num_hidden: int, num_classes: int) -> Any:
    """Two dense layers in a class derived from `Model`."""
    return _SmallMlp(num_hidden, num_classes)


def get_small_subclass_mlp_with_custom_build(num_hidden: int, num_classes: int) -> Any:
    """Two dense layers in a class whose `build` makes them."""
    return _SmallMlpOfBuild(num_hidden, num_classes)


def get_small_mlp(num_hidden: int, num_classes: int, input_dim: int) -> Any:
    """Two dense layers in a model of the kind that `model_type_scope` says."""
    makers: dict[str, Callable[[], Any]] = {
        "subclass": lambda: get_small_subclass_mlp(num_hidden, num_classes),
        "subclass_custom_build": lambda: get_small_subclass_mlp_with_custom_build(
            num_hidden, num_classes
        ),
        "sequential": lambda: get_small_sequential_mlp(num_hidden, num_classes, input_dim),
        "functional": lambda: get_small_functional_mlp(num_hidden, num_classes, input_dim),
    }
    return _of_type(makers)


def _of_type(makers: dict[str, Callable[[], Any]]) -> Any:
    kind = get_model_type()
    if kind not in makers:
        raise ValueError(f"Unknown model type {kind}")
    return makers[kind]()


def _chained(layers: Layers, value: Any) -> Any:
    for layer in layers:
        value = layer(value)
    return value


class _Chain(keras.Model):
    """Layers one after the other, as attributes `layer0`, `layer1`, …"""

    def __init__(self, layers: Layers, *args: Any, **kwargs: Any):
        inputs = kwargs.pop("input_tensor", None)
        super().__init__(*args, **kwargs)
        for index, layer in enumerate(layers):
            setattr(self, f"layer{index}", layer)
        self.num_layers = len(layers)
        if inputs is not None:
            self._set_inputs(inputs)

    def call(self, inputs: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        return _chained([getattr(self, f"layer{each}") for each in range(self.num_layers)], inputs)


class _ChainOfBuild(keras.Model):
    """Layers one after the other, which `build` makes."""

    def __init__(self, make_layers: Callable[[], Layers], *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.all_layers: Any = None
        self._make_layers = make_layers

    def build(self, input_shape: Any) -> None:
        self.all_layers = list(self._make_layers())

    def call(self, inputs: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        return _chained(self.all_layers, inputs)


def get_model_from_layers(
    layers: Layers,
    input_shape: Any = None,
    input_dtype: Any = None,
    name: str | None = None,
    input_ragged: bool | None = None,
    input_sparse: bool | None = None,
) -> Any:
    """A model of layers one after the other, of the kind that `model_type_scope` says."""

    def make_input(maker: Callable[..., Any], **shape: Any) -> Any:
        kinds = {"ragged": input_ragged, "sparse": input_sparse}
        given = {key: value for key, value in kinds.items() if value is not None}
        return maker(dtype=input_dtype, **shape, **given)

    def subclass() -> Any:
        is_composite = input_ragged or input_sparse
        inputs = make_input(keras.Input, shape=input_shape) if is_composite else None
        return _Chain(layers, name=name, input_tensor=inputs)

    def sequential() -> Any:
        model = keras.models.Sequential(name=name)
        if input_shape:
            model.add(make_input(keras.layers.InputLayer, input_shape=input_shape))
        for layer in layers:
            model.add(layer)
        return model

    def functional() -> Any:
        if not input_shape:
            raise ValueError("Cannot create a functional model from layers with no input shape.")
        inputs = make_input(keras.Input, shape=input_shape)
        return keras.Model(inputs, _chained(layers, inputs), name=name)

    return _of_type(
        {
            "subclass": subclass,
            "subclass_custom_build": lambda: _ChainOfBuild(lambda: layers, name=name),
            "sequential": sequential,
            "functional": functional,
        }
    )


class _Fork(keras.Model):
    """Two branches between layers that they share."""

    def __init__(
        self, branch_a: Any, branch_b: Any, shared_input_branch: Any, shared_output_branch: Any
    ):
        super().__init__()
        self._shared_input_branch = shared_input_branch
        self._branch_a = branch_a
        self._branch_b = branch_b
        self._shared_output_branch = shared_output_branch

    def call(self, inputs: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        return _forked(
            inputs,
            self._branch_a,
            self._branch_b,
            self._shared_input_branch,
            self._shared_output_branch,
        )


class _ForkOfBuild(_Fork):
    """Two branches whose layers become the model's in `build`."""

    def __init__(self, *branches: Any):
        super().__init__(None, None, None, None)
        self._branches: Any = lambda: branches  # hidden from the model, which owns what it is given

    def build(self, input_shape: Any) -> None:
        self._branch_a, self._branch_b, before, after = self._branches()
        self._shared_input_branch = before or None
        self._shared_output_branch = after or None


def _forked(inputs: Any, branch_a: Any, branch_b: Any, before: Any, after: Any) -> Any:
    a, b = [_chained(before, inputs)] * 2 if before else inputs
    outputs = [_chained(branch_a, a), _chained(branch_b, b)]
    return _chained(after, outputs) if after else outputs


def get_multi_io_model(
    branch_a: Layers,
    branch_b: Layers,
    shared_input_branch: Layers | None = None,
    shared_output_branch: Layers | None = None,
) -> Any:
    """A model of two branches.

    Args:
      branch_a, branch_b: layers, after an `Input` if the branches have one each.
      shared_input_branch: an `Input` and layers that come before both branches.
      shared_output_branch: layers that take the outputs of both; the first joins them.
    """
    inputs: Any
    if shared_input_branch:
        inputs, shared_input_branch = shared_input_branch[0], shared_input_branch[1:]
    else:
        inputs = branch_a[0], branch_b[0]
        branch_a, branch_b = branch_a[1:], branch_b[1:]
    branches = branch_a, branch_b, shared_input_branch, shared_output_branch
    if get_model_type() == "sequential":
        raise ValueError("Cannot use `get_multi_io_model` to construct sequential models")

    def functional() -> Any:
        first = inputs if isinstance(inputs, tuple) else [inputs, inputs]
        if not isinstance(inputs, tuple) and shared_input_branch:
            first = [_chained(shared_input_branch, inputs)] * 2
        outputs = _forked(first, branch_a, branch_b, None, shared_output_branch)
        return keras.Model(inputs, outputs)

    return _of_type(
        {
            "subclass": lambda: _Fork(*branches),
            "subclass_custom_build": lambda: _ForkOfBuild(*branches),
            "functional": functional,
        }
    )


_OPTIMIZERS = {
    name.lower(): getattr(optimizers, name)
    for name in ("Adadelta", "Adagrad", "Adam", "Adamax", "Nadam", "RMSprop", "SGD")
}


def get_v2_optimizer(name: str, **kwargs: Any) -> Any:
    """The optimizer of that name, in lower case."""
    if name not in _OPTIMIZERS:
        raise ValueError(
            f"Could not find requested v2 optimizer: {name}\nValid choices: {list(_OPTIMIZERS)}"
        )
    return _OPTIMIZERS[name](**kwargs)


def get_expected_metric_variable_names(var_names: Sequence[str], name_suffix: str = "") -> Any:
    """The names of a metric's variables in a graph, where they are made unique by a suffix."""
    return [f"{name}{name_suffix}:0" for name in var_names]


def _with_dtype_behavior(set_behavior: Callable[[], None], fn: Test) -> Test:
    @functools.wraps(fn)
    def run(*args: Any, **kwargs: Any) -> Any:
        before = dtype_behavior.chosen_dtype_behavior()
        set_behavior()
        try:
            return fn(*args, **kwargs)
        finally:
            dtype_behavior.restore_dtype_behavior(before)

    return run


def disable_v2_dtype_behavior(fn: Test) -> Test:
    """Runs a test with layers that take over the type of their inputs."""
    return _with_dtype_behavior(dtype_behavior.disable_v2_dtype_behavior, fn)


def enable_v2_dtype_behavior(fn: Test) -> Test:
    """Runs a test with layers that cast their inputs, as in TensorFlow 2."""
    return _with_dtype_behavior(dtype_behavior.enable_v2_dtype_behavior, fn)
