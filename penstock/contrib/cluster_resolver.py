"""`tf.contrib.cluster_resolver`: where the tasks of a cluster are."""

from penstock.train.cluster_resolver import (
    ClusterResolver,
    SimpleClusterResolver,
    TFConfigClusterResolver,
    UnionClusterResolver,
)

__all__ = [
    "ClusterResolver",
    "SimpleClusterResolver",
    "TFConfigClusterResolver",
    "UnionClusterResolver",
]
