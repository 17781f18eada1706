"""Reads the message of a SavedModel."""

from __future__ import annotations

from typing import Any

from penstock.saved_model.loader import maybe_saved_model_directory, parse_saved_model

__all__ = ["get_saved_model_tag_sets", "read_saved_model"]


def read_saved_model(saved_model_dir: Any) -> Any:
    """The SavedModel message of a directory; IOError if there is none or it can't be read."""
    if not maybe_saved_model_directory(saved_model_dir):
        raise OSError(f"SavedModel file does not exist at: {saved_model_dir}")
    return parse_saved_model(saved_model_dir)


def get_saved_model_tag_sets(saved_model_dir: Any) -> list[list[str]]:
    """The tags of each graph in a SavedModel."""
    graphs = read_saved_model(saved_model_dir).meta_graphs
    return [list(graph.meta_info_def.tags) for graph in graphs]
