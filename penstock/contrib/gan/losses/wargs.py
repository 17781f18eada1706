"""`tf.contrib.gan.losses.wargs`: the losses of GANs with arguments one by one."""

from penstock.contrib.gan.losses import adversarial, penalties
from penstock.contrib.gan.losses.adversarial import *
from penstock.contrib.gan.losses.penalties import *
from penstock.contrib.gan.losses.penalties import _numerically_stable_global_norm  # noqa: F401

__all__ = [*adversarial.__all__, *penalties.__all__]
