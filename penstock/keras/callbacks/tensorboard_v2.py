"""Version 2's `TensorBoard` callback: a run for training and one for validation."""

from __future__ import annotations

import os
from typing import Any

import penstock as tf
from penstock.eager import context
from penstock.execution_modes import executing_eagerly_outside_functions
from penstock.keras import backend as K
from penstock.keras.callbacks.base import Callback
from penstock.keras.callbacks.tensorboard import _as_image, _named
from penstock.platform import logging
from penstock.summary import op_summaries, op_traces
from penstock.summary.op_writers import create_file_writer_v2, defaults

__all__ = ["TensorBoard"]

_OF_VERSION_1 = ("write_grads", "batch_size", "embeddings_layer_names", "embeddings_data")
_OF_VALIDATION = "val_"


class TensorBoard(Callback):
    """Writes graph, losses and metrics, weights and embeddings for TensorBoard.

    Args:
      log_dir: what is written is in its folders "train" and "validation".
      histogram_freq: number of epochs between histograms of weights; 0 for none.
      write_graph: whether to write the graph, and the configuration of the model.
      write_images: whether weights are also written as images.
      update_freq: "epoch", "batch", or a number of batches between two values of the loss.
      profile_batch: the batch whose functions' graphs are written; 0 for none.
      embeddings_freq: number of epochs between checkpoints of embeddings; 0 for none.
      embeddings_metadata: a file with names of the rows, or such files by layers' names.
    """

    _train_run_name = "train"
    _validation_run_name = "validation"
    _chief_worker_only = True

    def __init__(
        self,
        log_dir: str = "logs",
        histogram_freq: int = 0,
        write_graph: bool = True,
        write_images: bool = False,
        update_freq: Any = "epoch",
        profile_batch: int = 2,
        embeddings_freq: int = 0,
        embeddings_metadata: Any = None,
        **kwargs: Any,
    ):
        super().__init__()
        self._validate_kwargs(kwargs)
        self.log_dir = log_dir
        self.histogram_freq = histogram_freq
        self.write_graph = write_graph
        self.write_images = write_images
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self.embeddings_freq = embeddings_freq
        self.embeddings_metadata = embeddings_metadata
        self._profile_batch: int | None = profile_batch
        self._is_tracing = False
        self._writers: dict[str, Any] = {}
        self._total_batches_seen: dict[str, Any] = {}
        self._outer_defaults: tuple[Any, Any, Any] = (None, None, None)

    def _validate_kwargs(self, kwargs: dict[str, Any]) -> None:
        for name in _OF_VERSION_1:
            if kwargs.get(name):
                logging.warning(
                    "`%s` will be ignored: it is an argument of version 1's `TensorBoard`.", name
                )
        unknown = set(kwargs) - set(_OF_VERSION_1)
        if unknown:
            raise ValueError(f"Unrecognized arguments in `TensorBoard` Callback: {unknown}")

    # Writers ------------------------------------------------------------------------------------

    def _get_writer(self, run: str) -> Any:
        """The writer of a run, which is opened when something is first written to it."""
        if run not in self._writers:
            with context.eager_mode():
                self._writers[run] = create_file_writer_v2(os.path.join(self.log_dir, run))
        return self._writers[run]

    def _close_writers(self) -> None:
        with context.eager_mode():
            for writer in self._writers.values():
                writer.close()
            self._writers.clear()

    def _set_default_writer(self, run: str) -> None:
        """Lets summaries that layers write go to a run, as often as losses of batches do."""
        if self.update_freq == "epoch":
            return
        step = self._total_batches_seen[run]
        defaults.writer = self._get_writer(run)
        defaults.recording = lambda: tf.equal(step % self.update_freq, 0)
        defaults.step = step

    # The model ----------------------------------------------------------------------------------

    def set_model(self, model: Any) -> None:
        self.model = model
        self._close_writers()
        if self.write_graph:
            self._write_graph()
        if self.embeddings_freq:
            self._configure_embeddings()
        self._outer_defaults = (defaults.writer, defaults.recording, defaults.step)

    def _write_graph(self) -> None:
        model = self.model
        with context.eager_mode():
            writer = self._get_writer(self._train_run_name)
            with writer.as_default(), op_summaries.always_record_summaries():
                if not model.run_eagerly:
                    op_summaries.graph(K.get_graph(), step=0)
                if model._is_graph_network or type(model).__name__ == "Sequential":
                    op_traces.keras_model("keras", model, step=0)

    def _configure_embeddings(self) -> None:
        """Tells TensorBoard which variables are embeddings, and what their rows are called."""
        from penstock.contrib.tensorboard.plugins import projector
        from penstock.keras.layers import Embedding

        config = projector.ProjectorConfig()
        metadata = self.embeddings_metadata
        names = dict(metadata) if isinstance(metadata, dict) else {}
        for layer in self.model.layers:
            if isinstance(layer, Embedding):
                described = config.embeddings.add(tensor_name=layer.embeddings.name)
                path = metadata if isinstance(metadata, str) else names.pop(layer.name, None)
                if path is not None:
                    described.metadata_path = path
        if names:
            raise ValueError(
                f"embeddings_metadata names layers that are no embeddings here: {list(names)}"
            )
        projector.visualize_embeddings(_Folder(self.log_dir), config)

    # Events -------------------------------------------------------------------------------------

    def on_train_begin(self, logs: Any = None) -> None:
        for run in (self._train_run_name, self._validation_run_name):
            # A variable, where functions that were traced once have to see it change.
            is_eager = executing_eagerly_outside_functions()
            self._total_batches_seen[run] = tf.Variable(0, dtype=tf.int64) if is_eager else 0
        if self._profile_batch == 1:
            self._enable_trace()

    def on_test_begin(self, logs: Any = None) -> None:
        if self._total_batches_seen:
            self._set_default_writer(self._validation_run_name)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._set_default_writer(self._train_run_name)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self.update_freq == "epoch" and self._profile_batch is None:
            return
        if self.update_freq != "epoch" and batch % self.update_freq == 0:
            step = self._total_batches_seen[self._train_run_name]
            self._log_metrics(logs, prefix="batch_", step=step)
        seen = self._increment_step(self._train_run_name)
        if self._is_tracing:
            self._log_trace()
        elif seen + 1 == self._profile_batch:
            self._enable_trace()

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        if self.update_freq != "epoch" and self._total_batches_seen:
            self._increment_step(self._validation_run_name)

    def _increment_step(self, run: str) -> int:
        """Counts a batch; gives the number of all."""
        if isinstance(self._total_batches_seen[run], tf.Variable):
            self._total_batches_seen[run].assign_add(1)
        else:
            self._total_batches_seen[run] += 1
        return self._batches_seen(run)

    def _batches_seen(self, run: str) -> int:
        seen = self._total_batches_seen[run]
        return int(K.get_value(seen) if isinstance(seen, tf.Variable) else seen)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._log_metrics(logs, prefix="epoch_", step=epoch)
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            self._log_weights(epoch)
        if self.embeddings_freq and epoch % self.embeddings_freq == 0:
            path = os.path.join(self.log_dir, "train", f"keras_embedding.ckpt-{epoch}")
            self.model.save_weights(path)

    def on_train_end(self, logs: Any = None) -> None:
        if self._is_tracing:
            self._log_trace()
        self._close_writers()
        defaults.writer, defaults.recording, defaults.step = self._outer_defaults

    # What is written ----------------------------------------------------------------------------

    def _enable_trace(self) -> None:
        if tf.executing_eagerly():
            op_traces.trace_on(graph=True)
            self._is_tracing = True

    def _log_trace(self) -> None:
        """Writes the graphs of the functions that the last batch called."""
        step = self._batches_seen(self._train_run_name)
        writer = self._get_writer(self._train_run_name)
        with writer.as_default(), op_summaries.always_record_summaries():
            op_traces.trace_export(name=f"batch_{step}", step=step)
        self._is_tracing = False

    def _log_metrics(self, logs: Any, prefix: str, step: Any) -> None:
        by_run: dict[str, dict[str, Any]] = {}
        for name, value in _named("", logs or {}).items():
            is_validation = name.startswith(_OF_VALIDATION)
            run = self._validation_run_name if is_validation else self._train_run_name
            by_run.setdefault(run, {})[prefix + name.removeprefix(_OF_VALIDATION)] = value
        with context.eager_mode(), op_summaries.always_record_summaries():
            for run, values in by_run.items():
                with self._get_writer(run).as_default():
                    for name, value in values.items():
                        op_summaries.scalar(name, value, step=step)

    def _log_weights(self, epoch: int) -> None:
        weights = [weight for layer in self.model.layers for weight in layer.weights]
        values = K.batch_get_value(weights)
        with context.eager_mode():
            writer = self._get_writer(self._train_run_name)
            with writer.as_default(), op_summaries.always_record_summaries():
                for weight, value in zip(weights, values, strict=True):
                    name = weight.name.replace(":", "_")
                    op_summaries.histogram(name, value, step=epoch)
                    image = _as_image(tf.constant(value)) if self.write_images else None
                    if image is not None and image.shape.as_list()[-1] in (1, 3, 4):
                        op_summaries.image(name, image, step=epoch)


class _Folder:
    """What `visualize_embeddings` asks a writer for."""

    def __init__(self, path: str):
        self._path = path

    def get_logdir(self) -> str:
        return self._path
