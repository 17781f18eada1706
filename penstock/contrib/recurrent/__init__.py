"""`tf.contrib.recurrent`: recurrences along time, and networks of them."""

from __future__ import annotations

from penstock.contrib import lazy_paths
from penstock.contrib.recurrent.networks import bidirectional_functional_rnn, functional_rnn
from penstock.contrib.recurrent.recurrence import Recurrent

__all__ = ["Recurrent", "bidirectional_functional_rnn", "functional_rnn"]

__getattr__ = lazy_paths.resolver(__name__)
