"""`tf.contrib.timeseries`: models and estimators of series of observations."""

from __future__ import annotations

from penstock.contrib import lazy_paths
from penstock.contrib.timeseries import saved_model_utils
from penstock.contrib.timeseries.ar_model import ARModel
from penstock.contrib.timeseries.estimators import (
    ARRegressor,
    LSTMAutoRegressor,
    StateSpaceRegressor,
    StructuralEnsembleRegressor,
    TimeSeriesRegressor,
)
from penstock.contrib.timeseries.feature_keys import FilteringResults, TrainEvalFeatures
from penstock.contrib.timeseries.head import OneShotPredictionHead
from penstock.contrib.timeseries.input_functions import (
    RandomWindowInputFn,
    WholeDatasetInputFn,
    predict_continuation_input_fn,
)
from penstock.contrib.timeseries.readers import CSVReader, NumpyReader

__all__ = [
    "ARModel",
    "ARRegressor",
    "CSVReader",
    "FilteringResults",
    "LSTMAutoRegressor",
    "NumpyReader",
    "OneShotPredictionHead",
    "RandomWindowInputFn",
    "StateSpaceRegressor",
    "StructuralEnsembleRegressor",
    "TimeSeriesRegressor",
    "TrainEvalFeatures",
    "WholeDatasetInputFn",
    "predict_continuation_input_fn",
    "saved_model_utils",
]

__getattr__ = lazy_paths.resolver(__name__)
