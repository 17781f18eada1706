"""`tf.keras.losses`: functions of labels and predictions, and classes around them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.utils.serialization import (
    deserialize_keras_object,
    serialize_keras_object,
)
from penstock.keras.utils.weighting import Reduction, weighted_loss

__all__ = [
    "KLD",
    "MAE",
    "MAPE",
    "MSE",
    "MSLE",
    "BinaryCrossentropy",
    "CategoricalCrossentropy",
    "CategoricalHinge",
    "CosineSimilarity",
    "Hinge",
    "Huber",
    "KLDivergence",
    "LogCosh",
    "Loss",
    "LossFunctionWrapper",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "Poisson",
    "Reduction",
    "SparseCategoricalCrossentropy",
    "SquaredHinge",
    "binary_crossentropy",
    "categorical_crossentropy",
    "categorical_hinge",
    "cosine",
    "cosine_proximity",
    "cosine_similarity",
    "deserialize",
    "get",
    "hinge",
    "kld",
    "kullback_leibler_divergence",
    "logcosh",
    "mae",
    "mape",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_error",
    "mean_squared_logarithmic_error",
    "mse",
    "msle",
    "poisson",
    "serialize",
    "sparse_categorical_crossentropy",
    "squared_hinge",
]


def _both(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    y_pred = tf.convert_to_tensor(y_pred)
    return tf.cast(y_true, y_pred.dtype), y_pred


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """The mean square of the differences along the last axis."""
    y_true, y_pred = _both(y_true, y_pred)
    return K.mean(tf.squared_difference(y_pred, y_true), axis=-1)


def mean_absolute_error(y_true: Any, y_pred: Any) -> Any:
    """The mean size of the differences along the last axis."""
    y_true, y_pred = _both(y_true, y_pred)
    return K.mean(tf.abs(y_pred - y_true), axis=-1)


def mean_absolute_percentage_error(y_true: Any, y_pred: Any) -> Any:
    """The mean size of the differences in percent of the labels."""
    y_true, y_pred = _both(y_true, y_pred)
    parts = tf.abs((y_true - y_pred) / K.clip(tf.abs(y_true), K.epsilon(), None))
    return 100.0 * K.mean(parts, axis=-1)


def mean_squared_logarithmic_error(y_true: Any, y_pred: Any) -> Any:
    """The mean square of the differences of `log(1 + x)`."""
    y_true, y_pred = _both(y_true, y_pred)
    first = tf.log(K.clip(y_pred, K.epsilon(), None) + 1.0)
    second = tf.log(K.clip(y_true, K.epsilon(), None) + 1.0)
    return K.mean(tf.squared_difference(first, second), axis=-1)


def _signs(y_true: Any) -> Any:
    """Labels 0 and 1 as -1 and 1; other labels stay as they are."""
    are_zero, are_one = tf.equal(y_true, 0), tf.equal(y_true, 1)
    is_binary = tf.reduce_all(tf.logical_or(are_zero, are_one))
    return tf.cond(is_binary, lambda: 2.0 * y_true - 1.0, lambda: y_true)


def squared_hinge(y_true: Any, y_pred: Any) -> Any:
    """The mean square of `max(1 - y_true * y_pred, 0)`."""
    y_true, y_pred = _both(y_true, y_pred)
    return K.mean(tf.square(tf.maximum(1.0 - _signs(y_true) * y_pred, 0.0)), axis=-1)


def hinge(y_true: Any, y_pred: Any) -> Any:
    """The mean of `max(1 - y_true * y_pred, 0)`."""
    y_true, y_pred = _both(y_true, y_pred)
    return K.mean(tf.maximum(1.0 - _signs(y_true) * y_pred, 0.0), axis=-1)


def categorical_hinge(y_true: Any, y_pred: Any) -> Any:
    """How far the best wrong class is above the right one, less a margin of 1."""
    y_true, y_pred = _both(y_true, y_pred)
    right = tf.reduce_sum(y_true * y_pred, axis=-1)
    wrong = tf.reduce_max((1.0 - y_true) * y_pred, axis=-1)
    return tf.maximum(0.0, wrong - right + 1.0)


def huber_loss(y_true: Any, y_pred: Any, delta: float = 1.0) -> Any:
    """Half squares of differences up to `delta`, then linear."""
    y_true, y_pred = _both(y_true, y_pred)
    size = tf.abs(y_pred - y_true)
    quadratic = tf.minimum(size, delta)
    return 0.5 * quadratic * quadratic + delta * (size - quadratic)


def logcosh(y_true: Any, y_pred: Any) -> Any:
    """The mean of `log(cosh(y_pred - y_true))`."""
    y_true, y_pred = _both(y_true, y_pred)
    x = y_pred - y_true
    return K.mean(x + tf.nn.softplus(-2.0 * x) - math.log(2.0), axis=-1)


def categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0
) -> Any:
    """The cross entropy of one-hot labels and predictions."""
    y_true, y_pred = _both(y_true, y_pred)
    if not _is_zero(label_smoothing):
        classes = tf.cast(tf.shape(y_true)[1], y_pred.dtype)
        y_true = y_true * (1.0 - label_smoothing) + label_smoothing / classes
    return K.categorical_crossentropy(y_true, y_pred, from_logits=from_logits)


def sparse_categorical_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    """The cross entropy of classes, given as integers, and predictions."""
    return K.sparse_categorical_crossentropy(y_true, y_pred, from_logits=from_logits, axis=axis)


def binary_crossentropy(
    y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0
) -> Any:
    """The mean cross entropy of labels 0 and 1 and predictions."""
    y_true, y_pred = _both(y_true, y_pred)
    if not _is_zero(label_smoothing):
        y_true = y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing
    return K.mean(K.binary_crossentropy(y_true, y_pred, from_logits=from_logits), axis=-1)


def _is_zero(value: Any) -> bool:
    return isinstance(value, (int, float)) and value == 0


def kullback_leibler_divergence(y_true: Any, y_pred: Any) -> Any:
    """The divergence of distributions along the last axis."""
    y_true, y_pred = _both(y_true, y_pred)
    y_true = K.clip(y_true, K.epsilon(), 1)
    y_pred = K.clip(y_pred, K.epsilon(), 1)
    return tf.reduce_sum(y_true * tf.log(y_true / y_pred), axis=-1)


def poisson(y_true: Any, y_pred: Any) -> Any:
    """The mean of `y_pred - y_true * log(y_pred)`."""
    y_true, y_pred = _both(y_true, y_pred)
    return K.mean(y_pred - y_true * tf.log(y_pred + K.epsilon()), axis=-1)


def cosine_proximity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """The cosine of the angle of labels and predictions; TensorFlow 2 has it negative."""
    y_true = tf.nn.l2_normalize(y_true, axis=axis)
    y_pred = tf.nn.l2_normalize(y_pred, axis=axis)
    return tf.reduce_sum(y_true * y_pred, axis=axis)


mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kullback_leibler_divergence
cosine = cosine_similarity = cosine_proximity


class Loss:
    """A loss of labels and predictions; a subclass defines `call` per example.

    Args:
      reduction: how the losses of a batch become one, by default their sum over their number.
    """

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = None):
        Reduction.validate(reduction)
        self.reduction = reduction
        self.name = name

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        scope = "lambda" if self.name == "<lambda>" else self.name
        with tf.name_scope(scope or type(self).__name__):
            losses = self.call(y_true, y_pred)
            return weighted_loss(losses, sample_weight, self._get_reduction())

    def _get_reduction(self) -> str:
        """How losses become one; under a strategy nobody but the program knows their number."""
        counts_batch = self.reduction in (Reduction.AUTO, Reduction.SUM_OVER_BATCH_SIZE)
        if counts_batch and tf.distribute.has_strategy():
            raise ValueError(
                "Please use `tf.keras.losses.Reduction.SUM` or `tf.keras.losses.Reduction.NONE` "
                "for a loss that is called under a `tf.distribute.Strategy` outside of `fit`, and "
                "divide the sum by the number of examples of all replicas."
            )
        return Reduction.SUM_OVER_BATCH_SIZE if counts_batch else self.reduction

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """The losses of the examples."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal loss."""
        return {"reduction": self.reduction, "name": self.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The loss with the arguments that `get_config` gave."""
        return cls(**config)


class LossFunctionWrapper(Loss):
    """A function of labels and predictions as a loss; it gets the further arguments."""

    def __init__(
        self,
        fn: Callable[..., Any],
        reduction: str = Reduction.AUTO,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(reduction=reduction, name=name)
        self.fn = fn
        self._fn_kwargs = kwargs

    def call(self, y_true: Any, y_pred: Any) -> Any:
        return self.fn(y_true, y_pred, **self._fn_kwargs)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **self._fn_kwargs}


def _loss_class(
    class_name: str, fn: Callable[..., Any], default_name: str, **defaults: Any
) -> type[Any]:
    """The class of a loss function, whose first arguments are the function's own."""
    own = list(defaults)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        names = [*own, "reduction", "name"]
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        unknown = set(given) - set(names)
        if unknown:
            raise TypeError(f"{class_name} got an unexpected argument {sorted(unknown)[0]!r}")
        LossFunctionWrapper.__init__(
            self,
            fn,
            reduction=given.get("reduction", Reduction.AUTO),
            name=given.get("name", default_name),
            **{key: given.get(key, value) for key, value in defaults.items()},
        )

    return type(
        class_name,
        (LossFunctionWrapper,),
        {"__init__": __init__, "__doc__": fn.__doc__, "__module__": __name__},
    )


MeanSquaredError = _loss_class("MeanSquaredError", mean_squared_error, "mean_squared_error")
MeanAbsoluteError = _loss_class("MeanAbsoluteError", mean_absolute_error, "mean_absolute_error")
MeanAbsolutePercentageError = _loss_class(
    "MeanAbsolutePercentageError", mean_absolute_percentage_error, "mean_absolute_percentage_error"
)
MeanSquaredLogarithmicError = _loss_class(
    "MeanSquaredLogarithmicError", mean_squared_logarithmic_error, "mean_squared_logarithmic_error"
)
BinaryCrossentropy = _loss_class(
    "BinaryCrossentropy",
    binary_crossentropy,
    "binary_crossentropy",
    from_logits=False,
    label_smoothing=0,
)
CategoricalCrossentropy = _loss_class(
    "CategoricalCrossentropy",
    categorical_crossentropy,
    "categorical_crossentropy",
    from_logits=False,
    label_smoothing=0,
)
SparseCategoricalCrossentropy = _loss_class(
    "SparseCategoricalCrossentropy",
    sparse_categorical_crossentropy,
    "sparse_categorical_crossentropy",
    from_logits=False,
)
Hinge = _loss_class("Hinge", hinge, "hinge")
SquaredHinge = _loss_class("SquaredHinge", squared_hinge, "squared_hinge")
CategoricalHinge = _loss_class("CategoricalHinge", categorical_hinge, "categorical_hinge")
Poisson = _loss_class("Poisson", poisson, "poisson")
LogCosh = _loss_class("LogCosh", logcosh, "logcosh")
KLDivergence = _loss_class(
    "KLDivergence", kullback_leibler_divergence, "kullback_leibler_divergence"
)
Huber = _loss_class("Huber", huber_loss, "huber_loss", delta=1.0)
CosineSimilarity = _loss_class("CosineSimilarity", cosine_similarity, "cosine_similarity", axis=-1)


def serialize(loss: Any) -> Any:
    """The name of a loss function, or class name and configuration of a loss."""
    return serialize_keras_object(loss)


def deserialize(name: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The loss that `serialize` described."""
    return deserialize_keras_object(name, globals(), custom_objects, "loss function")


def get(identifier: Any) -> Any:
    """The loss that a name, configuration or function stands for."""
    if identifier is None:
        return None
    if isinstance(identifier, (str, dict)):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret loss function identifier: {identifier}")


def is_categorical_crossentropy(loss: Any) -> bool:
    """Whether a name, function or object is the cross entropy of one-hot labels."""
    names = (loss, getattr(loss, "__name__", None))
    return (
        isinstance(loss, CategoricalCrossentropy)
        or getattr(loss, "fn", None) is categorical_crossentropy
        or "categorical_crossentropy" in names
    )


#: Losses whose labels are classes, not distributions.
SPARSE_LOSSES = (sparse_categorical_crossentropy,)

#: Losses that refuse labels of another shape than the output's, which they would broadcast.
LOSSES_OF_EQUAL_SHAPES = (mean_squared_error, binary_crossentropy, categorical_crossentropy)
