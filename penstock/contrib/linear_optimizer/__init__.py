"""`tf.contrib.linear_optimizer`: linear models trained by dual coordinate ascent."""

from penstock.contrib import lazy_paths
from penstock.contrib.linear_optimizer.sdca_optimizer import SDCAOptimizer
from penstock.estimator.sdca.model import SdcaModel, SparseFeatureColumn

__all__ = ["SDCAOptimizer", "SdcaModel", "SparseFeatureColumn"]

__getattr__ = lazy_paths.resolver(
    __name__, {"sharded_mutable_dense_hashtable": "estimator.sdca.sharded_table"}
)
