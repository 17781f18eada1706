"""`tf.contrib.compiler.xla`: functions that TensorFlow hands to its compiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.xla.experimental import compile

__all__ = ["compile", "estimator_model_fn"]


def estimator_model_fn(target_model_fn: Callable[..., Any] | None = None) -> Any:
    """A model_fn to be compiled, or the decorator that marks one: it needs no mark here."""
    return (lambda function: function) if target_model_fn is None else target_model_fn
