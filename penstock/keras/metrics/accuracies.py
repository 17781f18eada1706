"""How often predictions are right, and means of loss functions."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras import losses
from penstock.keras.metrics.base import Mean, MeanMetricWrapper, squeezed

__all__ = [
    "Accuracy",
    "BinaryAccuracy",
    "BinaryCrossentropy",
    "CategoricalAccuracy",
    "CategoricalCrossentropy",
    "CategoricalHinge",
    "CosineSimilarity",
    "Hinge",
    "KLDivergence",
    "LogCoshError",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "Poisson",
    "RootMeanSquaredError",
    "SparseCategoricalAccuracy",
    "SparseCategoricalCrossentropy",
    "SparseTopKCategoricalAccuracy",
    "SquaredHinge",
    "TopKCategoricalAccuracy",
    "accuracy",
    "binary_accuracy",
    "categorical_accuracy",
    "sparse_categorical_accuracy",
    "sparse_top_k_categorical_accuracy",
    "top_k_categorical_accuracy",
]


def accuracy(y_true: Any, y_pred: Any) -> Any:
    """Whether predictions equal labels."""
    if y_true.dtype != y_pred.dtype:
        y_pred = tf.cast(y_pred, y_true.dtype)
    return tf.cast(tf.equal(y_true, y_pred), K.floatx())


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Any:
    """How many predictions are on the labels' side of the threshold."""
    y_pred = tf.convert_to_tensor(y_pred)
    y_pred = tf.cast(y_pred > tf.cast(threshold, y_pred.dtype), y_pred.dtype)
    return K.mean(tf.equal(y_true, y_pred), axis=-1)


def categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Whether the likeliest class is the one-hot label's."""
    right = tf.equal(tf.argmax(y_true, axis=-1), tf.argmax(y_pred, axis=-1))
    return tf.cast(right, K.floatx())


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Whether the likeliest class is the label."""
    y_true, y_pred = tf.convert_to_tensor(y_true), tf.convert_to_tensor(y_pred)
    if None not in (y_true.shape.ndims, y_pred.shape.ndims) and (
        K.int_shape(y_true) == K.int_shape(y_pred) or y_true.shape.ndims == y_pred.shape.ndims
    ):
        y_true = tf.squeeze(y_true, [-1])
    y_pred = tf.argmax(y_pred, axis=-1)
    if K.dtype(y_pred) != K.dtype(y_true):
        y_pred = tf.cast(y_pred, K.dtype(y_true))
    return tf.cast(tf.equal(y_true, y_pred), K.floatx())


def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """Whether the one-hot label is among the `k` likeliest classes."""
    return tf.cast(tf.nn.in_top_k(y_pred, tf.argmax(y_true, axis=-1), k), K.floatx())


def sparse_top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """Whether the label is among the `k` likeliest classes."""
    if None not in (y_true.shape.ndims, y_pred.shape.ndims):
        if y_pred.shape.ndims > 2:
            y_pred = tf.reshape(y_pred, [-1, y_pred.shape.as_list()[-1]])
        if y_true.shape.ndims > 1:
            y_true = tf.reshape(y_true, [-1])
    return tf.cast(tf.nn.in_top_k(y_pred, tf.cast(y_true, tf.int32), k), K.floatx())


def _metric_class(class_name: str, fn: Any, default_name: str, **defaults: Any) -> type[Any]:
    """The metric that is the mean of a function; the function's arguments come after the dtype."""
    leading = [key for key in defaults if key == "k"]
    trailing = [key for key in defaults if key != "k"]

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        names = [*leading, "name", "dtype", *trailing]
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        unknown = set(given) - set(names)
        if unknown:
            raise TypeError(f"{class_name} got an unexpected argument {sorted(unknown)[0]!r}")
        MeanMetricWrapper.__init__(
            self,
            fn,
            given.get("name", default_name),
            dtype=given.get("dtype"),
            **{key: given.get(key, value) for key, value in defaults.items()},
        )

    return type(
        class_name,
        (MeanMetricWrapper,),
        {"__init__": __init__, "__doc__": fn.__doc__, "__module__": __name__},
    )


Accuracy = _metric_class("Accuracy", accuracy, "accuracy")
BinaryAccuracy = _metric_class("BinaryAccuracy", binary_accuracy, "binary_accuracy", threshold=0.5)
CategoricalAccuracy = _metric_class(
    "CategoricalAccuracy", categorical_accuracy, "categorical_accuracy"
)
SparseCategoricalAccuracy = _metric_class(
    "SparseCategoricalAccuracy", sparse_categorical_accuracy, "sparse_categorical_accuracy"
)
TopKCategoricalAccuracy = _metric_class(
    "TopKCategoricalAccuracy", top_k_categorical_accuracy, "top_k_categorical_accuracy", k=5
)
SparseTopKCategoricalAccuracy = _metric_class(
    "SparseTopKCategoricalAccuracy",
    sparse_top_k_categorical_accuracy,
    "sparse_top_k_categorical_accuracy",
    k=5,
)
CosineSimilarity = _metric_class(
    "CosineSimilarity", losses.cosine_similarity, "cosine_similarity", axis=-1
)
MeanAbsoluteError = _metric_class(
    "MeanAbsoluteError", losses.mean_absolute_error, "mean_absolute_error"
)
MeanAbsolutePercentageError = _metric_class(
    "MeanAbsolutePercentageError",
    losses.mean_absolute_percentage_error,
    "mean_absolute_percentage_error",
)
MeanSquaredError = _metric_class(
    "MeanSquaredError", losses.mean_squared_error, "mean_squared_error"
)
MeanSquaredLogarithmicError = _metric_class(
    "MeanSquaredLogarithmicError",
    losses.mean_squared_logarithmic_error,
    "mean_squared_logarithmic_error",
)
Hinge = _metric_class("Hinge", losses.hinge, "hinge")
SquaredHinge = _metric_class("SquaredHinge", losses.squared_hinge, "squared_hinge")
CategoricalHinge = _metric_class("CategoricalHinge", losses.categorical_hinge, "categorical_hinge")
LogCoshError = _metric_class("LogCoshError", losses.logcosh, "logcosh")
Poisson = _metric_class("Poisson", losses.poisson, "poisson")
KLDivergence = _metric_class(
    "KLDivergence", losses.kullback_leibler_divergence, "kullback_leibler_divergence"
)
BinaryCrossentropy = _metric_class(
    "BinaryCrossentropy",
    losses.binary_crossentropy,
    "binary_crossentropy",
    from_logits=False,
    label_smoothing=0,
)
CategoricalCrossentropy = _metric_class(
    "CategoricalCrossentropy",
    losses.categorical_crossentropy,
    "categorical_crossentropy",
    from_logits=False,
    label_smoothing=0,
)
SparseCategoricalCrossentropy = _metric_class(
    "SparseCategoricalCrossentropy",
    losses.sparse_categorical_crossentropy,
    "sparse_categorical_crossentropy",
    from_logits=False,
    axis=-1,
)


class RootMeanSquaredError(Mean):
    """The root of the mean square of the differences."""

    def __init__(self, name: str | None = "root_mean_squared_error", dtype: Any = None):
        super().__init__(name, dtype=dtype)

    def update_state(  # type: ignore[override] # labels and predictions make the values
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> Any:
        y_true, y_pred = tf.cast(y_true, self.dtype), tf.cast(y_pred, self.dtype)
        y_true, y_pred = squeezed(y_true, y_pred)
        return super().update_state(
            tf.squared_difference(y_pred, y_true), sample_weight=sample_weight
        )

    def result(self) -> Any:
        return tf.sqrt(tf.div_no_nan(self.total, self.count))
