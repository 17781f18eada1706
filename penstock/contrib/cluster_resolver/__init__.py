"""`tf.contrib.cluster_resolver`: where the tasks of a cluster are."""

from penstock.train.cluster_resolver import (
    ClusterResolver,
    SimpleClusterResolver,
    TFConfigClusterResolver,
    UnionClusterResolver,
)
from penstock.train.manager_resolvers import (
    GCEClusterResolver,
    KubernetesClusterResolver,
    RayClusterResolver,
    SlurmClusterResolver,
)
from penstock.train.tpu_resolver import TPUClusterResolver

__all__ = [
    "ClusterResolver",
    "GCEClusterResolver",
    "KubernetesClusterResolver",
    "RayClusterResolver",
    "SimpleClusterResolver",
    "SlurmClusterResolver",
    "TFConfigClusterResolver",
    "TPUClusterResolver",
    "UnionClusterResolver",
]
