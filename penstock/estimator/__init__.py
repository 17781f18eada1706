"""`tf.estimator`: models that are trained, evaluated, used and exported."""

import importlib
from typing import Any

from penstock.estimator import experimental, export, inputs
from penstock.estimator.canned.estimators import (
    BaselineClassifier,
    BaselineEstimator,
    BaselineRegressor,
    DNNClassifier,
    DNNEstimator,
    DNNLinearCombinedClassifier,
    DNNLinearCombinedEstimator,
    DNNLinearCombinedRegressor,
    DNNRegressor,
    LinearClassifier,
    LinearEstimator,
    LinearRegressor,
)
from penstock.estimator.canned.parsing_specs import (
    classifier_parse_example_spec,
    regressor_parse_example_spec,
)
from penstock.estimator.estimator import Estimator
from penstock.estimator.estimator_spec import EstimatorSpec
from penstock.estimator.exporters import BestExporter, Exporter, FinalExporter, LatestExporter
from penstock.estimator.extenders import add_metrics
from penstock.estimator.keras_heads import (
    BinaryClassHead,
    Head,
    LogisticRegressionHead,
    MultiClassHead,
    MultiHead,
    MultiLabelHead,
    PoissonRegressionHead,
    RegressionHead,
)
from penstock.estimator.mode_keys import ModeKeys
from penstock.estimator.run_config import RunConfig
from penstock.estimator.specs import EvalSpec, TrainSpec
from penstock.estimator.train_and_evaluate import train_and_evaluate
from penstock.estimator.trees.estimators import (
    BoostedTreesClassifier,
    BoostedTreesEstimator,
    BoostedTreesRegressor,
)
from penstock.estimator.warm_start_settings import WarmStartSettings
from penstock.train.basic_session_run_hooks import (
    FeedFnHook,
    FinalOpsHook,
    GlobalStepWaiterHook,
    LoggingTensorHook,
    NanLossDuringTrainingError,
    NanTensorHook,
    StopAtStepHook,
)
from penstock.train.hook_timers import SecondOrStepTimer
from penstock.train.recording_hooks import (
    CheckpointSaverHook,
    CheckpointSaverListener,
    ProfilerHook,
    StepCounterHook,
    SummarySaverHook,
)
from penstock.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from penstock.train.warm_starting import VocabInfo

__all__ = [
    "BaselineClassifier",
    "BaselineEstimator",
    "BaselineRegressor",
    "BestExporter",
    "BinaryClassHead",
    "BoostedTreesClassifier",
    "BoostedTreesEstimator",
    "BoostedTreesRegressor",
    "CheckpointSaverHook",
    "CheckpointSaverListener",
    "DNNClassifier",
    "DNNEstimator",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "Estimator",
    "EstimatorSpec",
    "EvalSpec",
    "Exporter",
    "FeedFnHook",
    "FinalExporter",
    "FinalOpsHook",
    "GlobalStepWaiterHook",
    "Head",
    "LatestExporter",
    "LinearClassifier",
    "LinearEstimator",
    "LinearRegressor",
    "LoggingTensorHook",
    "LogisticRegressionHead",
    "ModeKeys",
    "MultiClassHead",
    "MultiHead",
    "MultiLabelHead",
    "NanLossDuringTrainingError",
    "NanTensorHook",
    "PoissonRegressionHead",
    "ProfilerHook",
    "RegressionHead",
    "RunConfig",
    "SecondOrStepTimer",
    "SessionRunArgs",
    "SessionRunContext",
    "SessionRunHook",
    "SessionRunValues",
    "StepCounterHook",
    "StopAtStepHook",
    "SummarySaverHook",
    "TrainSpec",
    "VocabInfo",
    "WarmStartSettings",
    "add_metrics",
    "classifier_parse_example_spec",
    "experimental",
    "export",
    "inputs",
    "regressor_parse_example_spec",
    "train_and_evaluate",
]


def __getattr__(name: str) -> Any:
    if name == "tpu":  # of tf.contrib, which most programs with estimators do without
        return importlib.import_module("penstock.estimator.tpu")
    raise AttributeError(name)
