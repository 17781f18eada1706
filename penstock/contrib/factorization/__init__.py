"""`tf.contrib.factorization`: k-means clustering."""

from penstock.contrib import lazy_paths
from penstock.contrib.factorization.clustering_ops import (
    COSINE_DISTANCE,
    KMEANS_PLUS_PLUS_INIT,
    RANDOM_INIT,
    SQUARED_EUCLIDEAN_DISTANCE,
    KMeans,
)
from penstock.contrib.factorization.kmeans import KMeansClustering

__all__ = [
    "COSINE_DISTANCE",
    "KMEANS_PLUS_PLUS_INIT",
    "RANDOM_INIT",
    "SQUARED_EUCLIDEAN_DISTANCE",
    "KMeans",
    "KMeansClustering",
]

__getattr__ = lazy_paths.resolver(__name__)
