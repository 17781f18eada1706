"""`tf.contrib.gan.eval`: summaries of models, and images in grids."""

from penstock.contrib import lazy_paths
from penstock.contrib.gan.eval import eval_utils
from penstock.contrib.gan.eval.image_tiles import *
from penstock.contrib.gan.eval.summaries import *

__getattr__ = lazy_paths.resolver(__name__)
