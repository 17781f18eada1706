"""Files that plugins of TensorBoard want beside the events."""

from __future__ import annotations

import abc
from typing import Any

from penstock.ir.defaults import get_default_graph
from penstock.ir.graph import Graph

_COLLECTION = "__tensorboard_plugin_asset__"


class PluginAsset(abc.ABC):
    """The files of one plugin; a subclass names the plugin."""

    plugin_name: str | None = None

    @abc.abstractmethod
    def assets(self) -> dict[str, Any]:
        """The contents of the files by name."""


def get_plugin_asset(plugin_asset_cls: type[PluginAsset], graph: Graph | None = None) -> Any:
    """The graph's asset of that class, made if there is none."""
    graph = graph or get_default_graph()
    name = plugin_asset_cls.plugin_name
    if not name:
        raise ValueError(f"Class {plugin_asset_cls.__name__} has no plugin_name")
    members = graph.get_collection(_COLLECTION + name)
    if len(members) > 1:
        raise ValueError(f"Collection for {name} had {len(members)} items, expected 1")
    if not members:
        made = plugin_asset_cls()
        graph.add_to_collection(_COLLECTION + name, made)
        graph.add_to_collection(_COLLECTION, name)
        return made
    if not isinstance(members[0], plugin_asset_cls):
        raise ValueError(
            f"Plugin name collision between classes {plugin_asset_cls.__name__} and "
            f"{type(members[0]).__name__}"
        )
    return members[0]


def get_all_plugin_assets(graph: Graph | None = None) -> list[Any]:
    """All assets of a graph."""
    graph = graph or get_default_graph()
    found = []
    for name in graph.get_collection(_COLLECTION):
        members = graph.get_collection(_COLLECTION + name)
        if len(members) != 1:
            raise ValueError(f"Collection for {name} had {len(members)} items, expected 1")
        found.append(members[0])
    return found
