"""`tf.contrib.gan.estimator`: GANs as estimators."""

from penstock.contrib import lazy_paths
from penstock.contrib.gan.estimator.gan_estimator import GANEstimator, SummaryType

__getattr__ = lazy_paths.resolver(__name__)
