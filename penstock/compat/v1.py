"""`tf.compat.v1`: the API of TensorFlow 1.x, which is the package itself."""

import sys

import penstock

sys.modules[__name__] = penstock
