"""Model functions of TensorFlow 2's canned estimators, under the names that TensorFlow has."""

from __future__ import annotations

from penstock.estimator.canned.keras_estimators import (
    BaselineClassifierV2,
    BaselineEstimatorV2,
    BaselineRegressorV2,
    DNNClassifierV2,
    DNNEstimatorV2,
    DNNLinearCombinedClassifierV2,
    DNNLinearCombinedEstimatorV2,
    DNNLinearCombinedRegressorV2,
    DNNRegressorV2,
    LinearClassifierV2,
    LinearEstimatorV2,
    LinearRegressorV2,
)
from penstock.estimator.canned.keras_model_functions import (
    baseline_logits,
    baseline_model_fn_v2,
    dnn_linear_combined_model_fn_v2,
    dnn_model_fn_v2,
    linear_model_fn_v2,
)
from penstock.estimator.canned.keras_models import (
    dnn_logit_fn_builder_v2,
    dnn_logits,
    linear_logit_fn_builder_v2,
    linear_logits,
    network,
)
from penstock.estimator.canned.parsing_specs import (
    classifier_parse_example_spec as classifier_parse_example_spec_v2,
)
from penstock.estimator.canned.parsing_specs import (
    regressor_parse_example_spec as regressor_parse_example_spec_v2,
)

__all__ = [
    "BaselineClassifierV2",
    "BaselineEstimatorV2",
    "BaselineRegressorV2",
    "DNNClassifierV2",
    "DNNEstimatorV2",
    "DNNLinearCombinedClassifierV2",
    "DNNLinearCombinedEstimatorV2",
    "DNNLinearCombinedRegressorV2",
    "DNNRegressorV2",
    "LinearClassifierV2",
    "LinearEstimatorV2",
    "LinearRegressorV2",
    "classifier_parse_example_spec_v2",
    "dnn_logit_fn_builder_v2",
    "dnn_model_fn_v2",
    "linear_logit_fn_builder_v2",
    "regressor_parse_example_spec_v2",
]

_DNNModelV2 = network
_baseline_model_fn_builder_v2 = baseline_logits
_baseline_model_fn_v2 = baseline_model_fn_v2
_dnn_linear_combined_model_fn_v2 = dnn_linear_combined_model_fn_v2
_dnn_model_fn_builder_v2 = dnn_logits
_linear_model_fn_builder_v2 = linear_logits
_linear_model_fn_v2 = linear_model_fn_v2
