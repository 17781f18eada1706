"""`tf.contrib.gan.losses`: losses of models; `wargs` has them with arguments one by one."""

from penstock.contrib import lazy_paths
from penstock.contrib.gan.losses import wargs
from penstock.contrib.gan.losses.of_models import *

__getattr__ = lazy_paths.resolver(__name__)
