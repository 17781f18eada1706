"""Outputs of layers in collections, under the names of their scopes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any, NamedTuple

import penstock as tf

__all__ = [
    "NamedOutputs",
    "append_tensor_alias",
    "collect_named_outputs",
    "convert_collection_to_dict",
    "gather_tensors_aliases",
    "get_tensor_aliases",
]


class NamedOutputs(NamedTuple):
    """The outputs of a layer and its name."""

    name: str
    outputs: Any


def collect_named_outputs(collections: Any, alias: str, outputs: Any) -> Any:
    """Adds outputs to collections under a name, and gives them back."""
    if collections:
        append_tensor_alias(outputs, alias)
        tf.add_to_collections(collections, outputs)
    return outputs


def append_tensor_alias(tensor: Any, alias: str) -> Any:
    """Gives a tensor one more name for `convert_collection_to_dict`."""
    name = alias.removesuffix("/")
    if hasattr(tensor, "aliases"):
        tensor.aliases.append(name)
    else:
        tensor.aliases = [name]
    return tensor


def get_tensor_aliases(tensor: Any) -> list[str]:
    """The names given to a tensor, or else its own."""
    if hasattr(tensor, "aliases"):
        return list(tensor.aliases)
    return [tensor.op.name if tensor.name.endswith(":0") else tensor.name]


def gather_tensors_aliases(tensors: Iterable[Any]) -> list[str]:
    """The names of all tensors."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def convert_collection_to_dict(
    collection: str, clear_collection: bool = False
) -> OrderedDict[str, Any]:
    """The tensors of a collection by their names, in the order in which they were added."""
    found = OrderedDict(
        (alias, tensor)
        for tensor in tf.get_collection(collection)
        for alias in get_tensor_aliases(tensor)
    )
    if clear_collection:
        tf.get_default_graph().clear_collection(collection)
    return found
