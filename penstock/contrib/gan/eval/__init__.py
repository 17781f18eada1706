"""`tf.contrib.gan.eval`: scores of generated images, summaries of models, images in grids."""

from penstock.contrib import lazy_paths
from penstock.contrib.gan.eval import eval_utils
from penstock.contrib.gan.eval.classifier_metrics import *
from penstock.contrib.gan.eval.image_tiles import *
from penstock.contrib.gan.eval.summaries import *

__getattr__ = lazy_paths.resolver(__name__)
