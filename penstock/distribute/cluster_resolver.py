"""`tf.distribute.cluster_resolver`: where the tasks of a cluster are."""

from penstock.train.cluster_resolver import (
    ClusterResolver,
    SimpleClusterResolver,
    TFConfigClusterResolver,
)
from penstock.train.cluster_resolver import UnionClusterResolver as UnionResolver

__all__ = ["ClusterResolver", "SimpleClusterResolver", "TFConfigClusterResolver", "UnionResolver"]
