"""What TensorFlow's kernels say of inputs that they refuse.

While a graph is built, an op's shape rule refuses wrong shapes, in the words of TensorFlow's shape
functions. Shapes that are known only when a step runs are refused by kernels, which have words of
their own. Programs and tests look for both.

A message is a function of the failed node and the values of its inputs; it returns None where the
failure is another one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.ir.step_graph import Node
from penstock.ops.elementwise_rules import broadcast_shape
from penstock.shapes import text

Message = Callable[[Node, Sequence[Any]], str | None]

_MESSAGES: dict[str, Message] = {}


def message(node: Node, values: Sequence[Any]) -> str | None:
    """The kernel's words for the failure of a node; None where it has no special ones."""
    write = _MESSAGES.get(node.type)
    if write is None and node.spec.shape_rule is broadcast_shape:
        write = _no_broadcast
    if write is None or not all(hasattr(value, "shape") for value in values):
        return None
    return write(node, values)


def _of(*op_types: str) -> Callable[[Message], Message]:
    def register(function: Message) -> Message:
        _MESSAGES.update(dict.fromkeys(op_types, function))
        return function

    return register


def _shape(value: Any) -> str:
    return text(tuple(value.shape))


def _rank(value: Any) -> int:
    return len(value.shape)


def _broadcasts(a: Sequence[int], b: Sequence[int]) -> bool:
    pairs = zip(reversed(a), reversed(b), strict=False)
    return all(m == n or m == 1 or n == 1 for m, n in pairs)


# Arithmetic -----------------------------------------------------------------------------------


def _no_broadcast(node: Node, values: Sequence[Any]) -> str | None:
    x, y = values
    if _broadcasts(x.shape, y.shape):
        return None
    return f"Incompatible shapes: {_shape(x)} vs. {_shape(y)}"


_MESSAGES.update(dict.fromkeys(("Equal", "NotEqual"), _no_broadcast))


@_of("MatMul", "SparseMatMul")
def _(node: Node, values: Sequence[Any]) -> str | None:
    for index, value in enumerate(values):
        if _rank(value) != 2:
            return f"In[{index}] is not a matrix. Instead it has shape {_shape(value)}"
    a, b = values
    return f"Matrix size-incompatible: In[0]: {_shape(a)}, In[1]: {_shape(b)}"


@_of("BatchMatMul", "BatchMatMulV2")
def _(node: Node, values: Sequence[Any]) -> str | None:
    for index, value in enumerate(values):
        if _rank(value) < 2:
            return f"In[{index}] ndims must be >= 2: {_rank(value)}"
    x, y = values
    if not _broadcasts(x.shape[:-2], y.shape[:-2]):
        return f"In[0] and In[1] must have compatible batch dimensions: {_shape(x)} vs. {_shape(y)}"
    adj_x, adj_y = int(node.attrs["adj_x"]), int(node.attrs["adj_y"])
    inner = x.shape[-2 if adj_x else -1], y.shape[-1 if adj_y else -2]
    if inner[0] == inner[1]:
        return None
    return (
        f"In[0] mismatch In[1] shape: {inner[0]} vs. {inner[1]}: {_shape(x)} {_shape(y)} "
        f"{adj_x} {adj_y}"
    )


@_of("AddN")
def _(node: Node, values: Sequence[Any]) -> str | None:
    for index, value in enumerate(values):
        if value.shape != values[0].shape:
            return _of_other_size(node, 0, values[0], index, value)
    return None


@_of("Select")
def _(node: Node, values: Sequence[Any]) -> str | None:
    condition, then, other = values
    if _rank(condition) == 0 or (_rank(condition) == 1 and _rank(then) != 1):
        if _rank(condition) and _rank(then) == 0:
            return f"'then' must be at least a vector, but saw shape: {_shape(then)}"
        if _rank(condition) and then.shape[0] != condition.shape[0]:
            return (
                "Number of batches of 'then' must match size of 'cond', but saw: "
                f"{then.shape[0]} vs. {condition.shape[0]}"
            )
        return (
            "'then' and 'else' must have the same size.  but received: "
            f"{_shape(then)} vs. {_shape(other)}"
        )
    for index, value in enumerate((then, other), start=1):
        if value.shape != condition.shape:
            return _of_other_size(node, 0, condition, index, value)
    return None


def _of_other_size(node: Node, i: int, first: Any, j: int, second: Any) -> str:
    return (
        f"Inputs to operation {node.name} of type {node.type} must have the same size and shape.  "
        f"Input {i}: {_shape(first)} != input {j}: {_shape(second)}"
    )


# Shapes ---------------------------------------------------------------------------------------


@_of("ConcatV2")
def _(node: Node, values: Sequence[Any]) -> str | None:
    *parts, axis = values
    return _cannot_join(parts, axis)


@_of("Concat")
def _(node: Node, values: Sequence[Any]) -> str | None:
    axis, *parts = values
    return _cannot_join(parts, axis)


def _cannot_join(parts: Sequence[Any], axis: Any) -> str | None:
    first, number = parts[0], int(axis)
    rank = _rank(first)
    if not -rank <= number < max(rank, 1):
        return (
            f"ConcatOp : Expected concatenating dimensions in the range [{-rank}, {rank}), but "
            f"got {number}"
        )
    for index, part in enumerate(parts):
        both = f"shape[0] = {_shape(first)} vs. shape[{index}] = {_shape(part)}"
        if _rank(part) != rank:
            return f"ConcatOp : Ranks of all input tensors should match: {both}"
        sizes = zip(first.shape, part.shape, strict=True)
        if any(m != n for axis, (m, n) in enumerate(sizes) if axis != number % rank):
            return f"ConcatOp : Dimensions of inputs should match: {both}"
    return None


@_of("Pack")
def _(node: Node, values: Sequence[Any]) -> str | None:
    for index, value in enumerate(values):
        if value.shape != values[0].shape:
            return (
                f"Shapes of all inputs must match: values[0].shape = {_shape(values[0])} != "
                f"values[{index}].shape = {_shape(value)}"
            )
    return None


@_of("Reshape")
def _(node: Node, values: Sequence[Any]) -> str | None:
    return None if _rank(values[1]) == 1 else f"sizes input must be 1-D, not {_shape(values[1])}"


@_of("Transpose", "ConjugateTranspose")
def _(node: Node, values: Sequence[Any]) -> str | None:
    x, perm = values
    rank = _rank(x)
    if _rank(perm) != 1:
        return f"perm must be a vector, not {_shape(perm)}"
    if len(perm) != rank:
        return (
            f"transpose expects a vector of size {rank}. But input(1) is a vector of size "
            f"{len(perm)}"
        )
    wrong = next((axis for axis in perm.tolist() if not -rank <= axis < rank), None)
    return None if wrong is None else f"{wrong} is out of range [0 .. {rank})"


@_of("Fill")
def _(node: Node, values: Sequence[Any]) -> str | None:
    dims, value = values
    if _rank(dims) != 1:
        return f"dims must be a vector, got shape {_shape(dims)}"
    return f"value must be a scalar, got shape {_shape(value)}" if _rank(value) else None


@_of("ExpandDims")
def _(node: Node, values: Sequence[Any]) -> str | None:
    if values[1].numel() != 1:
        return "'dim' must be a tensor with a single value"
    return (
        f"Tried to expand dim index {int(values[1])} for tensor with {_rank(values[0])} dimensions."
    )


@_of("Squeeze")
def _(node: Node, values: Sequence[Any]) -> str | None:
    rank = _rank(values[0])
    for axis in node.attrs["squeeze_dims"]:
        if not -rank <= axis < rank:
            return f"Tried to squeeze dim index {axis} for tensor with {rank} dimensions."
    return None


@_of("Tile")
def _(node: Node, values: Sequence[Any]) -> str | None:
    x, multiples = values
    if _rank(multiples) != 1:
        return f"Expected multiples to be 1-D, but got shape {_shape(multiples)}"
    if len(multiples) == _rank(x):
        return None
    return (
        f"Expected multiples argument to be a vector of length {_rank(x)} but got length "
        f"{len(multiples)}"
    )


@_of("Range")
def _(node: Node, values: Sequence[Any]) -> str | None:
    return "Requires delta != 0: 0" if values[2].item() == 0 else None


@_of("GatherNd")
def _(node: Node, values: Sequence[Any]) -> str | None:
    params, indices = values
    if _rank(indices) < 1 or indices.shape[-1] <= _rank(params):
        return None
    return (
        "index innermost dimension length must be <= params rank; saw: "
        f"{indices.shape[-1]} vs. {_rank(params)}"
    )


@_of("DynamicStitch", "ParallelDynamicStitch")
def _(node: Node, values: Sequence[Any]) -> str | None:
    half = len(values) // 2
    for number, (indices, data) in enumerate(zip(values[:half], values[half:], strict=True)):
        if data.shape[: _rank(indices)] != indices.shape:
            return (
                f"data[{number}].shape = {_shape(data)} does not start with "
                f"indices[{number}].shape = {_shape(indices)}"
            )
    return None


@_of("MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3")
def _(node: Node, values: Sequence[Any]) -> str | None:
    if _rank(values[0]) >= 2:
        return None
    return f"input must be at least 2-dim, received shape: {_shape(values[0])}"


# Neural networks ------------------------------------------------------------------------------


def _is_channels_first(node: Node) -> bool:
    return str(node.attrs.get("data_format", "")).startswith("NC")


@_of("BiasAdd", "BiasAddV1")
def _(node: Node, values: Sequence[Any]) -> str | None:
    x, bias = values
    if _rank(x) < 2:
        return f"Input tensor must be at least 2D: {_shape(x)}"
    if _rank(bias) != 1:
        return f"Biases must be 1D: {_shape(bias)}"
    which = "channel" if _is_channels_first(node) else "last"
    return (
        f"Must provide as many biases as the {which} dimension of the input tensor: "
        f"{_shape(bias)} vs. {_shape(x)}"
    )


@_of("SoftmaxCrossEntropyWithLogits")
def _(node: Node, values: Sequence[Any]) -> str | None:
    logits, labels = values
    if _broadcasts(logits.shape, labels.shape):
        return None
    return (
        f"logits and labels must be broadcastable: logits_size={_shape(logits)} "
        f"labels_size={_shape(labels)}"
    )


@_of("Conv2D")
def _(node: Node, values: Sequence[Any]) -> str | None:
    x, kernel = values
    if _rank(x) != 4:
        return f"input must be 4-dimensional{_shape(x)}"
    if _rank(kernel) != 4:
        return f"filter must be 4-dimensional: {_shape(kernel)}"
    depth = x.shape[1 if _is_channels_first(node) else 3]
    if depth % kernel.shape[2] == 0:
        return None
    return f"input depth must be evenly divisible by filter depth: {depth} vs {kernel.shape[2]}"


@_of("MaxPool", "AvgPool")
def _(node: Node, values: Sequence[Any]) -> str | None:
    return None if _rank(values[0]) == 4 else "tensor_in must be 4-dimensional"


@_of("InTopK", "InTopKV2")
def _(node: Node, values: Sequence[Any]) -> str | None:
    predictions, targets = values[:2]
    if _rank(predictions) != 2:
        return "predictions must be 2-dimensional"
    if _rank(targets) != 1:
        return "targets must be 1-dimensional"
    return (
        f"First dimension of predictions {predictions.shape[0]} must match length of targets "
        f"{targets.shape[0]}"
    )


@_of("LRN")
def _(node: Node, values: Sequence[Any]) -> str | None:
    return None if _rank(values[0]) == 4 else "in must be 4-dimensional"


@_of("Dilation2D")
def _(node: Node, values: Sequence[Any]) -> str | None:
    x, kernel = values
    if _rank(x) != 4 or _rank(kernel) != 3 or x.shape[3] == kernel.shape[2]:
        return None
    return f"input and filter must have the same depth: {x.shape[3]} vs {kernel.shape[2]}"


@_of("SpaceToDepth")
def _(node: Node, values: Sequence[Any]) -> str | None:
    x, block = values[0], node.attrs["block_size"]
    if _rank(x) != 4:
        return None
    height, width = x.shape[2:4] if _is_channels_first(node) else x.shape[1:3]
    return f"Image width {width} and height {height} should be divisible by block_size: {block}"


@_of("DepthToSpace")
def _(node: Node, values: Sequence[Any]) -> str | None:
    x, block = values[0], node.attrs["block_size"]
    if _rank(x) != 4:
        return None
    depth = x.shape[1 if _is_channels_first(node) else 3]
    return f"Input depth dimension {depth} should be divisible by: {block * block}"
