"""Several heads on one model."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.estimator.estimator_spec import EstimatorSpec
from penstock.estimator.export.outputs import PredictOutput
from penstock.estimator.heads.head import PREDICT_SERVING_KEY, made_train_op
from penstock.estimator.heads.keys import MetricKeys
from penstock.estimator.mode_keys import ModeKeys
from penstock.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY


def _no_step(loss: Any) -> Any:
    return tf.no_op()


class MultiHead:
    """Heads side by side; the loss is the weighted sum of theirs.

    Logits are by the heads' names, or side by side in one tensor; labels are by their names.

    Args:
      heads: heads with different names.
      head_weights: how much the loss of each counts.
    """

    def __init__(self, heads: Any, head_weights: Any = None):
        if not heads:
            raise ValueError(f"Must specify heads. Given: {heads}")
        if head_weights and len(head_weights) != len(heads):
            raise ValueError(
                "heads and head_weights must have the same size. "
                f"Given len(heads): {len(heads)}. Given len(head_weights): {len(head_weights)}."
            )
        for head in heads:
            if head.name is None:
                raise ValueError(f"All given heads must have name specified. Given: {head}")
        self._heads = tuple(heads)
        self._head_weights = tuple(head_weights or ())

    @property
    def name(self) -> str:
        return "_".join(head.name for head in self._heads)

    @property
    def logits_dimension(self) -> int:
        return sum(head.logits_dimension for head in self._heads)

    @property
    def loss_reduction(self) -> Any:
        reductions = [head.loss_reduction for head in self._heads]
        if len(set(reductions)) > 1:
            raise ValueError(
                f"The loss_reduction must be the same for different heads. Given: {reductions}"
            )
        return reductions[0]

    def _logits_by_head(self, logits: Any, labels: Any) -> dict[str, Any]:
        names = [head.name for head in self._heads]
        if labels is not None:
            if not isinstance(labels, dict):
                raise ValueError(f"labels must be a dict. Given: {labels}")
            missing = sorted(set(names) - set(labels))
            if missing:
                raise ValueError(f"labels has missing values for head(s): {missing}")
        if isinstance(logits, dict):
            missing = sorted(set(names) - set(logits))
            if missing:
                raise ValueError(f"logits has missing values for head(s): {missing}")
            return logits
        sizes = [head.logits_dimension for head in self._heads]
        with tf.name_scope(None, "split_logits", values=[logits]):
            logits = tf.convert_to_tensor(logits)
            found = logits.shape.as_list()[-1]
            if found is not None and found != sum(sizes):
                raise ValueError(
                    f"Could not split logits of shape {logits.shape.as_list()} among the heads "
                    f"with individual logits dimensions: {sizes}. The last dimension of the logits "
                    f"tensor should equal {found} but is {sum(sizes)}."
                )
            return dict(zip(names, tf.split(logits, sizes, axis=-1), strict=True))

    def _merged_loss(self, losses: list[Any], regularization_losses: Any) -> Any:
        with tf.name_scope(None, "merge_losses", values=losses):
            if self._head_weights:
                losses = [
                    tf.multiply(loss, weight)
                    for loss, weight in zip(losses, self._head_weights, strict=True)
                ]
            merged = tf.add_n(losses)
            if not regularization_losses:
                return merged
            return tf.add_n([merged, tf.add_n(regularization_losses)])

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: str | None = None,
        regularization_losses: Any = None,
    ) -> Any:
        """The weighted sum of the heads' losses."""
        by_head = self._logits_by_head(logits, labels)
        losses = [
            head.loss(labels[head.name], by_head[head.name], features, mode) for head in self._heads
        ]
        return self._merged_loss(losses, regularization_losses)

    def predictions(self, logits: Any, keys: Any = None) -> dict[Any, Any]:
        """The predictions of each head, by its name and theirs."""
        by_head = self._logits_by_head(logits, None)
        return {
            (head.name, key): value
            for head in self._heads
            for key, value in head.predictions(by_head[head.name]).items()
        }

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
        with tf.name_scope(None, "multi_head"):
            by_head = self._logits_by_head(logits, labels)
            specs = [
                head.create_estimator_spec(
                    features=features,
                    mode=mode,
                    logits=by_head[head.name],
                    labels=labels[head.name] if labels is not None else None,
                    train_op_fn=_no_step,
                )
                for head in self._heads
            ]
            predictions = {
                (head.name, key): value
                for head, spec in zip(self._heads, specs, strict=True)
                for key, value in spec.predictions.items()
            }
            if mode == ModeKeys.PREDICT:
                outputs = self._merged_outputs(specs)
                return EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
            loss = self._merged_loss([spec.loss for spec in specs], regularization_losses)
            if mode == ModeKeys.EVAL:
                metrics = self._merged_metrics(specs, regularization_losses)
                return EstimatorSpec(
                    mode, predictions=predictions, loss=loss, eval_metric_ops=metrics
                )
            train_op = made_train_op(loss, optimizer, train_op_fn, trainable_variables, update_ops)
        with tf.name_scope(""):
            tf.summary.scalar(MetricKeys.LOSS, loss)
        return EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)

    def _merged_metrics(self, specs: list[Any], regularization_losses: Any) -> dict[str, Any]:
        metrics: dict[str, Any] = {}
        for head, spec in zip(self._heads, specs, strict=True):
            key = f"{MetricKeys.LOSS}/{head.name}"
            metrics[key] = tf.metrics.mean(spec.loss, name=key)
            metrics.update(spec.eval_metric_ops)
        if regularization_losses:
            key = MetricKeys.LOSS_REGULARIZATION
            metrics[key] = tf.metrics.mean(tf.add_n(regularization_losses), name=key)
        return metrics

    def _merged_outputs(self, specs: list[Any]) -> dict[str, Any]:
        """The outputs of all heads: the first head's default is the default."""
        default = DEFAULT_SERVING_SIGNATURE_DEF_KEY
        outputs = {default: specs[0].export_outputs[default]}
        predicted = {}
        for head, spec in zip(self._heads, specs, strict=True):
            for key, output in spec.export_outputs.items():
                outputs[head.name if key == default else f"{head.name}/{key}"] = output
                if key == PREDICT_SERVING_KEY:
                    for name, tensor in output.outputs.items():
                        predicted[f"{head.name}/{name}"] = tensor
        outputs[PREDICT_SERVING_KEY] = PredictOutput(predicted)
        return outputs
