"""Graphs as files."""

from __future__ import annotations

import os
from typing import Any

from google.protobuf import text_format

from penstock.checkpoint import files
from penstock.ir.graph import Graph
from penstock.platform import file_io

__all__ = ["write_graph"]


def write_graph(graph_or_graph_def: Any, logdir: Any, name: str, as_text: bool = True) -> str:
    """Writes a graph, or any message, to a file and returns its path.

    Args:
      graph_or_graph_def: a `tf.Graph` or a message.
      logdir: the directory, made if it isn't there.
      name: the file.
      as_text: whether to write text instead of the binary form.
    """
    message = graph_or_graph_def
    if isinstance(message, Graph):
        message = message.as_graph_def()
    directory = os.fspath(logdir)
    if directory and not file_io.file_exists(directory):
        file_io.recursive_create_dir(directory)
    path = os.path.join(directory, name)
    if as_text:
        content = text_format.MessageToString(message).encode()
    else:
        content = message.SerializeToString(deterministic=True)
    with files.new_file(path) as file:
        file.write(content)
    return path
