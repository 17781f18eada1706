"""`tf.contrib.receptive_field`: which part of an image a feature of a network sees."""

from __future__ import annotations

from penstock.contrib import lazy_paths
from penstock.contrib.receptive_field.compute_order import get_compute_order
from penstock.contrib.receptive_field.fields import compute_receptive_field_from_graph_def

__all__ = ["compute_receptive_field_from_graph_def", "get_compute_order"]

__getattr__ = lazy_paths.resolver(__name__)
