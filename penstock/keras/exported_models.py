"""`tf.keras.experimental.export_saved_model`: a model's graphs with signatures, and its JSON."""

from __future__ import annotations

import os
from typing import Any

import penstock as tf
from penstock.estimator.export import signatures
from penstock.estimator.mode_keys import ModeKeys
from penstock.keras import backend as K
from penstock.keras.saved_metadata import extract_model_metrics, model_input_signature
from penstock.platform import gfile, logging
from penstock.saved_model import constants, tensor_infos
from penstock.saved_model.builder import _SavedModelBuilder
from penstock.train.tracking.graph_view import ObjectGraphView

__all__ = ["export_saved_model", "load_from_saved_model"]


def export_saved_model(
    model: Any,
    saved_model_path: str,
    custom_objects: dict[str, Any] | None = None,
    as_text: bool = False,
    input_signature: Any = None,
    serving_only: bool = False,
) -> None:
    """Writes a model as a SavedModel: graphs that predict, test and train, and its description.

    Args:
      custom_objects: names of a program's own classes and functions.
      as_text: whether the SavedModel's message is text.
      input_signature: `tf.TensorSpec`s of the inputs, if others than the model's.
      serving_only: whether to write a graph that predicts, and no others.
    """
    if serving_only:
        tf.saved_model.save(
            model, saved_model_path, signatures=_traced_call(model, input_signature)
        )
    else:
        _export_graphs(model, saved_model_path, custom_objects, as_text, input_signature)
    try:
        description = model.to_json()
    except NotImplementedError:
        logging.warning(
            "Skipped saving model JSON, subclassed model does not have get_config() defined."
        )
        return
    folder = tensor_infos.get_or_create_assets_dir(saved_model_path)
    with gfile.GFile(os.path.join(folder, constants.SAVED_MODEL_FILENAME_JSON), "w") as file:
        file.write(description)


def load_from_saved_model(
    saved_model_path: str, custom_objects: dict[str, Any] | None = None
) -> Any:
    """The model that `export_saved_model` wrote, not compiled."""
    from penstock.keras.models import model_from_json

    path = os.fsdecode(saved_model_path)
    described = os.path.join(path, constants.ASSETS_DIRECTORY, constants.SAVED_MODEL_FILENAME_JSON)
    with gfile.GFile(described) as file:
        model = model_from_json(file.read(), custom_objects=custom_objects)
    model.load_weights(tensor_infos.get_variables_path(path))
    return model


def _traced_call(model: Any, input_signature: Any) -> Any:
    """The forward pass as a function with a signature, whose outputs have names."""
    specs = input_signature or model_input_signature(model)
    if specs is None:
        from penstock.keras.saved_metadata import raise_model_input_error

        raise_model_input_error(model)

    def wrapped_model(*args: Any) -> dict[str, Any]:
        inputs = args[0] if len(args) == 1 else list(args)
        outputs = tf.nest.flatten(model(inputs, training=False))
        return dict(zip(model.output_names, outputs, strict=True))

    return tf.function(wrapped_model, input_signature=specs)


def _export_graphs(
    model: Any, path: str, custom_objects: Any, as_text: bool, input_signature: Any
) -> None:
    if not model._is_connected:
        if not hasattr(model, "_stack"):
            raise NotImplementedError(
                "Subclassed models can only be exported for serving. Please set argument "
                "serving_only=True."
            )
        raise ValueError(
            "Weights for sequential model have not yet been created. Weights are created when the "
            "Model is first called on inputs or `build()` is called with an `input_shape`, or the "
            "first layer in the model has `input_shape` during construction."
        )
    builder = _SavedModelBuilder(path)
    tensor_infos.get_or_create_variables_dir(path)
    weights = tensor_infos.get_variables_path(path)
    model.save_weights(weights, save_format="tf", overwrite=True)
    export = _GraphExport(builder, model, custom_objects, weights, input_signature)
    if model.optimizer:
        export.add(ModeKeys.TRAIN)
        export.add(ModeKeys.EVAL)
    export.add(ModeKeys.PREDICT)
    builder.save(as_text)


class _GraphExport:
    """Graphs of clones of a model, which share its variables' file."""

    def __init__(
        self, builder: Any, model: Any, custom_objects: Any, weights: str, input_signature: Any
    ):
        self._builder = builder
        self._model = model
        self._custom_objects = custom_objects
        self._weights = weights
        self._input_signature = input_signature
        self._has_variables = False

    def add(self, mode: str) -> None:
        """Adds the graph of a mode."""
        is_training = int(mode == ModeKeys.TRAIN)
        graph = tf.Graph()
        with graph.as_default(), K.learning_phase_scope(is_training):
            clone = self._clone(mode)
            kind = {ModeKeys.TRAIN: "train", ModeKeys.EVAL: "test"}.get(mode, "predict")
            function = clone._function(kind)
            for update in clone.state_updates:
                tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, update)
            with tf.Session(graph=graph).as_default() as session:
                self._save(clone, mode, function.updates_op if is_training else None)
            session.close()

    def _clone(self, mode: str) -> Any:
        from penstock.keras.models import clone_and_build_model

        inputs = None
        if self._input_signature is not None:
            inputs = tf.nest.map_structure(
                lambda spec: K.placeholder(shape=spec.shape, dtype=spec.dtype, name=spec.name),
                self._input_signature,
            )
        is_compiled = mode != ModeKeys.PREDICT
        clone = clone_and_build_model(
            self._model,
            input_tensors=inputs,
            custom_objects=self._custom_objects,
            compile_clone=is_compiled,
        )
        if is_compiled:
            tf.add_to_collection(tf.GraphKeys.GLOBAL_STEP, clone.optimizer.iterations)
        return clone

    def _save(self, clone: Any, mode: str, train_op: Any) -> None:
        status = clone.load_weights(self._weights)
        if self._has_variables:
            status.assert_existing_objects_matched()
        else:
            clone.save_weights(self._weights, save_format="tf", overwrite=True)
            self._builder._has_saved_variables = True
            self._has_variables = True
        variables, *_ = ObjectGraphView(clone).serialize_object_graph()
        self._builder.add_meta_graph(
            signatures.EXPORT_TAG_MAP[mode],
            signature_def_map=_signatures(clone, mode),
            saver=tf.train.Saver(variables, allow_empty=True),
            init_op=tf.local_variables_initializer(),
            train_op=train_op,
        )


def _signatures(model: Any, mode: str) -> dict[str, Any]:
    inputs = dict(zip(model.input_names, model.inputs, strict=True))
    metrics = None
    if model.optimizer:
        inputs.update({target.op.name: target for target in model.targets})
        metrics = _metric_tensors(model)
    outputs = dict(zip(model.output_names, model.outputs, strict=True))
    export_outputs = signatures.export_outputs_for_mode(
        mode,
        predictions=outputs,
        loss=model.total_loss if model.optimizer else None,
        metrics=metrics,
    )
    return signatures.build_all_signature_defs(
        inputs, export_outputs=export_outputs, serving_only=mode == ModeKeys.PREDICT
    )


def _metric_tensors(model: Any) -> dict[str, Any] | None:
    """(value, update) of each metric; their variables are local ones of the graph."""
    metrics = extract_model_metrics(model)
    if metrics is None:
        return None
    updates = {id(metric): value for metric, value in model._metric_results}
    known = tf.get_collection_ref(tf.GraphKeys.LOCAL_VARIABLES)
    for metric in metrics.values():
        known += [each for each in metric.variables if not any(each is old for old in known)]
    return {name: (metric.result(), updates[id(metric)]) for name, metric in metrics.items()}
