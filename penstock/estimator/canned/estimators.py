"""Canned estimators: linear models, networks, both, and baselines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.estimator.canned import model_functions
from penstock.estimator.estimator import Estimator
from penstock.estimator.heads.class_heads import binary_or_multi_class_head
from penstock.estimator.heads.regression_heads import RegressionHead
from penstock.estimator.sdca.linear_sdca import check_sdca_settings

_SUM = tf.losses.Reduction.SUM


class _Canned(Estimator):
    """An Estimator whose model function is known, with settings that are given."""

    def __init__(
        self,
        model_function: Callable[..., Any],
        settings: dict[str, Any],
        model_dir: Any,
        config: Any,
        warm_start_from: Any = None,
    ):
        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
            return model_function(
                features=features, labels=labels, mode=mode, config=config, **settings
            )

        super().__init__(
            model_fn=model_fn,
            model_dir=model_dir,
            config=config,
            warm_start_from=warm_start_from,
        )


def _regression_head(label_dimension: int, weight_column: Any, loss_reduction: Any) -> Any:
    return RegressionHead(label_dimension, weight_column, loss_reduction)


# Networks ----------------------------------------------------------------------------------------


class DNNEstimator(_Canned):
    """A network of dense layers with a head that is given.

    Args:
      head: e.g. a `tf.estimator.MultiLabelHead`.
      hidden_units: the sizes of hidden layers.
      feature_columns: dense columns.
      model_dir: the directory of checkpoints and event files.
      optimizer: an optimizer, its name, or a function that makes it.
      activation_fn: applied to hidden layers.
      dropout: the probability of dropping a value of a hidden layer.
      input_layer_partitioner: how variables of the columns are divided.
      config: a `RunConfig`.
      warm_start_from: a checkpoint or a `WarmStartSettings` to take first values from.
      batch_norm: whether to normalize after each hidden layer.
    """

    def __init__(
        self,
        head: Any,
        hidden_units: Any,
        feature_columns: Any,
        model_dir: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = tf.nn.relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        batch_norm: bool = False,
    ):
        settings = {
            "head": head,
            "hidden_units": hidden_units,
            "feature_columns": tuple(feature_columns or ()),
            "optimizer": optimizer,
            "activation_fn": activation_fn,
            "dropout": dropout,
            "input_layer_partitioner": input_layer_partitioner,
            "batch_norm": batch_norm,
        }
        super().__init__(model_functions.dnn_model_fn, settings, model_dir, config, warm_start_from)


class DNNClassifier(DNNEstimator):
    """A network of dense layers that predicts classes; see `DNNEstimator`.

    Args:
      n_classes: how many classes there are.
      weight_column: the feature that gives examples their weights: its name, or its column.
      label_vocabulary: the names of the classes, if labels are strings.
      loss_reduction: a `tf.losses.Reduction` that gives a scalar.
    """

    def __init__(
        self,
        hidden_units: Any,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = tf.nn.relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = _SUM,
        batch_norm: bool = False,
    ):
        super().__init__(
            binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            input_layer_partitioner,
            config,
            warm_start_from,
            batch_norm,
        )


class DNNRegressor(DNNEstimator):
    """A network of dense layers that predicts numbers; see `DNNEstimator`.

    Args:
      label_dimension: how many numbers for an example.
      weight_column: the feature that gives examples their weights: its name, or its column.
      loss_reduction: a `tf.losses.Reduction` that gives a scalar.
    """

    def __init__(
        self,
        hidden_units: Any,
        feature_columns: Any,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = tf.nn.relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = _SUM,
        batch_norm: bool = False,
    ):
        super().__init__(
            _regression_head(label_dimension, weight_column, loss_reduction),
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            input_layer_partitioner,
            config,
            warm_start_from,
            batch_norm,
        )


# Linear models -----------------------------------------------------------------------------------


class LinearEstimator(_Canned):
    """A linear model with a head that is given.

    Args:
      head: e.g. a `tf.estimator.MultiLabelHead`.
      feature_columns: dense or categorical columns.
      model_dir: the directory of checkpoints and event files.
      optimizer: an optimizer, its name, or a function that makes it.
      config: a `RunConfig`.
      partitioner: how variables are divided.
      sparse_combiner: how an example's several categories count: "mean", "sqrtn" or "sum".
      warm_start_from: a checkpoint or a `WarmStartSettings` to take first values from.
    """

    def __init__(
        self,
        head: Any,
        feature_columns: Any,
        model_dir: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        sparse_combiner: str = "sum",
        warm_start_from: Any = None,
    ):
        settings = {
            "head": head,
            "feature_columns": tuple(feature_columns or ()),
            "optimizer": optimizer,
            "partitioner": partitioner,
            "sparse_combiner": sparse_combiner,
        }
        super().__init__(
            model_functions.linear_model_fn, settings, model_dir, config, warm_start_from
        )


class LinearClassifier(LinearEstimator):
    """A linear model that predicts classes; see `LinearEstimator` and `DNNClassifier`."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = _SUM,
        sparse_combiner: str = "sum",
    ):
        check_sdca_settings(feature_columns, optimizer, sparse_combiner, n_classes, 1)
        super().__init__(
            binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            feature_columns,
            model_dir,
            optimizer,
            config,
            partitioner,
            sparse_combiner,
            warm_start_from,
        )


class LinearRegressor(LinearEstimator):
    """A linear model that predicts numbers; see `LinearEstimator` and `DNNRegressor`."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = _SUM,
        sparse_combiner: str = "sum",
    ):
        check_sdca_settings(feature_columns, optimizer, sparse_combiner, 1, label_dimension)
        super().__init__(
            _regression_head(label_dimension, weight_column, loss_reduction),
            feature_columns,
            model_dir,
            optimizer,
            config,
            partitioner,
            sparse_combiner,
            warm_start_from,
        )


# Both --------------------------------------------------------------------------------------------


class DNNLinearCombinedEstimator(_Canned):
    """The sum of a linear model and a network, with a head that is given.

    Args:
      head: e.g. a `tf.estimator.MultiLabelHead`.
      model_dir: the directory of checkpoints and event files.
      linear_feature_columns: columns of the linear model.
      linear_optimizer: its optimizer.
      dnn_feature_columns: columns of the network.
      dnn_optimizer: its optimizer.
      dnn_hidden_units: the sizes of its hidden layers.
      dnn_activation_fn: applied to them.
      dnn_dropout: the probability of dropping a value of a hidden layer.
      input_layer_partitioner: how variables of the columns are divided.
      config: a `RunConfig`.
      batch_norm: whether to normalize after each hidden layer.
      linear_sparse_combiner: how an example's several categories count in the linear model.
    """

    def __init__(
        self,
        head: Any,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Any = None,
        dnn_activation_fn: Any = tf.nn.relu,
        dnn_dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
        warm_start_from: Any = None,
    ):
        self._feature_columns = [*(linear_feature_columns or ()), *(dnn_feature_columns or ())]
        if not self._feature_columns:
            raise ValueError(
                "Either linear_feature_columns or dnn_feature_columns must be defined."
            )
        settings = {
            "head": head,
            "linear_feature_columns": tuple(linear_feature_columns or ()),
            "linear_optimizer": linear_optimizer,
            "dnn_feature_columns": tuple(dnn_feature_columns or ()),
            "dnn_optimizer": dnn_optimizer,
            "dnn_hidden_units": dnn_hidden_units,
            "dnn_activation_fn": dnn_activation_fn,
            "dnn_dropout": dnn_dropout,
            "input_layer_partitioner": input_layer_partitioner,
            "batch_norm": batch_norm,
            "linear_sparse_combiner": linear_sparse_combiner,
        }
        super().__init__(
            model_functions.dnn_linear_combined_model_fn,
            settings,
            model_dir,
            config,
            warm_start_from,
        )


class DNNLinearCombinedClassifier(DNNLinearCombinedEstimator):
    """The sum of a linear model and a network, for classes; see `DNNLinearCombinedEstimator`."""

    def __init__(
        self,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Any = None,
        dnn_activation_fn: Any = tf.nn.relu,
        dnn_dropout: float | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = _SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ):
        super().__init__(
            binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            model_dir,
            linear_feature_columns,
            linear_optimizer,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            input_layer_partitioner,
            config,
            batch_norm,
            linear_sparse_combiner,
            warm_start_from,
        )


class DNNLinearCombinedRegressor(DNNLinearCombinedEstimator):
    """The sum of a linear model and a network, for numbers; see `DNNLinearCombinedEstimator`."""

    def __init__(
        self,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Any = None,
        dnn_activation_fn: Any = tf.nn.relu,
        dnn_dropout: float | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = _SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ):
        super().__init__(
            _regression_head(label_dimension, weight_column, loss_reduction),
            model_dir,
            linear_feature_columns,
            linear_optimizer,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            input_layer_partitioner,
            config,
            batch_norm,
            linear_sparse_combiner,
            warm_start_from,
        )


# Baselines ---------------------------------------------------------------------------------------


class BaselineEstimator(_Canned):
    """Predicts the same for all examples, with a head that is given."""

    def __init__(
        self,
        head: Any,
        model_dir: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        weight_column: Any = None,
    ):
        settings = {"head": head, "optimizer": optimizer, "weight_column": weight_column}
        super().__init__(model_functions.baseline_model_fn, settings, model_dir, config)


class BaselineClassifier(BaselineEstimator):
    """Predicts the frequencies of classes, whatever the features are."""

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: Any = _SUM,
    ):
        super().__init__(
            binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            model_dir,
            optimizer,
            config,
            weight_column,
        )


class BaselineRegressor(BaselineEstimator):
    """Predicts the mean of labels, whatever the features are."""

    def __init__(
        self,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: Any = _SUM,
    ):
        super().__init__(
            _regression_head(label_dimension, weight_column, loss_reduction),
            model_dir,
            optimizer,
            config,
        )
