"""Random forests as graphs: settings, variables, and the operations that train and ask them."""

from __future__ import annotations

import math
import numbers
import random
from collections.abc import Callable
from typing import Any

from google.protobuf import text_format

import penstock as tf
from penstock import proto
from penstock.contrib.framework import VariableDeviceChooser
from penstock.contrib.tensor_forest import data_ops
from penstock.contrib.tensor_forest.resources import fertile_stats_variable, tree_variable
from penstock.ops import tensor_forest as ops
from penstock.platform import logging

_LEAVES, _STATS = proto.LeafModelType, proto.StatsModelType
_PRUNING, _FINISH = proto.SplitPruningStrategyType, proto.SplitFinishStrategyType

CLASSIFICATION_LEAF_MODEL_TYPES = {
    "all_dense": (_LEAVES.MODEL_DENSE_CLASSIFICATION, _STATS.STATS_DENSE_GINI),
    "all_sparse": (_LEAVES.MODEL_SPARSE_CLASSIFICATION, _STATS.STATS_SPARSE_GINI),
    "sparse_then_dense": (
        _LEAVES.MODEL_SPARSE_OR_DENSE_CLASSIFICATION,
        _STATS.STATS_SPARSE_THEN_DENSE_GINI,
    ),
}
REGRESSION_MODEL_TYPE = (
    _LEAVES.MODEL_REGRESSION,
    _STATS.STATS_LEAST_SQUARES_REGRESSION,
    proto.SplitCollectionType.COLLECTION_BASIC,
)
FINISH_TYPES = {
    "basic": _FINISH.SPLIT_FINISH_BASIC,
    "hoeffding": _FINISH.SPLIT_FINISH_DOMINATE_HOEFFDING,
    "bootstrap": _FINISH.SPLIT_FINISH_DOMINATE_BOOTSTRAP,
}
PRUNING_TYPES = {
    "none": _PRUNING.SPLIT_PRUNE_NONE,
    "half": _PRUNING.SPLIT_PRUNE_HALF,
    "quarter": _PRUNING.SPLIT_PRUNE_QUARTER,
    "10_percent": _PRUNING.SPLIT_PRUNE_10_PERCENT,
    "hoeffding": _PRUNING.SPLIT_PRUNE_HOEFFDING,
}
SPLIT_TYPES = {
    "less_or_equal": proto.InequalityTest.LESS_OR_EQUAL,
    "less": proto.InequalityTest.LESS_THAN,
}


def parse_number_or_string_to_proto(proto: Any, param: Any) -> None:
    """Writes a number, or a parameter that depends on depth as text, into a message."""
    if isinstance(param, numbers.Number):
        proto.constant_value = param
    elif param.isdigit():
        proto.constant_value = int(param)
    else:
        text_format.Merge(param, proto)


def build_params_proto(params: Any) -> Any:
    """The message that ops get their settings by."""
    message = proto.TensorForestParams(
        num_trees=params.num_trees,
        max_nodes=params.max_nodes,
        is_regression=params.regression,
        num_outputs=params.num_classes,
        num_features=params.num_features,
        leaf_type=params.leaf_model_type,
        stats_type=params.stats_model_type,
        inequality_test_type=params.split_type,
        collate_examples=params.collate_examples,
        checkpoint_stats=params.checkpoint_stats,
        use_running_stats_method=params.use_running_stats_method,
        initialize_average_splits=params.initialize_average_splits,
        inference_tree_paths=params.inference_tree_paths,
    )
    message.pruning_type.type = params.pruning_type
    message.finish_type.type = params.finish_type
    for field, value in (
        (message.pruning_type.prune_every_samples, params.prune_every_samples),
        (message.finish_type.check_every_steps, params.early_finish_check_every_samples),
        (message.split_after_samples, params.split_after_samples),
        (message.num_splits_to_consider, params.num_splits_to_consider),
    ):
        parse_number_or_string_to_proto(field, value)
    message.dominate_fraction.constant_value = params.dominate_fraction
    if params.param_file:
        with open(params.param_file) as file:
            text_format.Merge(file.read(), message)
    return message


class ForestHParams:
    """Settings of a forest; `fill` completes them and needs `num_classes` and `num_features`."""

    num_classes: int
    num_features: int
    num_splits_to_consider: Any
    prune_every_samples: Any
    early_finish_check_every_samples: Any

    def __init__(
        self,
        num_trees: int = 100,
        max_nodes: int = 10000,
        bagging_fraction: float = 1.0,
        num_splits_to_consider: Any = 0,
        feature_bagging_fraction: float = 1.0,
        max_fertile_nodes: int = 0,
        split_after_samples: Any = 250,
        valid_leaf_threshold: int = 1,
        dominate_method: str = "bootstrap",
        dominate_fraction: float = 0.99,
        model_name: str = "all_dense",
        split_finish_name: str = "basic",
        split_pruning_name: str = "none",
        prune_every_samples: Any = 0,
        early_finish_check_every_samples: Any = 0,
        collate_examples: bool = False,
        checkpoint_stats: bool = False,
        use_running_stats_method: bool = False,
        initialize_average_splits: bool = False,
        inference_tree_paths: bool = False,
        param_file: str | None = None,
        split_name: str = "less_or_equal",
        **kwargs: Any,
    ):
        given = {name: value for name, value in locals().items() if name not in ("self", "kwargs")}
        vars(self).update(given, **kwargs)

    def values(self) -> dict[str, Any]:
        """All settings by name."""
        return vars(self)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def fill(self) -> ForestHParams:
        """Computes the settings that follow from the given ones; returns itself."""
        for needed in ("num_classes", "num_features"):
            getattr(self, needed)
        self.bagged_num_features = int(self.feature_bagging_fraction * self.num_features)
        self.bagged_features = None
        if self.feature_bagging_fraction < 1.0:
            self.bagged_features = [
                random.sample(range(self.num_features), self.bagged_num_features)
                for _ in range(self.num_trees)
            ]
        self.regression = getattr(self, "regression", False)
        self.num_outputs = self.num_classes if self.regression else 1
        self.num_output_columns = self.num_classes + 1
        self.num_splits_to_consider = self.num_splits_to_consider or min(
            max(10, math.floor(math.sqrt(self.num_features))), 1000
        )
        self.base_random_seed = getattr(self, "base_random_seed", 0)
        models = REGRESSION_MODEL_TYPE
        if not self.regression:
            models = CLASSIFICATION_LEAF_MODEL_TYPES[self.model_name]  # type: ignore[assignment]
        self.leaf_model_type, self.stats_model_type = models[:2]
        self._fill_finish()
        self.split_type = SPLIT_TYPES[self.split_name]
        return self

    def _fill_finish(self) -> None:
        """When leaves are looked at: after a part of the samples that a split needs."""
        self.finish_type = FINISH_TYPES["basic" if self.regression else self.split_finish_name]
        self.pruning_type = PRUNING_TYPES[self.split_pruning_name]
        if self.pruning_type == _PRUNING.SPLIT_PRUNE_NONE:
            self.prune_every_samples = 0
        else:
            self.prune_every_samples = self.prune_every_samples or (
                int(self.split_after_samples) / 2
            )
        if self.finish_type == _FINISH.SPLIT_FINISH_BASIC:
            self.early_finish_check_every_samples = 0
        else:
            self.early_finish_check_every_samples = self.early_finish_check_every_samples or (
                int(self.split_after_samples) / 4
            )


class TreeVariables:
    """The handles of a tree and, for training, of its statistics."""

    def __init__(
        self, params: Any, tree_num: int, training: bool, tree_config: Any = "", tree_stat: Any = ""
    ):
        known = vars(params).get("params_proto")
        if not isinstance(known, proto.TensorForestParams):
            params.params_proto = build_params_proto(params)
        params.serialized_params_proto = params.params_proto.SerializeToString()
        self.stats = None
        if training:
            name = self.get_tree_name("stats", tree_num)
            self.stats = fertile_stats_variable(params, tree_stat, name)
        name = self.get_tree_name("tree", tree_num)
        self.tree = tree_variable(params, tree_config, self.stats, name)

    def get_tree_name(self, name: str, num: int) -> str:
        """The name of a tree's handle."""
        return f"{name}-{num}"


class ForestVariables:
    """The variables of all trees, each on the device that is chosen for it."""

    def __init__(
        self,
        params: Any,
        device_assigner: Any,
        training: bool = True,
        tree_variables_class: Callable[..., Any] = TreeVariables,
        tree_configs: Any = None,
        tree_stats: Any = None,
    ):
        with tf.device(device_assigner):
            self.device_dummies = [
                tf.get_variable(name=f"device_dummy_{i}", shape=0) for i in range(params.num_trees)
            ]
        self.variables = []
        for i in range(params.num_trees):
            given = {}
            if tree_configs is not None:
                given["tree_config"] = tree_configs[i]
            if tree_stats is not None:
                given["tree_stat"] = tree_stats[i]
            with tf.device(self.device_dummies[i].device):
                self.variables.append(tree_variables_class(params, i, training, **given))

    def __setitem__(self, t: int, val: Any) -> None:
        self.variables[t] = val

    def __getitem__(self, t: int) -> Any:
        return self.variables[t]


class RandomForestGraphs:
    """Builds the operations that train a forest and ask it.

    Args:
      params: a `ForestHParams` that is filled.
      tree_configs, tree_stats: saved trees and statistics to begin with.
      device_assigner: a function that chooses the device of each tree.
    """

    def __init__(
        self,
        params: Any,
        tree_configs: Any = None,
        tree_stats: Any = None,
        device_assigner: Any = None,
        variables: Any = None,
        tree_variables_class: Callable[..., Any] = TreeVariables,
        tree_graphs: Any = None,
        training: bool = True,
    ):
        self.params = params
        self.device_assigner = device_assigner or VariableDeviceChooser()
        logging.info("Constructing forest with params = ")
        logging.info(vars(params))
        self.variables = variables or ForestVariables(
            params,
            device_assigner=self.device_assigner,
            training=training,
            tree_variables_class=tree_variables_class,
            tree_configs=tree_configs,
            tree_stats=tree_stats,
        )
        make_tree = tree_graphs or RandomTreeGraphs
        self.trees = [make_tree(self.variables[i], params, i) for i in range(params.num_trees)]

    def _beside_tree(self, i: int) -> Any:
        return tf.device(self.variables.device_dummies[i].device)

    def _bag_features(self, tree_num: int, input_data: Any) -> Any:
        columns = tf.split(value=input_data, num_or_size_splits=self.params.num_features, axis=1)
        return tf.concat([columns[i] for i in self.params.bagged_features[tree_num]], 1)

    def get_all_resource_handles(self) -> list[Any]:
        """The handles of all trees, then those of all statistics."""
        own = [self.variables[i] for i in range(len(self.trees))]
        return [each.tree for each in own] + [each.stats for each in own]

    def training_graph(
        self,
        input_data: Any,
        input_labels: Any,
        num_trainers: int = 1,
        trainer_id: int = 0,
        **tree_kwargs: Any,
    ) -> Any:
        """The operation that shows a batch of examples to all trees, or to those of a trainer."""
        dense, sparse, spec = data_ops.ParseDataTensorOrDict(input_data)
        labels = data_ops.ParseLabelTensorOrDict(input_labels)
        share = self.params.num_trees / num_trainers
        updates = []
        for i in range(int(trainer_id * share), int((trainer_id + 1) * share)):
            with self._beside_tree(i):
                seed = self.params.base_random_seed
                seed = seed + i if seed else seed
                tree_data, tree_labels = self._bagged(i, dense, labels, sparse, seed)
                updates.append(
                    self.trees[i].training_graph(
                        tree_data,
                        tree_labels,
                        seed,
                        data_spec=spec,
                        sparse_features=sparse,
                        **tree_kwargs,
                    )
                )
        return tf.group(*updates, name="train")

    def _bagged(self, i: int, dense: Any, labels: Any, sparse: Any, seed: int) -> tuple[Any, Any]:
        """The examples and features that a tree is shown."""
        if self.params.bagging_fraction < 1.0:
            if sparse is not None:
                raise NotImplementedError("Bagging not supported with sparse features.")
            batch = tf.strided_slice(tf.shape(dense), [0], [1])
            drawn = tf.random_uniform(batch, seed=seed)
            chosen = tf.less(drawn, tf.ones_like(drawn) * self.params.bagging_fraction)
            places = tf.squeeze(tf.where(chosen), axis=[1])
            dense, labels = tf.gather(dense, places), tf.gather(labels, places)
        if self.params.bagged_features:
            if sparse is not None:
                raise NotImplementedError("Feature bagging not supported with sparse features.")
            dense = self._bag_features(i, dense)
        return dense, labels

    def inference_graph(self, input_data: Any, **inference_args: Any) -> tuple[Any, Any, Any]:
        """The mean of what trees say, the paths to their leaves, and the variance of trees."""
        dense, sparse, spec = data_ops.ParseDataTensorOrDict(input_data)
        answers, paths = [], []
        for i in range(self.params.num_trees):
            with self._beside_tree(i):
                tree_data = dense
                if self.params.bagged_features:
                    if sparse is not None:
                        raise NotImplementedError(
                            "Feature bagging not supported with sparse features."
                        )
                    tree_data = self._bag_features(i, dense)
                answer, path = self.trees[i].inference_graph(
                    tree_data, spec, sparse_features=sparse, **inference_args
                )
                answers.append(answer)
                paths.append(path)
        count = self.params.num_trees
        with self._beside_tree(0):
            every = tf.stack(answers, axis=1)
            mean = tf.div(tf.reduce_sum(every, 1), count, name="probabilities")
            all_paths = tf.stack(paths, axis=1)
            squares = tf.div(tf.reduce_sum(every * every, 1), count)
            return mean, all_paths, tf.maximum(0.0, squares - mean * mean)

    def average_size(self) -> Any:
        """The mean number of nodes of a tree."""
        sizes = []
        for i in range(self.params.num_trees):
            with self._beside_tree(i):
                sizes.append(self.trees[i].size())
        return tf.reduce_mean(tf.cast(tf.stack(sizes), tf.float32))

    def training_loss(self, features: Any, labels: Any, name: str = "training_loss") -> Any:
        """The negative mean size of trees: it falls while they grow."""
        return tf.negative(self.average_size(), name=name)

    def validation_loss(self, features: Any, labels: Any) -> Any:
        """The negative mean size of trees."""
        return tf.negative(self.average_size())

    def feature_importances(self) -> Any:
        """The part of all splits that are by each feature."""
        counts = [tree.feature_usage_counts() for tree in self.trees]
        total = tf.reduce_sum(tf.stack(counts, 0), 0)
        return total / tf.reduce_sum(total)


class RandomTreeGraphs:
    """Builds the operations that train one tree and ask it."""

    def __init__(self, variables: Any, params: Any, tree_num: int):
        self.variables = variables
        self.params = params
        self.tree_num = tree_num

    def _settings(self, data_spec: Any = None) -> dict[str, Any]:
        settings = {"params": self.params.serialized_params_proto}
        if data_spec is not None:
            settings["input_spec"] = data_spec.SerializeToString()
        return settings

    def training_graph(
        self,
        input_data: Any,
        input_labels: Any,
        random_seed: int,
        data_spec: Any,
        sparse_features: Any = None,
        input_weights: Any = None,
    ) -> Any:
        """The operation that counts a batch of examples and splits the leaves that are ready."""
        tree, stats = self.variables.tree, self.variables.stats
        weights = [] if input_weights is None else input_weights
        data = _inputs(input_data, sparse_features)
        settings = self._settings(data_spec)
        leaves = ops.TraverseTreeV4(tree, *data, **settings)
        update = ops.UpdateModelV4(tree, leaves, input_labels, weights, **self._settings())
        finished = ops.ProcessInputV4(
            tree, stats, *data, input_labels, weights, leaves, random_seed=random_seed, **settings
        )
        with tf.control_dependencies([update]):
            return ops.GrowTreeV4(tree, stats, finished, **self._settings())

    def inference_graph(
        self, input_data: Any, data_spec: Any, sparse_features: Any = None
    ) -> tuple[Any, Any]:
        """What the tree says of examples, and the paths to their leaves."""
        data = _inputs(input_data, sparse_features)
        result: tuple[Any, Any] = ops.TreePredictionsV4(
            self.variables.tree, *data, **self._settings(data_spec)
        )
        return result

    def size(self) -> Any:
        """The number of nodes."""
        return ops.TreeSize(self.variables.tree)

    def feature_usage_counts(self) -> Any:
        """How many splits are by each feature."""
        return ops.FeatureUsageCounts(self.variables.tree, **self._settings())


def _inputs(dense: Any, sparse: Any) -> list[Any]:
    """Features as ops take them: empty lists in the place of what is not given."""
    parts = [[] if dense is None else dense]
    if sparse is None:
        return [*parts, [], [], []]
    return [*parts, sparse.indices, sparse.values, sparse.dense_shape]
