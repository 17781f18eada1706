"""`tf.estimator.experimental.LinearSDCA`: trains linear models by dual coordinate ascent."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.estimator.canned.logits import compute_fraction_of_zeros, parts_of
from penstock.estimator.heads.class_heads import BinaryClassHead
from penstock.estimator.heads.regression_heads import RegressionHead
from penstock.estimator.keras_heads.head import SingleHead
from penstock.estimator.mode_keys import ModeKeys
from penstock.estimator.sdca.estimator_model import EstimatorSdcaModel
from penstock.estimator.sdca.sparse_columns import weighted_ids
from penstock.feature_column.columns import CategoricalColumn, DenseColumn, is_feature_column_v2
from penstock.feature_column.linear_model import LinearModel
from penstock.feature_column.transformation import FeatureTransformationCache


class LinearSDCA:
    """The optimizer of a linear classifier of two classes, or of a linear regressor.

    Args:
      example_id_column: the feature that names each example, by strings.
      num_loss_partitions: how many parts of the loss are worked on at once.
      num_table_shards: how many parts the table of examples has.
      symmetric_l1_regularization: at least 0.
      symmetric_l2_regularization: above 0.
      adaptive: whether examples that are far off are chosen more often.
    """

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = False,
    ):
        self._example_id_column = example_id_column
        self._options = {
            "symmetric_l1_regularization": symmetric_l1_regularization,
            "symmetric_l2_regularization": symmetric_l2_regularization,
            "adaptive": adaptive,
            "num_loss_partitions": num_loss_partitions,
            "num_table_shards": num_table_shards,
        }

    def get_train_step(
        self,
        state_manager: Any,
        weight_column_name: str | None,
        loss_type: str,
        feature_columns: Any,
        features: Any,
        targets: Any,
        bias_var: Any,
        global_step: Any,
    ) -> tuple[EstimatorSdcaModel, Any]:
        """The model of a batch, and the operation of a step."""
        batch_size = tf.shape(targets)[0]
        cache = FeatureTransformationCache(features)
        dense, dense_weights, sparse, sparse_weights = [], [], [], []
        for column in sorted(feature_columns, key=lambda column: column.name):
            if isinstance(column, CategoricalColumn):
                pair = column.get_sparse_tensors(cache, state_manager)
                weights = None if pair.weight_tensor is None else pair.weight_tensor.values
                sparse.append(weighted_ids(pair.id_tensor, weights))
                sparse_weights.append(state_manager.get_variable(column, "weights"))
            elif isinstance(column, DenseColumn):
                rank = column.variable_shape.ndims
                if rank != 1:
                    raise ValueError(
                        f"Column {type(column).__name__} has rank {rank}, larger than 1."
                    )
                dense.append(column.get_dense_tensor(cache, state_manager))
                dense_weights.append(state_manager.get_variable(column, "weights"))
            else:
                raise ValueError(
                    f"LinearSDCA does not support column type {type(column).__name__}."
                )
        if weight_column_name:
            example_weights = tf.reshape(features[weight_column_name], shape=[-1])
        else:
            example_weights = tf.ones([batch_size])
        model = EstimatorSdcaModel(
            examples={
                "sparse_features": sparse,
                "dense_features": [*dense, tf.ones([batch_size, 1])],
                "example_labels": tf.cast(tf.reshape(targets, shape=[-1]), tf.float32),
                "example_weights": example_weights,
                "example_ids": features[self._example_id_column],
            },
            variables={
                "sparse_features_weights": sparse_weights,
                "dense_features_weights": [*dense_weights, bias_var],
            },
            options={**self._options, "loss_type": loss_type},
        )
        return model, model.minimize(global_step=global_step)


class _UpdateWeightsHook(tf.train.SessionRunHook):
    """Gives the variables of a model their new weights with each step of training."""

    def __init__(self, sdca_model: EstimatorSdcaModel, train_op: Any):
        self._sdca_model = sdca_model
        self._train_op = train_op

    def begin(self) -> None:
        self._update_op = self._sdca_model.update_weights(self._train_op)

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs(self._update_op)


def _loss_type(head: Any) -> str:
    if isinstance(head, BinaryClassHead):
        return "logistic_loss"
    if isinstance(head, RegressionHead):
        assert head.logits_dimension == 1
        return "squared_loss"
    raise ValueError(f"Unsupported head type: {head}")


def sdca_model_fn(
    features: Any, labels: Any, mode: str, head: Any, feature_columns: Any, optimizer: LinearSDCA
) -> Any:
    """A linear model that a `LinearSDCA` trains."""
    assert is_feature_column_v2(feature_columns)
    loss_type = _loss_type(head)
    scoped = isinstance(head, SingleHead)  # others are in a variable scope already
    model = LinearModel(
        feature_columns=feature_columns,
        units=1,
        sparse_combiner="sum",
        name="linear/linear_model" if scoped else "linear_model",
    )
    logits = model(features)
    weights = [variable for variable in model.variables if variable is not model.bias]
    tf.summary.scalar("bias", parts_of([model.bias])[0][0])
    tf.summary.scalar("fraction_of_zero_weights", compute_fraction_of_zeros(parts_of(weights)))
    made = {"features": features, "mode": mode, "labels": labels, "logits": logits}
    if mode != ModeKeys.TRAIN:
        return head.create_estimator_spec(**made)
    sdca_model, train_op = optimizer.get_train_step(
        model.layer._state_manager,
        head._weight_column,
        loss_type,
        feature_columns,
        features,
        labels,
        model.bias,
        tf.train.get_global_step(),
    )
    spec = head.create_estimator_spec(**made, train_op_fn=lambda loss: train_op)
    hooks = (*spec.training_chief_hooks, _UpdateWeightsHook(sdca_model, train_op))
    return spec._replace(training_chief_hooks=hooks)


def check_sdca_settings(
    feature_columns: Any, optimizer: Any, sparse_combiner: str, classes: int, label_dimension: int
) -> None:
    """ValueError for settings of a linear model that a `LinearSDCA` can't train."""
    if not isinstance(optimizer, LinearSDCA):
        return
    if sparse_combiner != "sum":
        raise ValueError('sparse_combiner must be "sum" when optimizer is a LinearSDCA object.')
    if not is_feature_column_v2(feature_columns):
        raise ValueError("V2 feature columns required when optimizer is a LinearSDCA object.")
    if classes > 2:
        raise ValueError("LinearSDCA cannot be used in a multi-class setting.")
    if label_dimension > 1:
        raise ValueError("LinearSDCA can only be used with one-dimensional label.")
