"""`tf.contrib.slim`: layers, argument scopes, data providers, training and evaluation loops."""

from penstock.contrib import lazy_paths, losses, metrics
from penstock.contrib.framework.arg_scope import *
from penstock.contrib.framework.variables import *
from penstock.contrib.layers import *
from penstock.contrib.layers import initializers, optimizers, regularizers
from penstock.contrib.slim import (
    data_decoder,
    data_provider,
    dataset,
    dataset_data_provider,
    evaluation,
    learning,
    model_analyzer,
    parallel_reader,
    prefetch_queue,
    queues,
    summaries,
    tfexample_decoder,
)

__getattr__ = lazy_paths.resolver(
    __name__,
    {
        "layers": "contrib.layers",
        "utils": "contrib.layers.python.layers.utils",
        "variables": "contrib.framework.variables",
    },
)
