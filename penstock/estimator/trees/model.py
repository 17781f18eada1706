"""The model function of boosted trees."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.estimator.mode_keys import ModeKeys
from penstock.estimator.trees import features as tree_columns
from penstock.estimator.trees.caches import NoCache, TableCache, VariablesCache, training_variable
from penstock.estimator.trees.growers import (
    AccumulatorGrower,
    EnsembleGrower,
    InMemoryGrower,
    TreeHParams,
)
from penstock.estimator.trees.resources import QuantileAccumulator, TreeEnsemble
from penstock.ops import boosted_trees as ops
from penstock.train.session_run_hook import SessionRunArgs, SessionRunHook

QUANTILE_ACCUMULATOR = "QuantileAccumulator"


class StopAtAttemptsHook(SessionRunHook):
    """Ends training when all trees are finished, or too many layers were tried in vain."""

    def __init__(self, finished: Any, attempted: Any, max_trees: int, max_depth: int):
        self._counts = [finished, attempted]
        self._max_trees = max_trees
        self._max_layers = 2 * max_trees * max_depth

    def before_run(self, run_context: Any) -> SessionRunArgs:
        return SessionRunArgs(self._counts)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        finished, attempted = run_values.results
        # They were read before the step grew the ensemble.
        if finished >= self._max_trees - 1 or attempted > self._max_layers - 1:
            finished, attempted = run_context.session.run(self._counts)
        if finished >= self._max_trees or attempted > self._max_layers:
            run_context.request_stop()


class GrowerInitializationHook(SessionRunHook):
    """Runs what the chief runs before training."""

    def __init__(self, init_op: Any):
        self._init_op = init_op

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._init_op)


class TreeInputs:
    """The columns of a model as features of trees, and the boundaries of their buckets."""

    def __init__(self, feature_columns: Any, epsilon: float):
        self.columns = sorted(feature_columns, key=lambda column: column.name)
        self.float_columns = [c for c in self.columns if tree_columns.is_float_column(c)]
        self.quantiles = int(1.0 / epsilon)
        self.accumulator: QuantileAccumulator | None = None
        self._boundaries: dict[str, list[Any]] = {}
        if self.float_columns:
            self.accumulator = QuantileAccumulator(
                epsilon=epsilon,
                num_streams=sum(map(tree_columns.feature_count, self.float_columns)),
                num_quantiles=self.quantiles,
                name=QUANTILE_ACCUMULATOR,
            )
            self._boundaries = tree_columns.boundaries_by_column(
                self.float_columns, self.accumulator.get_bucket_boundaries()
            )

    def bucketized(self, features: Any) -> list[Any]:
        """A vector of buckets for each feature."""
        return tree_columns.tree_features(features, self.columns, self._boundaries)

    def numbers(self, features: Any) -> list[Any]:
        """A vector of numbers for each feature that is to be put into buckets."""
        return tree_columns.tree_features(features, self.float_columns)

    def groups(self) -> dict[int, list[int]]:
        """The numbers of features by how many buckets they have."""
        return tree_columns.grouped_by_buckets(self.columns, self.quantiles)


class _Training:
    """The graph of a training step."""

    def __init__(
        self,
        inputs: TreeInputs,
        ensemble: TreeEnsemble,
        settings: TreeHParams,
        features: Any,
        labels: Any,
        head: Any,
        config: Any,
        n_batches_per_layer: Any,
        train_in_memory: bool,
        example_id_column_name: str | None,
        weight_column: Any,
        derivatives: Any,
        scope: str,
    ):
        self._inputs, self._settings = inputs, settings
        self._features, self._labels = features, labels
        self._derivatives = derivatives
        self._groups = inputs.groups()
        self._ready = training_variable(not inputs.float_columns, "are_boundaries_ready")
        self._bucketized = inputs.bucketized(features)
        size = tf.shape(labels)[0]
        self._keeps_states = train_in_memory or bool(example_id_column_name)
        if train_in_memory:
            self._cache: Any = VariablesCache(size, head.logits_dimension)
        elif example_id_column_name:
            self._cache = TableCache(features[example_id_column_name], head.logits_dimension)
        else:
            self._cache = NoCache(size, head.logits_dimension)
        self._predict(ensemble, config, head.logits_dimension, scope)
        self.grower: EnsembleGrower
        if train_in_memory:
            self.grower = InMemoryGrower(ensemble, inputs.accumulator, settings, self._groups)
        else:
            self.grower = AccumulatorGrower(
                ensemble,
                inputs.accumulator,
                settings,
                self._groups,
                self._stamp,
                n_batches_per_layer,
                config.is_chief,
            )
        tf.summary.scalar("ensemble/num_trees", self._trees)
        tf.summary.scalar("ensemble/num_finalized_trees", self.finished)
        tf.summary.scalar("ensemble/num_attempted_layers", self.attempted)
        self._needs_center = training_variable(settings.center_bias, "center_bias_needed")
        self._weights = _example_weights(features, weight_column)

    def _predict(self, ensemble: TreeEnsemble, config: Any, width: int, scope: str) -> None:
        """Logits so far, by a copy of the ensemble where another task has it."""
        trees, nodes, logits = self._cache.lookup()
        local, reload = ensemble, tf.no_op()
        if config.num_worker_replicas > 1:
            with tf.device(reload.device):
                local = TreeEnsemble(name=f"{scope}_local", is_local=True)
            reload = local.deserialize(*ensemble.serialize())
        with tf.control_dependencies([reload]):
            states = local.get_states()
            self._stamp, self._trees, self.finished, self.attempted, self._layer = states
            partial, self._tree_ids, self._node_ids = ops.BoostedTreesTrainingPredict(
                local.resource_handle, trees, nodes, self._bucketized, logits_dimension=width
            )
        self.logits = logits + partial

    def train_op(self, loss: Any) -> Any:
        """A step: boundaries first, then the bias, then layers of trees."""
        if not self._inputs.float_columns:
            return self._grow(loss)
        return tf.cond(self._ready.read_value(), lambda: self._grow(loss), self._add_quantiles)

    def _add_quantiles(self) -> Any:
        with tf.name_scope("UpdateQuantile"):
            numbers = self._inputs.numbers(self._features)
            return self.grower.accumulate_quantiles(numbers, self._weights, self._ready)

    def _grow(self, loss: Any) -> Any:
        needs_center = self._needs_center.read_value()
        done = []
        if self._keeps_states:
            # What a step with another bias would give is not kept.
            done.append(tf.cond(needs_center, tf.no_op, self._keep))
        gradients, hessians = self._loss_derivatives(loss)
        summaries = [
            [self._summary(gradients, hessians, number, buckets) for number in numbers]
            for buckets, numbers in self._groups.items()
        ]
        if self._settings.center_bias:
            update = tf.cond(
                needs_center,
                lambda: self.grower.center_bias(self._needs_center, gradients, hessians),
                lambda: self.grower.grow_tree(summaries, self._layer),
            )
        else:
            update = self.grower.grow_tree(summaries, self._layer)
        with tf.control_dependencies([update]):
            done.append(tf.assign_add(tf.train.get_global_step(), 1).op)
        return tf.group(update, *done, name="grow_op")

    def _keep(self) -> Any:
        return self._cache.insert(self._tree_ids, self._node_ids, self.logits)

    def _loss_derivatives(self, loss: Any) -> tuple[Any, Any]:
        if self._derivatives is not None:
            gradients, hessians = self._derivatives(self.logits, self._labels)
            return gradients, hessians
        gradients = tf.gradients(loss, self.logits, name="Gradients")[0]
        return gradients, tf.gradients(gradients, self.logits, name="Hessians")[0]

    def _summary(self, gradients: Any, hessians: Any, number: int, buckets: int) -> Any:
        """The sums of derivatives by node and bucket of a feature."""
        sums = ops.BoostedTreesMakeStatsSummary(
            self._node_ids,
            gradients,
            hessians,
            [self._bucketized[number]],
            max_splits=self._settings.max_splits,
            num_buckets=buckets,
        )
        return tf.squeeze(sums, axis=0)


def _example_weights(features: Any, weight_column: Any) -> Any:
    if weight_column is None:
        return tf.constant(1.0, shape=[1])
    if isinstance(weight_column, str):
        weight_column = tf.feature_column.numeric_column(key=weight_column, shape=(1,))
    return tree_columns.tree_features(features, [weight_column])[0]


def _check_in_memory(config: Any, n_batches_per_layer: Any) -> None:
    assert n_batches_per_layer == 1, (
        "When train_in_memory is enabled, input_fn should return the entire dataset as a single "
        "batch, and n_batches_per_layer should be set as 1."
    )
    if not config.is_chief or config.num_worker_replicas > 1 or config.num_ps_replicas > 0:
        raise ValueError("train_in_memory is supported only for non-distributed training.")


def trees_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    feature_columns: Any,
    tree_hparams: TreeHParams,
    n_batches_per_layer: Any,
    config: Any,
    closed_form_grad_and_hess_fn: Any = None,
    example_id_column_name: str | None = None,
    weight_column: Any = None,
    train_in_memory: bool = False,
    name: str = "boosted_trees",
) -> Any:
    """The EstimatorSpec of boosted trees with a head.

    Args:
      n_batches_per_layer: how many batches' statistics a layer is grown from.
      closed_form_grad_and_hess_fn: a function from logits and labels to the derivatives of the
        loss; by default they are made by tf.gradients.
      example_id_column_name: the feature that names examples, to keep what was computed for them.
      train_in_memory: whether each batch is the whole of the examples.
    """
    with tf.name_scope(name) as scope:
        tf.train.get_or_create_global_step()
        ensemble = TreeEnsemble(name=scope)
        inputs = TreeInputs(feature_columns, tree_hparams.quantile_sketch_epsilon)
        if mode != ModeKeys.TRAIN:
            logits = predicted_logits(ensemble, inputs.bucketized(features), head)
            return head.create_estimator_spec(
                features=features, mode=mode, labels=labels, train_op_fn=_no_step, logits=logits
            )
        if train_in_memory:
            _check_in_memory(config, n_batches_per_layer)
        training = _Training(
            inputs,
            ensemble,
            tree_hparams,
            features,
            labels,
            head,
            config,
            n_batches_per_layer,
            train_in_memory,
            example_id_column_name,
            weight_column,
            closed_form_grad_and_hess_fn,
            scope,
        )
    spec = head.create_estimator_spec(
        features=features,
        mode=mode,
        labels=labels,
        train_op_fn=training.train_op,
        logits=training.logits,
    )
    stop = StopAtAttemptsHook(
        training.finished, training.attempted, tree_hparams.n_trees, tree_hparams.max_depth
    )
    start = GrowerInitializationHook(training.grower.chief_init_op())
    return spec._replace(
        training_hooks=(*spec.training_hooks, stop),
        training_chief_hooks=[start, *spec.training_chief_hooks],
    )


def _no_step(loss: Any) -> Any:
    return tf.no_op()


def predicted_logits(ensemble: TreeEnsemble, bucketized: list[Any], head: Any) -> Any:
    """What all trees say about the examples."""
    return ops.BoostedTreesPredict(
        ensemble.resource_handle, bucketized, logits_dimension=head.logits_dimension
    )
