"""`tf.train.CheckpointManager`: which checkpoints of a directory to keep."""

from __future__ import annotations

import numbers
import os
import time
from typing import Any

from penstock.ir.defaults import executing_eagerly, get_default_session
from penstock.platform import file_io, logging
from penstock.train import checkpoint_state
from penstock.train.global_step import global_step
from penstock.train.tracking.load_status import get_session


class CheckpointManager:
    """Writes numbered checkpoints to a directory and deletes old ones.

    >>> manager = tf.train.CheckpointManager(checkpoint, "/tmp/model", max_to_keep=5)
    >>> checkpoint.restore(manager.latest_checkpoint).initialize_or_restore()
    >>> manager.save()

    Args:
      checkpoint: the `tf.train.Checkpoint`.
      directory: where to write; what an earlier manager recorded there is taken over.
      max_to_keep: how many to keep; all if None.
      keep_checkpoint_every_n_hours: keep one for good each so many hours.
      checkpoint_name: the first part of the names.
    """

    def __init__(
        self,
        checkpoint: Any,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
    ):
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                "Expected a positive integer or `None` for `max_to_max_to_keep`, got "
                f"{max_to_keep:d}."
            )
        self._checkpoint = checkpoint
        self._save_counter_assign: Any = None
        self._max_to_keep = max_to_keep
        self._keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self._directory = os.fspath(directory)
        self._checkpoint_prefix = os.path.join(self._directory, checkpoint_name)
        self._latest_checkpoint: str | None = None
        self._last_preserved_timestamp = time.time() - 1.0
        self._maybe_delete: dict[str, float] = {}
        state = checkpoint_state.get_checkpoint_state(self._directory)
        if state is not None:
            self._take_over(state)

    def _take_over(self, state: Any) -> None:
        now = time.time()
        self._latest_checkpoint = state.model_checkpoint_path
        self._last_preserved_timestamp = state.last_preserved_timestamp
        if now < self._last_preserved_timestamp:
            logging.warning(
                "time.time() returned a value %f seconds behind the last preserved checkpoint "
                "timestamp.",
                self._last_preserved_timestamp - now,
            )
            self._last_preserved_timestamp = now
        paths = state.all_model_checkpoint_paths
        times = state.all_model_checkpoint_timestamps
        if not times:  # of a tf.train.Saver: they are not this manager's to delete
            times = [self._last_preserved_timestamp] * len(paths)
        for path, written in zip(paths, times, strict=True):
            if min(written, now) > self._last_preserved_timestamp:
                self._maybe_delete[path] = min(written, now)

    @property
    def latest_checkpoint(self) -> str | None:
        """The prefix of the latest checkpoint; None if there is none."""
        return self._latest_checkpoint

    @property
    def checkpoints(self) -> list[str]:
        """The checkpoints that may be deleted one day, the latest last."""
        return list(self._maybe_delete)

    @property
    def directory(self) -> str:
        return self._directory

    @property
    def _prefix(self) -> str:
        return self._checkpoint_prefix

    def save(self, checkpoint_number: Any = None) -> str:
        """Writes a checkpoint; returns its path.

        Args:
          checkpoint_number: its number, which may be a tensor or variable; the checkpoint's
            `save_counter` if None. That counts in any case.
        """
        session = None if executing_eagerly() else get_default_session() or get_session()
        counter = self._counted(session)
        number = counter if checkpoint_number is None else checkpoint_number
        if not isinstance(number, numbers.Integral):
            number = global_step(session, number)
        path: str = self._checkpoint.write(f"{self._prefix}-{number:d}", session=session)
        self._maybe_delete.pop(path, None)
        self._maybe_delete[path] = time.time()
        self._latest_checkpoint = path
        # Recorded before and after: a crash in between must not leave a state of deleted files.
        self._record_state()
        self._sweep()
        self._record_state()
        return path

    def _counted(self, session: Any) -> Any:
        """The variable that counts checkpoints, after it has counted one more."""
        if session is None:
            counter = self._checkpoint.save_counter
            counter.assign_add(1)
            return counter
        is_new = self._checkpoint._save_counter is None
        counter = self._checkpoint.save_counter
        if is_new:
            session.run(counter.initializer)
        if self._save_counter_assign is None:
            self._save_counter_assign = counter.assign_add(1, read_value=False)
        session.run(self._save_counter_assign)
        return counter

    def _sweep(self) -> None:
        """Deletes old checkpoints, but for one now and then."""
        if not self._max_to_keep:
            return
        hours = self._keep_checkpoint_every_n_hours
        while len(self._maybe_delete) > self._max_to_keep:
            path, written = next(iter(self._maybe_delete.items()))
            del self._maybe_delete[path]
            if hours and written - hours * 3600.0 >= self._last_preserved_timestamp:
                self._last_preserved_timestamp = written
                continue
            for pattern in (f"{path}.index", f"{path}.data-?????-of-?????"):
                for file in file_io.get_matching_files(pattern):
                    file_io.delete_file(file)

    def _record_state(self) -> None:
        assert self._latest_checkpoint is not None
        checkpoint_state.update_checkpoint_state_internal(
            self._directory,
            model_checkpoint_path=self._latest_checkpoint,
            all_model_checkpoint_paths=list(self._maybe_delete),
            all_model_checkpoint_timestamps=list(self._maybe_delete.values()),
            last_preserved_timestamp=self._last_preserved_timestamp,
            save_relative_paths=True,
        )
