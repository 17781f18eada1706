"""How the statistics of batches become layers of trees."""

from __future__ import annotations

from typing import Any, NamedTuple

import penstock as tf
from penstock.estimator.trees.resources import PruningMode, QuantileAccumulator, TreeEnsemble
from penstock.ops import boosted_trees as ops


class TreeHParams(NamedTuple):
    """The settings of trees."""

    n_trees: int
    max_depth: int
    learning_rate: float
    l1: float
    l2: float
    tree_complexity: float
    min_node_weight: float
    center_bias: bool
    pruning_mode: str
    quantile_sketch_epsilon: float

    @property
    def max_splits(self) -> int:
        """How many nodes a tree of this depth can split at most."""
        return (1 << self.max_depth) - 1


def pruning_mode_of(settings: TreeHParams) -> int:
    """The number of the pruning mode, which must fit to the tree complexity."""
    mode = PruningMode.from_str(settings.pruning_mode)
    if settings.tree_complexity > 0 and mode == PruningMode.NO_PRUNING:
        raise ValueError("Tree complexity have no effect unless pruning mode is chosen.")
    if settings.tree_complexity <= 0 and mode != PruningMode.NO_PRUNING:
        raise ValueError("For pruning, tree_complexity must be positive.")
    return mode


class EnsembleGrower:
    """What growing an ensemble takes, whatever the batches are.

    Args:
      groups: the numbers of features by how many buckets they have.
    """

    def __init__(
        self,
        tree_ensemble: TreeEnsemble,
        quantile_accumulator: QuantileAccumulator | None,
        settings: TreeHParams,
        groups: dict[int, list[int]],
    ):
        self._ensemble = tree_ensemble
        self._accumulator = quantile_accumulator
        self._settings = settings
        self._groups = groups
        self._pruning_mode = pruning_mode_of(settings)

    def accumulate_quantiles(self, features: list[Any], weights: Any, ready: Any) -> Any:
        """An operation that adds numbers of features, and may make boundaries of them."""
        raise NotImplementedError

    def center_bias(self, needed: Any, gradients: Any, hessians: Any) -> Any:
        """An operation that moves the bias towards the labels' mean, until it is there."""
        raise NotImplementedError

    def grow_tree(self, summaries: list[Any], nodes_range: Any) -> Any:
        """An operation that adds a layer, if there are enough statistics."""
        raise NotImplementedError

    def chief_init_op(self) -> Any:
        """What the chief runs once before training."""
        return tf.no_op()

    def _center(self, needed: Any, gradients: Any, hessians: Any) -> Any:
        goes_on = ops.BoostedTreesCenterBias(
            self._ensemble.resource_handle,
            gradients,
            hessians,
            self._settings.l1,
            self._settings.l2,
        )
        return needed.assign(goes_on)

    def _grow(self, summaries: list[Any], nodes_range: Any) -> Any:
        """Adds a layer of the best splits that the sums of each group of features show."""
        settings = self._settings
        columns: list[list[Any]] = [[] for _ in range(5)]
        for group in summaries:
            best = ops.BoostedTreesCalculateBestGainsPerFeature(
                nodes_range,
                group,
                settings.l1,
                settings.l2,
                settings.tree_complexity,
                settings.min_node_weight,
                max_splits=settings.max_splits,
            )
            for column, found in zip(columns, best, strict=True):
                column.extend(found)
        return ops.BoostedTreesUpdateEnsemble(
            self._ensemble.resource_handle,
            [number for numbers in self._groups.values() for number in numbers],
            *columns,
            settings.max_depth,
            settings.learning_rate,
            pruning_mode=self._pruning_mode,
        )


class InMemoryGrower(EnsembleGrower):
    """Grows a layer in each step, of a batch that is the whole of the examples."""

    def accumulate_quantiles(self, features: list[Any], weights: Any, ready: Any) -> Any:
        assert self._accumulator is not None
        with tf.control_dependencies([self._accumulator.add_summaries(features, weights)]):
            flush = self._accumulator.flush()
        with tf.control_dependencies([flush]):
            return ready.assign(True).op

    def center_bias(self, needed: Any, gradients: Any, hessians: Any) -> Any:
        means = [tf.expand_dims(tf.reduce_mean(each, 0), 0) for each in (gradients, hessians)]
        return self._center(needed, *means)

    def grow_tree(self, summaries: list[Any], nodes_range: Any) -> Any:
        return self._grow(summaries, nodes_range)


class AccumulatorGrower(EnsembleGrower):
    """Adds up the statistics of some batches, of several workers maybe, for each layer."""

    def __init__(
        self,
        tree_ensemble: TreeEnsemble,
        quantile_accumulator: QuantileAccumulator | None,
        settings: TreeHParams,
        groups: dict[int, list[int]],
        stamp_token: Any,
        n_batches_per_layer: Any,
        is_chief: bool,
    ):
        super().__init__(tree_ensemble, quantile_accumulator, settings, groups)
        self._stamp = stamp_token
        self._batches = n_batches_per_layer
        self._is_chief = is_chief
        self._sums = [
            _accumulator(
                [len(numbers), settings.max_splits, buckets, 2],
                f"numeric_stats_summary_accumulator_{i}",
            )
            for i, (buckets, numbers) in enumerate(groups.items())
        ]
        self._bias = _accumulator([2, 1], "bias_accumulator") if settings.center_bias else None

    def chief_init_op(self) -> Any:
        started = [*self._sums, *([self._bias] if self._bias is not None else [])]
        return tf.group(*[each.set_global_step(self._stamp) for each in started])

    def accumulate_quantiles(self, features: list[Any], weights: Any, ready: Any) -> Any:
        quantiles = self._accumulator
        assert quantiles is not None
        counter = _accumulator({}, "quantile_summary_accum")
        update = tf.group(
            quantiles.add_summaries(features, weights),
            counter.set_global_step(self._stamp),
            counter.apply_grad(tf.constant(0.0), self._stamp),
        )
        if not self._is_chief:
            return update

        def flush() -> Any:
            return tf.group(quantiles.flush(), counter.take_grad(1), ready.assign(True).op)

        with tf.control_dependencies([update]):
            enough = tf.greater_equal(counter.num_accumulated(), self._batches)
            return tf.cond(enough, flush, tf.no_op, name="wait_until_quaniles_accumulated")

    def center_bias(self, needed: Any, gradients: Any, hessians: Any) -> Any:
        bias = self._bias
        if bias is None:
            raise RuntimeError("center_bias called but bias centering is disabled.")
        means = tf.reduce_mean(tf.stack([gradients, hessians], axis=0), axis=1)

        def from_accumulator() -> Any:
            gradient, hessian = tf.unstack(bias.take_grad(1), axis=0)
            centered = self._center(needed, tf.expand_dims(gradient, 0), tf.expand_dims(hessian, 0))
            with tf.control_dependencies([centered]):
                return tf.cond(needed.read_value(), tf.no_op, self._start_growing)

        with tf.control_dependencies([bias.apply_grad(means, self._stamp)]):
            if not self._is_chief:
                return tf.no_op()
            enough = tf.greater_equal(bias.num_accumulated(), self._batches)
            name = "wait_until_n_batches_for_bias_accumulated"
            return tf.cond(enough, from_accumulator, tf.no_op, name=name)

    def _start_growing(self) -> Any:
        return tf.group(*[each.set_global_step(self._stamp + 1) for each in self._sums])

    def grow_tree(self, summaries: list[Any], nodes_range: Any) -> Any:
        added = [
            sums.apply_grad(tf.stack(group, axis=0), self._stamp)
            for sums, group in zip(self._sums, summaries, strict=True)
        ]

        def from_accumulators() -> Any:
            taken = [tf.unstack(sums.take_grad(1), axis=0) for sums in self._sums]
            return self._grow(taken, nodes_range)

        with tf.control_dependencies(added):
            if not self._is_chief:
                return tf.no_op()
            least = tf.reduce_min(tf.stack([sums.num_accumulated() for sums in self._sums]))
            enough = tf.greater_equal(least, self._batches)
            name = "wait_until_n_batches_accumulated"
            return tf.cond(enough, from_accumulators, tf.no_op, name=name)


def _accumulator(shape: Any, shared_name: str) -> Any:
    return tf.ConditionalAccumulator(tf.float32, shape=shape, shared_name=shared_name)
