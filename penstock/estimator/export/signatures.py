"""The signatures and directories of an exported model."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from penstock.estimator.export.outputs import (
    EvalOutput,
    ExportOutput,
    PredictOutput,
    TrainOutput,
)
from penstock.platform import gfile, logging
from penstock.platform.compat import as_bytes
from penstock.saved_model import signature_constants, tag_constants
from penstock.saved_model.mode_keys import ModeKeyMap, is_predict
from penstock.saved_model.signature_def_utils import is_valid_signature

#: By mode, in the words of Estimators or of Keras.
EXPORT_TAG_MAP = ModeKeyMap(
    predict=[tag_constants.SERVING], train=[tag_constants.TRAINING], test=["eval"]
)
SIGNATURE_KEY_MAP = ModeKeyMap(
    predict=signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY, train="train", test="eval"
)

SINGLE_FEATURE_DEFAULT_NAME = "feature"
SINGLE_RECEIVER_DEFAULT_NAME = "input"
SINGLE_LABEL_DEFAULT_NAME = "label"

MAX_DIRECTORY_CREATION_ATTEMPTS = 10

_DEFAULT_KEY = signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
_SUPERVISED = ModeKeyMap(train=TrainOutput, test=EvalOutput)
_METHODS = {
    signature_constants.CLASSIFY_METHOD_NAME: "Classify",
    signature_constants.REGRESS_METHOD_NAME: "Regress",
    signature_constants.PREDICT_METHOD_NAME: "Predict",
    "tensorflow/supervised/training": "Train",
    "tensorflow/supervised/eval": "Eval",
}


def get_export_outputs(export_outputs: Any, predictions: Any) -> dict[str, ExportOutput]:
    """The outputs to export: those that are given, or the predictions; one is the default."""
    if export_outputs is None:
        export_outputs = {_DEFAULT_KEY: PredictOutput(predictions)}
    if not isinstance(export_outputs, dict):
        raise TypeError(f"export_outputs must be dict, given: {export_outputs}")
    for output in export_outputs.values():
        if not isinstance(output, ExportOutput):
            raise TypeError(
                f"Values in export_outputs must be ExportOutput objects. Given: {export_outputs}"
            )
    if len(export_outputs) == 1:
        export_outputs.setdefault(_DEFAULT_KEY, next(iter(export_outputs.values())))
    elif export_outputs and _DEFAULT_KEY not in export_outputs:
        raise ValueError(
            "Multiple export_outputs were provided, but none of them is specified as the default.  "
            "Do this by naming one of them with "
            "signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY."
        )
    return export_outputs


def export_outputs_for_mode(
    mode: str,
    serving_export_outputs: Any = None,
    predictions: Any = None,
    loss: Any = None,
    metrics: Any = None,
) -> dict[str, ExportOutput]:
    """The outputs of a model in a mode, by the names of their signatures."""
    try:
        key = SIGNATURE_KEY_MAP[mode]
    except ValueError:
        raise ValueError(
            f"Export output type not found for mode: {mode}. "
            f"Expected one of: {sorted(SIGNATURE_KEY_MAP)}."
        ) from None
    if is_predict(mode):
        return get_export_outputs(serving_export_outputs, predictions)
    output = _SUPERVISED[mode]
    return {key: output(loss=loss, predictions=predictions, metrics=metrics)}


def _pairings(
    receiver_tensors: Any, outputs: Mapping[Any, ExportOutput], alternatives: Any
) -> Iterator[tuple[str, Any, ExportOutput]]:
    for key, output in outputs.items():
        yield str(key or "None"), receiver_tensors, output
    for name, tensors in (alternatives or {}).items():
        for key, output in outputs.items():
            yield f"{name or 'None'}:{key or 'None'}", tensors, output


def build_all_signature_defs(
    receiver_tensors: Any,
    export_outputs: Any,
    receiver_tensors_alternatives: Any = None,
    serving_only: bool = True,
) -> dict[str, Any]:
    """Signatures from each kind of input to each output, where the two fit together.

    Args:
      receiver_tensors: the usual inputs.
      export_outputs: the outputs by name.
      receiver_tensors_alternatives: other inputs, by a name that goes before the output's.
      serving_only: only those that a model server can serve.
    """
    if not isinstance(export_outputs, dict):
        raise ValueError(f"export_outputs must be a dict and not{type(export_outputs)}")
    signatures: dict[str, Any] = {}
    excluded: dict[str, str] = {}
    for name, tensors, output in _pairings(
        receiver_tensors, export_outputs, receiver_tensors_alternatives
    ):
        if not isinstance(tensors, dict):
            tensors = {SINGLE_RECEIVER_DEFAULT_NAME: tensors}
        try:
            signatures[name] = output.as_signature_def(tensors)
        except ValueError as error:
            excluded[name] = str(error)
    _report(signatures, excluded)
    if serving_only:
        signatures = {name: s for name, s in signatures.items() if is_valid_signature(s)}
    return signatures


def _report(signatures: Mapping[str, Any], excluded: Mapping[str, str]) -> None:
    by_method: dict[str, list[str]] = defaultdict(list)
    for name, signature in signatures.items():
        by_method[signature.method_name].append(name)
    for method in {**_METHODS, **by_method}:
        names = by_method[method] or "None"
        logging.info(
            "Signatures INCLUDED in export for %s: %s", _METHODS.get(method, method), names
        )
    if excluded:
        logging.info("Signatures EXCLUDED from export because they cannot be served:")
        for name, why in excluded.items():
            logging.info("'%s' : %s", name, why)
    if not signatures:
        logging.warn("Export includes no signatures!")
    elif _DEFAULT_KEY not in signatures:
        logging.warn("Export includes no default signature!")


def get_timestamped_export_dir(export_dir_base: Any) -> bytes:
    """A directory that isn't there yet, named after the time in seconds."""
    for attempt in range(1, MAX_DIRECTORY_CREATION_ATTEMPTS + 1):
        directory = os.path.join(as_bytes(export_dir_base), as_bytes(str(int(time.time()))))
        if not gfile.Exists(directory):
            return directory
        time.sleep(1)
        logging.warn(
            "Directory %s already exists; retrying (attempt %d/%d)",
            directory,
            attempt,
            MAX_DIRECTORY_CREATION_ATTEMPTS,
        )
    raise RuntimeError(
        "Failed to obtain a unique export directory name after "
        f"{MAX_DIRECTORY_CREATION_ATTEMPTS} attempts."
    )


def get_temp_export_dir(timestamped_export_dir: bytes) -> bytes:
    """Where a model is written before it is renamed, so that nobody reads half of it."""
    parent, name = os.path.split(timestamped_export_dir)
    return os.path.join(as_bytes(parent), b"temp-" + as_bytes(name))
