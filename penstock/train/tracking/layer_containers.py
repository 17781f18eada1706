"""`training.tracking.layer_utils`: what is a layer, and which layers containers hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.layers.core_layer import CoreLayer


def is_layer(obj: Any) -> bool:
    """Whether this is a layer (not a class of them)."""
    return isinstance(obj, CoreLayer) or (hasattr(obj, "_is_layer") and not isinstance(obj, type))


def has_weights(obj: Any) -> bool:
    """Whether an object's class has lists of weights, as layers have."""
    names = ("trainable_weights", "non_trainable_weights")
    return not isinstance(obj, type) and all(hasattr(type(obj), name) for name in names)


def filter_empty_layer_containers(layer_list: Sequence[Any]) -> list[Any]:
    """The layers of a list, each once, and those of the containers in it."""
    seen: list[Any] = []
    found: list[Any] = []
    waiting = list(layer_list)
    while waiting:
        each = waiting.pop(0)
        if any(each is other for other in seen):
            continue
        seen.append(each)
        if is_layer(each):
            found.append(each)
        else:
            waiting[:0] = getattr(each, "layers", ())
    return found
