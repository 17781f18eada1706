"""Descriptors of TensorFlow's message files, under the names that generated modules have them."""

from __future__ import annotations

from typing import Any

from penstock.proto import POOL

_SUFFIX = "_pb2"


def descriptor(module: str, name: str) -> Any:
    """`DESCRIPTOR` of a module of messages, or of one of its messages and enums, as `_GRAPHDEF`.

    None for a module that is no such, and for other names.
    """
    if not module.endswith(_SUFFIX):
        return None
    try:
        file = POOL.FindFileByName(module.rpartition(".")[2].removesuffix(_SUFFIX) + ".proto")
    except KeyError:
        return None
    if name == "DESCRIPTOR":
        return file
    found = {**file.message_types_by_name, **file.enum_types_by_name}
    return {f"_{each.upper()}": found[each] for each in found}.get(name)
