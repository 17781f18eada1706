"""`tf.estimator.BoostedTreesClassifier` and its kin."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import penstock as tf
from penstock import proto
from penstock.estimator.estimator import Estimator
from penstock.estimator.heads.class_heads import BinaryClassHead, MultiClassHead
from penstock.estimator.mode_keys import ModeKeys
from penstock.estimator.trees import explanations, heads
from penstock.estimator.trees import features as tree_columns
from penstock.estimator.trees.growers import TreeHParams
from penstock.estimator.trees.model import TreeInputs, predicted_logits, trees_model_fn
from penstock.estimator.trees.resources import TreeEnsemble
from penstock.ops.boosted_trees import BoostedTreesExampleDebugOutputs

_ONE = object()


class _BoostedTrees(Estimator):
    """An Estimator of boosted trees, which can tell what its features are good for."""

    def __init__(
        self,
        feature_columns: Any,
        head: Any,
        settings: TreeHParams,
        n_batches_per_layer: Any,
        model_dir: Any,
        config: Any,
        is_classification: bool,
        **more: Any,
    ):
        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
            return trees_model_fn(
                features,
                labels,
                mode,
                head,
                feature_columns,
                settings,
                n_batches_per_layer,
                config,
                **more,
            )

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)
        self._sorted_feature_columns = sorted(feature_columns, key=lambda column: column.name)
        self._feature_col_names = tree_columns.feature_names(self._sorted_feature_columns)
        self._head = head
        self._settings = settings
        self._is_classification = is_classification

    def experimental_feature_importances(self, normalize: bool = False) -> OrderedDict[str, Any]:
        """What splits by each column gain in the last checkpoint's trees, the most first.

        Args:
          normalize: whether the numbers add up to one.
        """
        reader = tf.train.load_checkpoint(self.model_dir)
        serialized = reader.get_tensor("boosted_trees:0_serialized")
        if not serialized:
            raise ValueError(
                "Found empty serialized string for TreeEnsemble."
                "You should only call this method after training."
            )
        names = self._feature_col_names
        importances = explanations.feature_importances(
            proto.TreeEnsemble.FromString(serialized), len(names), normalize=normalize
        )
        return explanations.summed_by_name(names, importances)

    def experimental_predict_with_explanations(
        self,
        input_fn: Any,
        predict_keys: Any = None,
        hooks: Any = None,
        checkpoint_path: str | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Predictions, each with its "bias" and what each column adds to it ("dfc").

        The arguments are those of `predict`. The bias must have been centred in training.
        """
        if not self._settings.center_bias:
            raise ValueError(
                "center_bias must be enabled during estimator instantiation when using "
                "experimental_predict_with_explanations."
            )
        if not self._is_classification and not _is_linear(self._head):
            raise ValueError(
                "For now only identity inverse_link_fn in regression_head is supported for "
                "experimental_predict_with_explanations."
            )
        explained = Estimator(
            model_fn=self._explaining_model_fn,
            model_dir=self.model_dir,
            config=self.config,
            warm_start_from=self._warm_start_settings,
        )
        key = explanations.DEBUG_PROTO_KEY
        keys = None if predict_keys is None else {*predict_keys, key}
        for prediction in explained.predict(
            input_fn, predict_keys=keys, hooks=hooks, checkpoint_path=checkpoint_path
        ):
            prediction["bias"], prediction["dfc"] = explanations.contributions(
                prediction.pop(key),
                self._feature_col_names,
                classification=self._is_classification,
            )
            yield prediction

    def _explaining_model_fn(self, features: Any, labels: Any, mode: str) -> Any:
        with tf.name_scope("boosted_trees") as scope:
            ensemble = TreeEnsemble(name=scope)
            inputs = TreeInputs(
                self._sorted_feature_columns, self._settings.quantile_sketch_epsilon
            )
            bucketized = inputs.bucketized(features)
            spec = self._head.create_estimator_spec(
                features=features,
                mode=ModeKeys.PREDICT,
                labels=None,
                train_op_fn=lambda loss: tf.no_op(),
                logits=predicted_logits(ensemble, bucketized, self._head),
            )
            spec.predictions[explanations.DEBUG_PROTO_KEY] = BoostedTreesExampleDebugOutputs(
                ensemble.resource_handle, bucketized, logits_dimension=self._head.logits_dimension
            )
            return spec


def _is_linear(head: Any) -> bool:
    return getattr(head, "_inverse_link_fn", None) in (None, tf.identity)


_SETTINGS = """feature_columns: bucketized, indicator or numeric columns.
      n_batches_per_layer: how many batches' statistics a layer is grown from.
      model_dir: the directory of checkpoints and event files.
      weight_column: a column with the weight of each example.
      n_trees: how many trees to grow.
      max_depth: of how many layers a tree is.
      learning_rate: by how much leaves shrink.
      l1_regularization: penalty of leaves' absolute values.
      l2_regularization: penalty of leaves' squares.
      tree_complexity: what a split must gain; needs a pruning mode.
      min_node_weight: the least hessian of a node that may be split.
      config: a `RunConfig`.
      center_bias: whether the first tree starts from the labels' mean.
      pruning_mode: "none", "pre" (before a split is made) or "post" (in finished trees).
      quantile_sketch_epsilon: a numeric column has 1 / this many buckets.
      train_in_memory: whether the input function gives all examples as one batch.
"""


class BoostedTreesClassifier(_BoostedTrees):
    __doc__ = f"""Boosted trees that tell two classes apart.

    Args:
      {_SETTINGS}
      n_classes: 2.
      label_vocabulary: the classes, where labels are strings.
    """

    def __init__(
        self,
        feature_columns: Any,
        n_batches_per_layer: Any,
        model_dir: Any = None,
        n_classes: Any = _ONE,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: Any = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ):
        if n_classes is not _ONE and n_classes > 2 and pruning_mode is not None:
            raise ValueError("For now pruning is not supported with multi class.")
        head, derivatives = heads.classification_head_and_closed_form(
            2 if n_classes is _ONE else n_classes, weight_column, label_vocabulary
        )
        super().__init__(
            feature_columns,
            head,
            TreeHParams(
                n_trees,
                max_depth,
                learning_rate,
                l1_regularization,
                l2_regularization,
                tree_complexity,
                min_node_weight,
                center_bias,
                pruning_mode,
                quantile_sketch_epsilon,
            ),
            n_batches_per_layer,
            model_dir,
            config,
            is_classification=True,
            weight_column=weight_column,
            train_in_memory=train_in_memory,
            closed_form_grad_and_hess_fn=derivatives,
        )


class BoostedTreesRegressor(_BoostedTrees):
    __doc__ = f"""Boosted trees that predict a number.

    Args:
      {_SETTINGS}
      label_dimension: 1.
    """

    def __init__(
        self,
        feature_columns: Any,
        n_batches_per_layer: Any,
        model_dir: Any = None,
        label_dimension: Any = _ONE,
        weight_column: Any = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: Any = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ):
        if label_dimension is not _ONE and label_dimension > 1 and pruning_mode is not None:
            raise ValueError("For now pruning is not supported with multi-dimensionregression.")
        head = heads.regression_head(
            1 if label_dimension is _ONE else label_dimension, weight_column
        )
        super().__init__(
            feature_columns,
            head,
            TreeHParams(
                n_trees,
                max_depth,
                learning_rate,
                l1_regularization,
                l2_regularization,
                tree_complexity,
                min_node_weight,
                center_bias,
                pruning_mode,
                quantile_sketch_epsilon,
            ),
            n_batches_per_layer,
            model_dir,
            config,
            is_classification=False,
            weight_column=weight_column,
            train_in_memory=train_in_memory,
        )


class BoostedTreesEstimator(_BoostedTrees):
    __doc__ = f"""Boosted trees with a head that is given.

    Args:
      {_SETTINGS}
      head: e.g. a `tf.estimator.RegressionHead`.
    """

    def __init__(
        self,
        feature_columns: Any,
        n_batches_per_layer: Any,
        head: Any,
        model_dir: Any = None,
        weight_column: Any = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: Any = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
    ):
        super().__init__(
            feature_columns,
            head,
            TreeHParams(
                n_trees,
                max_depth,
                learning_rate,
                l1_regularization,
                l2_regularization,
                tree_complexity,
                min_node_weight,
                center_bias,
                pruning_mode,
                quantile_sketch_epsilon,
            ),
            n_batches_per_layer,
            model_dir,
            config,
            is_classification=isinstance(head, (BinaryClassHead, MultiClassHead)),
        )


# Until TensorFlow 1.14 functions trained in memory.


def boosted_trees_classifier_train_in_memory(
    train_input_fn: Any,
    feature_columns: Any,
    model_dir: Any = None,
    n_classes: Any = 2,
    weight_column: Any = None,
    label_vocabulary: Any = None,
    n_trees: int = 100,
    max_depth: int = 6,
    learning_rate: float = 0.1,
    l1_regularization: float = 0.0,
    l2_regularization: float = 0.0,
    tree_complexity: float = 0.0,
    min_node_weight: float = 0.0,
    config: Any = None,
    train_hooks: Any = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> BoostedTreesClassifier:
    """A `BoostedTreesClassifier`, trained on all examples as one batch."""
    classifier = BoostedTreesClassifier(
        feature_columns,
        n_batches_per_layer=1,
        model_dir=model_dir,
        n_classes=n_classes,
        weight_column=weight_column,
        label_vocabulary=label_vocabulary,
        n_trees=n_trees,
        max_depth=max_depth,
        learning_rate=learning_rate,
        l1_regularization=l1_regularization,
        l2_regularization=l2_regularization,
        tree_complexity=tree_complexity,
        min_node_weight=min_node_weight,
        config=config,
        center_bias=center_bias,
        pruning_mode=pruning_mode,
        quantile_sketch_epsilon=quantile_sketch_epsilon,
        train_in_memory=True,
    )
    classifier.train(_repeated(train_input_fn), hooks=train_hooks)
    return classifier


def boosted_trees_regressor_train_in_memory(
    train_input_fn: Any,
    feature_columns: Any,
    model_dir: Any = None,
    label_dimension: Any = 1,
    weight_column: Any = None,
    n_trees: int = 100,
    max_depth: int = 6,
    learning_rate: float = 0.1,
    l1_regularization: float = 0.0,
    l2_regularization: float = 0.0,
    tree_complexity: float = 0.0,
    min_node_weight: float = 0.0,
    config: Any = None,
    train_hooks: Any = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> BoostedTreesRegressor:
    """A `BoostedTreesRegressor`, trained on all examples as one batch."""
    regressor = BoostedTreesRegressor(
        feature_columns,
        n_batches_per_layer=1,
        model_dir=model_dir,
        label_dimension=label_dimension,
        weight_column=weight_column,
        n_trees=n_trees,
        max_depth=max_depth,
        learning_rate=learning_rate,
        l1_regularization=l1_regularization,
        l2_regularization=l2_regularization,
        tree_complexity=tree_complexity,
        min_node_weight=min_node_weight,
        config=config,
        center_bias=center_bias,
        pruning_mode=pruning_mode,
        quantile_sketch_epsilon=quantile_sketch_epsilon,
        train_in_memory=True,
    )
    regressor.train(_repeated(train_input_fn), hooks=train_hooks)
    return regressor


def _repeated(input_fn: Any) -> Any:
    """The same input without an end, where it is a dataset."""

    def repeated() -> Any:
        made = input_fn()
        return made.repeat() if isinstance(made, tf.data.Dataset) else made

    return repeated
