"""`tf.contrib.tpu` without TPUs: what lets a program that can do without run as it is."""

from penstock.contrib.lazy_paths import resolver
from penstock.contrib.tpu.configuration import InputPipelineConfig, RunConfig, TPUConfig
from penstock.contrib.tpu.estimator import TPUEstimator, TPUEstimatorSpec
from penstock.contrib.tpu.infeed import InfeedQueue
from penstock.contrib.tpu.topology import Topology
from penstock.contrib.tpu.training import (
    CrossShardOptimizer,
    bfloat16_scope,
    cross_replica_sum,
)

__all__ = [
    "CrossShardOptimizer",
    "InfeedQueue",
    "InputPipelineConfig",
    "RunConfig",
    "TPUConfig",
    "TPUEstimator",
    "TPUEstimatorSpec",
    "Topology",
    "bfloat16_scope",
    "cross_replica_sum",
]

__getattr__ = resolver(__name__)
