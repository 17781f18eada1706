"""`tf.contrib.gan.eval.eval_utils`: images in grids."""

from penstock.contrib.gan.eval.image_tiles import *
