"""`tf.keras.metrics`."""

from typing import Any

from penstock.keras.losses import (
    binary_crossentropy,
    categorical_crossentropy,
    categorical_hinge,
    cosine_similarity,
    hinge,
    kullback_leibler_divergence,
    logcosh,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
    poisson,
    sparse_categorical_crossentropy,
    squared_hinge,
)
from penstock.keras.metrics.accuracies import *
from penstock.keras.metrics.base import *
from penstock.keras.metrics.counts import *
from penstock.keras.utils.serialization import (
    deserialize_keras_object,
    serialize_keras_object,
)

acc = ACC = accuracy
bce = BCE = binary_crossentropy
mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kullback_leibler_divergence
cosine = cosine_proximity = cosine_similarity


def serialize(metric: Any) -> Any:
    """The name of a metric function, or class name and configuration of a metric."""
    return serialize_keras_object(metric)


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The metric that `serialize` described."""
    return deserialize_keras_object(config, globals(), custom_objects, "metric function")


def get(identifier: Any) -> Any:
    """The metric that a name, configuration or function stands for."""
    if isinstance(identifier, (str, dict)):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret metric function identifier: {identifier}")
