"""The canned estimators of TensorFlow 2: heads, models and optimizers are Keras'."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.estimator.canned import keras_model_functions
from penstock.estimator.estimator import EstimatorV2
from penstock.estimator.keras_heads import RegressionHead, binary_or_multi_class_head
from penstock.estimator.sdca.linear_sdca import check_sdca_settings

_SUM_OVER_BATCH_SIZE = "sum_over_batch_size"


class _Canned(EstimatorV2):
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
            model_fn=model_fn, model_dir=model_dir, config=config, warm_start_from=warm_start_from
        )


# Networks ----------------------------------------------------------------------------------------


class DNNEstimatorV2(_Canned):
    """A network of dense layers with a head that is given.

    Args:
      head: e.g. a `tf.estimator.MultiLabelHead`.
      hidden_units: the sizes of hidden layers.
      feature_columns: dense columns.
      model_dir: the directory of checkpoints and event files.
      optimizer: a Keras optimizer, its name, or a function that makes it.
      activation_fn: applied to hidden layers.
      dropout: the probability of dropping a value of a hidden layer.
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
            "batch_norm": batch_norm,
        }
        function = keras_model_functions.dnn_model_fn_v2
        super().__init__(function, settings, model_dir, config, warm_start_from)


class DNNClassifierV2(DNNEstimatorV2):
    """A network of dense layers that predicts classes; see `DNNEstimatorV2`.

    Args:
      n_classes: how many classes there are.
      weight_column: the feature that gives examples their weights: its name, or its column.
      label_vocabulary: the names of the classes, if labels are strings.
      loss_reduction: a `tf.keras.losses.Reduction` that gives a scalar.
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
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = _SUM_OVER_BATCH_SIZE,
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
            config,
            warm_start_from,
            batch_norm,
        )


class DNNRegressorV2(DNNEstimatorV2):
    """A network of dense layers that predicts numbers; see `DNNEstimatorV2`.

    Args:
      label_dimension: how many numbers for an example.
      weight_column: the feature that gives examples their weights: its name, or its column.
      loss_reduction: a `tf.keras.losses.Reduction` that gives a scalar.
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
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = _SUM_OVER_BATCH_SIZE,
        batch_norm: bool = False,
    ):
        super().__init__(
            RegressionHead(label_dimension, weight_column, loss_reduction),
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            config,
            warm_start_from,
            batch_norm,
        )


# Linear models -----------------------------------------------------------------------------------


class _Linear(_Canned):
    def __init__(
        self,
        head: Any,
        feature_columns: Any,
        model_dir: Any,
        optimizer: Any,
        config: Any,
        sparse_combiner: str,
        warm_start_from: Any = None,
    ):
        settings = {
            "head": head,
            "feature_columns": tuple(feature_columns or ()),
            "optimizer": optimizer,
            "sparse_combiner": sparse_combiner,
        }
        function = keras_model_functions.linear_model_fn_v2
        super().__init__(function, settings, model_dir, config, warm_start_from)


class LinearEstimatorV2(_Linear):
    """A linear model with a head that is given.

    Args:
      head: e.g. a `tf.estimator.MultiLabelHead`.
      feature_columns: dense or categorical columns.
      model_dir: the directory of checkpoints and event files.
      optimizer: a Keras optimizer, its name, or a function that makes it.
      config: a `RunConfig`.
      sparse_combiner: how an example's several categories count: "mean", "sqrtn" or "sum".
    """

    def __init__(
        self,
        head: Any,
        feature_columns: Any,
        model_dir: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        sparse_combiner: str = "sum",
    ):
        super().__init__(head, feature_columns, model_dir, optimizer, config, sparse_combiner)


class LinearClassifierV2(_Linear):
    """A linear model that predicts classes; see `LinearEstimatorV2` and `DNNClassifierV2`."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = _SUM_OVER_BATCH_SIZE,
        sparse_combiner: str = "sum",
    ):
        check_sdca_settings(feature_columns, optimizer, sparse_combiner, n_classes, 1)
        super().__init__(
            binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            feature_columns,
            model_dir,
            optimizer,
            config,
            sparse_combiner,
            warm_start_from,
        )


class LinearRegressorV2(_Linear):
    """A linear model that predicts numbers; see `LinearEstimatorV2` and `DNNRegressorV2`."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = _SUM_OVER_BATCH_SIZE,
        sparse_combiner: str = "sum",
    ):
        check_sdca_settings(feature_columns, optimizer, sparse_combiner, 1, label_dimension)
        super().__init__(
            RegressionHead(label_dimension, weight_column, loss_reduction),
            feature_columns,
            model_dir,
            optimizer,
            config,
            sparse_combiner,
            warm_start_from,
        )


# Both --------------------------------------------------------------------------------------------


class _Combined(_Canned):
    def __init__(
        self,
        model_dir: Any,
        config: Any,
        warm_start_from: Any = None,
        **settings: Any,
    ):
        linear, deep = settings["linear_feature_columns"], settings["dnn_feature_columns"]
        self._feature_columns = [*(linear or ()), *(deep or ())]
        if not self._feature_columns:
            raise ValueError(
                "Either linear_feature_columns or dnn_feature_columns must be defined."
            )
        function = keras_model_functions.dnn_linear_combined_model_fn_v2
        super().__init__(function, settings, model_dir, config, warm_start_from)


class DNNLinearCombinedEstimatorV2(_Combined):
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
      config: a `RunConfig`.
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
        config: Any = None,
        linear_sparse_combiner: str = "sum",
    ):
        super().__init__(
            model_dir,
            config,
            head=head,
            linear_feature_columns=linear_feature_columns,
            linear_optimizer=linear_optimizer,
            dnn_feature_columns=dnn_feature_columns,
            dnn_optimizer=dnn_optimizer,
            dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn,
            dnn_dropout=dnn_dropout,
            linear_sparse_combiner=linear_sparse_combiner,
        )


class DNNLinearCombinedClassifierV2(_Combined):
    """The sum of a linear model and a network, for classes; see the Estimator of both."""

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
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = _SUM_OVER_BATCH_SIZE,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ):
        super().__init__(
            model_dir,
            config,
            warm_start_from,
            head=binary_or_multi_class_head(
                n_classes, weight_column, label_vocabulary, loss_reduction
            ),
            linear_feature_columns=linear_feature_columns,
            linear_optimizer=linear_optimizer,
            dnn_feature_columns=dnn_feature_columns,
            dnn_optimizer=dnn_optimizer,
            dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn,
            dnn_dropout=dnn_dropout,
            batch_norm=batch_norm,
            linear_sparse_combiner=linear_sparse_combiner,
            loss_reduction=loss_reduction,
        )


class DNNLinearCombinedRegressorV2(_Combined):
    """The sum of a linear model and a network, for numbers; see the Estimator of both."""

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
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: Any = _SUM_OVER_BATCH_SIZE,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ):
        super().__init__(
            model_dir,
            config,
            warm_start_from,
            head=RegressionHead(label_dimension, weight_column, loss_reduction),
            linear_feature_columns=linear_feature_columns,
            linear_optimizer=linear_optimizer,
            dnn_feature_columns=dnn_feature_columns,
            dnn_optimizer=dnn_optimizer,
            dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn,
            dnn_dropout=dnn_dropout,
            batch_norm=batch_norm,
            linear_sparse_combiner=linear_sparse_combiner,
        )


# Baselines ---------------------------------------------------------------------------------------


class BaselineEstimatorV2(_Canned):
    """Predicts the same for all examples, with a head that is given."""

    def __init__(
        self,
        head: Any,
        model_dir: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
    ):
        function = keras_model_functions.baseline_model_fn_v2
        super().__init__(function, {"head": head, "optimizer": optimizer}, model_dir, config)


class BaselineClassifierV2(_Canned):
    """Predicts the frequencies of classes, whatever the features are."""

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: Any = _SUM_OVER_BATCH_SIZE,
    ):
        settings = {
            "head": binary_or_multi_class_head(
                n_classes, weight_column, label_vocabulary, loss_reduction
            ),
            "optimizer": optimizer,
            "weight_column": weight_column,
            "loss_reduction": loss_reduction,
        }
        function = keras_model_functions.baseline_model_fn_v2
        super().__init__(function, settings, model_dir, config)


class BaselineRegressorV2(BaselineEstimatorV2):
    """Predicts the mean of labels, whatever the features are."""

    def __init__(
        self,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: Any = _SUM_OVER_BATCH_SIZE,
    ):
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        super().__init__(head, model_dir, optimizer, config)
