"""Networks whose graphs tell, in collections, which tensors features and columns are."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable, Iterator
from typing import Any

from google.protobuf import any_pb2

import penstock as tf
from penstock.estimator.canned import logits
from penstock.estimator.canned.estimators import DNNClassifier, DNNRegressor
from penstock.estimator.estimator import Estimator
from penstock.feature_column.input_layer import (
    InputLayer,
    _internal_input_layer,
    make_parse_example_spec,
)
from penstock.saved_model.tensor_infos import build_tensor_info


class LayerAnnotationsCollectionNames:
    """The collections of annotations; keys and values are in two collections each."""

    UNPROCESSED_FEATURES = "layer_annotations/unprocessed_features"
    PROCESSED_FEATURES = "layer_annotatons/processed_features"  # TensorFlow writes it so
    FEATURE_COLUMNS = "layer_annotations/feature_columns"

    @classmethod
    def keys(cls, collection_name: str) -> str:
        return f"{collection_name}/keys"

    @classmethod
    def values(cls, collection_name: str) -> str:
        return f"{collection_name}/values"


def serialize_feature_column(feature_column: Any) -> bytes:
    """A column as bytes, for readers of the graph."""
    return pickle.dumps(feature_column)


def _annotate(collection: str, key: str, tensor: Any) -> None:
    packed = any_pb2.Any()
    packed.Pack(build_tensor_info(tensor))
    tf.add_to_collection(LayerAnnotationsCollectionNames.keys(collection), key)
    tf.add_to_collection(LayerAnnotationsCollectionNames.values(collection), packed)


def make_input_layer_with_layer_annotations(
    original_input_layer: Callable[..., Any],
) -> Callable[..., Any]:
    """A function for input layers that notes what it takes and gives."""
    names = LayerAnnotationsCollectionNames

    def input_layer_with_layer_annotations(
        features: Any,
        feature_columns: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        cols_to_vars: Any = None,
        scope: Any = None,
        cols_to_output_tensors: Any = None,
        from_template: bool = False,
    ) -> Any:
        outputs: dict[Any, Any] = {} if cols_to_output_tensors is None else cols_to_output_tensors
        layer = original_input_layer(
            features=features,
            feature_columns=feature_columns,
            weight_collections=weight_collections,
            trainable=trainable,
            cols_to_vars=cols_to_vars,
            scope=scope,
            cols_to_output_tensors=outputs,
            from_template=from_template,
        )
        for key in make_parse_example_spec(feature_columns):
            tensor = tf.convert_to_tensor_or_indexed_slices(features[key])
            _annotate(names.UNPROCESSED_FEATURES, key, tensor)
        for column in feature_columns:
            tf.add_to_collection(names.FEATURE_COLUMNS, serialize_feature_column(column))
        for column, tensor in outputs.items():
            _annotate(names.PROCESSED_FEATURES, column.name, tensor)
        return layer

    return input_layer_with_layer_annotations


class _AnnotatedInputLayer(InputLayer):
    _build = staticmethod(make_input_layer_with_layer_annotations(_internal_input_layer))


@contextlib.contextmanager
def _annotated_input_layers() -> Iterator[None]:
    """Networks of dense layers that are built here have annotated input layers.

    Those are layers of the first kind, whose variables have the same names.
    """
    plain = logits._input_layer
    logits._input_layer = lambda feature_columns: _AnnotatedInputLayer(
        feature_columns, name="input_layer", create_scope_now=False
    )
    try:
        yield
    finally:
        logits._input_layer = plain


def _annotated(original: Any, model_dir: Any, config: Any, warm_start_from: Any) -> Estimator:
    """An Estimator like another one, whose input layers are annotated."""

    def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
        with _annotated_input_layers():
            return original.model_fn(features, labels, mode, config)

    return Estimator(
        model_fn=model_fn, model_dir=model_dir, config=config, warm_start_from=warm_start_from
    )


def DNNClassifierWithLayerAnnotations(
    hidden_units: Any,
    feature_columns: Any,
    model_dir: Any = None,
    n_classes: int = 2,
    weight_column: Any = None,
    label_vocabulary: Any = None,
    optimizer: Any = "Adagrad",
    activation_fn: Any = tf.nn.relu,
    dropout: float | None = None,
    input_layer_partitioner: Any = None,
    config: Any = None,
    warm_start_from: Any = None,
    loss_reduction: Any = tf.losses.Reduction.SUM,
) -> Estimator:
    """A `tf.estimator.DNNClassifier` with annotations, e.g. for integrated gradients.

    It reads the checkpoints of one without; arguments are those of `DNNClassifier`.
    """
    original = DNNClassifier(
        hidden_units,
        feature_columns,
        model_dir,
        n_classes,
        weight_column,
        label_vocabulary,
        optimizer,
        activation_fn,
        dropout,
        input_layer_partitioner,
        config,
        warm_start_from,
        loss_reduction,
    )
    return _annotated(original, model_dir, config, warm_start_from)


def DNNRegressorWithLayerAnnotations(
    hidden_units: Any,
    feature_columns: Any,
    model_dir: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
    optimizer: Any = "Adagrad",
    activation_fn: Any = tf.nn.relu,
    dropout: float | None = None,
    input_layer_partitioner: Any = None,
    config: Any = None,
    warm_start_from: Any = None,
    loss_reduction: Any = tf.losses.Reduction.SUM,
) -> Estimator:
    """A `tf.estimator.DNNRegressor` with annotations; see `DNNClassifierWithLayerAnnotations`."""
    original = DNNRegressor(
        hidden_units,
        feature_columns,
        model_dir,
        label_dimension,
        weight_column,
        optimizer,
        activation_fn,
        dropout,
        input_layer_partitioner,
        config,
        warm_start_from,
        loss_reduction,
    )
    return _annotated(original, model_dir, config, warm_start_from)
