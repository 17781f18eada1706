"""`model.summary()`: the layers in a table."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def count_params(weights: Any) -> int:
    """How many numbers variables hold; each variable counts once."""
    return int(sum(np.prod(v.shape.as_list()) for v in {id(v): v for v in weights}.values()))


def print_summary(
    model: Any, line_length: int | None = None, positions: Any = None, print_fn: Any = None
) -> None:
    """Prints a model's layers with their output shapes, weights and, if branched, inputs.

    Args:
      positions: where columns end, as parts of the line or in characters.
      print_fn: gets each line, instead of the terminal.
    """
    say = print_fn or (lambda text: sys.stdout.write(text + "\n"))
    is_plain = _is_sequential(model)
    titles = ["Layer (type)", "Output Shape", "Param #"]
    if is_plain:
        line_length, positions = line_length or 65, positions or [0.45, 0.85, 1.0]
    else:
        line_length, positions = line_length or 98, positions or [0.33, 0.55, 0.67, 1.0]
        titles.append("Connected to")
    if positions[-1] <= 1:
        positions = [int(line_length * part) for part in positions]
    say(f'Model: "{model.name}"')
    say("_" * line_length)
    say(_row(titles, positions))
    say("=" * line_length)
    layers = model.layers
    for index, layer in enumerate(layers):
        cells = [
            f"{layer.name} ({type(layer).__name__})",
            _output_shape(layer) if model._is_connected else "multiple",
            layer.count_params() if layer.built else "0 (unused)",
        ]
        sources = [] if is_plain else _sources(layer, model)
        say(_row([*cells, sources[0] if sources else ""][: len(titles)], positions))
        for source in sources[1:]:
            say(_row(["", "", "", source], positions))
        say(("=" if index == len(layers) - 1 else "_") * line_length)
    trained = count_params(model.trainable_weights)
    fixed = count_params(model.non_trainable_weights)
    say(f"Total params: {trained + fixed:,}")
    say(f"Trainable params: {trained:,}")
    say(f"Non-trainable params: {fixed:,}")
    say("_" * line_length)


def _row(cells: list[Any], positions: list[int]) -> str:
    line = ""
    for index, cell in enumerate(cells):
        if index > 0:
            line = line[:-1] + " "
        line = (line + str(cell))[: positions[index]].ljust(positions[index])
    return line


def _output_shape(layer: Any) -> Any:
    try:
        return layer.output_shape
    except AttributeError:
        return "multiple"


def _is_sequential(model: Any) -> bool:
    graph = model._graph_of_layers
    if graph is None or type(model).__name__ == "Sequential":
        return True
    depths = list(graph.layer_depths.values())
    if len(set(depths)) != len(depths):
        return False
    return all(len(layer._inbound_nodes) == 1 for layer in model.layers)


def _sources(layer: Any, model: Any) -> list[str]:
    graph = model._graph_of_layers
    members = set() if graph is None else set(graph.nodes)
    found = []
    for node in layer._inbound_nodes:
        if node in members:
            for history in node.histories:
                found.append(f"{history.layer.name}[{history.node_index}][{history.tensor_index}]")
    return found
