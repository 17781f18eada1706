"""`tf.einsum`: products and sums named by an equation such as `"bij,bjk->bik"`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from penstock import dtypes, shapes
from penstock.ir.convert import to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import attr, op
from penstock.ir.tensor import Tensor
from penstock.ops import array, casts, reductions
from penstock.ops.aggregates import trace
from penstock.ops.broadcasting import BroadcastGradientArgs
from penstock.ops.shape_checks import merge_sizes
from penstock.shapes import Shape

__all__ = ["einsum"]

Einsum = op("Einsum(inputs: N*T) -> output: T", equation=attr("string"))


_LETTERS = 52  # capital and small ones


class Equation(NamedTuple):
    """The labels of each input and of the output; an ellipsis is one label of its own, '.'."""

    inputs: list[str]
    output: str

    def __str__(self) -> str:
        return f"{','.join(self.inputs)}->{self.output}".replace(".", "...")


def parse(equation: str | bytes) -> Equation:
    """Reads an equation; without `->` the output has the labels that occur once, sorted."""
    text = (equation if isinstance(equation, str) else equation.decode()).replace(" ", "")
    if "." in text.replace("...", ""):
        raise ValueError(f'period "." found outside of ellipsis in {text!r}')
    left, arrow, output = text.replace("...", ".").partition("->")
    for label in left + output:
        if not label.isalpha() and label not in ".,":
            raise ValueError(f"Indices have incorrect format: {text}: {label!r} is no letter")
    if not arrow:
        labels = left.replace(",", "").replace(".", "")
        output = "".join(sorted(label for label in set(labels) if labels.count(label) == 1))
    unknown = sorted(set(output) - set(left) - {"."})
    if unknown:
        raise ValueError(
            f"Invalid equation: {text}: no input has the output's label {unknown[0]!r}"
        )
    return Equation(left.split(","), output)


@Einsum.shape
def _(op: Any, *inputs: Shape) -> Shape:
    equation = parse(op.attrs["equation"])
    if len(equation.inputs) != len(inputs):
        raise ValueError(f"the equation has {len(equation.inputs)} inputs, got {len(inputs)}")
    sizes: dict[str, int | None] = {}
    batch: Shape = ()
    for labels, shape in zip(equation.inputs, inputs, strict=True):
        if shape is None:
            sizes.update((label, None) for label in labels if label not in sizes)
            batch = None if "." in labels else batch
            continue
        named, rest = _split_sizes(labels, shape)
        if batch is not None:
            batch = shapes.broadcast(batch, rest)
        for label, size in named:
            sizes[label] = merge_sizes(sizes.get(label), size)
    if "." in equation.output and batch is None:
        return None
    result: list[int | None] = []
    for label in equation.output:
        result += batch or () if label == "." else [sizes[label]]
    return tuple(result)


def _split_sizes(
    labels: str, shape: tuple[int | None, ...]
) -> tuple[list[tuple[str, int | None]], tuple[int | None, ...]]:
    """The sizes of the labels, and the sizes that the ellipsis stands for."""
    names = labels.replace(".", "")
    extra = len(shape) - len(names)
    if extra < 0 or (extra and "." not in labels):
        raise ValueError(f"Shape must be rank {len(names)} but is rank {len(shape)}")
    start = labels.index(".") if "." in labels else len(labels)
    kept = shape[:start] + shape[start + extra :]
    return list(zip(names, kept, strict=True)), shape[start : start + extra]


# Gradients ------------------------------------------------------------------------------------


@Einsum.gradient
def _(op: Any, grad: Any) -> Any:
    equation = parse(op.attrs["equation"])
    if len(op.inputs) == 1:
        x = op.inputs[0]
        return _input_gradient(grad, equation.output, [], x, equation.inputs[0], array.shape(x))
    x, y = op.inputs
    conj_x, conj_y = casts.conj(x), casts.conj(y)
    shape_x, shape_y = array.shape(x), array.shape(y)
    labels_x, labels_y = equation.inputs
    grad_x = _input_gradient(grad, equation.output, [(labels_y, conj_y)], x, labels_x, shape_x)
    grad_y = _input_gradient(grad, equation.output, [(labels_x, conj_x)], y, labels_y, shape_y)
    if "." not in labels_x + labels_y or _same_ellipsis(x._shape, y._shape, labels_x, labels_y):
        return grad_x, grad_y
    return _unbroadcast_ellipses(labels_x, labels_y, shape_x, shape_y, grad_x, grad_y)


def _input_gradient(
    grad: Any,
    grad_labels: str,
    others: list[tuple[str, Any]],
    x: Any,
    labels: str,
    shape: Any,
) -> Any:
    """The gradient of the input `x`: the equation with the output and `x` exchanged.

    What no other tensor has a label for was summed: the gradient is the same all along it. A
    repeated label takes a diagonal: the gradient is zero beside it.
    """
    unique = "".join(dict.fromkeys(labels))
    known = set(grad_labels).union(*(other for other, _ in others))
    kept = "".join(label for label in unique if label in known)
    if others or kept != grad_labels:
        sources = [grad_labels, *(other for other, _ in others)]
        grad = Einsum([grad, *(y for _, y in others)], equation=str(Equation(sources, kept)))
    if kept != unique:
        sizes = shape if unique == labels else _sizes_of(unique, labels, shape)
        axes = to_tensor([_axis(label, unique) for label in unique if label not in kept])
        grad = array.reshape(grad, reductions.shape_with_ones(sizes, axes))
        grad = array.broadcast_to(grad, sizes)
    if unique != labels:
        grad = Einsum([grad], equation=str(Equation([unique], labels)))
    return grad


def _axis(label: str, labels: str) -> int:
    """The axis of a label, counted from the end if it comes after an ellipsis."""
    position = labels.index(label)
    return position - len(labels) if "." in labels[:position] else position


def _sizes_of(wanted: str, labels: str, shape: Any) -> Any:
    """The sizes of some labels of a tensor, in their order."""
    parts = []
    for label in wanted:
        axis = _axis(label, labels)
        one = shape[axis:] if axis == -1 else shape[axis : axis + 1]
        parts.append(_ellipsis_sizes(labels, shape) if label == "." else one)
    return array.concat(parts, 0)


def _same_ellipsis(x: Shape, y: Shape, labels_x: str, labels_y: str) -> bool:
    if x is None or y is None or "." not in labels_x or "." not in labels_y:
        return False
    rest = _split_sizes(labels_x, x)[1]
    return shapes.is_full(rest) and rest == _split_sizes(labels_y, y)[1]


def _unbroadcast_ellipses(
    labels_x: str, labels_y: str, shape_x: Any, shape_y: Any, grad_x: Any, grad_y: Any
) -> tuple[Any, Any]:
    """Sums over the dimensions of the ellipses along which one of the inputs was stretched."""
    axes_x, axes_y = BroadcastGradientArgs(
        _ellipsis_sizes(labels_x, shape_x), _ellipsis_sizes(labels_y, shape_y)
    )

    def summed(grad: Any, labels: str, axes: Any, shape: Any) -> Any:
        if "." not in labels:
            return grad
        return array.reshape(reductions.reduce_sum(grad, labels.index(".") + axes), shape)

    return summed(grad_x, labels_x, axes_x, shape_x), summed(grad_y, labels_y, axes_y, shape_y)


def _ellipsis_sizes(labels: str, shape: Any) -> Any:
    if "." not in labels:
        return to_tensor([], dtype=dtypes.int32)
    start = labels.index(".")
    after = len(labels) - start - 1
    return shape[start:-after] if after else shape[start:]


# Public function ------------------------------------------------------------------------------


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """The sum of products that an equation describes: `tf.einsum("ij,jk->ik", a, b)` is a matmul.

    Every letter names a dimension, `...` any number of them; letters that the output lacks are
    summed over. Without `->` the output has the letters that occur once, in alphabetical order.
    """
    name = kwargs.pop("name", None)
    kwargs.pop("optimize", None)
    if kwargs:
        raise TypeError(f"invalid keyword arguments for this function: {', '.join(sorted(kwargs))}")
    parsed = parse(equation)
    if len(parsed.inputs) != len(inputs):
        raise ValueError(
            f'Got {len(inputs)} arguments for equation "{equation}", expecting {len(parsed.inputs)}'
        )
    with name_scope(name, "einsum", list(inputs)):
        if _is_trace(equation, parsed.inputs):
            return trace(inputs[0])
        _require_single_labels(parsed.inputs)
        if len(set(parsed.output)) != len(parsed.output):
            raise ValueError(f"Invalid equation: {equation}: an output axis appears more than once")
        tensors = [to_tensor(x) for x in inputs]
        operands = list(zip(parsed.inputs, tensors, strict=True))
        _require_letters(operands)
        while len(operands) > 2:
            operands = _contract_pair(operands, parsed.output)
        if len(inputs) > 2:
            operands.reverse()  # the last product first, as it is the larger
        labels = [entry for entry, _ in operands]
        step = Equation(labels, parsed.output)
        return Einsum([tensor for _, tensor in operands], equation=str(step))


def _is_trace(equation: str, inputs: list[str]) -> bool:
    """Whether TensorFlow 1.x takes the trace: of one input, `ii` or the like, without `->`."""
    labels = inputs[0]
    return "->" not in equation and len(inputs) == 1 and len(labels) > 1 and labels == labels[::-1]


def _require_single_labels(inputs: list[str]) -> None:
    """Checks that no input has a label twice, as TensorFlow 1.x asks for."""
    for labels in inputs:
        if len(set(labels)) != len(labels):
            raise ValueError(f"Subscript not supported: an axis appears more than once: {labels}")


def _require_letters(operands: list[tuple[str, Tensor]]) -> None:
    """Checks that there are letters for the dimensions that the ellipses stand for."""
    letters = {label for labels, _ in operands for label in labels} - {"."}
    ranks = [(labels, tensor._rank()) for labels, tensor in operands if "." in labels]
    more = [rank - len(labels) + 1 for labels, rank in ranks if rank is not None]
    if len(letters) + max(more, default=0) > _LETTERS:
        raise ValueError(f"einsum has letters for {_LETTERS} dimensions at most")


def _contract_pair(operands: list[tuple[str, Tensor]], output: str) -> list[tuple[str, Tensor]]:
    """Multiplies the two operands whose product is the smallest gain in elements."""
    sizes = _label_sizes(operands)

    def elements(labels: str) -> int:
        return math.prod(sizes[label] for label in set(labels))

    def cost(pair: Sequence[int]) -> int:
        first, second = (operands[i][0] for i in pair)
        return elements(_result_labels(operands, pair, output)) - elements(first) - elements(second)

    pair = min(itertools.combinations(range(len(operands)), 2), key=cost)
    result = _result_labels(operands, pair, output)
    (labels_a, a), (labels_b, b) = operands[pair[1]], operands[pair[0]]
    product = Einsum([a, b], equation=str(Equation([labels_a, labels_b], result)))
    rest = [operand for i, operand in enumerate(operands) if i not in pair]
    return [*rest, (result, product)]


def _result_labels(operands: list[tuple[str, Tensor]], pair: Sequence[int], output: str) -> str:
    """The labels of a pair that the output or another operand still needs."""
    needed = set(output).union(*(labels for i, (labels, _) in enumerate(operands) if i not in pair))
    joined = operands[pair[1]][0] + operands[pair[0]][0]
    return "".join(label for label in dict.fromkeys(joined) if label in needed)


def _label_sizes(operands: list[tuple[str, Tensor]]) -> dict[str, int]:
    """The size of each label; 1 where it is unknown."""
    sizes: dict[str, int] = {}
    for labels, tensor in operands:
        sizes.update((label, 1) for label in labels if label not in sizes)
        if tensor._shape is not None:
            named, rest = _split_sizes(labels, tensor._shape)
            sizes.update((label, size) for label, size in named if size is not None)
            if "." in labels:
                sizes["."] = math.prod(size or 1 for size in rest)
    return sizes
