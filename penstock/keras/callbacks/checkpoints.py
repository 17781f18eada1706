"""`ModelCheckpoint`: files of a model while it is trained."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from typing import Any

import penstock as tf
from penstock.distribute import clusters
from penstock.keras.callbacks.monitors import Monitor
from penstock.platform import logging

__all__ = ["ModelCheckpoint"]


class ModelCheckpoint(Monitor):
    """Saves the model after each epoch.

    Where several tasks train it together, the first worker's files stay; a training that one of
    them was lost in goes on with the epoch after the last one, when all are started again.

    Args:
      filepath: may have `{epoch:02d}` and names of metrics, as `{val_loss:.2f}`.
      save_best_only: whether to save only a model better than all before.
      save_weights_only: whether to save the weights alone.
      save_freq: "epoch", or a number of samples.
      period: number of epochs between two files.
      load_weights_on_restart: whether training begins with the weights of the newest such file.
    """

    _chief_worker_only = False

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
        if "load_weights_on_restart" in kwargs:
            logging.warning(
                "`load_weights_on_restart` argument is deprecated: call `model.load_weights` "
                "before `model.fit`."
            )
        if "period" in kwargs:
            logging.warning(
                "`period` argument is deprecated: `save_freq` is a number of samples between two "
                "files."
            )
        self.load_weights_on_restart = kwargs.get("load_weights_on_restart", False)
        self.period = kwargs.get("period", 1)
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(f"Unrecognized save_freq: {save_freq}")
        self.epochs_since_last_save = 0
        self._samples_seen_since_last_saving = 0
        self._current_epoch = 0
        self._training_state: Any = None

    def set_model(self, model: Any) -> None:
        self.model = model
        is_known = model._is_graph_network or type(model).__name__ == "Sequential"
        if not is_known:  # others have no configuration that a file could hold
            self.save_weights_only = True

    # Events -------------------------------------------------------------------------------------

    def on_train_begin(self, logs: Any = None) -> None:
        if _works_with_other_tasks(self.model):
            from penstock.keras.distribute.training_state import MultiWorkerTrainingState

            self._training_state = MultiWorkerTrainingState(self.model, self.filepath)
            self.model._training_state = self._training_state
            if self._training_state.restore():
                return
            if not clusters.should_load_checkpoint():
                return
        if not self.load_weights_on_restart:
            return
        path = self._get_most_recently_modified_file_matching_pattern(self.filepath)
        if path is None or not (tf.train.checkpoint_exists(path) or os.path.exists(path)):
            return
        try:
            self.model.load_weights(path)
        except (OSError, ValueError) as error:
            raise ValueError(f"Error loading file from {path}. Reason: {error}") from error

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._current_epoch = epoch

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        if isinstance(self.save_freq, int):
            self._samples_seen_since_last_saving += (logs or {}).get("size", 1)
            if self._samples_seen_since_last_saving >= self.save_freq:
                self._save_model(epoch=self._current_epoch, logs=logs)
                self._samples_seen_since_last_saving = 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.epochs_since_last_save += 1
        if self.save_freq == "epoch":
            self._save_model(epoch=epoch, logs=logs)
        if self._training_state is not None:
            self._training_state.back_up(epoch)

    def on_train_end(self, logs: Any = None) -> None:
        if self._training_state is None:
            return
        self._training_state.delete_backup()
        self._training_state.untrack_vars()
        self._training_state = self.model._training_state = None

    # Files --------------------------------------------------------------------------------------

    def _save_model(self, epoch: int, logs: Any) -> None:
        """Saves the model, if it is time and the model is good enough."""
        logs = logs or {}
        if not isinstance(self.save_freq, int) and self.epochs_since_last_save < self.period:
            return
        self.epochs_since_last_save = 0
        path = self._get_file_path(epoch, logs)
        if not self.save_best_only:
            self._say(epoch, f"saving model to {path}")
        elif not self._is_best(epoch, logs, path):
            return
        save = self.model.save_weights if self.save_weights_only else self.model.save
        try:
            save(path, overwrite=True)
        finally:
            if self._dropped_folder is not None:
                shutil.rmtree(self._dropped_folder, ignore_errors=True)

    def _is_best(self, epoch: int, logs: dict[str, Any], path: str) -> bool:
        value = logs.get(self.monitor)
        if value is None:
            logging.warning("Can save best model only with %s available, skipping.", self.monitor)
            return False
        if not self.monitor_op(value, self.best):
            self._say(epoch, f"{self.monitor} did not improve from {self.best:0.5f}")
            return False
        self._say(
            epoch,
            f"{self.monitor} improved from {self.best:0.5f} to {value:0.5f}, saving model to "
            f"{path}",
        )
        self.best = value
        return True

    def _get_file_path(self, epoch: int, logs: dict[str, Any]) -> str:
        self._dropped_folder: str | None = None
        if self._training_state is None or clusters.should_save_checkpoint():
            return self.filepath.format(epoch=epoch + 1, **logs)
        # What is saved may need all tasks to be computed; the others' files are of no use.
        self._dropped_folder = tempfile.mkdtemp()
        return os.path.join(self._dropped_folder, "temp" + os.path.splitext(self.filepath)[1])

    def _say(self, epoch: int, text: str) -> None:
        if self.verbose > 0:
            sys.stdout.write(f"\nEpoch {epoch + 1:05d}: {text}\n")

    def _get_most_recently_modified_file_matching_pattern(self, pattern: str) -> str | None:
        """The newest file of a pattern that may have `{epoch:02d}` and the like; None without.

        The latest checkpoint of the folder comes first, if it is of the pattern. Of several files
        of one time it is the one whose name is the largest.
        """
        folder, base = os.path.split(pattern)
        regex = re.compile(f"^{re.sub(r'{.*}', '.*', base)}$")
        latest = tf.train.latest_checkpoint(folder)
        if latest is not None and regex.match(os.path.basename(latest)):
            return str(latest)
        names = os.listdir(folder) if os.path.isdir(folder) else []
        paths = [os.path.join(folder, name) for name in names if regex.match(name)]
        return max(paths, key=lambda path: (os.path.getmtime(path), path), default=None)


def _works_with_other_tasks(model: Any) -> bool:
    from penstock.keras.engine.worker_tasks import works_with_other_tasks

    return works_with_other_tasks(model)
