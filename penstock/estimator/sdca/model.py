"""A linear model that dual coordinate ascent trains: its variables, and a table of its examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import penstock as tf
from penstock.estimator.sdca.partitioned_rows import PartitionedRows
from penstock.estimator.sdca.sharded_table import ShardedMutableDenseHashTable
from penstock.ir.convert import to_tensor
from penstock.ir.tensor import Tensor
from penstock.ops import sdca
from penstock.ops.partitioned_variables import PartitionedVariable

_LOSSES = ("logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss")
_WEIGHTS = ("sparse_features_weights", "dense_features_weights")


class SparseFeatureColumn:
    """Features of examples in a sparse form: which example, which feature, with which value."""

    def __init__(self, example_indices: Any, feature_indices: Any, feature_values: Any):
        with tf.name_scope(None, "SparseFeatureColumn", [example_indices, feature_indices]):
            self._example_indices = tf.convert_to_tensor(
                example_indices, tf.int64, name="example_indices"
            )
            self._feature_indices = tf.convert_to_tensor(
                feature_indices, tf.int64, name="feature_indices"
            )
        self._feature_values: Tensor | None = None
        if feature_values is not None:
            with tf.name_scope(None, "SparseFeatureColumn", [feature_values]):
                self._feature_values = tf.convert_to_tensor(
                    feature_values, tf.float32, name="feature_values"
                )

    @property
    def example_indices(self) -> Tensor:
        """The examples' numbers, as an int64 vector."""
        return self._example_indices

    @property
    def feature_indices(self) -> Tensor:
        """The features' numbers, as an int64 vector."""
        return self._feature_indices

    @property
    def feature_values(self) -> Tensor | None:
        """The features' values, as a float32 vector; None where all are 1."""
        return self._feature_values


def _is_partitioned(variable: Any) -> bool:
    return isinstance(variable, (list, PartitionedVariable))


def _parts(variable: Any) -> list[Any]:
    return list(variable) if _is_partitioned(variable) else [variable]


def _whole(value: Any) -> Tensor:
    """A tensor of what may be a variable in parts along its first axis."""
    tensor: Tensor = (
        tf.concat(list(value), 0) if _is_partitioned(value) else tf.convert_to_tensor(value)
    )
    return tensor


def _assert_specified(names: list[str], given: Mapping[str, Any]) -> None:
    for name in names:
        if given[name] is None:
            raise ValueError(f"{name} must be specified.")


def _assert_lists(names: list[str], given: Mapping[str, Any]) -> None:
    for name in names:
        if not isinstance(given[name], list):
            raise ValueError(f"{name} must be a list.")


class SdcaModel:
    """A linear model and the operations that train it.

    Args:
      examples: a dict of lists `sparse_features` (`SparseFeatureColumn`s) and `dense_features`
        (matrices), and of vectors `example_labels`, `example_weights` and `example_ids` (strings).
      variables: a dict of lists `sparse_features_weights` and `dense_features_weights`.
      options: a dict with `loss_type`, `symmetric_l1_regularization`,
        `symmetric_l2_regularization`, and, if wanted, `num_loss_partitions`, `num_table_shards`
        and `adaptive`.
    """

    _slot_suffix = "_unshrinked/SDCAOptimizer"

    def __init__(self, examples: Any, variables: Any, options: Any):
        if not examples or not variables or not options:
            raise ValueError("examples, variables and options must all be specified.")
        if options["loss_type"] not in _LOSSES:
            raise ValueError("Unsupported loss_type: ", options["loss_type"])
        self._check_examples(examples, ["example_labels", "example_weights", "example_ids"])
        _assert_specified(list(_WEIGHTS), variables)
        _assert_lists(list(_WEIGHTS), variables)
        self._check_options(options)
        self._examples, self._variables, self._options = examples, variables, options
        self._slots = {
            name: [self._slot(variable) for variable in variables[name]] for name in _WEIGHTS
        }
        self._hashtable = ShardedMutableDenseHashTable(
            key_dtype=tf.int64,
            value_dtype=tf.float32,
            num_shards=options.get("num_table_shards") or 1,
            default_value=[0.0, 0.0, 0.0, 0.0],
            empty_key=[0, 0],  # no fingerprint begins with 0 or 1
            deleted_key=[1, 1],
        )
        tf.summary.scalar("approximate_duality_gap", self.approximate_duality_gap())
        tf.summary.scalar("examples_seen", self._hashtable.size())

    def _check_examples(self, examples: Mapping[str, Any], names: list[str]) -> None:
        _assert_specified([*names, "sparse_features", "dense_features"], examples)
        _assert_lists(["sparse_features", "dense_features"], examples)

    def _check_options(self, options: Mapping[str, Any]) -> None:
        for name in ("symmetric_l1_regularization", "symmetric_l2_regularization"):
            _assert_specified([name], options)
            if options[name] < 0.0:
                raise ValueError(f"{name} should be non-negative. Found ({options[name]:f})")

    def _slot(self, variable: Any) -> Any:
        """A variable with the weights before they are moved towards zero, for each part."""
        made = []
        for part in _parts(variable):
            with tf.colocate_with(part) if _is_partitioned(variable) else tf.device(part.device):
                initial = tf.zeros_like(part.initialized_value(), tf.float32)
                made.append(tf.Variable(initial, name=part.op.name + self._slot_suffix))
        return made if _is_partitioned(variable) else made[0]

    # The algorithm asks for at least 1; the loss that is reported has what was asked for.
    def _symmetric_l2_regularization(self) -> float:
        return max(self._options["symmetric_l2_regularization"], 1.0)

    def _all_weights(self) -> Iterator[Any]:
        for name in _WEIGHTS:
            for variable in self._variables[name]:
                yield from _parts(variable)

    # Losses and predictions -----------------------------------------------------------------------

    def _summed(self, function: Any) -> Tensor:
        sums = []
        for part in self._all_weights():
            weights = tf.convert_to_tensor(part)
            with tf.device(weights.device):
                sums.append(tf.reduce_sum(function(tf.cast(weights, tf.float64))))
        total: Tensor = tf.add_n(sums)
        return total

    def _l1_loss(self) -> Tensor:
        with tf.name_scope("sdca/l1_loss"):
            return self._options["symmetric_l1_regularization"] * self._summed(tf.abs)

    def _l2_loss(self, l2: float) -> Tensor:
        with tf.name_scope("sdca/l2_loss"):
            return l2 * self._summed(tf.square) / 2.0

    def _linear_predictions(self, examples: Mapping[str, Any]) -> Tensor:
        with tf.name_scope("sdca/prediction"):
            batch_size = tf.size(examples["example_weights"])
            sparse: Any = 0.0
            for column, variable in zip(
                examples["sparse_features"],
                map(_whole, self._variables["sparse_features_weights"]),
                strict=False,
            ):
                weighted = tf.gather(variable, column.feature_indices) * column.feature_values
                summed = tf.segment_sum(weighted, column.example_indices)
                # The last examples may have no such feature.
                sparse += tf.pad(summed, [[0, batch_size - tf.shape(summed)[0]]])
            dense: Any = 0.0
            for features, variable in zip(
                map(_whole, examples["dense_features"]),
                map(_whole, self._variables["dense_features_weights"]),
                strict=False,
            ):
                dense += tf.matmul(features, tf.expand_dims(variable, -1))
        result: Tensor = tf.reshape(dense, [-1]) + sparse
        return result

    def predictions(self, examples: Any) -> Tensor:
        """Probabilities for the logistic loss, rates for the Poisson loss, else the plain sums."""
        self._check_examples(examples, ["example_weights"])
        result = self._linear_predictions(examples)
        if self._options["loss_type"] == "logistic_loss":
            with tf.name_scope("sdca/logistic_prediction"):
                result = tf.sigmoid(result)
        elif self._options["loss_type"] == "poisson_loss":
            with tf.name_scope("sdca/poisson_prediction"):
                result = tf.exp(result)
        return result

    def unregularized_loss(self, examples: Any) -> Tensor:
        """The mean loss of examples by their weights, without regularization."""
        self._check_examples(examples, ["example_labels", "example_weights"])
        with tf.name_scope("sdca/unregularized_loss"):
            predictions = tf.cast(self._linear_predictions(examples), tf.float64)
            labels = tf.cast(tf.convert_to_tensor(examples["example_labels"]), tf.float64)
            weights = tf.cast(tf.convert_to_tensor(examples["example_weights"]), tf.float64)
            losses = self._losses(labels, predictions)
            mean: Tensor = tf.reduce_sum(losses * weights) / tf.reduce_sum(weights)
            return mean

    def _losses(self, labels: Tensor, predictions: Tensor) -> Tensor:
        kind = self._options["loss_type"]
        if kind == "logistic_loss":
            return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=predictions)
        if kind == "poisson_loss":
            return tf.nn.log_poisson_loss(targets=labels, log_input=predictions)
        if kind in ("hinge_loss", "smooth_hinge_loss"):
            ones = tf.ones_like(predictions)
            return tf.nn.relu(ones - (2 * labels - ones) * predictions)
        return tf.square(labels - predictions) / 2.0

    def regularized_loss(self, examples: Any) -> Tensor:
        """The mean loss of examples with the regularization."""
        self._check_examples(examples, ["example_labels", "example_weights"])
        with tf.name_scope("sdca/regularized_loss"):
            weights = tf.cast(tf.convert_to_tensor(examples["example_weights"]), tf.float64)
            penalty = self._l1_loss() + self._l2_loss(self._options["symmetric_l2_regularization"])
            return penalty / tf.reduce_sum(weights) + self.unregularized_loss(examples)

    def approximate_duality_gap(self) -> Tensor:
        """The distance between the primal and the dual loss, as of the examples' last visits."""
        with tf.name_scope("sdca/approximate_duality_gap"):
            sums: list[Tensor] = []
            for values in self._hashtable.export_sharded()[1]:
                with tf.device(values.device), tf.control_dependencies(sums):
                    sums.append(tf.reduce_sum(tf.cast(values, tf.float64), 0))
            total = tf.add_n(sums)
            losses = total[1] + total[2] + self._l1_loss()
            gap: Tensor = losses + 2.0 * self._l2_loss(self._symmetric_l2_regularization())
            return gap / total[3]

    # Training -------------------------------------------------------------------------------------

    def minimize(self, global_step: Any = None, name: str | None = None) -> Any:
        """An operation that improves the weights by one pass over the examples."""
        with tf.name_scope(name, "sdca/minimize"):
            ids = sdca.SdcaFprint(tf.convert_to_tensor(self._examples["example_ids"]))
            columns = self._examples["sparse_features"]
            indices = [
                tf.cast(tf.unique(tf.cast(column.feature_indices, tf.int32))[0], tf.int64)
                for column in columns
            ]
            rows = [
                PartitionedRows(slot, tf.reshape(ids_of_column, [-1]))
                if _is_partitioned(slot)
                else None
                for slot, ids_of_column in zip(self._slots[_WEIGHTS[0]], indices, strict=False)
            ]
            state, sparse, dense = self._pass_over_examples(ids, indices, rows)
            with tf.control_dependencies([state]):
                updates = [
                    self._hashtable.insert(ids, state),
                    *self._sparse_updates(rows, indices, sparse),
                    *self._dense_updates(dense),
                ]
            if global_step is None:
                return tf.group(*updates)
            with tf.control_dependencies(updates):
                return tf.assign_add(global_step, 1, name=name).op

    def _pass_over_examples(self, ids: Tensor, indices: list[Tensor], rows: list[Any]) -> Any:
        examples, options = self._examples, self._options
        columns = examples["sparse_features"]
        values = [column.feature_values for column in columns]
        sparse_weights = [
            tf.gather(_whole(slot), ids_of_column) if row is None else row.read()
            for slot, ids_of_column, row in zip(
                self._slots[_WEIGHTS[0]], indices, rows, strict=False
            )
        ]
        return sdca.SdcaOptimizerV2(
            [column.example_indices for column in columns],
            [column.feature_indices for column in columns],
            [each for each in values if each is not None],
            [_whole(features) for features in examples["dense_features"]],
            tf.convert_to_tensor(examples["example_weights"]),
            tf.convert_to_tensor(examples["example_labels"]),
            indices,
            sparse_weights,
            [_whole(slot) for slot in self._slots[_WEIGHTS[1]]],
            self._hashtable.lookup(ids),
            loss_type=options["loss_type"],
            l1=options["symmetric_l1_regularization"],
            l2=self._symmetric_l2_regularization(),
            num_loss_partitions=options.get("num_loss_partitions", 1),
            num_inner_iterations=1,
            adaptive=options.get("adaptive", True),
        )

    def _sparse_updates(self, rows: list[Any], indices: list[Tensor], deltas: Any) -> list[Any]:
        made: list[Any] = []
        for slot, row, ids, delta in zip(
            self._slots[_WEIGHTS[0]], rows, indices, deltas, strict=False
        ):
            made += [tf.scatter_add(slot, ids, delta)] if row is None else row.add(delta)
        return made

    def _dense_updates(self, deltas: Any) -> list[Any]:
        made: list[Any] = []
        for slot, delta in zip(self._slots[_WEIGHTS[1]], deltas, strict=True):
            parts = _parts(slot)
            sizes = [int(part.get_shape()[0]) for part in parts]
            changes = tf.split(delta, sizes) if _is_partitioned(slot) else [delta]
            made += [
                tf.assign_add(part, change) for part, change in zip(parts, changes, strict=True)
            ]
        return made

    def update_weights(self, train_op: Any) -> Any:
        """An operation that gives the variables the new weights, moved towards zero by L1."""
        with tf.control_dependencies([train_op]):
            copies = [
                part.assign(slot)
                for name in _WEIGHTS
                for variable, slots in zip(self._variables[name], self._slots[name], strict=True)
                for part, slot in zip(_parts(variable), _parts(slots), strict=True)
            ]
        l1 = self._options["symmetric_l1_regularization"]
        with tf.control_dependencies(copies):
            shrunk = []
            for part in self._all_weights():
                with tf.device(part.device):
                    shrunk.append(self._shrink(part, l1))
            return tf.group(*shrunk)

    def _shrink(self, variable: Any, l1: float) -> Any:
        weights = [to_tensor(variable, as_ref=True)]
        return sdca.SdcaShrinkL1(weights, l1=l1, l2=self._symmetric_l2_regularization())
