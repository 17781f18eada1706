"""Callbacks that write: a progress bar, a CSV file."""

from __future__ import annotations

import csv
import os
import sys
from typing import Any

import numpy as np

from penstock.keras.callbacks.base import Callback
from penstock.keras.utils.progress_bar import Progbar

__all__ = ["CSVLogger", "ProgbarLogger"]


class ProgbarLogger(Callback):
    """Shows the course of each epoch on the terminal.

    Args:
      count_mode: whether to count "samples" or "steps".
    """

    def __init__(self, count_mode: str = "samples", stateful_metrics: Any = None):
        super().__init__()
        if count_mode not in ("samples", "steps"):
            raise ValueError(f"Unknown `count_mode`: {count_mode}")
        self.use_steps = count_mode == "steps"
        self.stateful_metrics = set(stateful_metrics or [])
        self._bar: Progbar | None = None

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        if self.params.get("epochs", 1) > 1 and self.params.get("verbose"):
            sys.stdout.write(f"Epoch {epoch + 1}/{self.params['epochs']}\n")
        self._bar = Progbar(
            target=self.params.get("steps" if self.use_steps else "samples"),
            verbose=self.params.get("verbose", 1),
            stateful_metrics=self.stateful_metrics,
            unit_name="step" if self.use_steps else "sample",
        )
        self._seen = 0

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        logs = logs or {}
        self._seen += 1 if self.use_steps else logs.get("size", 0)
        bar = self._bar
        assert bar is not None
        # The last update comes with the validation's values, at the end of the epoch.
        if bar.target is None or self._seen < bar.target:
            bar.update(self._seen, self._values(logs))
        else:
            self._last = self._values(logs)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        bar = self._bar
        if bar is None:
            return
        if bar.target is None:
            bar.target = self._seen
        bar.stateful_metrics |= set(logs or {})
        names = [*self.params.get("metrics", ()), *(logs or {})]
        shown = {name: logs[name] for name in names if name in (logs or {})}
        bar.update(max(self._seen, bar.target), list(shown.items()))

    def _values(self, logs: dict[str, Any]) -> list[tuple[str, Any]]:
        return [(name, logs[name]) for name in self.params.get("metrics", ()) if name in logs]


class CSVLogger(Callback):
    """Writes a line per epoch into a CSV file."""

    def __init__(self, filename: str, separator: str = ",", append: bool = False):
        super().__init__()
        self.filename = filename
        self.sep = separator
        self.append = append
        self._keys: list[str] | None = None
        self._file: Any = None
        self._has_header = False

    def on_train_begin(self, logs: Any = None) -> None:
        self._has_header = (
            self.append and os.path.exists(self.filename) and os.path.getsize(self.filename) > 0
        )
        self._file = open(  # noqa: SIM115 it is closed when training ends
            self.filename, "a" if self.append else "w", newline=""
        )
        self._keys = None

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        logs = logs or {}
        is_first = self._keys is None
        if self._keys is None:
            self._keys = sorted(logs)
        writer = csv.writer(self._file, delimiter=self.sep, lineterminator="\n")
        if is_first and not self._has_header:
            writer.writerow(["epoch", *self._keys])
        writer.writerow([epoch, *(_text(logs.get(key, "NA")) for key in self._keys)])
        self._file.flush()

    def on_train_end(self, logs: Any = None) -> None:
        self._file.close()


def _text(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.ndim:
        return f'"[{", ".join(map(str, value))}]"'
    return value
