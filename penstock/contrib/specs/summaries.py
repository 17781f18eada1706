"""Texts that describe a network: its structure, its tree, its parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import penstock as tf
from penstock.contrib.specs import building

SHORT_NAMES = {
    "BiasAdd": "biasadd",
    "Const": "_",
    "Conv2D": "conv",
    "MatMul": "dot",
    "Placeholder": "_",
    "Sigmoid": "sig",
    "Variable": "var",
}

#: Unrolled networks, whose inside is too much to read.
_FOLDED = "/HorizontalLstm/"

Layer = tuple[str, int, Any]
Printer = Callable[[str], Any]


def _node_and_shape(x: Any, shapeless: Any) -> tuple[Any, Any]:
    if isinstance(x, tf.Tensor):
        return x.op, x.get_shape().as_list()
    return x, shapeless


def _inner_inputs(node: Any) -> Sequence[Any]:
    return () if _FOLDED in node.name else node.inputs


def tf_structure(x: Any, include_shapes: bool = False, finished: set[Any] | None = None) -> str:
    """A graph as a postfix expression of short names of its ops.

    Args:
      finished: nodes that have been told already; they become `<>`.
    """
    finished = set() if finished is None else finished
    node, shape = _node_and_shape(x, [])
    if node in finished:
        return " <>"
    finished.add(node)
    parts = [tf_structure(each, include_shapes, finished) for each in _inner_inputs(node)]
    if include_shapes:
        parts.append(f" {shape}")
    if node.type != "Identity":
        parts.append(" " + SHORT_NAMES.get(node.type, node.type.lower()))
    return "".join(parts)


def tf_print(
    x: Any, depth: int = 0, finished: set[Any] | None = None, printer: Printer = print
) -> None:
    """Prints a graph as a tree, from its result on.

    Args:
      finished: nodes whose inputs have been printed already.
    """
    finished = set() if finished is None else finished
    node, shape = _node_and_shape(x, "")
    if node.type == "Identity":
        node = node.inputs[0].op
    indent = "  " * depth
    if node in finished:
        printer(f"{indent}<{node.name}> {node.type} {shape}")
        return
    finished.add(node)
    printer(f"{indent}{node.name} {node.type} {shape}")
    for each in _inner_inputs(node):
        tf_print(each, depth + 1, finished, printer=printer)


def tf_num_params(x: Any) -> int:
    """How many elements the variables of a graph have together."""
    node, shape = _node_and_shape(x, None)
    if node.type in ("Variable", "VariableV2"):
        size = tf.TensorShape(shape).num_elements()
        assert size is not None
        return size
    return sum(tf_num_params(each) for each in node.inputs)


def tf_left_split(op: Any) -> tuple[Any, list[Any]]:
    """The first input of a node, and the others."""
    if not op.inputs:
        return None, []
    first = 1 if op.type == "Concat" else 0
    return op.inputs[first], list(op.inputs[first + 1 :])


def tf_parameter_iter(x: Any) -> Iterator[Layer]:
    """Goes back along first inputs: names, how many parameters come in there, and shapes."""
    while x is not None:
        node, shape = _node_and_shape(x, "")
        x, others = tf_left_split(node)
        yield node.name, sum(tf_num_params(each) for each in others), shape


def _joined_by_scope(found: Iterable[Layer]) -> Iterator[Layer]:
    """Neighbours of one outer scope as one; the shape is that of the first."""
    last: Layer | None = None
    for name, total, shape in found:
        scope = re.sub("/.*", "", name)
        if last is not None and scope == last[0]:
            last = (scope, last[1] + total, last[2])
            continue
        if last is not None:
            yield last
        last = (scope, total, shape)
    if last is not None:
        yield last


def tf_parameter_summary(x: Any, printer: Printer = print, combine: bool = True) -> None:
    """Prints the parameters of a graph, from its input on.

    Args:
      combine: whether neighbours of one outer scope are one line.
    """
    found = tf_parameter_iter(x)
    for name, total, shape in reversed(list(_joined_by_scope(found) if combine else found)):
        printer(f"{total:10d} {name:<20} {shape}")


def _built(spec: str, inputs: Any, input_shape: Any, input_type: Any) -> Any:
    if inputs is None:
        inputs = tf.placeholder(input_type, input_shape)
    return building.create_net(spec, inputs)


def tf_spec_structure(
    spec: str, inputs: Any = None, input_shape: Any = None, input_type: Any = tf.float32
) -> str:
    """The structure of a spec's network, for these inputs or a placeholder of a shape."""
    return tf_structure(_built(spec, inputs, input_shape, input_type)).strip()


def tf_spec_summary(
    spec: str, inputs: Any = None, input_shape: Any = None, input_type: Any = tf.float32
) -> None:
    """Prints the parameters of a spec's network."""
    tf_parameter_summary(_built(spec, inputs, input_shape, input_type))


def tf_spec_print(
    spec: str, inputs: Any = None, input_shape: Any = None, input_type: Any = tf.float32
) -> None:
    """Prints a spec's network as a tree."""
    tf_print(_built(spec, inputs, input_shape, input_type))
