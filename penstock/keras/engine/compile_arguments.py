"""The arguments of `compile`, one for each output of a model."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.engine import training_data
from penstock.platform import logging


def copied_metrics(metrics: Any) -> list[Any]:
    """Metrics for another output: objects keep one state, so a copy is made of each."""
    return [
        type(metric).from_config(metric.get_config()) if hasattr(metric, "get_config") else metric
        for metric in metrics
    ]


def check_names(given: Any, names: list[str], what: str) -> None:
    """ValueError for entries of a dictionary that name no output."""
    if isinstance(given, dict):
        training_data.refuse_unknown(given, names, what)


def losses_of(loss: Any, names: list[str]) -> list[Any]:
    """The loss of each output."""
    if isinstance(loss, dict):
        for name in names:
            if name not in loss:
                logging.warning(
                    f"Output {name} missing from loss dictionary. We assume this was done on "
                    "purpose. The fit and evaluate APIs will not be expecting any data to be "
                    f"passed to {name}."
                )
        return [loss.get(name) for name in names]
    if isinstance(loss, (list, tuple)):
        if len(loss) != len(names):
            raise ValueError(
                "When passing a list as loss, it should have one entry per model outputs. The "
                f"model has {len(names)} outputs, but you passed loss={loss}"
            )
        return list(loss)
    return [loss] * len(names)


def modes_of(mode: Any, names: list[str]) -> list[Any]:
    """The mode of weights of each output."""
    if isinstance(mode, dict):
        return [mode.get(name) for name in names]
    if isinstance(mode, (list, tuple)):
        _check_length(mode, names, "sample_weight_mode")
        return list(mode)
    return [mode] * len(names)


def parts_of(loss_weights: Any, names: list[str]) -> list[Any]:
    """The part of each output in the total loss; None where it is not said."""
    if loss_weights is None:
        return [None] * len(names)
    if isinstance(loss_weights, dict):
        return [loss_weights.get(name) for name in names]
    if isinstance(loss_weights, list):
        _check_length(loss_weights, names, "loss_weights")
        return list(loss_weights)
    raise TypeError(
        f"Could not interpret loss_weights argument: {loss_weights} - expected a list of dicts."
    )


def targets_of(tensors: Any, names: list[str]) -> list[Any]:
    """The tensor of labels of each output; None where they are fed."""
    if tensors is None or (isinstance(tensors, list) and not tensors):
        return [None] * len(names)
    if isinstance(tensors, dict):
        return [tensors.get(name) for name in names]
    if isinstance(tensors, (list, tuple)):
        _check_length(tensors, names, "target_tensors", shown="`target_tensors`")
        return list(tensors)
    if K.is_tensor(tensors) or isinstance(tensors, tf.Variable):
        return [tensors] + [None] * (len(names) - 1)
    raise TypeError(
        "Expected `target_tensors` to be a list or tuple or dict or a single tensor, but got: "
        f"{tensors}"
    )


def _check_length(given: Any, names: list[str], what: str, shown: str | None = None) -> None:
    if len(given) != len(names):
        raise ValueError(
            f"When passing a list as {shown or what}, it should have one entry per model output. "
            f"The model has {len(names)} outputs, but you passed {what}={given}"
        )


def class_weights_of(given: Any, names: list[str]) -> list[Any]:
    """The weights of classes of each output."""
    if given is None:
        return [None] * len(names)
    if isinstance(given, dict) and len(names) == 1 and names[0] in given:
        return [given[names[0]]]
    if isinstance(given, (list, tuple)):
        return list(given)
    return (
        [given] * len(names)
        if len(names) == 1
        else training_data.per_output(given, names, "class_weight")
    )
