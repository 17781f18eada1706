"""`tf.keras.layers`."""

from typing import Any

from penstock.keras.dtype_behavior import disable_v2_dtype_behavior as disable_v2_dtype_behavior
from penstock.keras.dtype_behavior import enable_v2_dtype_behavior as enable_v2_dtype_behavior
from penstock.keras.engine.input_layer import *
from penstock.keras.engine.layer import *
from penstock.keras.layers.advanced_activations import *
from penstock.keras.layers.borders import *
from penstock.keras.layers.convolutional import *
from penstock.keras.layers.convolutional_recurrent import *
from penstock.keras.layers.core import *
from penstock.keras.layers.dense_attention import *
from penstock.keras.layers.dense_features import *
from penstock.keras.layers.embeddings import *
from penstock.keras.layers.locally_connected import *
from penstock.keras.layers.merge import *
from penstock.keras.layers.noise import *
from penstock.keras.layers.normalization import *
from penstock.keras.layers.pooling import *
from penstock.keras.layers.recurrent import *
from penstock.keras.layers.recurrent_cells import *
from penstock.keras.layers.recurrent_layers import *
from penstock.keras.layers.wrappers import *
from penstock.keras.utils.serialization import (
    deserialize_keras_object,
    serialize_keras_object,
)


def serialize(layer: Any) -> Any:
    """Class name and configuration of a layer."""
    return serialize_keras_object(layer)


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The layer or model that `serialize` described."""
    from penstock.keras.engine.added_layers import AddLoss, AddMetric
    from penstock.keras.engine.model import Model
    from penstock.keras.engine.op_layers import TensorFlowOpLayer
    from penstock.keras.engine.sequential import Sequential
    from penstock.keras.layers.normalization_v2 import BatchNormalization as BatchNormalizationV2
    from penstock.keras.layers.sequence_features import SequenceFeatures
    from penstock.keras.premade import LinearModel, WideDeepModel

    known = {
        **globals(),
        "AddLoss": AddLoss,
        "AddMetric": AddMetric,
        "LinearModel": LinearModel,
        "WideDeepModel": WideDeepModel,
        "Model": Model,
        "Functional": Model,
        "Network": Model,
        "Sequential": Sequential,
        "SequenceFeatures": SequenceFeatures,
        "TensorFlowOpLayer": TensorFlowOpLayer,
        "BatchNormalizationV1": globals()["BatchNormalization"],
        "BatchNormalizationV2": BatchNormalizationV2,
    }
    if isinstance(config, dict) and isinstance(config.get("config"), dict):
        config = {**config, "config": _without_later_arguments(config["config"])}
    return deserialize_keras_object(config, known, custom_objects, "layer")


# Arguments that later versions of Keras write; with these values they change nothing.
_LATER_ARGUMENTS = {
    "groups": 1,
    "keepdims": False,
    "optional": False,
    "sparse_input": False,
    "synchronized": False,
    "use_legacy_format": False,
}


def _without_later_arguments(config: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in config.items()
        if key not in _LATER_ARGUMENTS or value != _LATER_ARGUMENTS[key]
    }
