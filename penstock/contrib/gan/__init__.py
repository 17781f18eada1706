"""`tf.contrib.gan`: generative adversarial networks, from models to training."""

from penstock.contrib import lazy_paths
from penstock.contrib.gan import eval, features, losses, namedtuples, train
from penstock.contrib.gan.namedtuples import *
from penstock.contrib.gan.train import *

__getattr__ = lazy_paths.resolver(__name__)
