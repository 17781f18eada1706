"""`tf.contrib.model_pruning`: weights set to zero, by masks, while a model trains."""

from __future__ import annotations

from penstock.contrib import lazy_paths
from penstock.contrib.model_pruning.learning import train
from penstock.contrib.model_pruning.masked_cells import MaskedBasicLSTMCell, MaskedLSTMCell
from penstock.contrib.model_pruning.masked_layers import (
    masked_conv2d,
    masked_convolution,
    masked_fully_connected,
)
from penstock.contrib.model_pruning.pruning import (
    Pruning,
    apply_mask,
    get_masked_weights,
    get_masks,
    get_pruning_hparams,
    get_thresholds,
    get_weight_sparsity,
    get_weights,
)
from penstock.contrib.model_pruning.stripping import (
    graph_def_from_checkpoint,
    strip_pruning_vars_fn,
)

__all__ = [
    "MaskedBasicLSTMCell",
    "MaskedLSTMCell",
    "Pruning",
    "apply_mask",
    "get_masked_weights",
    "get_masks",
    "get_pruning_hparams",
    "get_thresholds",
    "get_weight_sparsity",
    "get_weights",
    "graph_def_from_checkpoint",
    "masked_conv2d",
    "masked_convolution",
    "masked_fully_connected",
    "strip_pruning_vars_fn",
    "train",
]

__getattr__ = lazy_paths.resolver(__name__)
