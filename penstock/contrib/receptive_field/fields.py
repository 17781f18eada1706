"""Receptive fields: which pixels of the input a feature of a network sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import penstock as tf
from penstock.contrib.receptive_field import compute_order
from penstock.contrib.receptive_field.layer_parameters import Window, windows

_DIRECTIONS = ("horizontal", "vertical")


class ReceptiveField:
    """Sizes, strides and paddings of a receptive field, one number for each axis (x, y)."""

    def __init__(self, size: Sequence[Any], stride: Sequence[Any], padding: Sequence[Any]):
        self.size = np.asarray(size)
        self.stride = np.asarray(stride)
        self.padding = np.asarray(padding)

    def _axes(self, points: Any, axis: Iterable[int] | None, what: str) -> list[int]:
        axes = list(range(self.size.size) if axis is None else axis)
        if points.shape[-1] != len(axes):
            raise ValueError(
                f"Dimensionality of the {what} ({points.shape[-1]}) does not match "
                f"dimensionality of `axis` ({len(axes)})"
            )
        return axes

    def compute_input_center_coordinates(self, y: Any, axis: Iterable[int] | None = None) -> Any:
        """Where in the input the middle of the field of each feature is.

        Args:
          y: places of features, the last dimension is that of the axes.
          axis: the axes; all if None.
        """
        y = np.asarray(y)
        axes = self._axes(y, axis, "feature coordinates `y`")
        return -self.padding[axes] + y * self.stride[axes] + (self.size[axes] - 1) / 2

    def compute_feature_coordinates(self, x: Any, axis: Iterable[int] | None = None) -> Any:
        """Which features have the middles of their fields there.

        Args:
          x: places in the input, the last dimension is that of the axes.
          axis: the axes; all if None.
        """
        x = np.asarray(x)
        axes = self._axes(x, axis, "input center coordinates `x`")
        return (x + self.padding[axes] + (1 - self.size[axes]) / 2) / self.stride[axes]

    def __iter__(self) -> Iterator[Any]:
        return iter(np.concatenate([self.size, self.stride, self.padding]))


@dataclass(frozen=True)
class _Field:
    """What the output sees of one node's result along one axis."""

    size: int
    stride: int
    padding: int | None

    def before(self, window: Window, padded: bool) -> _Field:
        """The same one node earlier."""
        assert window.size is not None and window.stride is not None
        padding = None
        if padded:
            assert self.padding is not None and window.padding is not None
            padding = window.stride * self.padding + window.padding
        size = window.stride * self.size + window.size - window.stride
        return _Field(size, window.stride * self.stride, padding)

    def center(self) -> float:
        assert self.padding is not None
        return (self.size - 1) / 2 - self.padding


def _check_aligned(known: _Field, other: _Field, direction: str) -> None:
    problem = "Graph is not aligned since {} from different paths is different in {} direction"
    if known.stride != other.stride:
        raise ValueError(problem.format("effective stride", direction))
    if known.center() != other.center():
        raise ValueError(problem.format("center shift", direction))


def _name(node: Any) -> str:
    return node.op.name if isinstance(node, tf.Tensor) else node


def _propagated(
    infos: dict[str, compute_order.NodeInfo],
    nodes: dict[str, Any],
    source: str,
    result: str,
    stops: Sequence[str],
) -> dict[str, tuple[_Field, _Field]]:
    """The fields of all nodes between, from the result back to the source."""
    start = _Field(1, 1, 0)
    fields = {result: (start, start)}
    padded = True  # once a padding depends on the image's size, no sum of them is known
    for info in sorted(infos.values(), key=lambda each: -each.order):
        node = info.node
        if node.name == source:
            break
        if node.name not in fields:
            continue
        found = windows(node, nodes, info.input_size)
        padded = padded and all(window.padding is not None for window in found)
        before = [
            field.before(window, padded)
            for field, window in zip(fields[node.name], found, strict=True)
        ]
        for name in compute_order.data_inputs(node):
            if any(name.startswith(stop) for stop in stops):
                continue
            known = fields.get(name, (before[0], before[1]))
            if padded:
                for old, new, direction in zip(known, before, _DIRECTIONS, strict=True):
                    _check_aligned(old, new, direction)
            x, y = (
                new if new.size > old.size else old for old, new in zip(known, before, strict=True)
            )
            fields[name] = (x, y)
    return fields


def compute_receptive_field_from_graph_def(
    graph_def: Any,
    input_node: Any,
    output_node: Any,
    stop_propagation: Sequence[str] | None = None,
    input_resolution: Sequence[int] | None = None,
) -> ReceptiveField:
    """The receptive field of a node's results, with respect to an input.

    Args:
      graph_def: a Graph or GraphDef.
      input_node: a tensor, or the name of a node.
      output_node: a tensor, or the name of a node.
      stop_propagation: beginnings of names of nodes at which paths end.
      input_resolution: height and width of the input, if they are always the same.
    """
    if isinstance(graph_def, tf.Graph):
        graph_def = graph_def.as_graph_def()
    source, result = _name(input_node), _name(output_node)
    infos, nodes = compute_order.get_compute_order(graph_def, source, input_resolution)
    if result not in infos:
        raise ValueError("Output node was not found")
    fields = _propagated(infos, nodes, source, result, stop_propagation or ())
    if source not in fields:
        raise ValueError("Input node was not found")
    x, y = fields[source]
    return ReceptiveField((x.size, y.size), (x.stride, y.stride), (x.padding, y.padding))
