"""`saved_model.model_utils.mode_keys`: training, testing, predicting, in two vocabularies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class KerasModeKeys:
    """Keras' names."""

    TRAIN = "train"
    TEST = "test"
    PREDICT = "predict"


class EstimatorModeKeys:
    """The names of Estimators."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


def is_train(mode: str) -> bool:
    return mode in (KerasModeKeys.TRAIN, EstimatorModeKeys.TRAIN)


def is_eval(mode: str) -> bool:
    return mode in (KerasModeKeys.TEST, EstimatorModeKeys.EVAL)


def is_predict(mode: str) -> bool:
    return mode in (KerasModeKeys.PREDICT, EstimatorModeKeys.PREDICT)


class ModeKeyMap(Mapping[str, Any]):
    """Values by mode, in whichever names."""

    def __init__(self, **kwargs: Any):
        self._values: dict[str, Any] = {}
        self._keys = list(kwargs)
        for key, value in kwargs.items():
            mode = self._mode(key)
            if mode in self._values:
                raise ValueError(
                    f"Error creating ModeKeyMap. Multiple keys/values found for {mode} mode."
                )
            self._values[mode] = value

    @staticmethod
    def _mode(key: str) -> str:
        if is_train(key):
            return KerasModeKeys.TRAIN
        if is_eval(key):
            return KerasModeKeys.TEST
        if is_predict(key):
            return KerasModeKeys.PREDICT
        raise ValueError(f"Invalid mode key: {key}.")

    def __getitem__(self, key: str) -> Any:
        return self._values[self._mode(key)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)
