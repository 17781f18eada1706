"""Whether a layer trains when its caller leaves it open."""

from __future__ import annotations

from typing import Any


def training_or_phase(training: Any) -> Any:
    """`training`, or Keras' learning phase for None: a tensor that is False unless it is fed."""
    if training is not None:
        return training
    from penstock.keras import backend

    return backend.learning_phase()
