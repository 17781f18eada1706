"""`tf.contrib.gan.train`: models, losses, and operations that train them."""

from penstock.contrib.gan import model_losses, models, training
from penstock.contrib.gan.model_losses import *
from penstock.contrib.gan.model_losses import _tensor_pool_adjusted_model  # noqa: F401
from penstock.contrib.gan.models import *
from penstock.contrib.gan.models import _convert_tensor_or_l_or_d  # noqa: F401
from penstock.contrib.gan.training import *

__all__ = [*models.__all__, *model_losses.__all__, *training.__all__]
