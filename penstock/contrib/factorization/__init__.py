"""`tf.contrib.factorization`: k-means clustering and mixtures of normal distributions."""

from penstock.contrib import lazy_paths
from penstock.contrib.factorization.clustering_ops import (
    COSINE_DISTANCE,
    KMEANS_PLUS_PLUS_INIT,
    RANDOM_INIT,
    SQUARED_EUCLIDEAN_DISTANCE,
    KMeans,
)
from penstock.contrib.factorization.gaussian_mixtures import GmmAlgorithm, gmm
from penstock.contrib.factorization.kmeans import KMeansClustering
from penstock.contrib.factorization.mixture_estimator import GMM

__all__ = [
    "COSINE_DISTANCE",
    "GMM",
    "KMEANS_PLUS_PLUS_INIT",
    "RANDOM_INIT",
    "SQUARED_EUCLIDEAN_DISTANCE",
    "GmmAlgorithm",
    "KMeans",
    "KMeansClustering",
    "gmm",
]

__getattr__ = lazy_paths.resolver(__name__)
