"""Estimators of random forests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock import logging
from penstock.contrib import estimator as core_heads
from penstock.contrib import layers
from penstock.contrib.learn import head as learn_heads
from penstock.contrib.learn.estimator import Estimator
from penstock.contrib.learn.model_fn import ModeKeys, ModelFnOps, ProblemType
from penstock.contrib.tensor_forest import tensor_forest
from penstock.contrib.tensor_forest.client import eval_metrics
from penstock.estimator.estimator import Estimator as CoreEstimator
from penstock.estimator.export.outputs import PredictOutput
from penstock.feature_column.transformation import _LazyBuilder
from penstock.ops.resource_variables import DestroyResourceOp

KEYS_NAME = "keys"
LOSS_NAME = "rf_training_loss"
TREE_PATHS_PREDICTION_KEY = "tree_paths"
VARIANCE_PREDICTION_KEY = "prediction_variance"
ALL_SERVING_KEY = "tensorforest_all"
EPSILON = 1e-6


class ModelBuilderOutputType:
    """What a model function gives: that of `tf.contrib.learn`, or that of `tf.estimator`."""

    MODEL_FN_OPS = 0
    ESTIMATOR_SPEC = 1


class TensorForestRunOpAtEndHook(tf.train.SessionRunHook):
    """Runs operations after training, in the order of their names, and logs what they give."""

    def __init__(self, op_dict: dict[str, Any]):
        self._ops = op_dict

    def end(self, session: Any) -> None:
        for name in sorted(self._ops):
            logging.info(f"{name}: {session.run(self._ops[name])}")


class TensorForestLossHook(tf.train.SessionRunHook):
    """Stops training when the loss is no better for so many steps.

    Args:
      early_stopping_loss_threshold: by which part of the least loss it must be better.
      loss_op: the loss; by default the operation of the name `LOSS_NAME`.
    """

    def __init__(
        self,
        early_stopping_rounds: int,
        early_stopping_loss_threshold: float | None = None,
        loss_op: Any = None,
    ):
        self.early_stopping_rounds = early_stopping_rounds
        self.early_stopping_loss_threshold = early_stopping_loss_threshold
        self.loss_op = loss_op
        self.min_loss: Any = None
        self.last_step = -1
        self.steps = 0  # since the last better loss

    def before_run(self, run_context: Any) -> Any:
        loss = self.loss_op
        if loss is None:
            loss = run_context.session.graph.get_operation_by_name(LOSS_NAME).outputs[0]
        step = tf.train.get_global_step()
        return tf.train.SessionRunArgs({"global_step": step, "current_loss": loss})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        loss, step = run_values.results["current_loss"], run_values.results["global_step"]
        self.steps += 1
        if self.last_step == -1 or self.last_step > step:  # a new training
            self.last_step, self.steps, self.min_loss = step, 0, None
            return
        self.last_step = step
        threshold = self.early_stopping_loss_threshold
        if self.min_loss is None or loss < self.min_loss - self.min_loss * threshold:
            self.min_loss, self.steps = loss, 0
        if self.steps > self.early_stopping_rounds:
            logging.info("The loss is no better: training stops.")
            run_context.request_stop()


def _get_default_head(
    params: Any, weights_name: str | None, output_type: int, name: str | None = None
) -> Any:
    """The head of a forest: of classes or of numbers."""
    if output_type == ModelBuilderOutputType.MODEL_FN_OPS:
        options: dict[str, Any] = {
            "weight_column_name": weights_name,
            "enable_centered_bias": False,
            "head_name": name,
        }
        if params.regression:
            return learn_heads.regression_head(label_dimension=params.num_outputs, **options)
        return learn_heads.multi_class_head(params.num_classes, **options)
    core: dict[str, Any] = {
        "weight_column": weights_name,
        "name": name,
        "loss_reduction": tf.losses.Reduction.SUM_OVER_BATCH_SIZE,
    }
    if params.regression:
        return core_heads.regression_head(label_dimension=params.num_outputs, **core)
    if params.num_classes == 2:
        return core_heads.binary_classification_head(**core)
    return core_heads.multi_class_head(n_classes=params.num_classes, **core)


class _Forest:
    """The model function of a forest; see `get_model_fn` for its arguments."""

    def __init__(self, params: Any, model_head: Any, **options: Any):
        self._params = params
        self._head = model_head
        self._options = options
        self._is_core = options["output_type"] == ModelBuilderOutputType.ESTIMATOR_SPEC

    def model_fn(self, features: Any, labels: Any, mode: str) -> Any:
        """The model for features and labels."""
        options = self._options
        features = self._transformed(features)
        weights = features.pop(options["weights_name"], None)
        keys = features.pop(options["keys_name"], None)
        is_local = mode == ModeKeys.INFER or (options["local_eval"] and mode == ModeKeys.EVAL)
        graphs = options["graph_builder_class"](
            self._params, device_assigner=None if is_local else options["device_assigner"]
        )
        logits, tree_paths, variance = graphs.inference_graph(features)
        tf.summary.scalar("average_tree_size", graphs.average_size())
        logits = self._log_odds(logits)
        train_op = None
        if labels is not None and mode == ModeKeys.TRAIN:
            train_op = self._train_op(graphs, features, labels, weights, logits)
        if weights is not None:
            features[options["weights_name"]] = weights
        more = {} if keys is None else {options["keys_name"]: keys}
        if self._params.inference_tree_paths:
            more[TREE_PATHS_PREDICTION_KEY] = tree_paths
        more[VARIANCE_PREDICTION_KEY] = variance
        make = self._estimator_spec if self._is_core else self._model_fn_ops
        return make(features, labels, mode, logits, train_op, self._at_end(graphs), more)

    def _transformed(self, features: Any) -> dict[Any, Any]:
        if isinstance(features, tf.Tensor | tf.SparseTensor):
            features = {"features": features}
        features = dict(features)
        columns = self._options["feature_columns"] or ()
        if columns and not self._is_core:
            features.update(layers.transform_features(features, columns))
        elif columns:
            builder = _LazyBuilder(features)
            features.update({column.name: builder.get(column) for column in columns})
        return features

    def _log_odds(self, probabilities: Any) -> Any:
        """The logits of heads for two classes; other heads take probabilities as they are."""
        if self._params.regression or self._params.num_classes != 2:
            return probabilities
        second = tf.slice(probabilities, [0, 1], [-1, 1])
        return tf.log(tf.maximum(second / tf.maximum(1.0 - second, EPSILON), EPSILON))

    def _train_op(self, graphs: Any, features: Any, labels: Any, weights: Any, logits: Any) -> Any:
        with tf.control_dependencies([logits.op]):
            return tf.group(
                graphs.training_graph(
                    features,
                    labels,
                    input_weights=weights,
                    num_trainers=self._options["num_trainers"],
                    trainer_id=self._options["trainer_id"],
                ),
                tf.assign_add(tf.train.get_global_step(), 1),
            )

    def _at_end(self, graphs: Any) -> TensorForestRunOpAtEndHook:
        destroyed = [DestroyResourceOp(handle) for handle in graphs.get_all_resource_handles()]
        operations: dict[str, Any] = {"9: clean up resources": tf.group(*destroyed)}
        if self._options["report_feature_importances"]:
            operations["1: feature_importances"] = graphs.feature_importances()
        return TensorForestRunOpAtEndHook(operations)

    def _hooks(self, at_end: Any, loss: Any) -> list[Any]:
        rounds = self._options["early_stopping_rounds"]
        if not rounds:
            return [at_end]
        threshold = self._options["early_stopping_loss_threshold"]
        return [at_end, TensorForestLossHook(rounds, threshold, loss)]

    def _model_fn_ops(
        self,
        features: Any,
        labels: Any,
        mode: str,
        logits: Any,
        train_op: Any,
        at_end: Any,
        more: dict[str, Any],
    ) -> ModelFnOps:
        made = self._head.create_model_fn_ops(
            features=features,
            labels=labels,
            mode=mode,
            train_op_fn=lambda loss: train_op,
            logits=logits,
            scope=self._options["head_scope"],
        )
        predictions = {**(made.predictions or {}), **more}
        alternatives = made.output_alternatives
        if self._options["include_all_in_serving"]:
            everything = (ProblemType.UNSPECIFIED, predictions)
            alternatives = {**(alternatives or {}), ALL_SERVING_KEY: everything}
        replaced: ModelFnOps = made._replace(
            predictions=predictions,
            output_alternatives=alternatives,
            training_hooks=[*made.training_hooks, *self._hooks(at_end, made.loss)],
        )
        return replaced

    def _estimator_spec(
        self,
        features: Any,
        labels: Any,
        mode: str,
        logits: Any,
        train_op: Any,
        at_end: Any,
        more: dict[str, Any],
    ) -> Any:
        made = self._head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            train_op_fn=lambda loss: train_op,
            logits=logits,
        )
        made.predictions.update(more)
        hooks = [*self._hooks(at_end, made.loss), *made.training_hooks]
        made = made._replace(training_hooks=hooks)
        if self._options["include_all_in_serving"]:
            made = made._replace(export_outputs={ALL_SERVING_KEY: PredictOutput(made.predictions)})
        return made


def get_model_fn(
    params: Any,
    graph_builder_class: Any,
    device_assigner: Any,
    feature_columns: Any = None,
    weights_name: str | None = None,
    model_head: Any = None,
    keys_name: str | None = None,
    early_stopping_rounds: int | None = 100,
    early_stopping_loss_threshold: float = 0.001,
    num_trainers: int = 1,
    trainer_id: int = 0,
    report_feature_importances: bool = False,
    local_eval: bool = False,
    head_scope: Any = None,
    include_all_in_serving: bool = False,
    output_type: int = ModelBuilderOutputType.MODEL_FN_OPS,
) -> Callable[..., Any]:
    """A model function of a random forest.

    Args:
      params: `tensor_forest.ForestHParams`, filled.
      graph_builder_class: `tensor_forest.RandomForestGraphs`.
      device_assigner: on which devices trees are.
      weights_name, keys_name: the features that weigh examples, and that name them.
      early_stopping_rounds: stop when the loss is no better for so many steps.
      report_feature_importances: whether to log them after training.
      local_eval: whether evaluation has no device assigner.
      include_all_in_serving: whether exports have a signature of all predictions.
    """
    return _Forest(
        params,
        model_head or _get_default_head(params, weights_name, output_type),
        graph_builder_class=graph_builder_class,
        device_assigner=device_assigner,
        feature_columns=feature_columns,
        weights_name=weights_name,
        keys_name=keys_name,
        early_stopping_rounds=early_stopping_rounds,
        early_stopping_loss_threshold=early_stopping_loss_threshold,
        num_trainers=num_trainers,
        trainer_id=trainer_id,
        report_feature_importances=report_feature_importances,
        local_eval=local_eval,
        head_scope=head_scope,
        include_all_in_serving=include_all_in_serving,
        output_type=output_type,
    ).model_fn


class TensorForestEstimator(Estimator):
    """A random forest that grows from streams of examples; see `get_model_fn`.

    Args:
      params: `tensor_forest.ForestHParams`.
      weight_column, keys_column: the features that weigh examples, and that name them.
      head: a head of `tf.contrib.learn`.
    """

    def __init__(
        self,
        params: Any,
        device_assigner: Any = None,
        model_dir: Any = None,
        feature_columns: Any = None,
        graph_builder_class: Any = tensor_forest.RandomForestGraphs,
        config: Any = None,
        weight_column: str | None = None,
        keys_column: str | None = None,
        feature_engineering_fn: Any = None,
        early_stopping_rounds: int | None = 100,
        early_stopping_loss_threshold: float = 0.001,
        num_trainers: int = 1,
        trainer_id: int = 0,
        report_feature_importances: bool = False,
        local_eval: bool = False,
        version: Any = None,
        head: Any = None,
        include_all_in_serving: bool = False,
    ):
        model_fn = get_model_fn(
            params.fill(),
            graph_builder_class,
            device_assigner,
            feature_columns=feature_columns,
            model_head=head,
            weights_name=weight_column,
            keys_name=keys_column,
            early_stopping_rounds=early_stopping_rounds,
            early_stopping_loss_threshold=early_stopping_loss_threshold,
            num_trainers=_trainers(num_trainers, config),
            trainer_id=trainer_id,
            report_feature_importances=report_feature_importances,
            local_eval=local_eval,
            include_all_in_serving=include_all_in_serving,
        )
        super().__init__(model_fn, model_dir, config, None, feature_engineering_fn)


def _trainers(num_trainers: int, config: Any) -> int:
    if num_trainers == 1 and config is not None:
        return max(1, config.num_worker_replicas)
    return num_trainers


def get_combined_model_fn(model_fns: list[Callable[..., Any]]) -> Callable[..., ModelFnOps]:
    """A model function of several: each has a column of the labels."""

    def model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
        made = []
        for place, each in enumerate(model_fns):
            with tf.variable_scope(f"label_{place}"):
                made.append(each(features, tf.slice(labels, [0, place], [-1, 1]), mode))
        predictions = {}
        if mode in (ModeKeys.EVAL, ModeKeys.INFER):
            for key, joined in (
                (eval_metrics.INFERENCE_PROB_NAME, tf.concat),
                (eval_metrics.INFERENCE_PRED_NAME, tf.stack),
            ):
                predictions[key] = joined([each.predictions[key] for each in made], axis=1)
        loss = train_op = None
        if mode in (ModeKeys.EVAL, ModeKeys.TRAIN):
            loss = tf.reduce_sum(tf.stack([each.loss for each in made])) / len(made)
        if mode == ModeKeys.TRAIN:
            train_op = tf.group(*[each.train_op for each in made])
        return ModelFnOps(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            training_hooks=[hook for each in made for hook in each.training_hooks],
        )

    return model_fn


class MultiForestMultiHeadEstimator(Estimator):
    """A random forest for each column of the labels; see `TensorForestEstimator`."""

    def __init__(
        self,
        params_list: list[Any],
        device_assigner: Any = None,
        model_dir: Any = None,
        feature_columns: Any = None,
        graph_builder_class: Any = tensor_forest.RandomForestGraphs,
        config: Any = None,
        weight_column: str | None = None,
        keys_column: str | None = None,
        feature_engineering_fn: Any = None,
        early_stopping_rounds: int | None = 100,
        num_trainers: int = 1,
        trainer_id: int = 0,
        report_feature_importances: bool = False,
        local_eval: bool = False,
    ):
        model_fns = []
        for place, given in enumerate(params_list):
            params = given.fill()
            head = _get_default_head(
                params, weight_column, ModelBuilderOutputType.MODEL_FN_OPS, f"head{place}"
            )
            model_fns.append(
                get_model_fn(
                    params,
                    graph_builder_class,
                    device_assigner,
                    model_head=head,
                    weights_name=weight_column,
                    keys_name=keys_column,
                    early_stopping_rounds=early_stopping_rounds,
                    num_trainers=_trainers(num_trainers, config),
                    trainer_id=trainer_id,
                    report_feature_importances=report_feature_importances,
                    local_eval=local_eval,
                    head_scope=f"output{place}",
                )
            )
        combined = get_combined_model_fn(model_fns)
        super().__init__(combined, model_dir, config, None, feature_engineering_fn)


class CoreTensorForestEstimator(CoreEstimator):
    """A random forest as an estimator of `tf.estimator`; see `TensorForestEstimator`."""

    def __init__(
        self,
        params: Any,
        device_assigner: Any = None,
        model_dir: Any = None,
        feature_columns: Any = None,
        graph_builder_class: Any = tensor_forest.RandomForestGraphs,
        config: Any = None,
        weight_column: str | None = None,
        keys_column: str | None = None,
        feature_engineering_fn: Any = None,
        early_stopping_rounds: int | None = 100,
        early_stopping_loss_threshold: float = 0.001,
        num_trainers: int = 1,
        trainer_id: int = 0,
        report_feature_importances: bool = False,
        local_eval: bool = False,
        version: Any = None,
        head: Any = None,
        include_all_in_serving: bool = False,
    ):
        if trainer_id == 0 and config is not None:
            trainer_id = config.global_id_in_cluster
        model_fn = get_model_fn(
            params.fill(),
            graph_builder_class,
            device_assigner,
            feature_columns=feature_columns,
            model_head=head,
            weights_name=weight_column,
            keys_name=keys_column,
            early_stopping_rounds=early_stopping_rounds,
            early_stopping_loss_threshold=early_stopping_loss_threshold,
            num_trainers=_trainers(num_trainers, config),
            trainer_id=trainer_id,
            report_feature_importances=report_feature_importances,
            local_eval=local_eval,
            include_all_in_serving=include_all_in_serving,
            output_type=ModelBuilderOutputType.ESTIMATOR_SPEC,
        )
        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)
