"""Callbacks that watch a metric: to stop, to lower the learning rate."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from penstock.keras import backend as K
from penstock.keras.callbacks.base import Callback
from penstock.platform import logging

__all__ = ["EarlyStopping", "LearningRateScheduler", "ReduceLROnPlateau"]


def _is_larger_better(mode: str, monitor: str, of_callback: str) -> bool:
    """Whether larger values are better: "auto" looks at the metric's name."""
    if mode not in ("auto", "min", "max"):
        logging.warning(f"{of_callback} mode %s is unknown, fallback to auto mode.", mode)
        mode = "auto"
    if mode == "auto":
        return "acc" in monitor or monitor.startswith("fmeasure")
    return mode == "max"


class Monitor(Callback):
    """A callback for which a value of a metric is better or worse than the best so far."""

    #: What warnings call it, if not by the name of its class.
    _shown_name = ""

    def __init__(self, monitor: str, mode: str, min_delta: float = 0.0):
        super().__init__()
        self.monitor = monitor
        self._is_larger_better = _is_larger_better(
            mode, monitor, self._shown_name or type(self).__name__
        )
        self.monitor_op = np.greater if self._is_larger_better else np.less
        self.min_delta = abs(min_delta) if self._is_larger_better else -abs(min_delta)
        self.best = -np.inf if self._is_larger_better else np.inf

    def _is_better(self, value: Any) -> bool:
        return bool(self.monitor_op(value - self.min_delta, self.best))

    def _value(self, logs: Any, purpose: str) -> Any:
        value = (logs or {}).get(self.monitor)
        if value is None:
            logging.warning(
                f"{purpose} conditioned on metric `%s` which is not available. Available metrics "
                "are: %s",
                self.monitor,
                ",".join(logs or {}),
            )
        return value


class EarlyStopping(Monitor):
    """Stops training when a metric doesn't improve any more.

    Args:
      min_delta: how much better a value must be to count.
      patience: how many epochs to wait for a better value.
      baseline: value that must be reached.
      restore_best_weights: whether to go back to the weights of the best epoch.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
    ):
        super().__init__(monitor, mode, min_delta)
        self.patience = patience
        self.verbose = verbose
        self.baseline = baseline
        self.restore_best_weights = restore_best_weights
        self.wait = 0
        self.stopped_epoch = 0
        self.best_weights: Any = None

    def on_train_begin(self, logs: Any = None) -> None:
        self.wait = 0
        self.stopped_epoch = 0
        if self.baseline is not None:
            self.best = self.baseline
        else:
            self.best = -np.inf if self._is_larger_better else np.inf

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        value = self.get_monitor_value(logs)
        if value is None:
            return
        if self._is_better(value):
            self.best = value
            self.wait = 0
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            return
        self.wait += 1
        if self.wait >= self.patience:
            self.stopped_epoch = epoch
            self.model.stop_training = True
            if self.best_weights is not None:
                if self.verbose > 0:
                    sys.stdout.write("Restoring model weights from the end of the best epoch.\n")
                self.model.set_weights(self.best_weights)

    def get_monitor_value(self, logs: Any) -> Any:
        """The value of an epoch's logs that decides; None, with a warning, if it is not there."""
        return self._value(logs, "Early stopping")

    def on_train_end(self, logs: Any = None) -> None:
        if self.stopped_epoch > 0 and self.verbose > 0:
            sys.stdout.write(f"Epoch {self.stopped_epoch + 1:05d}: early stopping\n")


class LearningRateScheduler(Callback):
    """Sets the learning rate before each epoch.

    Args:
      schedule: function of the epoch, or of the epoch and the current rate.
    """

    def __init__(self, schedule: Any, verbose: int = 0):
        super().__init__()
        self.schedule = schedule
        self.verbose = verbose

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        if not hasattr(self.model.optimizer, "lr"):
            raise ValueError('Optimizer must have a "lr" attribute.')
        try:
            rate = self.schedule(epoch, float(K.get_value(self.model.optimizer.lr)))
        except TypeError:  # a schedule of the epoch alone
            rate = self.schedule(epoch)
        if not isinstance(rate, (float, np.float32, np.float64)):
            raise ValueError('The output of the "schedule" function should be float.')
        K.set_value(self.model.optimizer.lr, rate)
        if self.verbose > 0:
            sys.stdout.write(
                f"\nEpoch {epoch + 1:05d}: LearningRateScheduler reducing learning rate to "
                f"{rate}.\n"
            )

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if logs is not None:
            logs["lr"] = K.get_value(self.model.optimizer.lr)


class ReduceLROnPlateau(Monitor):
    """Lowers the learning rate when a metric doesn't improve any more.

    Args:
      factor: what the rate is multiplied with.
      patience: how many epochs to wait for a better value.
      cooldown: how many epochs to wait after lowering.
      min_lr: lowest rate.
    """

    _shown_name = "Learning Rate Plateau Reducing"

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 0,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
        **kwargs: Any,
    ):
        if factor >= 1.0:
            raise ValueError("ReduceLROnPlateau does not support a factor >= 1.0.")
        if "epsilon" in kwargs:
            logging.warning("`epsilon` argument is deprecated: its name is `min_delta` now.")
        super().__init__(monitor, mode)
        self.min_delta = kwargs.get("epsilon", min_delta)
        self.factor = factor
        self.patience = patience
        self.verbose = verbose
        self.cooldown = cooldown
        self.min_lr = min_lr
        self.cooldown_counter = 0
        self.wait = 0

    def _is_better(self, value: Any) -> bool:
        if self._is_larger_better:
            return bool(value > self.best + self.min_delta)
        return bool(value < self.best - self.min_delta)

    def _reset(self) -> None:
        self.best = -np.inf if self._is_larger_better else np.inf
        self.cooldown_counter = self.wait = 0

    def on_train_begin(self, logs: Any = None) -> None:
        self._reset()

    def in_cooldown(self) -> bool:
        """Whether the rate was lowered not long ago."""
        return self.cooldown_counter > 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if logs is not None:
            logs["lr"] = K.get_value(self.model.optimizer.lr)
        value = self._value(logs, "Learning rate reduction is")
        if value is None:
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self._is_better(value):
            self.best = value
            self.wait = 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience:
                self._lower(epoch)

    def _lower(self, epoch: int) -> None:
        rate = float(K.get_value(self.model.optimizer.lr))
        if rate <= self.min_lr:
            return
        rate = max(rate * self.factor, self.min_lr)
        K.set_value(self.model.optimizer.lr, rate)
        self.cooldown_counter = self.cooldown
        self.wait = 0
        if self.verbose > 0:
            sys.stdout.write(
                f"\nEpoch {epoch + 1:05d}: ReduceLROnPlateau reducing learning rate to {rate}.\n"
            )
