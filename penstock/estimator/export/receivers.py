"""How an exported model takes its inputs: `ServingInputReceiver` and what makes it."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.estimator.export.signatures import (
    SINGLE_FEATURE_DEFAULT_NAME,
    SINGLE_LABEL_DEFAULT_NAME,
    SINGLE_RECEIVER_DEFAULT_NAME,
)
from penstock.shapes import TensorShape

_SINGLE_NAMES = {
    "feature": SINGLE_FEATURE_DEFAULT_NAME,
    "label": SINGLE_LABEL_DEFAULT_NAME,
    "receiver_tensor": SINGLE_RECEIVER_DEFAULT_NAME,
    "receiver_tensors_alternative": SINGLE_RECEIVER_DEFAULT_NAME,
}


def _check_tensor(tensor: Any, name: Any, what: str) -> None:
    if isinstance(tensor, tf.Tensor | tf.SparseTensor | tf.Variable) or _holds_tensor(tensor):
        return
    named = f" {name}" if name else ""
    raise ValueError(f"{what}{named} must be a Tensor or SparseTensor.")


def _holds_tensor(value: Any) -> bool:
    """Whether this is a tensor with something more, as labeled tensors are."""
    if not hasattr(value, "tensor"):
        return False
    try:
        tf.convert_to_tensor(value)
    except TypeError:
        return False
    return True


def wrap_and_check_input_tensors(
    tensors: Any, field_name: str, allow_int_keys: bool = False
) -> dict[Any, Any]:
    """Tensors by name; a single one gets the usual name of its kind."""
    if tensors is None:
        raise ValueError(f"{field_name}s must be defined.")
    if not isinstance(tensors, dict):
        tensors = {_SINGLE_NAMES[field_name]: tensors}
    for key, tensor in tensors.items():
        if not isinstance(key, str):
            if not allow_int_keys:
                raise ValueError(f"{field_name} keys must be strings: {key}.")
            if not isinstance(key, int):
                raise ValueError(f"{field_name} keys must be strings or ints: {key}.")
        _check_tensor(tensor, key, field_name)
    return tensors


class ServingInputReceiver(
    namedtuple(
        "ServingInputReceiver",
        ["features", "receiver_tensors", "receiver_tensors_alternatives"],
    )
):
    """The inputs of a served model, and the features it makes of them.

    Args:
      features: tensors by name, or one tensor: what the model function gets.
      receiver_tensors: placeholders by name, or one: what is fed.
      receiver_tensors_alternatives: other placeholders to feed instead, each kind by its name.
    """

    __slots__ = ()

    def __new__(
        cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None
    ) -> ServingInputReceiver:
        features = wrap_and_check_input_tensors(features, "feature", allow_int_keys=True)
        receiver_tensors = wrap_and_check_input_tensors(receiver_tensors, "receiver_tensor")
        alternatives = receiver_tensors_alternatives
        if alternatives is not None:
            if not isinstance(alternatives, dict):
                raise ValueError(f"receiver_tensors_alternatives must be a dict: {alternatives}.")
            for name, tensors in alternatives.items():
                alternatives[name] = wrap_and_check_input_tensors(
                    tensors, "receiver_tensors_alternative"
                )
        return super().__new__(cls, features, receiver_tensors, alternatives)


class TensorServingInputReceiver(
    namedtuple(
        "TensorServingInputReceiver",
        ["features", "receiver_tensors", "receiver_tensors_alternatives"],
    )
):
    """A `ServingInputReceiver` whose model function gets one tensor, not a dictionary."""

    __slots__ = ()

    def __new__(
        cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None
    ) -> TensorServingInputReceiver:
        if features is None:
            raise ValueError("features must be defined.")
        _check_tensor(features, None, "feature")
        checked = ServingInputReceiver(features, receiver_tensors, receiver_tensors_alternatives)
        return super().__new__(
            cls, features, checked.receiver_tensors, checked.receiver_tensors_alternatives
        )


class UnsupervisedInputReceiver(ServingInputReceiver):
    """The inputs of a model for training without labels."""

    __slots__ = ()

    def __new__(cls, features: Any, receiver_tensors: Any) -> UnsupervisedInputReceiver:
        return super().__new__(cls, features, receiver_tensors)  # type: ignore[return-value]


class SupervisedInputReceiver(
    namedtuple("SupervisedInputReceiver", ["features", "labels", "receiver_tensors"])
):
    """The inputs of a model for training or evaluation, and the features and labels of them."""

    __slots__ = ()

    def __new__(cls, features: Any, labels: Any, receiver_tensors: Any) -> SupervisedInputReceiver:
        wrap_and_check_input_tensors(features, "feature", allow_int_keys=True)
        wrap_and_check_input_tensors(labels, "label", allow_int_keys=True)
        return super().__new__(
            cls, features, labels, wrap_and_check_input_tensors(receiver_tensors, "receiver_tensor")
        )


def build_parsing_serving_input_receiver_fn(
    feature_spec: dict[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """A function for export whose model is fed serialized Examples.

    Args:
      feature_spec: what to parse out of an Example, as for `tf.parse_example`.
      default_batch_size: how many Examples at once; any number if None.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        examples = tf.placeholder(
            dtype=tf.string, shape=[default_batch_size], name="input_example_tensor"
        )
        return ServingInputReceiver(
            tf.parse_example(examples, feature_spec), {"examples": examples}
        )

    return serving_input_receiver_fn


def _placeholder_like(tensor: Any, batch_size: int | None) -> Any:
    shape = TensorShape([batch_size]).concatenate(tensor.get_shape()[1:])
    name = tensor.op.name if isinstance(tensor, tf.Tensor | tf.Variable) else None
    return tf.placeholder(dtype=tensor.dtype, shape=shape, name=name)


def _placeholders_like(tensors: dict[Any, Any], batch_size: int | None) -> dict[Any, Any]:
    return {name: _placeholder_like(tensor, batch_size) for name, tensor in tensors.items()}


def build_raw_serving_input_receiver_fn(
    features: dict[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """A function for export whose model is fed features as they are.

    Args:
      features: tensors like the features, by name.
      default_batch_size: how many at once; any number if None.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        placeholders = _placeholders_like(features, default_batch_size)
        return ServingInputReceiver(placeholders, placeholders)

    return serving_input_receiver_fn


def build_raw_supervised_input_receiver_fn(
    features: Any, labels: Any, default_batch_size: int | None = None
) -> Callable[[], SupervisedInputReceiver]:
    """The same with labels, for a model that is exported for training or evaluation."""

    def named(tensors: Any, single_name: str) -> dict[Any, Any]:
        return tensors if isinstance(tensors, dict) else {single_name: tensors}

    named_features = named(features, SINGLE_RECEIVER_DEFAULT_NAME)
    named_labels = named(labels, SINGLE_LABEL_DEFAULT_NAME)
    overlap = named_features.keys() & named_labels.keys()
    if overlap:
        raise ValueError(
            f"Features and labels must have distinct keys. Found overlapping keys: {overlap}"
        )

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        fed_features = _placeholders_like(named_features, default_batch_size)
        fed_labels = _placeholders_like(named_labels, default_batch_size)
        return SupervisedInputReceiver(
            fed_features if isinstance(features, dict) else next(iter(fed_features.values())),
            fed_labels if isinstance(labels, dict) else next(iter(fed_labels.values())),
            {**fed_features, **fed_labels},
        )

    return supervised_input_receiver_fn


def build_supervised_input_receiver_fn_from_input_fn(
    input_fn: Callable[..., Any], **input_fn_args: Any
) -> Callable[[], SupervisedInputReceiver]:
    """The same for features and labels like those that an input function gives.

    Args:
      input_fn: as `Estimator.train` takes it; it is called in a graph of its own.
      input_fn_args: its arguments.
    """
    from penstock.estimator.input_results import parse_input_fn_result

    with tf.Graph().as_default():
        features, labels, _ = parse_input_fn_result(input_fn(**input_fn_args))
    return build_raw_supervised_input_receiver_fn(features, labels)
