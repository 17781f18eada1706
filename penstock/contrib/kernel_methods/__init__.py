"""`tf.contrib.kernel_methods`: linear models of features that a kernel maps."""

from penstock.contrib import lazy_paths
from penstock.contrib.kernel_methods.estimators import KernelLinearClassifier
from penstock.contrib.kernel_methods.losses import sparse_multiclass_hinge_loss
from penstock.contrib.kernel_methods.mappers import RandomFourierFeatureMapper

__all__ = [
    "KernelLinearClassifier",
    "RandomFourierFeatureMapper",
    "sparse_multiclass_hinge_loss",
]

__getattr__ = lazy_paths.resolver(__name__)
