"""`tf.saved_model.signature_def_utils`: what a saved graph takes and gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock import dtypes, errors
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.proto import SignatureDef
from penstock.saved_model import signature_constants as names
from penstock.saved_model.tensor_infos import (
    build_tensor_info,
    build_tensor_info_from_op,
    get_element_from_tensor_info,
)

__all__ = [
    "build_signature_def",
    "classification_signature_def",
    "is_valid_signature",
    "load_op_from_signature_def",
    "op_signature_def",
    "predict_signature_def",
    "regression_signature_def",
    "supervised_eval_signature_def",
    "supervised_train_signature_def",
]

Tensors = Mapping[str, Any]


def build_signature_def(
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    method_name: str | None = None,
) -> Any:
    """A SignatureDef message of TensorInfo messages by name."""
    message = SignatureDef(method_name=method_name)
    for key, info in (inputs or {}).items():
        message.inputs[key].CopyFrom(info)
    for key, info in (outputs or {}).items():
        message.outputs[key].CopyFrom(info)
    return message


def _infos(tensors: Tensors) -> dict[str, Any]:
    return {key: build_tensor_info(tensor) for key, tensor in tensors.items()}


def _checked_info(tensor: Any, wanted: dtypes.DType, complaint: str) -> Any:
    info = build_tensor_info(tensor)
    if info.dtype != wanted.as_datatype_enum:
        raise ValueError(complaint)
    return info


def regression_signature_def(examples: Any, predictions: Any) -> Any:
    """The signature of a regression from serialized examples."""
    if examples is None:
        raise ValueError("Regression examples cannot be None.")
    if not isinstance(examples, Tensor):
        raise ValueError("Regression examples must be a string Tensor.")
    if predictions is None:
        raise ValueError("Regression predictions cannot be None.")
    given = _checked_info(examples, dtypes.string, "Regression examples must be a string Tensor.")
    predicted = _checked_info(
        predictions, dtypes.float32, "Regression output must be a float Tensor."
    )
    return build_signature_def(
        {names.REGRESS_INPUTS: given},
        {names.REGRESS_OUTPUTS: predicted},
        names.REGRESS_METHOD_NAME,
    )


def classification_signature_def(examples: Any, classes: Any, scores: Any) -> Any:
    """The signature of a classification of serialized examples."""
    if examples is None:
        raise ValueError("Classification examples cannot be None.")
    if not isinstance(examples, Tensor):
        raise ValueError("Classification examples must be a string Tensor.")
    if classes is None and scores is None:
        raise ValueError("Classification classes and scores cannot both be None.")
    given = _checked_info(
        examples, dtypes.string, "Classification examples must be a string Tensor."
    )
    outputs = {}
    if classes is not None:
        outputs[names.CLASSIFY_OUTPUT_CLASSES] = _checked_info(
            classes, dtypes.string, "Classification classes must be a string Tensor."
        )
    if scores is not None:
        outputs[names.CLASSIFY_OUTPUT_SCORES] = _checked_info(
            scores, dtypes.float32, "Classification scores must be a float Tensor."
        )
    return build_signature_def({names.CLASSIFY_INPUTS: given}, outputs, names.CLASSIFY_METHOD_NAME)


def predict_signature_def(inputs: Tensors, outputs: Tensors) -> Any:
    """The signature of any function of tensors."""
    if not inputs:
        raise ValueError("Prediction inputs cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction outputs cannot be None or empty.")
    return build_signature_def(_infos(inputs), _infos(outputs), names.PREDICT_METHOD_NAME)


def supervised_train_signature_def(
    inputs: Tensors,
    loss: Tensors | None,
    predictions: Tensors | None = None,
    metrics: Tensors | None = None,
) -> Any:
    """The signature of a training graph."""
    return _supervised(names.SUPERVISED_TRAIN_METHOD_NAME, inputs, loss, predictions, metrics)


def supervised_eval_signature_def(
    inputs: Tensors,
    loss: Tensors | None,
    predictions: Tensors | None = None,
    metrics: Tensors | None = None,
) -> Any:
    """The signature of an evaluation graph."""
    return _supervised(names.SUPERVISED_EVAL_METHOD_NAME, inputs, loss, predictions, metrics)


def _supervised(method_name: str, inputs: Tensors, *outputs: Tensors | None) -> Any:
    if not inputs:
        raise ValueError(f"{method_name} inputs cannot be None or empty.")
    merged = {key: tensor for group in outputs for key, tensor in (group or {}).items()}
    return build_signature_def(_infos(inputs), _infos(merged), method_name)


def is_valid_signature(signature_def: Any) -> bool:
    """Whether TensorFlow Serving accepts a signature."""
    if signature_def is None:
        return False
    check = {
        names.CLASSIFY_METHOD_NAME: _is_classification,
        names.REGRESS_METHOD_NAME: _is_regression,
        names.PREDICT_METHOD_NAME: _is_prediction,
    }.get(signature_def.method_name)
    return check is not None and check(signature_def)


def _is_prediction(signature: Any) -> bool:
    return bool(signature.inputs) and bool(signature.outputs)


def _has_type(info: Any, dtype: dtypes.DType) -> bool:
    return bool(info.dtype == dtype.as_datatype_enum)


def _is_regression(signature: Any) -> bool:
    return (
        set(signature.inputs) == {names.REGRESS_INPUTS}
        and set(signature.outputs) == {names.REGRESS_OUTPUTS}
        and _has_type(signature.inputs[names.REGRESS_INPUTS], dtypes.string)
        and _has_type(signature.outputs[names.REGRESS_OUTPUTS], dtypes.float32)
    )


def _is_classification(signature: Any) -> bool:
    types = {
        names.CLASSIFY_OUTPUT_CLASSES: dtypes.string,
        names.CLASSIFY_OUTPUT_SCORES: dtypes.float32,
    }
    return (
        set(signature.inputs) == {names.CLASSIFY_INPUTS}
        and _has_type(signature.inputs[names.CLASSIFY_INPUTS], dtypes.string)
        and len(signature.outputs) > 0
        and set(signature.outputs) <= types.keys()
        and all(_has_type(info, types[key]) for key, info in signature.outputs.items())
    )


def op_signature_def(op: Operation, key: str) -> Any:
    """A signature whose only output is an operation."""
    return build_signature_def(outputs={key: build_tensor_info_from_op(op)})


def load_op_from_signature_def(
    signature_def: Any, key: str, import_scope: str | None = None
) -> Any:
    """The operation of a signature that `op_signature_def` made."""
    try:
        return get_element_from_tensor_info(signature_def.outputs[key], import_scope=import_scope)
    except KeyError:
        raise errors.NotFoundError(
            None,
            None,
            f"The {key} could not be found in the graph. Please make sure that the SignatureDef in "
            f'the SavedModel does not contain the key "{key}" for anything else.',
        ) from None
