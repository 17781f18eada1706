"""The graph of layers between input and output tensors."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.ir.convert import CompositeTensor
from penstock.keras.engine.node import Node


class GraphOfLayers:
    """The calls of layers that lead from inputs to outputs.

    1. `nodes` are in an order in which they can be run.
    2. `layers` are by depth, the farthest from the outputs first; layers of one depth are in the
       order in which a walk back from the outputs meets them.
    """

    def __init__(self, inputs: list[Any], outputs: list[Any], name: str):
        self.inputs = inputs
        self.outputs = outputs
        self._layer_index: dict[Any, int] = {}
        self.nodes = self._ordered_nodes()
        self._check_connected()
        self.node_depths = self._depths_of_nodes()
        self.layer_depths = self._depths_of_layers()
        self.layers = sorted(
            self._layer_index,
            key=lambda layer: (-self.layer_depths[layer], self._layer_index[layer]),
        )
        self.nodes_by_depth = sorted(
            self.nodes,
            key=lambda node: -self.node_depths[node],
        )
        names = [layer.name for layer in self.layers]
        for each in names:
            if names.count(each) != 1:
                raise ValueError(
                    f'The name "{each}" is used {names.count(each)} times in the model. All layer '
                    "names should be unique."
                )

    def _node_of(self, tensor: Any) -> Node:
        history = tensor._keras_history
        return history.layer._inbound_nodes[history.node_index]

    def _ordered_nodes(self) -> list[Node]:
        """Parents before children, by a walk back from the outputs."""
        ordered: list[Node] = []
        done: set[int] = set()
        in_progress: set[int] = set()
        ends = {id(self._node_of(tensor)) for tensor in self.inputs}
        for output in self.outputs:
            pending: list[tuple[Node, bool]] = [(self._node_of(output), False)]
            while pending:
                node, is_finished = pending.pop()
                if is_finished:
                    in_progress.discard(id(node))
                    if id(node) not in done:
                        done.add(id(node))
                        ordered.append(node)
                    continue
                if id(node) in done:
                    continue
                if id(node) in in_progress:
                    raise ValueError(
                        f'The tensor "{output}" at layer "{node.layer.name}" is part of a cycle.'
                    )
                self._layer_index.setdefault(node.layer, len(self._layer_index))
                in_progress.add(id(node))
                pending.append((node, True))
                if id(node) not in ends:
                    parents = [parent for parent in node.parents() if id(parent) not in done]
                    pending += [(parent, False) for parent in reversed(parents)]
        return ordered

    def _check_connected(self) -> None:
        known = {id(tensor) for tensor in self.inputs}
        passed: list[str] = []
        for node in self.nodes:
            if any(
                tensor is given for tensor in _flat(node.output_tensors) for given in self.inputs
            ):
                passed.append(node.layer.name)
                continue
            for tensor in _flat(node.input_tensors):
                if id(tensor) not in known:
                    raise ValueError(
                        f"Graph disconnected: cannot obtain value for tensor {tensor} at layer "
                        f'"{node.layer.name}". The following previous layers were accessed '
                        f"without issue: {passed}"
                    )
            known.update(id(tensor) for tensor in _flat(node.output_tensors))
            passed.append(node.layer.name)
        for tensor in self.inputs:
            layer = tensor._keras_history.layer
            if layer not in self._layer_index:
                self._layer_index[layer] = -1
                self.nodes.insert(0, self._node_of(tensor))

    def _depths_of_nodes(self) -> dict[Node, int]:
        depths: dict[Node, int] = dict.fromkeys(self.nodes, 0)
        members = set(self.nodes)
        ends = {self._node_of(tensor) for tensor in self.inputs}
        layer_depth: dict[Any, int] = {}
        for node in reversed(self.nodes):
            # All calls of a layer are as deep as its deepest.
            depth = max(depths[node], layer_depth.get(node.layer, 0))
            layer_depth[node.layer] = depths[node] = depth
            if node in ends:
                continue
            for parent in node.parents():
                if parent in members:
                    depths[parent] = max(depths[parent], depth + 1)
        return depths

    def _depths_of_layers(self) -> dict[Any, int]:
        depths: dict[Any, int] = {}
        for node, depth in self.node_depths.items():
            depths[node.layer] = max(depths.get(node.layer, 0), depth)
        # Inputs come first, whether or not short ways lead from them to the outputs.
        for tensor in self.inputs:
            layer = tensor._keras_history.layer
            is_used = self._layer_index[layer] >= 0
            if is_used and not layer._inbound_nodes[0].histories:
                depths[layer] = max(depths.values())
        return depths

    def insert(self, nodes: list[Node]) -> list[Any]:
        """Adds calls that no output needs; the layers that are new here.

        ValueError if they are of layers that the inputs don't lead to.
        """
        known = set(self.nodes)
        pending = [node for node in nodes if node not in known]
        while pending:
            ready = [node for node in pending if all(p in known for p in node.parents())]
            if not ready:
                raise ValueError(
                    "`inputs` of the layers "
                    f"{[node.layer.name for node in pending]} are not among the network's inputs."
                )
            for node in ready:
                shallowest = min((self.node_depths[p] for p in node.parents()), default=0)
                self.node_depths[node] = min(0, shallowest) - 1
            self.nodes += ready
            self.nodes_by_depth += ready
            known.update(ready)
            pending = [node for node in pending if node not in known]
        return self._insert_layers(nodes)

    def _insert_layers(self, nodes: list[Node]) -> list[Any]:
        new: list[Any] = []
        for node in nodes:
            if node.layer not in self.layer_depths:
                self.layers.append(node.layer)
                new.append(node.layer)
            depth = self.node_depths[node]
            self.layer_depths[node.layer] = max(self.layer_depths.get(node.layer, depth), depth)
        return new

    def run(self, inputs: Any, training: Any = None, mask: Any = None) -> list[Any]:
        """Calls the layers on other inputs; the outputs in a list."""
        given: list[Any] = [
            each if _is_symbol(each) else tf.convert_to_tensor(each)
            for each in tf.nest.flatten(inputs)
        ]
        if len(given) != len(self.inputs):
            raise ValueError(
                f"The model expects {len(self.inputs)} inputs, got {len(given)}: {given}"
            )
        masks = [None] * len(given) if mask is None else tf.nest.flatten(mask)
        values: dict[int, Any] = {}
        for tensor, value, its_mask in zip(self.inputs, given, masks, strict=False):
            if its_mask is not None:
                value._keras_mask = its_mask
            values[id(tensor)] = value
        for node in self.nodes:
            outputs = _flat(node.output_tensors)
            if all(id(output) in values for output in outputs):
                continue
            arguments = dict(node.arguments)
            if "training" in node.layer._call_fn_args and training is not None:
                arguments.setdefault("training", training)
            arguments = tf.nest.map_structure(lambda each: values.get(id(each), each), arguments)
            layer_inputs = tf.nest.map_structure(lambda each: values[id(each)], node.input_tensors)
            results = node.layer(layer_inputs, **arguments)
            for output, result in zip(outputs, _flat(results), strict=True):
                values[id(output)] = result
        return [values[id(output)] for output in self.outputs]

    def output_shapes(self, input_shape: Any) -> list[Any]:
        """The static shapes of the outputs for inputs of static shapes."""
        is_one = len(self.inputs) == 1 and not (
            isinstance(input_shape, list) and isinstance(input_shape[0], (tuple, list))
        )
        is_single = is_one and not isinstance(input_shape, dict)
        shapes = [input_shape] if is_single else _flat_shapes(input_shape)
        known = {
            id(tensor): tf.TensorShape(shape)
            for tensor, shape in zip(self.inputs, shapes, strict=True)
        }
        for node in self.nodes:
            outputs = _flat(node.output_tensors)
            if all(id(output) in known for output in outputs):
                continue
            given = tf.nest.map_structure(lambda each: known[id(each)], node.input_tensors)
            found = node.layer.compute_output_shape(given)
            is_several = isinstance(found, list | dict)
            several = _flat_shapes(found) if is_several else [found]
            for output, shape in zip(outputs, several, strict=True):
                known[id(output)] = tf.TensorShape(shape)
        return [known[id(output)] for output in self.outputs]


def _flat_shapes(shapes: Any) -> list[Any]:
    """Shapes in a list, in the order in which structures are flattened."""
    return [shapes[key] for key in sorted(shapes)] if isinstance(shapes, dict) else list(shapes)


def _flat(tensors: Any) -> list[Any]:
    return tf.nest.flatten(tensors)


def _is_symbol(value: Any) -> bool:
    """Whether this is a tensor or variable already, perhaps a sparse or ragged one."""
    return hasattr(value, "op") or isinstance(value, CompositeTensor)
