"""Steps of models that run eagerly: the layers are called on the values of a batch."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.engine.composite_data import CompositeArray
from penstock.keras.engine.endpoints import Endpoint
from penstock.platform import logging
from penstock.ragged.tensor import RaggedTensor


class EagerStep:
    """What trains, tests or predicts a batch, instead of a function of the graph.

    Args:
      mode: "train", "test" or "predict".
    """

    def __init__(self, model: Any, mode: str):
        self.model = model
        self.mode = mode

    def __call__(self, values: list[Any]) -> list[Any]:
        """The results for inputs, labels and weights, as functions of the graph take them.

        Args:
          values: the arrays, and at last the learning phase.
        """
        *arrays, phase = values
        with tf.init_scope(), K.learning_phase_scope(int(bool(phase))):
            if self.mode == "predict":
                outputs = self._outputs(arrays, training=False)
            else:
                with self.model._as_compiled():
                    outputs = self._results(arrays)
            return [_value(each) for each in outputs]

    def _outputs(self, arrays: list[Any], training: bool) -> list[Any]:
        model = self.model
        tensors = [
            _input(array, given) for given, array in zip(model._feed_inputs, arrays, strict=True)
        ]
        is_one = len(tensors) == 1 and not isinstance(model._nested_inputs, dict)
        nested = tensors[0] if is_one else tf.nest.pack_sequence_as(model._nested_inputs, tensors)
        return tf.nest.flatten(model(nested, training=training))

    def _results(self, arrays: list[Any]) -> list[Any]:
        """The loss and the metrics; in training the weights are changed."""
        model = self.model
        training = self.mode == "train"
        inputs, labels = _split(arrays, len(model._feed_inputs))
        with tf.GradientTape() as tape:
            outputs = self._outputs(inputs, training)
            endpoints = self._endpoints(outputs, labels)
            total, loss_results = self._total_loss(endpoints)
            scaled = getattr(model.optimizer, "get_scaled_loss", lambda loss: loss)(total)
        if training:
            self._apply_gradients(tape, scaled)
        results = [pair for endpoint in endpoints for pair in endpoint.metric_results()]
        model._metric_results = loss_results + results + model._added_metric_results()
        return [total, *(value for _, value in model._metric_results)]

    def _endpoints(self, outputs: list[Any], labels: list[Any]) -> list[Endpoint]:
        """The outputs that are trained, with the values of this batch."""
        trained = [
            (endpoint, output)
            for endpoint, output in zip(self.model._endpoints, outputs, strict=True)
            if endpoint.is_trained
        ]
        targets, weights = _split(labels, len(trained))
        waiting = iter(weights)
        return [
            endpoint.with_values(
                _label(target, output),
                output,
                tf.cast(next(waiting), K.floatx()) if endpoint.sample_weight is not None else None,
            )
            for (endpoint, output), target in zip(trained, targets, strict=True)
        ]

    def _total_loss(self, endpoints: list[Endpoint]) -> tuple[Any, list[tuple[Any, Any]]]:
        """The loss of the batch, and the metrics of the outputs' losses with their values."""
        model = self.model
        total: Any = None
        results = []
        for index, endpoint in enumerate(endpoints):
            loss = endpoint.total()
            if model._output_loss_metrics:
                metric = model._output_loss_metrics[index]
                results.append((metric, metric(loss)))
            part = endpoint.loss_weight * loss
            total = part if total is None else total + part
        if model.losses:
            added = tf.add_n(model.losses)
            total = added if total is None else total + added
        if total is None:
            raise ValueError("The model cannot be run because it has no loss to optimize.")
        return total, results

    def _apply_gradients(self, tape: Any, loss: Any) -> None:
        model = self.model
        weights = model.trainable_weights
        if not weights:
            logging.warning(
                "The list of trainable weights is empty. Make sure that you are not setting "
                "model.trainable to False before compiling the model."
            )
            return
        gradients = tape.gradient(loss, weights)
        for optimizer, part in model._optimizers_of(list(zip(gradients, weights, strict=True))):
            unscaled = getattr(optimizer, "get_unscaled_gradients", lambda given: given)
            own = unscaled([gradient for gradient, _ in part])
            optimizer.apply_gradients(list(zip(own, [each for _, each in part], strict=True)))


def _split(values: list[Any], count: int) -> tuple[list[Any], list[Any]]:
    return values[:count], values[count:]


def _value(output: Any) -> Any:
    """An array, or the value of a sparse or ragged tensor that a session would give."""
    if isinstance(output, tf.SparseTensor):
        parts = (output.indices, output.values, output.dense_shape)
        return tf.SparseTensorValue(*(part.numpy() for part in parts))
    return output._value() if isinstance(output, RaggedTensor) else output.numpy()


def _input(array: Any, given: Any) -> Any:
    """The tensor in an input's place; real numbers, sparse and ragged values are of its type."""
    dtype = given.dtype.base_dtype
    if isinstance(array, CompositeArray):
        return array.tensor(dtype)
    if hasattr(array, "tocoo"):  # a sparse matrix, which a dense input takes as an array
        is_sparse = isinstance(given, tf.SparseTensor)
        return tf.cast(K.variable(array) if is_sparse else array.toarray(), dtype)
    return tf.cast(array, dtype) if _is_real(array) else tf.constant(array)


def _is_real(array: Any) -> bool:
    return array.dtype.kind == "f"


def _label(target: Any, output: Any) -> Any:
    """Labels as a tensor, of the output's type where both are real numbers."""
    return tf.cast(target, output.dtype) if _is_real(target) else tf.constant(target)
