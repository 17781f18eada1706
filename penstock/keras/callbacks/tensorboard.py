"""`tf.keras.callbacks.TensorBoard`: what TensorBoard shows of a training."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.callbacks.base import Callback

__all__ = ["TensorBoard"]

_NOT_METRICS = ("batch", "size", "num_steps")


class TensorBoard(Callback):
    """Writes the graph, losses and metrics, histograms and embeddings for TensorBoard.

    Args:
      histogram_freq: number of epochs between histograms of weights and outputs, which are made
        while the validation data is tested; 0 for none.
      batch_size: how many rows of `embeddings_data` are run at once.
      write_graph: whether to write the graph.
      write_grads: whether histograms are of gradients, too.
      write_images: whether weights are also written as images.
      embeddings_freq: number of epochs between checkpoints of embeddings; 0 for none.
      embeddings_layer_names: the layers whose outputs are embeddings; all `Embedding`s by default.
      embeddings_metadata: a file with names of the rows, or such files by layers' names.
      embeddings_data: what the embeddings are computed of.
      update_freq: "epoch", "batch", or a number of samples between two values of the loss.
    """

    _chief_worker_only = True

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
        self.batch_size = batch_size
        self.write_graph = write_graph
        self.write_grads = write_grads
        self.write_images = write_images
        self.embeddings_freq = embeddings_freq
        self.embeddings_layer_names = embeddings_layer_names
        self.embeddings_metadata = embeddings_metadata
        self.embeddings_data = embeddings_data
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self.writer: Any = None
        self.merged: Any = None
        self._embeddings: _Embeddings | None = None
        self._total_batches_seen = 0
        self._total_val_batches_seen = 0
        self._samples_seen = 0
        self._samples_seen_at_last_write = 0

    # The graph ----------------------------------------------------------------------------------

    def set_model(self, model: Any) -> None:
        self.model = model
        self._init_writer(model)
        if self.histogram_freq and self.merged is None:
            for layer in model.layers:
                self._summarize_layer(layer)
        self.merged = tf.summary.merge_all()
        if self.embeddings_freq and self.embeddings_data is not None:
            self._embeddings = _Embeddings(model, self)

    def _init_writer(self, model: Any) -> None:
        graph = K.get_graph() if self.write_graph else None
        self.writer = tf.summary.FileWriter(self.log_dir, graph)

    def _summarize_layer(self, layer: Any) -> None:
        for weight in layer.weights:
            name = weight.name.replace(":", "_")
            tf.summary.histogram(name, weight)
            image = _as_image(weight) if self.write_images else None
            if image is not None:
                tf.summary.image(name, image)
        if self.write_grads:
            for weight in layer.trainable_weights:
                gradients = self.model.optimizer.get_gradients(self.model.total_loss, [weight])
                values = [getattr(each, "values", each) for each in gradients]
                tf.summary.histogram(f"{weight.name.replace(':', '_')}_grad", values)
        output = getattr(layer, "output", None)
        if isinstance(output, list):
            for index, each in enumerate(output):
                tf.summary.histogram(f"{layer.name}_out_{index}", each)
        elif output is not None:
            tf.summary.histogram(f"{layer.name}_out", output)

    # Events -------------------------------------------------------------------------------------

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        logs = logs or {}
        self._samples_seen += logs.get("size", 1)
        waiting = self._samples_seen - self._samples_seen_at_last_write
        if self.update_freq != "epoch" and waiting >= self.update_freq:
            self._write_custom_summaries(self._total_batches_seen, _named("batch_", logs))
            self._samples_seen_at_last_write = self._samples_seen
        self._total_batches_seen += 1

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Lets the tests of this epoch compute the summaries, if it is their turn."""
        if not self.histogram_freq or epoch % self.histogram_freq:
            return
        self.model._make_test_function()
        function = self.model.test_function
        if self.merged not in function.fetches:
            function.fetches.append(self.merged)
            function.fetch_callbacks[self.merged] = self._fetch_callback

    def _fetch_callback(self, summary: bytes) -> None:
        self.writer.add_summary(summary, self._total_val_batches_seen)
        self._total_val_batches_seen += 1

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        step = epoch if self.update_freq == "epoch" else self._samples_seen
        self._write_custom_summaries(step, _named("epoch_", logs or {}))
        if self.histogram_freq:
            function = self.model.test_function
            if self.merged in function.fetches:
                function.fetches.remove(self.merged)
            function.fetch_callbacks.pop(self.merged, None)
        if self.embeddings_freq and self.embeddings_data is None:
            raise ValueError("To visualize embeddings, embeddings_data must be provided.")
        if self._embeddings is not None and epoch % self.embeddings_freq == 0:
            self._embeddings.save(epoch)

    def _write_custom_summaries(self, step: int, logs: dict[str, Any] | None = None) -> None:
        for name, value in (logs or {}).items():
            summary = tf.Summary()
            summary.value.add(tag=name, simple_value=float(np.asarray(value)))
            self.writer.add_summary(summary, step)
        self.writer.flush()

    def on_train_end(self, logs: Any = None) -> None:
        self.writer.close()


def _named(prefix: str, logs: dict[str, Any]) -> dict[str, Any]:
    return {prefix + key: value for key, value in logs.items() if key not in _NOT_METRICS}


def _as_image(weight: Any) -> Any:
    """A weight as a batch of images; None if it has too many dimensions."""
    squeezed = tf.squeeze(weight)
    shape: Any = K.int_shape(squeezed)
    if len(shape) == 1:
        return tf.reshape(squeezed, [1, shape[0], 1, 1])
    if len(shape) == 2:
        if shape[0] > shape[1]:
            squeezed = tf.transpose(squeezed)
        return tf.expand_dims(tf.expand_dims(squeezed, 0), -1)
    if len(shape) == 3:
        if K.image_data_format() == "channels_last":
            squeezed = tf.transpose(squeezed, perm=[2, 0, 1])
        return tf.expand_dims(squeezed, -1)
    return None


class _Embeddings:
    """The outputs of embedding layers for some data, in variables that checkpoints show."""

    def __init__(self, model: Any, callback: TensorBoard):
        from penstock.keras.engine.training_data import as_arrays

        self._model = model
        self._log_dir = callback.log_dir
        self._batch_size = callback.batch_size
        self._data = as_arrays(
            callback.embeddings_data,
            model.input_names,
            [K.int_shape(tensor) for tensor in model.inputs],
            "input",
        )
        self._start = tf.placeholder(tf.int32)
        self._count = tf.placeholder(tf.int32)
        names = callback.embeddings_layer_names or [
            layer.name for layer in model.layers if type(layer).__name__ == "Embedding"
        ]
        self._variables: dict[str, Any] = {}
        self._assignments = [self._assignment(name) for name in names]
        self._saver = tf.train.Saver(list(self._variables.values()))
        self._describe(callback)

    def _assignment(self, name: str) -> Any:
        output = self._model.get_layer(name).output
        size = int(np.prod(output.shape.as_list()[1:]))
        rows = self._data[0].shape[0]
        variable = tf.Variable(tf.zeros([rows, size]), name=f"{name}_embedding")
        K.track_variable(variable)
        self._variables[name] = variable
        part: Any = variable[self._start : self._start + self._count]
        return part.assign(tf.reshape(output, [self._count, size]))

    def _describe(self, callback: TensorBoard) -> None:
        from penstock.contrib.tensorboard.plugins import projector

        config = projector.ProjectorConfig()
        metadata = callback.embeddings_metadata
        for name, variable in self._variables.items():
            described = config.embeddings.add(tensor_name=variable.name)
            path = metadata if isinstance(metadata, str) else (metadata or {}).get(name)
            if path is not None:
                described.metadata_path = path
        projector.visualize_embeddings(callback.writer, config)

    def save(self, epoch: int) -> None:
        """Computes the embeddings and writes a checkpoint of them."""
        session = K.get_session()
        rows = self._data[0].shape[0]
        for start in range(0, rows, self._batch_size):
            count = min(self._batch_size, rows - start)
            feeds = {
                tensor: data[start : start + count]
                for tensor, data in zip(self._model.inputs, self._data, strict=True)
            }
            session.run(self._assignments, {**feeds, self._start: start, self._count: count})
        self._saver.save(session, os.path.join(self._log_dir, "keras_embedding.ckpt"), epoch)
