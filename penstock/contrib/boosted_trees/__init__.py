"""`tf.contrib.boosted_trees`: the losses of examples that boosting takes gradients of."""

from penstock.contrib import lazy_paths

__getattr__ = lazy_paths.resolver(__name__)
