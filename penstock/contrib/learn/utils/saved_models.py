"""SavedModels of estimators: their signatures, their directories, and the writing."""

from __future__ import annotations

import os
import time
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock import logging
from penstock.contrib.learn.model_fn import (
    COLLECTION_DEF_KEY_FOR_INPUT_FEATURE_KEYS,
    PredictionKey,
    ProblemType,
)
from penstock.contrib.learn.utils.input_fn_utils import InputFnOps
from penstock.contrib.session_bundle import gc
from penstock.platform import gfile
from penstock.platform.compat import as_bytes, as_str_any
from penstock.saved_model import signature_constants, signature_def_utils
from penstock.saved_model.builder import SavedModelBuilder

DEFAULT_INPUT_ALTERNATIVE_KEY = "default_input_alternative"
FEATURES_INPUT_ALTERNATIVE_KEY = "features_input_alternative"
MAX_DIRECTORY_CREATION_ATTEMPTS = 10

_FALLBACK_DEFAULT_OUTPUT_ALTERNATIVE_KEY = "default_output_alternative"

#: The tags of a graph in a SavedModel, and what is done to it before.
GraphRewriteSpec = namedtuple("GraphRewriteSpec", ["tags", "transforms"])


def build_standardized_signature_def(
    input_tensors: dict[str, Any], output_tensors: dict[str, Any], problem_type: int
) -> Any:
    """The signature of a model: of classification or regression where that fits, else general."""
    if not input_tensors:
        raise ValueError("input_tensors must be provided.")
    if not output_tensors:
        raise ValueError("output_tensors must be provided.")
    if len(input_tensors) == 1:
        (examples,) = input_tensors.values()
        if problem_type in (ProblemType.CLASSIFICATION, ProblemType.LOGISTIC_REGRESSION):
            classes, scores = _classes_and_scores(output_tensors)
            if classes is not None or scores is not None:
                return signature_def_utils.classification_signature_def(examples, classes, scores)
        elif problem_type == ProblemType.LINEAR_REGRESSION and len(output_tensors) == 1:
            (predictions,) = output_tensors.values()
            return signature_def_utils.regression_signature_def(examples, predictions)
    return signature_def_utils.predict_signature_def(input_tensors, output_tensors)


def _classes_and_scores(outputs: dict[str, Any]) -> tuple[Any, Any]:
    """Outputs that are known by their names; a single one by its type."""
    classes = outputs.get(PredictionKey.CLASSES)
    if classes is not None and classes.dtype != tf.string:
        classes = None  # signatures of classifications have names, not numbers
    scores = outputs.get(PredictionKey.SCORES)
    if scores is None:
        scores = outputs.get(PredictionKey.PROBABILITIES)
    if classes is None and scores is None and len(outputs) == 1:
        (only,) = outputs.values()
        return (only, None) if only.dtype == tf.string else (None, only)
    return classes, scores


def get_input_alternatives(input_ops: Any) -> tuple[dict[str, Any], Any]:
    """What a serving input function gave: the tensors to feed, and the features."""
    alternatives = {}
    if isinstance(input_ops, InputFnOps):
        features, _, alternatives[DEFAULT_INPUT_ALTERNATIVE_KEY] = input_ops
    elif hasattr(input_ops, "receiver_tensors"):
        features = input_ops.features
        alternatives[DEFAULT_INPUT_ALTERNATIVE_KEY] = input_ops.receiver_tensors
    else:
        features, _ = input_ops
    if not features:
        raise ValueError("Features must be defined.")
    return alternatives, features


def get_output_alternatives(
    model_fn_ops: Any, default_output_alternative_key: str | None = None
) -> tuple[dict[Any, Any], Any]:
    """The outputs of a model by name, and the name of the default."""
    found = model_fn_ops.output_alternatives or {}
    asked = default_output_alternative_key
    if asked and asked not in found:
        raise ValueError(
            f"Requested default_output_alternative: {asked}, but available output_alternatives "
            f"are: {sorted(found)}"
        )
    if not found:
        outputs = model_fn_ops.predictions
        if not isinstance(outputs, dict):
            outputs = {PredictionKey.GENERIC: outputs}
        key = _FALLBACK_DEFAULT_OUTPUT_ALTERNATIVE_KEY
        return {key: (ProblemType.UNSPECIFIED, outputs)}, key
    if asked:
        return found, asked
    if len(found) > 1:
        raise ValueError(
            "Please specify a default_output_alternative.  Available output_alternatives are: "
            f"{sorted(found)}"
        )
    return found, next(iter(found))


def build_all_signature_defs(
    input_alternatives: dict[str, Any],
    output_alternatives: dict[Any, Any],
    actual_default_output_alternative_key: Any,
) -> dict[str, Any]:
    """A signature for each pair of inputs and outputs, and the default one."""
    signatures = {
        f"{input_key}:{output_key or 'None'}": build_standardized_signature_def(
            inputs, outputs, problem_type
        )
        for input_key, inputs in input_alternatives.items()
        for output_key, (problem_type, outputs) in output_alternatives.items()
    }
    inputs = input_alternatives.get(DEFAULT_INPUT_ALTERNATIVE_KEY)
    if not inputs:
        raise ValueError("A default input_alternative must be provided.")
    problem_type, outputs = output_alternatives[actual_default_output_alternative_key]
    signatures[signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY] = (
        build_standardized_signature_def(inputs, outputs, problem_type)
    )
    return signatures


def get_timestamped_export_dir(export_dir_base: Any) -> bytes:
    """A directory that is named by the time and does not exist yet."""
    for attempt in range(1, MAX_DIRECTORY_CREATION_ATTEMPTS + 1):
        found = os.path.join(as_bytes(export_dir_base), as_bytes(str(int(time.time()))))
        if not gfile.Exists(found):
            return found
        time.sleep(1)
        logging.warn(
            f"Export directory {as_str_any(found)} already exists; retrying (attempt "
            f"{attempt}/{MAX_DIRECTORY_CREATION_ATTEMPTS})"
        )
    raise RuntimeError(
        "Failed to obtain a unique export directory name after "
        f"{MAX_DIRECTORY_CREATION_ATTEMPTS} attempts."
    )


def get_temp_export_dir(timestamped_export_dir: Any) -> bytes:
    """Where an export is written before it gets its name."""
    folder, name = os.path.split(as_bytes(timestamped_export_dir))
    return os.path.join(folder, b"temp-" + name)


def _with_version(path: Any) -> Any:
    name = os.path.basename(path.path)
    is_time = len(name) == 10 and name.isdigit()
    return path._replace(export_version=int(name)) if is_time else None


def get_most_recent_export(export_dir_base: Any) -> Any:
    """The latest export below a directory, or None."""
    found = gc.largest_export_versions(1)(gc.get_paths(export_dir_base, parser=_with_version))
    return next(iter(found), None)


def garbage_collect_exports(export_dir_base: Any, exports_to_keep: int | None) -> None:
    """Deletes all exports but the latest; None keeps all."""
    if exports_to_keep is None:
        return
    others = gc.negation(gc.largest_export_versions(exports_to_keep))
    for path in others(gc.get_paths(as_str_any(export_dir_base), parser=_with_version)):
        try:
            gfile.DeleteRecursively(path.path)
        except tf.errors.NotFoundError as error:
            logging.warn("Can not delete %s recursively: %s", path.path, error)


def write_saved_model(
    estimator: Any,
    export_dir_base: Any,
    serving_input_fn: Callable[[], Any],
    default_output_alternative_key: str | None,
    assets_extra: Any,
    as_text: bool,
    checkpoint_path: Any,
    graph_rewrite_specs: Any,
    strip_default_attrs: bool,
) -> bytes:
    """Writes an estimator's model into a new directory; see `Estimator.export_savedmodel`."""
    if not graph_rewrite_specs or graph_rewrite_specs[0].transforms:
        raise ValueError("The first element of graph_rewrite_specs must specify no transforms.")
    if len(graph_rewrite_specs) > 1:
        raise NotImplementedError("Penstock exports the graph as it is, once.")
    export_dir = get_timestamped_export_dir(export_dir_base)
    unfinished = get_temp_export_dir(export_dir)
    builder = SavedModelBuilder(as_str_any(unfinished))
    with tf.Graph().as_default() as graph:
        tf.train.create_global_step(graph)
        inputs, features = get_input_alternatives(serving_input_fn())
        for name in features if isinstance(features, dict) else ():
            tf.add_to_collection(COLLECTION_DEF_KEY_FOR_INPUT_FEATURE_KEYS, name)
        model = estimator._inferred(features)
        outputs, default = get_output_alternatives(model, default_output_alternative_key)
        signatures = build_all_signature_defs(inputs, outputs, default)
        init_op = tf.group(tf.local_variables_initializer(), tf.tables_initializer())
        saver = model.scaffold.saver if model.scaffold is not None else None
        with tf.Session("") as session:
            (saver or tf.train.Saver(sharded=True)).restore(session, checkpoint_path)
            builder.add_meta_graph_and_variables(
                session,
                graph_rewrite_specs[0].tags,
                signature_def_map=signatures,
                assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
                main_op=init_op,
                strip_default_attrs=strip_default_attrs,
            )
    for target, source in (assets_extra or {}).items():
        copy = os.path.join(unfinished, b"assets.extra", as_bytes(target))
        gfile.MakeDirs(os.path.dirname(copy))
        gfile.Copy(source, copy)
    builder.save(as_text)
    gfile.Rename(unfinished, export_dir)
    return export_dir
