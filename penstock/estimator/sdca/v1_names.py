"""Dual coordinate ascent under the names of `tensorflow_estimator`'s `sdca_ops`."""

from penstock.estimator.sdca.estimator_model import EstimatorSdcaModel as _SDCAModel
from penstock.estimator.sdca.model import SparseFeatureColumn as _SparseFeatureColumn
from penstock.estimator.sdca.sharded_table import (
    ShardedMutableDenseHashTable as _ShardedMutableDenseHashTable,
)

__all__ = ["_SDCAModel", "_ShardedMutableDenseHashTable", "_SparseFeatureColumn"]
