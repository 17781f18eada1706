"""`tf.contrib.gan.features`: parts that networks of GANs are made with."""

from penstock.contrib import lazy_paths
from penstock.contrib.gan.features.clipping import *
from penstock.contrib.gan.features.conditioning import *
from penstock.contrib.gan.features.pool import *
from penstock.contrib.gan.features.spectral_normalization import *
from penstock.contrib.gan.features.virtual_batch_normalization import *

__getattr__ = lazy_paths.resolver(__name__)
