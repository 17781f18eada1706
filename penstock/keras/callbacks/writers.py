"""Callbacks that write: a progress bar, a CSV file, TensorBoard's events."""

from __future__ import annotations

import csv
import os
import sys
from typing import Any

import numpy as np

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.callbacks.base import Callback
from penstock.keras.utils.progress_bar import Progbar

__all__ = ["CSVLogger", "ProgbarLogger", "TensorBoard"]


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


class TensorBoard(Callback):
    """Writes the graph, losses and metrics, and histograms of weights for TensorBoard.

    Args:
      histogram_freq: number of epochs between histograms of the weights; 0 for none.
      write_graph: whether to write the graph.
      update_freq: "epoch", "batch", or a number of samples between two values of the loss.
    """

    def __init__(
        self,
        log_dir: str = "./logs",
        histogram_freq: int = 0,
        batch_size: int = 32,
        write_graph: bool = True,
        write_grads: bool = False,
        write_images: bool = False,
        embeddings_freq: int = 0,
        embeddings_layer_names: Any = None,
        embeddings_metadata: Any = None,
        embeddings_data: Any = None,
        update_freq: Any = "epoch",
        profile_batch: int = 2,
    ):
        super().__init__()
        self.log_dir = log_dir
        self.histogram_freq = histogram_freq
        self.write_graph = write_graph
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self.writer: Any = None
        self.merged: Any = None
        self._samples_seen = 0
        self._samples_written = 0

    def set_model(self, model: Any) -> None:
        super().set_model(model)
        graph = K.get_graph() if self.write_graph else None
        self.writer = tf.summary.FileWriter(self.log_dir, graph)
        if self.histogram_freq and self.merged is None:
            histograms = [
                tf.summary.histogram(weight.op.name, weight)
                for layer in model.layers
                for weight in layer.weights
            ]
            if histograms:
                self.merged = tf.summary.merge(histograms)

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        if self.update_freq == "epoch":
            return
        self._samples_seen += (logs or {}).get("size", 1)
        if self._samples_seen - self._samples_written >= self.update_freq:
            values = {
                f"batch_{key}": value
                for key, value in (logs or {}).items()
                if key not in ("batch", "size", "num_steps")
            }
            self._write(values, self._samples_seen)
            self._samples_written = self._samples_seen

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        values = {
            key if key.startswith("val_") or key == "lr" else f"epoch_{key}": value
            for key, value in (logs or {}).items()
        }
        values = {
            f"epoch_{key}" if key.startswith("val_") else key: value
            for key, value in values.items()
        }
        self._write(values, epoch)
        if self.merged is not None and epoch % self.histogram_freq == 0:
            self.writer.add_summary(K.get_session().run(self.merged), epoch)

    def _write(self, values: dict[str, Any], step: int) -> None:
        for name, value in values.items():
            summary = tf.Summary()
            summary.value.add(tag=name, simple_value=float(np.asarray(value)))
            self.writer.add_summary(summary, step)
        self.writer.flush()

    def on_train_end(self, logs: Any = None) -> None:
        self.writer.close()
