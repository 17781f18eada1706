"""Model functions and logits under the names that TensorFlow's canned estimators know them by."""

from __future__ import annotations

from penstock.estimator.canned.logits import (
    add_layer_summary,
    check_features,
    compute_fraction_of_zeros,
)
from penstock.estimator.canned.model_functions import (
    baseline_logit_fn_builder,
    baseline_model_fn,
    combined_linear_learning_rate,
    dnn_linear_combined_model_fn,
    dnn_model_fn,
    linear_model_fn,
)

_add_hidden_layer_summary = _add_layer_summary = add_layer_summary
_baseline_logit_fn_builder = baseline_logit_fn_builder
_baseline_model_fn = baseline_model_fn
_compute_fraction_of_zero = compute_fraction_of_zeros
_dnn_linear_combined_model_fn = dnn_linear_combined_model_fn
_dnn_model_fn = dnn_model_fn
_linear_learning_rate = combined_linear_learning_rate
_linear_model_fn = linear_model_fn
_validate_features = check_features
