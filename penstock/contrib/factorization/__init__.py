"""`tf.contrib.factorization`: k-means, Gaussian mixtures and factors of matrices."""

from penstock.contrib import lazy_paths
from penstock.contrib.factorization.clustering_ops import (
    COSINE_DISTANCE,
    KMEANS_PLUS_PLUS_INIT,
    RANDOM_INIT,
    SQUARED_EUCLIDEAN_DISTANCE,
    KMeans,
)
from penstock.contrib.factorization.factorization_ops import WALSModel
from penstock.contrib.factorization.gaussian_mixtures import GmmAlgorithm, gmm
from penstock.contrib.factorization.kmeans import KMeansClustering
from penstock.contrib.factorization.mixture_estimator import GMM
from penstock.contrib.factorization.wals import WALSMatrixFactorization

__all__ = [
    "COSINE_DISTANCE",
    "GMM",
    "KMEANS_PLUS_PLUS_INIT",
    "RANDOM_INIT",
    "SQUARED_EUCLIDEAN_DISTANCE",
    "GmmAlgorithm",
    "KMeans",
    "KMeansClustering",
    "WALSMatrixFactorization",
    "WALSModel",
    "gmm",
]

__getattr__ = lazy_paths.resolver(__name__)
