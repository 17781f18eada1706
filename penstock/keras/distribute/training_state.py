"""What tasks that train a model together keep in files, to go on after one of them was lost.

After each epoch the weights, the optimizer's variables and the epoch's number are written beside
the files of `ModelCheckpoint`; tasks that are started again begin with the epoch after.
"""

from __future__ import annotations

import os
import shutil
import uuid
from typing import Any

import penstock as tf
from penstock.distribute import clusters
from penstock.keras import backend as K
from penstock.keras.engine.worker_tasks import strategy_of

__all__ = [
    "CKPT_SAVED_EPOCH",
    "CKPT_SAVED_EPOCH_UNUSED_VALUE",
    "MultiWorkerTrainingState",
    "checkpoint_exists",
    "remove_checkpoint_if_exists",
]

#: The attribute of a model, while it is trained, whose variable is the last epoch in the files.
CKPT_SAVED_EPOCH = "_ckpt_saved_epoch"
CKPT_SAVED_EPOCH_UNUSED_VALUE = -1


def checkpoint_exists(filepath: str) -> bool:
    """Whether there is a file of a model, or are those of its checkpoint."""
    return os.path.exists(filepath) or tf.train.checkpoint_exists(filepath)


def remove_checkpoint_if_exists(ckpt_dir: str, filepath: str) -> bool:
    """Removes a file of a model, or those of its checkpoint and their folder; whether it did."""
    if os.path.isfile(filepath):
        os.remove(filepath)
        return True
    if tf.train.checkpoint_exists(filepath) or os.path.isdir(filepath):
        _remove_dir(ckpt_dir)
        return True
    return False


def _remove_dir(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)


class MultiWorkerTrainingState:
    """The files of a training that can be gone on with, and the variable of its epoch.

    All tasks write, as what they write may need all of them to be computed; only the files of the
    first worker stay.

    Args:
      original_filepath: that of `ModelCheckpoint`, in whose folder the files are.
    """

    def __init__(self, model: Any, original_filepath: str):
        self._model = model
        self._is_restored = False
        folder = os.path.dirname(original_filepath)
        self._backup_dir = os.path.join(folder, "backup")
        self._backup_filepath = os.path.join(self._backup_dir, "training_state")
        self._keeps_files = clusters.should_save_checkpoint()
        self._own_dir, self._own_filepath = self._backup_dir, self._backup_filepath
        if not self._keeps_files:
            self._own_dir = os.path.join(folder, "temp_training_states", str(uuid.uuid4()))
            self._own_filepath = os.path.join(self._own_dir, "training_state")
        with strategy_of(model).scope():
            self._ckpt_saved_epoch = tf.Variable(
                CKPT_SAVED_EPOCH_UNUSED_VALUE,
                dtype=tf.int64,
                trainable=False,
                name="ckpt_saved_epoch",
            )
        K.track_variable(self._ckpt_saved_epoch)
        # Of the model's checkpoints, not of its weights.
        model.__dict__[CKPT_SAVED_EPOCH] = self._ckpt_saved_epoch
        model._track_trackable(self._ckpt_saved_epoch, name=CKPT_SAVED_EPOCH, overwrite=True)

    def restore(self) -> bool:
        """Sets the model to what the files hold; whether there are any."""
        # The variable's value comes from the first worker, which has removed the files of the
        # training before by then: the others must not look sooner.
        K.get_value(self._ckpt_saved_epoch)
        if not clusters.should_load_checkpoint() or not checkpoint_exists(self._backup_filepath):
            return False
        try:
            self._model.load_weights(self._backup_filepath)
        except (OSError, ValueError) as error:
            raise ValueError(
                f"Error loading file from {self._backup_filepath}. Reason: {error}"
            ) from error
        self._is_restored = True
        return True

    def first_epoch(self, initial_epoch: int) -> int:
        """The epoch to begin with: that after the one that was restored, if one was."""
        if clusters.should_load_checkpoint() and not self._is_restored:
            # The program's own files of weights have an epoch, too, which is of another training.
            K.set_value(self._ckpt_saved_epoch, CKPT_SAVED_EPOCH_UNUSED_VALUE)
        saved = int(K.get_value(self._ckpt_saved_epoch))
        return initial_epoch if saved == CKPT_SAVED_EPOCH_UNUSED_VALUE else saved + 1

    def back_up(self, epoch: int) -> None:
        """Writes the files after an epoch."""
        K.set_value(self._ckpt_saved_epoch, epoch)
        self._model.save_weights(self._own_filepath, overwrite=True, save_format="tf")

    def delete_backup(self) -> None:
        """Removes this task's files, at the end of training."""
        _remove_dir(self._own_dir)

    def untrack_vars(self) -> None:
        """Makes the model what it was before."""
        self._model.__dict__.pop(CKPT_SAVED_EPOCH, None)
        self._model._unconditional_dependency_names.pop(CKPT_SAVED_EPOCH, None)
