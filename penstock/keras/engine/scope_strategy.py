"""Strategies that models are built and compiled under."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.distribute.mirrored import MirroredExtended
from penstock.distribute.parameter_server import ParameterServerExtended


def strategy_of_scope() -> Any:
    """The strategy in whose scope this is called, if it makes copies of variables."""
    if not tf.distribute.has_strategy() or not tf.distribute.in_cross_replica_context():
        return None
    strategy = tf.distribute.get_strategy()
    kind = strategy.extended
    makes_copies = isinstance(kind, MirroredExtended) and not isinstance(
        kind, ParameterServerExtended
    )
    return strategy if makes_copies else None
