"""Series as NumPy arrays: their shapes with a batch and a time dimension."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from penstock.contrib.timeseries.feature_keys import TrainEvalFeatures

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


def _with_features(values: Any, missing: int, explanation: str) -> Any:
    """Values with a dimension of features, which those of a single one may lack."""
    rank = 2 - missing
    if values.ndim == rank:
        return values[..., None]
    if values.ndim > rank + 1:
        raise ValueError(
            f"Got an unexpected number of dimensions for the '{_VALUES}' feature. Was expecting "
            f"{explanation}, but got shape {values.shape}"
        )
    return values


def _canonicalize_numpy_data(data: Mapping[str, Any], require_single_batch: bool) -> dict[str, Any]:
    """Arrays of shape (batch, time, …); times of (batch, time).

    Args:
      data: arrays that may lack the dimension of the batch, and of time.
      require_single_batch: whether only one series is allowed.
    """
    features = {key: np.array(value) for key, value in data.items()}
    if _TIMES not in features or _VALUES not in features:
        raise ValueError(f"{_TIMES} and {_VALUES} are required features.")
    times = features[_TIMES]
    for key, value in features.items():
        if value.shape[: times.ndim] != times.shape:
            raise ValueError(
                "All features must have their shapes prefixed by the shape of the times feature. "
                f"Got shape {value.shape} for feature '{key}', but shape {times.shape} for "
                f"'{_TIMES}'"
            )
    if times.ndim == 0:
        explanation = (
            f"at most 1 dimension ([number of features]) since '{_TIMES}' does not have a batch "
            "or time dimension"
        )
        features[_VALUES] = _with_features(features[_VALUES], 2, explanation)
        features = {key: value[None, None, ...] for key, value in features.items()}
    elif times.ndim == 1:
        explanation = (
            f"at most 2 dimensions ([series length, number of features]) since '{_TIMES}' does "
            "not have a batch dimension"
        )
        features[_VALUES] = _with_features(features[_VALUES], 1, explanation)
        features = {key: value[None, ...] for key, value in features.items()}
    elif times.ndim != 2:
        raise ValueError(
            "Got an unexpected number of dimensions for times. Was expecting at most two "
            f"([batch size, series length]), but got shape {times.shape}."
        )
    if require_single_batch and features[_TIMES].shape[0] != 1:
        raise ValueError("Got batch input, was expecting unbatched input.")
    return features
