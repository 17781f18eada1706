"""The names of features and results of time series models."""

from __future__ import annotations

from penstock.saved_model import signature_constants


class State:
    """Of a model's state."""

    STATE_TUPLE = "start_tuple"
    STATE_PREFIX = "model_state"


class Times:
    """Of times."""

    TIMES = "times"


class Values:
    """Of what is observed at these times."""

    VALUES = "values"


class TrainEvalFeatures(Times, Values):
    """Features for training and evaluation."""


class PredictionFeatures(Times, State):
    """Features for predictions."""


class FilteringFeatures(Times, Values, State):
    """Features for updates of a state by observations."""


class PredictionResults(Times):
    """Results of predictions."""


class FilteringResults(Times, State):
    """Results of evaluations."""


class SavedModelLabels:
    """The signatures of exported models."""

    PREDICT = signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    FILTER = "filter"
    COLD_START_FILTER = "cold_start_filter"


#: Features that are not exogenous.
OWN_FEATURES = frozenset({Times.TIMES, Values.VALUES, State.STATE_TUPLE})
