"""An Estimator whose model is the graphs of a SavedModel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock.estimator.estimator import Estimator
from penstock.estimator.estimator_spec import EstimatorSpec
from penstock.estimator.export import signatures
from penstock.estimator.export.outputs import _SupervisedOutput
from penstock.estimator.export.receivers import wrap_and_check_input_tensors
from penstock.estimator.mode_keys import ModeKeys
from penstock.estimator.warm_start_settings import WarmStartSettings, saved_model_checkpoint
from penstock.platform import logging
from penstock.saved_model import constants, signature_constants
from penstock.saved_model.loader import SavedModelLoader, get_init_op
from penstock.train.checkpoint_variables import list_variables
from penstock.train.global_step import assert_global_step, get_global_step
from penstock.train.scaffold import Scaffold

__all__ = ["SavedModelEstimator"]

_METHODS = {
    ModeKeys.TRAIN: signature_constants.SUPERVISED_TRAIN_METHOD_NAME,
    ModeKeys.EVAL: signature_constants.SUPERVISED_EVAL_METHOD_NAME,
}
#: What an export writes anew: it has to find these collections empty.
_COLLECTIONS_OF_EXPORTS = (
    constants.ASSETS_KEY,
    constants.LEGACY_INIT_OP_KEY,
    constants.MAIN_OP_KEY,
    constants.TRAIN_OP_KEY,
)


class SavedModelEstimator(Estimator):
    """Trains, evaluates and predicts with a model that another Estimator exported.

    Args:
      saved_model_dir: the SavedModel's directory. Modes that were not exported are not available.
      model_dir: where checkpoints of further training are written.
    """

    def __init__(self, saved_model_dir: Any, model_dir: Any = None):
        checkpoint = saved_model_checkpoint(saved_model_dir)
        names = [name for name, _ in list_variables(checkpoint)]
        super().__init__(
            model_fn=self._model_fn_from_saved_model,
            model_dir=model_dir,
            warm_start_from=WarmStartSettings(checkpoint, vars_to_warm_start=names),
        )
        if self._train_distribution or self._eval_distribution:
            raise NotImplementedError(
                "SavedModelEstimator trains and evaluates on one device, without strategies"
            )
        self.saved_model_dir = saved_model_dir
        self.saved_model_loader = SavedModelLoader(saved_model_dir)
        self._available_modes = self._extract_available_modes()

    def _extract_available_modes(self) -> list[str]:
        logging.info("Checking available modes for SavedModelEstimator.")
        found = []
        for mode in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT):
            try:
                self._get_meta_graph_def_for_mode(mode)
            except RuntimeError:
                logging.warning("%s mode not found in SavedModel.", mode)
                continue
            if self._get_signature_def_for_mode(mode) is not None:
                found.append(mode)
        logging.info("Available modes for Estimator: %s", found)
        return found

    def _get_meta_graph_def_for_mode(self, mode: str) -> Any:
        tags = signatures.EXPORT_TAG_MAP[mode]
        return self.saved_model_loader.get_meta_graph_def_from_tags(tags)

    def _get_signature_def_for_mode(self, mode: str) -> Any:
        serving = signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
        key = serving if mode == ModeKeys.PREDICT else mode
        known = self._get_meta_graph_def_for_mode(mode).signature_def
        if key not in known:
            logging.warning(
                'The SavedModel has a graph for mode %s, but no signature "%s" in it.',
                mode,
                key,
            )
            return None
        return known[key]

    def _create_and_assert_global_step(self, graph: Any) -> Any:
        """Makes none: the step comes with the SavedModel's graph."""
        return None

    def _model_fn_from_saved_model(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        if mode not in self._available_modes:
            raise RuntimeError(
                f"{mode} mode is not available: the SavedModel was exported for "
                f"{self._available_modes} (`saved_model_cli show` lists its graphs)"
            )
        graph = tf.get_default_graph()
        if get_global_step(graph) is not None:
            raise RuntimeError(
                "Graph must not contain a global step tensor of its own, such as an input "
                "function may make: the step comes with the SavedModel"
            )
        signature = self._get_signature_def_for_mode(mode)
        keys, names = list(signature.outputs), [info.name for info in signature.outputs.values()]
        _, tensors = self.saved_model_loader.load_graph(
            graph,
            signatures.EXPORT_TAG_MAP[mode],
            input_map=_generate_input_map(signature, features, labels),
            return_elements=names,
        )
        main_op = get_init_op(self._get_meta_graph_def_for_mode(mode))
        assert_global_step(get_global_step(graph))
        loss, predictions, metrics = _validate_and_extract_outputs(
            mode, dict(zip(keys, tensors, strict=True)), signature.method_name
        )
        train_op = _only_train_op()
        for key in _COLLECTIONS_OF_EXPORTS:
            del tf.get_collection_ref(key)[:]
        return EstimatorSpec(
            mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            scaffold=Scaffold(local_init_op=main_op),
        )


def _only_train_op() -> Any:
    found: Sequence[Any] = tf.get_collection(constants.TRAIN_OP_KEY)
    if len(found) > 1:
        raise RuntimeError(f"a SavedModel has one train_op, this one has {len(found)}: {found}")
    return found[0] if found else None


def _generate_input_map(signature_def: Any, features: Any, labels: Any) -> dict[str, Any]:
    """Which tensors take the places of a signature's inputs, as data and as control inputs."""
    given = dict(wrap_and_check_input_tensors(features, "feature"))
    if labels is not None:
        given = {**wrap_and_check_input_tensors(labels, "label"), **given}
    found = {}
    for key, info in signature_def.inputs.items():
        if key not in given:
            raise ValueError(
                f'Key "{key}" not found in features or labels; the SavedModel takes '
                f"{sorted(signature_def.inputs)}"
            )
        _check_same_dtype_and_shape(given[key], info, key)
        name = info.name.partition(":")[0]
        found[name] = found[f"^{name}"] = given[key]
    return found


def _check_same_dtype_and_shape(tensor: Any, tensor_info: Any, name: str) -> None:
    dtype, shape = tf.as_dtype(tensor_info.dtype), tf.TensorShape(tensor_info.tensor_shape)
    problems = []
    if tensor.dtype != dtype:
        problems.append(f"\n\tExpected dtype: {dtype}, Got: {tensor.dtype}")
    if not tensor.shape.is_compatible_with(shape):
        problems.append(f"\n\tExpected shape: {shape}, Got: {tensor.shape}")
    if problems:
        raise ValueError(
            f"The SavedModel takes another tensor for input {name}:{''.join(problems)}"
        )


def _extract_eval_metrics(output_dict: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Metrics by name: those whose value and update are both among the outputs."""
    separator = _SupervisedOutput._SEPARATOR_CHAR
    found = {}
    for key, value in output_dict.items():
        name, _, suffix = key.rpartition(separator)
        update = f"{name}{separator}{_SupervisedOutput.METRIC_UPDATE_SUFFIX}"
        is_metric = key.split(separator)[0] == _SupervisedOutput.METRICS_NAME
        is_value = suffix == _SupervisedOutput.METRIC_VALUE_SUFFIX
        if is_metric and is_value and update in output_dict:
            found[name] = (value, output_dict[update])
    return found


def _validate_and_extract_outputs(
    mode: str, output_dict: dict[str, Any], method_name: str
) -> tuple[Any, Any, Any]:
    """Loss, predictions and metrics among the outputs of a signature; only predictions to serve."""
    if mode == ModeKeys.PREDICT:
        return None, output_dict, None
    if method_name != _METHODS[mode]:
        raise RuntimeError(
            f"The signature for mode {mode} has the method {method_name}, not {_METHODS[mode]}: "
            "was the SavedModel exported by `Estimator.experimental_export_all_saved_models`?"
        )
    separator, wanted = _SupervisedOutput._SEPARATOR_CHAR, _SupervisedOutput.PREDICTIONS_NAME
    predictions = {
        key: value for key, value in output_dict.items() if key.split(separator)[0] == wanted
    }
    metrics = _extract_eval_metrics(output_dict)
    return output_dict[_SupervisedOutput.LOSS_NAME], predictions, metrics
