"""Callbacks that watch a metric: to save, to stop, to lower the learning rate."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from penstock.keras import backend as K
from penstock.keras.callbacks.base import Callback
from penstock.platform import logging

__all__ = ["EarlyStopping", "LearningRateScheduler", "ModelCheckpoint", "ReduceLROnPlateau"]


def _is_larger_better(mode: str, monitor: str) -> bool:
    """Whether larger values are better: "auto" looks at the metric's name."""
    if mode not in ("auto", "min", "max"):
        logging.warning("Callback mode %s is unknown, fallback to auto mode.", mode)
        mode = "auto"
    if mode == "auto":
        return "acc" in monitor or monitor.startswith("fmeasure")
    return mode == "max"


class _Monitor(Callback):
    """A callback for which a value of a metric is better or worse than the best so far."""

    def __init__(self, monitor: str, mode: str, min_delta: float = 0.0):
        super().__init__()
        self.monitor = monitor
        self._is_larger_better = _is_larger_better(mode, monitor)
        self.monitor_op = np.greater if self._is_larger_better else np.less
        self.min_delta = abs(min_delta) if self._is_larger_better else -abs(min_delta)
        self.best = -np.inf if self._is_larger_better else np.inf

    def _is_better(self, value: Any) -> bool:
        return bool(self.monitor_op(value - self.min_delta, self.best))

    def _value(self, logs: Any, purpose: str) -> Any:
        value = (logs or {}).get(self.monitor)
        if value is None:
            logging.warning(
                "%s conditioned on metric `%s` which is not available. Available metrics are: %s",
                purpose,
                self.monitor,
                ",".join(logs or {}),
            )
        return value


class ModelCheckpoint(_Monitor):
    """Saves the model after each epoch.

    Args:
      filepath: may have `{epoch:02d}` and names of metrics, as `{val_loss:.2f}`.
      save_best_only: whether to save only a model better than all before.
      save_weights_only: whether to save the weights alone.
      save_freq: "epoch", or a number of samples.
      period: number of epochs between two files.
    """

    def __init__(
        self,
        filepath: str,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: Any = "epoch",
        **kwargs: Any,
    ):
        super().__init__(monitor, mode)
        self.filepath = filepath
        self.verbose = verbose
        self.save_best_only = save_best_only
        self.save_weights_only = save_weights_only
        self.save_freq = save_freq
        self.period = kwargs.pop("period", 1)
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(f"Unrecognized save_freq: {save_freq}")
        self._epochs_since_last_save = 0
        self._samples_since_last_save = 0
        self._epoch = 0

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._epoch = epoch

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        if isinstance(self.save_freq, int):
            self._samples_since_last_save += (logs or {}).get("size", 1)
            if self._samples_since_last_save >= self.save_freq:
                self._samples_since_last_save = 0
                self._save(self._epoch, logs or {})

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._epochs_since_last_save += 1
        if self.save_freq == "epoch" and self._epochs_since_last_save >= self.period:
            self._epochs_since_last_save = 0
            self._save(epoch, logs or {})

    def _save(self, epoch: int, logs: dict[str, Any]) -> None:
        path = self.filepath.format(epoch=epoch + 1, **logs)
        if self.save_best_only:
            value = self._value(logs, "Can save best model only")
            if value is None:
                return
            if not self.monitor_op(value, self.best):
                self._say(epoch, f"{self.monitor} did not improve from {self.best:0.5f}")
                return
            self._say(
                epoch,
                f"{self.monitor} improved from {self.best:0.5f} to {value:0.5f}, saving model to "
                f"{path}",
            )
            self.best = value
        else:
            self._say(epoch, f"saving model to {path}")
        if self.save_weights_only:
            self.model.save_weights(path, overwrite=True)
        else:
            self.model.save(path, overwrite=True)

    def _say(self, epoch: int, text: str) -> None:
        if self.verbose > 0:
            import sys

            sys.stdout.write(f"\nEpoch {epoch + 1:05d}: {text}\n")


class EarlyStopping(_Monitor):
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
        value = self._value(logs, "Early stopping")
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
            import sys

            sys.stdout.write(
                f"\nEpoch {epoch + 1:05d}: LearningRateScheduler reducing learning rate to "
                f"{rate}.\n"
            )

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if logs is not None:
            logs["lr"] = K.get_value(self.model.optimizer.lr)


class ReduceLROnPlateau(_Monitor):
    """Lowers the learning rate when a metric doesn't improve any more.

    Args:
      factor: what the rate is multiplied with.
      patience: how many epochs to wait for a better value.
      cooldown: how many epochs to wait after lowering.
      min_lr: lowest rate.
    """

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
        super().__init__(monitor, mode, kwargs.pop("epsilon", min_delta))
        self.factor = factor
        self.patience = patience
        self.verbose = verbose
        self.cooldown = cooldown
        self.min_lr = min_lr
        self.cooldown_counter = 0
        self.wait = 0

    def on_train_begin(self, logs: Any = None) -> None:
        self.best = -np.inf if self._is_larger_better else np.inf
        self.cooldown_counter = self.wait = 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if logs is not None:
            logs["lr"] = K.get_value(self.model.optimizer.lr)
        value = self._value(logs, "Learning rate reduction is")
        if value is None:
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self._is_better(value):
            self.best = value
            self.wait = 0
        elif self.cooldown_counter <= 0:
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
            import sys

            sys.stdout.write(
                f"\nEpoch {epoch + 1:05d}: ReduceLROnPlateau reducing learning rate to {rate}.\n"
            )
