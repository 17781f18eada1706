"""Steps of models compiled in a strategy's scope: each replica takes a part of a batch."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.distribute.values import PerReplica
from penstock.keras import backend as K
from penstock.keras.engine.endpoints import Endpoint
from penstock.keras.utils.weighting import scale_loss_for_distribution


class ReplicatedStep:
    """Makes the function that trains, tests or predicts a batch.

    Args:
      mode: "train", "test" or "predict".
    """

    def __init__(self, model: Any, strategy: Any, mode: str):
        self.model = model
        self.strategy = strategy
        self.mode = mode
        self.replicas = strategy.num_replicas_in_sync
        self._own = len(strategy.extended.worker_devices)
        self._first = strategy.extended._input_context().input_pipeline_id * self._own
        if mode == "predict":  # each worker for itself
            self.replicas, self._first = self._own, 0

    def function(self) -> Any:
        """The function of the graph."""
        inputs = self.model._feed_inputs
        # Not the inputs themselves: parts of those would be taken for further layers of the model.
        fed = [
            K.placeholder(shape=self._of_all_replicas(each.shape), dtype=each.dtype)
            for each in inputs
        ]
        if self.mode != "predict":
            fed += self.model._training_inputs()[len(inputs) : -1]
        with self.strategy.scope():
            parts = [_split(tensor, self.replicas) for tensor in fed]
            made = self.strategy.extended.call_for_each_replica(self._run, args=(parts,))
            results = tf.nest.map_structure(self.strategy.experimental_local_results, made)
            outputs, updates = self._joined(results)
        return K.function(
            [*fed, K.symbolic_learning_phase()],
            outputs,
            updates=updates,
            name=f"{self.mode}_function",
        )

    def _of_all_replicas(self, shape: Any) -> Any:
        """The shape of all replicas' batches together; a size that an input fixes is of one."""
        fixed = _fixed_size(shape)
        return shape if fixed is None else [fixed * self.replicas, *shape.as_list()[1:]]

    # Inside of a replica --------------------------------------------------------------------------

    def _run(self, parts: list[Any]) -> Any:
        number = self._first + tf.distribute.get_replica_context().replica_number
        mine = [part[number] for part in parts]
        model = self.model
        inputs, labels = mine[: len(model._feed_inputs)], mine[len(model._feed_inputs) :]
        is_one = len(inputs) == 1 and not isinstance(model._nested_inputs, dict)
        nested = inputs[0] if is_one else tf.nest.pack_sequence_as(model._nested_inputs, inputs)
        outputs = tf.nest.flatten(model(nested, training=self.mode == "train"))
        if self.mode == "predict":
            return outputs
        added = [value for _, value in model._added_metric_results()]
        endpoints = self._endpoints(outputs, labels)
        loss, noted = self._loss(endpoints, nested)
        noted += added
        noted += [value for each in endpoints for _, value in each.metric_results()]
        if self.mode == "train":
            noted += self._updates(loss, nested)
        return loss, tf.group(*noted)

    def _endpoints(self, outputs: list[Any], labels: list[Any]) -> list[Endpoint]:
        trained = [
            (endpoint, output)
            for endpoint, output in zip(self.model._endpoints, outputs, strict=True)
            if endpoint.is_trained
        ]
        weights = iter(labels[len(trained) :])
        return [
            endpoint.with_values(
                target, output, None if endpoint.sample_weight is None else next(weights)
            )
            for (endpoint, output), target in zip(trained, labels, strict=False)
        ]

    def _loss(self, endpoints: list[Endpoint], inputs: Any) -> tuple[Any, list[Any]]:
        """The replica's share of the loss, and what notes the losses of outputs."""
        model = self.model
        noted, parts = [], []
        for index, endpoint in enumerate(endpoints):
            loss = endpoint.total()
            if model._output_loss_metrics:
                noted.append(model._output_loss_metrics[index](loss))
            if endpoint.is_mean:  # the replicas' means are added up, as sums are
                loss = scale_loss_for_distribution(loss)
            parts.append(endpoint.loss_weight * loss)
        own = model.get_losses_for(None) + model.get_losses_for(inputs)
        if own:
            parts.append(scale_loss_for_distribution(tf.add_n(own)))
        if not parts:
            raise ValueError("The model cannot be compiled because it has no loss to optimize.")
        return tf.add_n(parts), noted

    def _updates(self, loss: Any, inputs: Any) -> list[Any]:
        model, optimizer = self.model, self.model.optimizer
        updates = model.get_updates_for(None) + model.get_updates_for(inputs)
        return [*optimizer.get_updates(loss=loss, params=model.trainable_weights), *updates]

    # Between replicas -----------------------------------------------------------------------------

    def _joined(self, results: Any) -> tuple[list[Any], list[Any]]:
        if self.mode == "predict":
            return [tf.concat(parts, axis=0) for parts in results], []
        losses, noted = results
        with tf.control_dependencies([each for each in noted if each is not None]):
            model = self.model
            own = [each for e in model._trained for each in (*e.metrics, *e.weighted_metrics)]
            metrics = [*model._output_loss_metrics, *own, *model._added_metrics]
            model._metric_results = [(metric, metric.result()) for metric in metrics]
        values = [value for _, value in model._metric_results]
        return [self._sum_of_all(losses), *values], list(noted)

    def _sum_of_all(self, losses: Any) -> Any:
        if self._own == self.replicas:
            return tf.add_n(list(losses))
        devices = self.strategy.extended.worker_devices
        return self.strategy.reduce(tf.distribute.ReduceOp.SUM, PerReplica(devices, losses), None)


def _split(tensor: Any, count: int) -> list[Any]:
    """Nearly equal parts of a batch; the first ones are the larger ones."""
    if count == 1:
        return [tensor]
    fixed = _fixed_size(tensor.shape)
    if fixed is not None and fixed % count == 0:
        return list(tf.split(tensor, count))
    size = tf.shape(tensor)[0]
    bounds = [(size * number + count - 1) // count for number in range(count + 1)]
    return [tensor[bounds[i] : bounds[i + 1]] for i in range(count)]


def _fixed_size(shape: Any) -> int | None:
    """The size of the batch that a shape tells, if it does."""
    size: int | None = shape.as_list()[0] if shape.ndims else None
    return size
