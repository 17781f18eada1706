"""Further names of `tensorflow_estimator.python.estimator.model_fn`."""

from penstock.contrib.tpu.estimator import TPUEstimatorSpec as _TPUEstimatorSpec
from penstock.estimator.canned.logits import call_logit_fn
from penstock.estimator.estimator_checks import verify_model_fn_args

__all__ = ["_TPUEstimatorSpec", "call_logit_fn", "verify_model_fn_args"]
