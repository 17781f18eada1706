"""Whether features have the shapes that time series models need."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from penstock.contrib.timeseries.feature_keys import (
    PredictionFeatures,
    State,
    TrainEvalFeatures,
)

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


def _expect(features: Mapping[str, Any], name: str, purpose: str) -> None:
    if name not in features:
        raise ValueError(f"Expected a '{name}' feature for {purpose}.")


def _check_times(times: Any) -> None:
    if not times.get_shape().is_compatible_with([None, None]):
        raise ValueError(
            f"Expected shape (batch dimension, window size) for feature '{_TIMES}' (got shape "
            f"{times.get_shape()})"
        )


def _check_first_dimensions(features: Mapping[str, Any], ignored: Set[str]) -> None:
    """Of all features: batch and window are those of the times."""
    times_shape = features[_TIMES].get_shape()
    for name, value in features.items():
        if name in ignored:
            continue
        shape = value.get_shape()
        if shape.ndims is None:
            continue
        if shape.ndims < 2:
            raise ValueError(
                "Features must have shape (batch dimension, window size, ...) (got rank "
                f"{shape.ndims} for feature '{name}')"
            )
        if not shape[:2].is_compatible_with(times_shape):
            raise ValueError(
                "Features must have shape (batch dimension, window size, ...) where batch "
                f"dimension and window size match the '{_TIMES}' feature (got shape {shape} for "
                f"feature '{name}' but shape {times_shape} for feature '{_TIMES}')"
            )


def check_train_eval_features(features: Mapping[str, Any], model: Any) -> None:
    """Raises ValueError for what a model can't be trained with."""
    for name in (_TIMES, _VALUES):
        _expect(features, name, "training/evaluation")
    times = features[_TIMES]
    _check_times(times)
    if not features[_VALUES].get_shape().is_compatible_with([None, None, model.num_features]):
        raise ValueError(
            f"Expected shape (batch dimension, window size, {model.num_features}) for feature "
            f"'{_VALUES}', since the model was configured with num_features="
            f"{model.num_features} (got shape {times.get_shape()})"
        )
    _check_first_dimensions(features, {State.STATE_TUPLE})


def check_predict_features(features: Mapping[str, Any], with_values: bool = False) -> None:
    """Raises ValueError for what no predictions can be made of.

    Args:
      with_values: whether values are needed, too, of as many times as they have.
    """
    needed = [PredictionFeatures.TIMES, *([_VALUES] if with_values else [])]
    for name in (*needed, State.STATE_TUPLE):
        _expect(features, name, "prediction")
    _check_times(features[_TIMES])
    _check_first_dimensions(
        features, {State.STATE_TUPLE, _VALUES} if with_values else {State.STATE_TUPLE}
    )
