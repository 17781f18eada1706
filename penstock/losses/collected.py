"""The losses that a graph has collected."""

from __future__ import annotations

from typing import Any

from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import get_default_graph
from penstock.ops.binary import add_n
from penstock.ops.constants import constant

__all__ = [
    "add_loss",
    "get_losses",
    "get_regularization_loss",
    "get_regularization_losses",
    "get_total_loss",
]


def add_loss(loss: Any, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Adds a loss to a collection; None adds it to none."""
    if loss_collection:
        get_default_graph().add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Any]:
    """The losses of a collection whose names are in `scope`."""
    return get_default_graph().get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """The losses of regularizers whose names are in `scope`."""
    return get_default_graph().get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(
    scope: str | None = None, name: str | None = "total_regularization_loss"
) -> Any:
    """The sum of the losses of regularizers, 0 if there are none."""
    losses = get_regularization_losses(scope)
    return add_n(losses, name=name) if losses else constant(0.0)


def get_total_loss(
    add_regularization_losses: bool = True,
    name: str | None = "total_loss",
    scope: str | None = None,
) -> Any:
    """The sum of all collected losses, those of regularizers too."""
    losses = get_losses(scope=scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope=scope)
    return add_n(losses, name=name)
