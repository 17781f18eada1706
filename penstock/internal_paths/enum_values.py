"""Values of TensorFlow's protocol enums by their bare names, as `types_pb2.DT_FLOAT` gives them."""

from __future__ import annotations

from functools import cache
from typing import Any

from penstock import proto


@cache
def _values() -> dict[str, int]:
    enums = [getattr(proto, name) for name in proto.__all__]
    return {
        name: number for enum in enums if hasattr(enum, "items") for name, number in enum.items()
    }


def __getattr__(name: str) -> Any:
    try:
        return _values()[name]
    except KeyError:
        raise AttributeError(f"no enum of TensorFlow's messages has a value {name!r}") from None


def __dir__() -> list[str]:
    return sorted(_values())
