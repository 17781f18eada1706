"""Callbacks: what is told of the course of `fit`, `evaluate` and `predict`."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.keras.engine.layer_graph import outside_layer_graph
from penstock.platform import logging

__all__ = ["BaseLogger", "Callback", "CallbackList", "History", "LambdaCallback", "TerminateOnNaN"]

_EVENTS = (
    "on_epoch_begin",
    "on_epoch_end",
    "on_train_begin",
    "on_train_end",
    "on_test_begin",
    "on_test_end",
    "on_predict_begin",
    "on_predict_end",
    "on_train_batch_begin",
    "on_train_batch_end",
    "on_test_batch_begin",
    "on_test_batch_end",
    "on_predict_batch_begin",
    "on_predict_batch_end",
)


class Callback:
    """Methods that `fit` and its kin call; a subclass defines those that it wants.

    Attributes:
      params: verbosity, numbers of epochs, steps and samples, names of the metrics.
      model: the model.
      validation_data: the data that is tested after each epoch, if there is any.
    """

    _chief_worker_only: bool | None = None  # whether only the first of several workers calls it

    def __init__(self) -> None:
        self.validation_data: Any = None
        self.model: Any = None
        self.params: dict[str, Any] = {}

    def set_params(self, params: dict[str, Any]) -> None:
        self.params = params

    def set_model(self, model: Any) -> None:
        self.model = model

    def on_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Another name of `on_train_batch_begin`."""

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Another name of `on_train_batch_end`."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Before an epoch of training."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """After an epoch; `logs` has the losses and metrics, of validation too."""

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.on_batch_end(batch, logs=logs)

    def on_test_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch of `evaluate` or of validation."""

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        """After a batch of `evaluate` or of validation."""

    def on_predict_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch of `predict`."""

    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:
        """After a batch of `predict`."""

    def on_train_begin(self, logs: Any = None) -> None:
        """Before training."""

    def on_train_end(self, logs: Any = None) -> None:
        """After training."""

    def on_test_begin(self, logs: Any = None) -> None:
        """Before `evaluate` or validation."""

    def on_test_end(self, logs: Any = None) -> None:
        """After `evaluate` or validation."""

    def on_predict_begin(self, logs: Any = None) -> None:
        """Before `predict`."""

    def on_predict_end(self, logs: Any = None) -> None:
        """After `predict`."""


class CallbackList:
    """Several callbacks as one: each event goes to all of them, in order."""

    def __init__(self, callbacks: Any = None, queue_length: int = 10):
        self.callbacks: list[Any] = list(callbacks or [])
        self.params: dict[str, Any] = {}
        self.model: Any = None

    def append(self, callback: Any) -> None:
        self.callbacks.append(callback)

    def set_params(self, params: dict[str, Any]) -> None:
        self.params = params
        for callback in self.callbacks:
            callback.set_params(params)

    def set_model(self, model: Any) -> None:
        self.model = model
        for callback in self.callbacks:
            callback.set_model(model)

    def __iter__(self) -> Any:
        return iter(self.callbacks)

    def __getattr__(self, event: str) -> Any:
        if event not in (*_EVENTS, "on_batch_begin", "on_batch_end"):
            raise AttributeError(event)

        def tell(*args: Any) -> None:
            with outside_layer_graph():
                for callback in self.callbacks:
                    # A program's own class may have been written for fewer events.
                    method = getattr(callback, event, None)
                    if method is not None:
                        method(*args) if args else method(None)

        return tell


class BaseLogger(Callback):
    """Averages metrics over the batches of an epoch, where they keep no state themselves."""

    def __init__(self, stateful_metrics: Any = None):
        super().__init__()
        self.stateful_metrics = set(stateful_metrics or [])

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.seen = 0
        self.totals: dict[str, Any] = {}

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        logs = logs or {}
        size = logs.get("size", 0)
        self.seen += size
        for key, value in logs.items():
            if key in self.stateful_metrics:
                self.totals[key] = value
            else:
                self.totals[key] = self.totals.get(key, 0) + value * size

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        for key in self.params.get("metrics", ()):
            if logs is not None and key in self.totals:
                is_stateful = key in self.stateful_metrics
                logs[key] = self.totals[key] if is_stateful else self.totals[key] / self.seen


class History(Callback):
    """Keeps the losses and metrics of all epochs; `fit` returns it.

    Attributes:
      epoch: the epochs' numbers.
      history: for each name the list of its values.
    """

    def on_train_begin(self, logs: Any = None) -> None:
        self.epoch: list[int] = []
        self.history: dict[str, list[Any]] = {}

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.epoch.append(epoch)
        for key, value in (logs or {}).items():
            self.history.setdefault(key, []).append(value)


class TerminateOnNaN(Callback):
    """Stops training when the loss isn't a number."""

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        loss = (logs or {}).get("loss")
        if loss is not None and not np.isfinite(loss):
            logging.warning("Batch %d: Invalid loss, terminating training", batch)
            self.model.stop_training = True


class LambdaCallback(Callback):
    """A callback made of functions, given by the names of the events."""

    def __init__(
        self,
        on_epoch_begin: Any = None,
        on_epoch_end: Any = None,
        on_batch_begin: Any = None,
        on_batch_end: Any = None,
        on_train_begin: Any = None,
        on_train_end: Any = None,
        **kwargs: Any,
    ):
        super().__init__()
        self.__dict__.update(kwargs)
        given = {
            "on_epoch_begin": on_epoch_begin,
            "on_epoch_end": on_epoch_end,
            "on_batch_begin": on_batch_begin,
            "on_batch_end": on_batch_end,
            "on_train_begin": on_train_begin,
            "on_train_end": on_train_end,
        }
        for event, function in given.items():
            if function is not None:
                self.__dict__[event] = _with_logs(function)


def _with_logs(function: Any) -> Any:
    """A function of the event's arguments; `logs` may come by name."""

    def tell(*args: Any, logs: Any = None) -> Any:
        return function(*args, logs) if logs is not None else function(*args)

    return tell
