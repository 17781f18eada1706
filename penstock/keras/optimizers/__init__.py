"""`tf.keras.optimizers`."""

from typing import Any

from penstock.keras.optimizers import schedules
from penstock.keras.optimizers.base import *
from penstock.keras.optimizers.moment_rules import *
from penstock.keras.optimizers.rules import *
from penstock.keras.optimizers.tf_optimizer import *
from penstock.keras.utils.serialization import (
    deserialize_keras_object,
    serialize_keras_object,
)

sgd = SGD
adam = Adam
adagrad = Adagrad
adadelta = Adadelta
adamax = Adamax
nadam = Nadam
rmsprop = RMSProp = RMSprop

_BY_NAME = {
    each.__name__.lower(): each
    for each in (SGD, Adam, Adagrad, Adadelta, Adamax, Nadam, RMSprop, Ftrl)
}


def serialize(optimizer: Any) -> Any:
    """Class name and configuration of an optimizer."""
    return serialize_keras_object(optimizer)


def deserialize(config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
    """The optimizer that `serialize` described; names of Keras' own are taken in any case."""
    settings = {key: v for key, v in config["config"].items() if key != "is_legacy_optimizer"}
    config = {**config, "config": settings}
    if config["class_name"].lower() in _BY_NAME:
        config["class_name"] = config["class_name"].lower()
    return deserialize_keras_object(config, _BY_NAME, custom_objects, "optimizer")


def get(identifier: Any) -> Any:
    """The optimizer that a name, configuration or optimizer (of `tf.train` too) stands for."""
    from penstock.train.optimizer import Optimizer as TrainOptimizer

    if isinstance(identifier, (OptimizerV2, TFOptimizer)):
        return identifier
    if isinstance(identifier, TrainOptimizer):
        return TFOptimizer(identifier)
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        return deserialize({"class_name": identifier, "config": {}})
    raise ValueError("Could not interpret optimizer identifier:", identifier)
