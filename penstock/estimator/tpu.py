"""`tf.estimator.tpu`: the estimator for TPUs, which runs with `use_tpu=False` here."""

from penstock.contrib.tpu.configuration import InputPipelineConfig, RunConfig, TPUConfig
from penstock.contrib.tpu.estimator import TPUEstimator, TPUEstimatorSpec

__all__ = ["InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator", "TPUEstimatorSpec"]
