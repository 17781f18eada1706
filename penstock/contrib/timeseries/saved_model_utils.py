"""Use of exported time series models, as `tf.saved_model.loader.load` gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.contrib.timeseries.continuations import canonicalize_times_or_steps_from_output
from penstock.contrib.timeseries.feature_keys import (
    FilteringResults,
    PredictionFeatures,
    SavedModelLabels,
)
from penstock.contrib.timeseries.head import state_to_dictionary
from penstock.contrib.timeseries.numpy_series import _canonicalize_numpy_data

__all__ = ["cold_start_filter", "filter_continuation", "predict_continuation"]


def _run(
    signatures: Any,
    label: str,
    session: Any,
    features: Mapping[str, Any],
    continue_from: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The outputs of a signature, and the times that they are for."""
    state: Mapping[str, Any] = continue_from or {}
    if FilteringResults.STATE_TUPLE in state:
        state = state_to_dictionary(state[FilteringResults.STATE_TUPLE])
    signature = signatures.signature_def[label]
    feeds = {
        session.graph.as_graph_element(signature.inputs[key].name): value
        for key, value in {**state, **features}.items()
        if key in signature.inputs or key in features
    }
    fetches = {
        key: session.graph.as_graph_element(info.name) for key, info in signature.outputs.items()
    }
    outputs: dict[str, Any] = session.run(fetches, feed_dict=feeds)
    outputs[FilteringResults.TIMES] = features[FilteringResults.TIMES]
    return outputs


def predict_continuation(
    continue_from: Mapping[str, Any],
    signatures: Any,
    session: Any,
    steps: int | None = None,
    times: Any = None,
    exogenous_features: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Predictions that go on where an evaluation or a filtering ended.

    Args:
      continue_from: its results.
      signatures: the loaded MetaGraphDef.
      steps: how many times after it; or
      times: these times.
    """
    wanted = canonicalize_times_or_steps_from_output(
        times=times, steps=steps, previous_model_output=continue_from
    )
    features = {PredictionFeatures.TIMES: wanted, **(exogenous_features or {})}
    return _run(signatures, SavedModelLabels.PREDICT, session, features, continue_from)


def cold_start_filter(signatures: Any, session: Any, features: Mapping[str, Any]) -> dict[str, Any]:
    """The state after these observations, from the start state on."""
    series = _canonicalize_numpy_data(data=features, require_single_batch=False)
    return _run(signatures, SavedModelLabels.COLD_START_FILTER, session, series)


def filter_continuation(
    continue_from: Mapping[str, Any], signatures: Any, session: Any, features: Mapping[str, Any]
) -> dict[str, Any]:
    """The state after these observations, from that of earlier results on."""
    series = _canonicalize_numpy_data(data=features, require_single_batch=False)
    return _run(signatures, SavedModelLabels.FILTER, session, series, continue_from)
