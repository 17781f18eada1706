"""Several heads on one model."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.estimator.estimator_spec import EstimatorSpec
from penstock.estimator.export.outputs import PredictOutput
from penstock.estimator.heads import multi_head as canned
from penstock.estimator.heads.head import PREDICT_SERVING_KEY
from penstock.estimator.heads.keys import MetricKeys
from penstock.estimator.keras_heads.head import Head
from penstock.estimator.keras_heads.training import summarize, train_op_of
from penstock.estimator.mode_keys import ModeKeys
from penstock.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY


class MultiHead(canned.MultiHead, Head):
    """Heads side by side; the loss is the weighted sum of theirs.

    Logits are by the heads' names, or side by side in one tensor; labels are by their names.

    Args:
      heads: heads with different names.
      head_weights: how much the loss of each counts.
    """

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: str | None = None,
        regularization_losses: Any = None,
    ) -> Any:
        by_head = self._logits_by_head(logits, labels)
        losses = [
            head.loss(
                logits=by_head[head.name], labels=labels[head.name], features=features, mode=mode
            )
            for head in self._heads
        ]
        return self._merged_loss(losses, regularization_losses)

    def predictions(self, logits: Any, keys: Any = None) -> dict[Any, Any]:
        by_head = self._logits_by_head(logits, None)
        with tf.name_scope("merge_pred"):
            return {
                (head.name, key): value
                for head in self._heads
                for key, value in head.predictions(logits=by_head[head.name]).items()
            }

    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if regularization_losses is not None:
            key = MetricKeys.LOSS_REGULARIZATION
            found[self._summary_key(key)] = tf.keras.metrics.Mean(name=key)
        with tf.name_scope("merge_eval"):
            for head in self._heads:
                key = _loss_key(head)
                found[key] = tf.keras.metrics.Mean(name=key)
        return found

    def update_metrics(  # type: ignore[override] # as TensorFlow's: no mode
        self,
        eval_metrics: dict[str, Any],
        features: Any,
        logits: Any,
        labels: Any,
        regularization_losses: Any = None,
    ) -> dict[str, Any]:
        by_head = self._logits_by_head(logits, labels)
        if regularization_losses is not None:
            metric = eval_metrics[self._summary_key(MetricKeys.LOSS_REGULARIZATION)]
            metric.update_state(values=tf.add_n(regularization_losses))
        for head in self._heads:
            of_head = {"logits": by_head[head.name], "labels": labels[head.name]}
            loss = head.loss(features=features, **of_head)
            eval_metrics[_loss_key(head)].update_state(values=loss)
            updated = head.update_metrics(head.metrics(), features=features, **of_head)
            eval_metrics.update(updated or {})
        return eval_metrics

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Any = None,
        train_op_fn: Any = None,
        update_ops: Any = None,
        regularization_losses: Any = None,
    ) -> EstimatorSpec:
        """The `EstimatorSpec` of a model with these logits; see `Head`."""
        with tf.name_scope(self.name, "multi_head"):
            by_head = self._logits_by_head(logits, labels)
            specs = [
                head.create_estimator_spec(
                    features=features,
                    mode=mode,
                    logits=by_head[head.name],
                    labels=labels[head.name] if labels else None,
                    train_op_fn=_no_step,
                )
                for head in self._heads
            ]
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                outputs = self._merged_outputs(specs)
                return EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
            loss = self.loss(labels, logits, features, mode, regularization_losses)
            if mode == ModeKeys.EVAL:
                metrics = self.update_metrics(
                    self.metrics(regularization_losses=regularization_losses),
                    features,
                    logits,
                    labels,
                    regularization_losses=regularization_losses,
                )
                return EstimatorSpec(
                    mode, predictions=predictions, loss=loss, eval_metric_ops=metrics
                )
            if mode != ModeKeys.TRAIN:
                raise ValueError(f"mode={mode} unrecognized")
            train_op = train_op_of(
                loss, optimizer, trainable_variables, train_op_fn, update_ops, self.loss_reduction
            )
            summarize(loss, regularization_losses)
            return EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)

    def _merged_outputs(self, specs: list[Any]) -> dict[str, Any]:
        """The outputs of all heads: the first head's default is the default."""
        default = DEFAULT_SERVING_SIGNATURE_DEF_KEY
        outputs = {default: _default_output(specs[0].export_outputs, self._heads[0].name)}
        predicted = {}
        for head, spec in zip(self._heads, specs, strict=True):
            for key, output in spec.export_outputs.items():
                outputs[head.name if key == default else f"{head.name}/{key}"] = output
                if key == PREDICT_SERVING_KEY and isinstance(output, PredictOutput):
                    for name, tensor in output.outputs.items():
                        predicted[f"{head.name}/{name}"] = tensor
        outputs[PREDICT_SERVING_KEY] = PredictOutput(predicted)
        return outputs


def _loss_key(head: Any) -> str:
    return f"{MetricKeys.LOSS}/{head.name}"


def _no_step(loss: Any) -> Any:
    return tf.no_op()


def _default_output(outputs: dict[str, Any], name: str) -> Any:
    if len(outputs) == 1:
        return next(iter(outputs.values()))
    default = DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if default not in outputs:
        raise ValueError(
            f"{name} did not specify default export_outputs. Given: {outputs} Suggested fix: Use "
            f"one of the heads in tf.estimator, or include key {default} in export_outputs."
        )
    return outputs[default]
