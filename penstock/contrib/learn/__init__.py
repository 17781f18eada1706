"""`tf.contrib.learn`: the older form of `tf.estimator`."""

from penstock.contrib.lazy_paths import resolver
from penstock.contrib.learn import (
    datasets,
    graph_actions,
    learn_io,
    learn_runner,
    models,
    monitors,
    preprocessing,
    utils,
)
from penstock.contrib.learn import learn_io as io
from penstock.contrib.learn.canned import (
    DNNClassifier,
    DNNEstimator,
    DNNRegressor,
    LinearClassifier,
    LinearEstimator,
    LinearRegressor,
    infer_real_valued_columns_from_input,
    infer_real_valued_columns_from_input_fn,
)
from penstock.contrib.learn.canned_combined import (
    DNNLinearCombinedClassifier,
    DNNLinearCombinedEstimator,
    DNNLinearCombinedRegressor,
)
from penstock.contrib.learn.dynamic_rnn_estimator import DynamicRnnEstimator
from penstock.contrib.learn.estimator import BaseEstimator, Estimator, SKCompat
from penstock.contrib.learn.experiment import Experiment
from penstock.contrib.learn.export_strategy import ExportStrategy, make_export_strategy
from penstock.contrib.learn.fitting_errors import NotFittedError
from penstock.contrib.learn.graph_actions import evaluate, infer, run_feeds, run_n, train
from penstock.contrib.learn.head import (
    Head,
    binary_svm_head,
    loss_only_head,
    multi_class_head,
    multi_head,
    multi_label_head,
    no_op_train_fn,
    poisson_regression_head,
    regression_head,
)
from penstock.contrib.learn.head_metrics import MetricKey
from penstock.contrib.learn.kmeans import KMeansClustering
from penstock.contrib.learn.learn_io import (
    extract_pandas_data,
    extract_pandas_labels,
    extract_pandas_matrix,
    read_batch_examples,
    read_batch_features,
    read_batch_record_features,
    read_keyed_batch_examples,
    read_keyed_batch_examples_shared_queue,
    read_keyed_batch_features,
    read_keyed_batch_features_shared_queue,
)
from penstock.contrib.learn.logistic_regressor import LogisticRegressor
from penstock.contrib.learn.metric_spec import MetricSpec
from penstock.contrib.learn.model_fn import ModeKeys, ModelFnOps, PredictionKey, ProblemType
from penstock.contrib.learn.roles import Evaluable, Trainable
from penstock.contrib.learn.run_config import RunConfig, TaskType
from penstock.contrib.learn.state_saving_rnn_estimator import StateSavingRnnEstimator
from penstock.contrib.learn.svm import SVM
from penstock.contrib.learn.utils.input_fn_utils import (
    InputFnOps,
    build_default_serving_input_fn,
    build_parsing_serving_input_fn,
)
from penstock.train.basic_session_run_hooks import NanLossDuringTrainingError

__all__ = [
    "SVM",
    "BaseEstimator",
    "DNNClassifier",
    "DNNEstimator",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "DynamicRnnEstimator",
    "Estimator",
    "Evaluable",
    "Experiment",
    "ExportStrategy",
    "Head",
    "InputFnOps",
    "KMeansClustering",
    "LinearClassifier",
    "LinearEstimator",
    "LinearRegressor",
    "LogisticRegressor",
    "MetricKey",
    "MetricSpec",
    "ModeKeys",
    "ModelFnOps",
    "NanLossDuringTrainingError",
    "NotFittedError",
    "PredictionKey",
    "ProblemType",
    "RunConfig",
    "SKCompat",
    "StateSavingRnnEstimator",
    "TaskType",
    "Trainable",
    "binary_svm_head",
    "build_default_serving_input_fn",
    "build_parsing_serving_input_fn",
    "datasets",
    "evaluate",
    "extract_pandas_data",
    "extract_pandas_labels",
    "extract_pandas_matrix",
    "graph_actions",
    "infer",
    "infer_real_valued_columns_from_input",
    "infer_real_valued_columns_from_input_fn",
    "io",
    "learn_io",
    "learn_runner",
    "loss_only_head",
    "make_export_strategy",
    "models",
    "monitors",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "no_op_train_fn",
    "poisson_regression_head",
    "preprocessing",
    "read_batch_examples",
    "read_batch_features",
    "read_batch_record_features",
    "read_keyed_batch_examples",
    "read_keyed_batch_examples_shared_queue",
    "read_keyed_batch_features",
    "read_keyed_batch_features_shared_queue",
    "regression_head",
    "run_feeds",
    "run_n",
    "train",
    "utils",
]

__getattr__ = resolver(__name__)
