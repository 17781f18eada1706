"""`tf.keras.utils.plot_model`: a model's layers as a drawing, by Graphviz."""

from __future__ import annotations

import importlib
import os
from typing import Any

from penstock import nest

__all__ = ["model_to_dot", "plot_model"]


def _pydot() -> Any:
    """The module that writes Graphviz' language, or None."""
    for name in ("pydot_ng", "pydotplus", "pydot"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None


def check_pydot() -> bool:
    """Whether pydot and Graphviz are installed."""
    pydot = _pydot()
    if pydot is None:
        return False
    try:
        pydot.Dot.create(pydot.Dot())
    except OSError:
        return False
    return True


def is_wrapped_model(layer: Any) -> bool:
    """Whether a layer wraps a network."""
    from penstock.keras.engine.network import Network
    from penstock.keras.layers import Wrapper

    return isinstance(layer, Wrapper) and isinstance(layer.layer, Network)


def add_edge(dot: Any, src: str, dst: str) -> None:
    """Adds an arrow to a drawing, once."""
    if not dot.get_edge(src, dst):
        dot.add_edge(_pydot().Edge(src, dst))


def model_to_dot(
    model: Any,
    show_shapes: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 96,
    subgraph: bool = False,
) -> Any:
    """A model as pydot's drawing.

    Args:
      show_shapes: whether boxes tell shapes of inputs and outputs.
      rankdir: "TB" to draw from top to bottom, "LR" from left to right.
      expand_nested: whether the layers of models inside are drawn.
      subgraph: whether it is to be a part of another drawing.
    """
    if not check_pydot():
        raise ImportError(
            "Failed to import pydot. You must install pydot and graphviz for `pydotprint` to work."
        )
    pydot = _pydot()
    if subgraph:
        dot = pydot.Cluster(style="dashed", graph_name=model.name)
        dot.set("label", model.name)
        dot.set("labeljust", "l")
    else:
        dot = pydot.Dot()
        dot.set("rankdir", rankdir)
        dot.set("concentrate", True)
        dot.set("dpi", dpi)
        dot.set_node_defaults(shape="record")
    if not model._is_connected:
        dot.add_node(pydot.Node(str(id(model)), label=model.name))
        return dot
    drawing = _Drawing(pydot, dot, show_shapes, show_layer_names, rankdir, expand_nested)
    drawing.add(model)
    return dot


class _Drawing:
    """The boxes and arrows of one model."""

    def __init__(
        self, pydot: Any, dot: Any, show_shapes: bool, show_names: bool, rankdir: str, nested: bool
    ):
        self._pydot, self._dot = pydot, dot
        self._show_shapes, self._show_names = show_shapes, show_names
        self._rankdir, self._nested = rankdir, nested
        #: The first and the last box of each layer; they differ for models inside.
        self._ends: dict[int, tuple[str, str]] = {}

    def add(self, model: Any) -> None:
        for layer in model.layers:
            self._add_layer(layer)
        members = set(model._graph_of_layers.nodes)
        for layer in model.layers:
            for node in layer._inbound_nodes:
                if node in members:
                    for source in nest.flatten(node.inbound_layers):
                        if id(source) in self._ends:
                            add_edge(self._dot, self._ends[id(source)][1], self._ends[id(layer)][0])

    def _add_layer(self, layer: Any) -> None:
        from penstock.keras.engine.network import Network

        inner = layer.layer if is_wrapped_model(layer) else layer
        if self._nested and isinstance(inner, Network):
            part = model_to_dot(
                inner,
                self._show_shapes,
                self._show_names,
                self._rankdir,
                self._nested,
                subgraph=True,
            )
            boxes = part.get_nodes()
            self._dot.add_subgraph(part)
            self._ends[id(layer)] = (boxes[0].get_name(), boxes[-1].get_name())
            return
        self._dot.add_node(self._pydot.Node(str(id(layer)), label=self._label(layer)))
        self._ends[id(layer)] = (str(id(layer)), str(id(layer)))

    def _label(self, layer: Any) -> str:
        from penstock.keras.layers import Wrapper

        name, kind = layer.name, type(layer).__name__
        if isinstance(layer, Wrapper):
            name = f"{name}({layer.layer.name})"
            kind = f"{kind}({type(layer.layer).__name__})"
        label = f"{name}: {kind}" if self._show_names else kind
        if not self._show_shapes:
            return label
        shapes = [_shape_text(layer, "input_shape"), _shape_text(layer, "output_shape")]
        return f"{label}\n|{{input:|output:}}|{{{{{shapes[0]}}}|{{{shapes[1]}}}}}"


def _shape_text(layer: Any, which: str) -> str:
    try:
        return str(getattr(layer, which)).replace("None", "?")
    except AttributeError:
        return "?"


def plot_model(
    model: Any,
    to_file: str = "model.png",
    show_shapes: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 96,
) -> None:
    """Draws a model into a file, whose ending says in which format."""
    dot = model_to_dot(model, show_shapes, show_layer_names, rankdir, expand_nested, dpi)
    extension = os.path.splitext(to_file)[1]
    dot.write(to_file, format=extension[1:] or "png")
