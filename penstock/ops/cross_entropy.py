"""Cross entropies of logits: softmax, sigmoid and Poisson."""

from __future__ import annotations

import math
from typing import Any

from penstock import dtypes, shapes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING, INDEX
from penstock.ops.binary import add, subtract
from penstock.ops.casts import cast
from penstock.ops.comparison import equal, logical_and
from penstock.ops.constants import constant
from penstock.ops.debugging import Assert
from penstock.ops.elementwise import abs as absolute
from penstock.ops.elementwise import exp, log, log1p
from penstock.ops.filling import ones_like, zeros_like
from penstock.ops.filling import range as count
from penstock.ops.identity import PreventGradient, stop_gradient
from penstock.ops.joining import concat
from penstock.ops.matmul import matmul
from penstock.ops.permuting import transpose
from penstock.ops.reductions import reduce_all
from penstock.ops.select import Select
from penstock.ops.shape_checks import merge_sizes, with_rank
from penstock.ops.shaping import expand_dims, rank, renamed_argument, reshape, shape, squeeze
from penstock.ops.slicing import slice as slice_of
from penstock.ops.softmax import LogSoftmax, Softmax
from penstock.shapes import Shape

__all__ = [
    "log_poisson_loss",
    "sigmoid_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits_v2",
    "sparse_softmax_cross_entropy_with_logits",
    "weighted_cross_entropy_with_logits",
]

SoftmaxCrossEntropyWithLogits = op(
    "SoftmaxCrossEntropyWithLogits(features: T, labels: T) -> loss: T, backprop: T", T=FLOATING
)
SparseSoftmaxCrossEntropyWithLogits = op(
    "SparseSoftmaxCrossEntropyWithLogits(features: T, labels: Tlabels) -> loss: T, backprop: T",
    T=FLOATING,
    Tlabels=types(INDEX, default=dtypes.int64),
)


@SoftmaxCrossEntropyWithLogits.shape
def _(op: Any, features: Shape, labels: Shape) -> Any:
    both = shapes.broadcast(features, labels)
    if both is not None and len(both) != 2:
        raise ValueError(f"Shape must be broadcasted with rank 2, but is rank {len(both)}")
    both = with_rank(both, 2)
    return [(both[0],), both]


@SparseSoftmaxCrossEntropyWithLogits.shape
def _(op: Any, features: Shape, labels: Shape) -> Any:
    features, labels = with_rank(features, 2), with_rank(labels, 1)
    batch = merge_sizes(features[0], labels[0])
    return [(batch,), (batch, features[1])]


@SoftmaxCrossEntropyWithLogits.gradient
def _(op: Any, grad: Tensor, backprop_grad: Tensor) -> Any:
    by_logits = _logits_gradient(op, _per_row(grad, op.outputs[1]), backprop_grad)
    return by_logits, _per_row(grad, -LogSoftmax(op.inputs[0]))


_ONCE_ONLY = (
    "Currently there is no way to take the second derivative of "
    "sparse_softmax_cross_entropy_with_logits due to the fused implementation's interaction with "
    "tf.gradients()"
)


@SparseSoftmaxCrossEntropyWithLogits.gradient
def _(op: Any, grad: Tensor, backprop_grad: Tensor) -> Any:
    backprop = PreventGradient(op.outputs[1], message=_ONCE_ONLY)
    return _logits_gradient(op, _per_row(grad, backprop), backprop_grad), None


def _per_row(weights: Tensor, rows: Tensor) -> Tensor:
    return expand_dims(weights, -1) * rows


def _logits_gradient(op: Any, by_logits: Tensor, backprop_grad: Tensor | None) -> Tensor:
    """The gradient for the logits; the second output, itself a gradient, may have one too."""
    if backprop_grad is None or backprop_grad._op.type in ("ZerosLike", "Zeros"):
        return by_logits
    probabilities = Softmax(op.inputs[0])
    dot = matmul(expand_dims(backprop_grad, 1), expand_dims(probabilities, 2))
    return by_logits + (backprop_grad - squeeze(dot, axis=[1])) * probabilities


# Softmax --------------------------------------------------------------------------------------


def _by_name(
    function: str, sentinel: Any, labels: Any, logits: Any, name: str | None
) -> tuple[Any, Any, str | None]:
    """Labels, logits and name of a call that may use the argument order of TensorFlow's papers.

    There the arguments were (logits, labels, name), by position; later they had to be named.
    """
    if sentinel is not None:
        if logits is not None and not isinstance(logits, str):
            raise ValueError(
                f"Only call `{function}` with named arguments (labels=..., logits=..., ...)"
            )
        labels, logits, name = labels, sentinel, name if logits is None else logits
    if labels is None or logits is None:
        raise ValueError(
            f"Both labels and logits must be provided for {function}. Received: "
            f"labels={labels} and logits={logits}"
        )
    return labels, logits, name


def softmax_cross_entropy_with_logits(
    _sentinel: Any = None,
    labels: Any = None,
    logits: Any = None,
    dim: int = -1,
    name: str | None = None,
    axis: Any = None,
) -> Tensor:
    """The cross entropy of softmax(logits) and `labels`, to which no gradient flows back.

    Two positional arguments are read as (logits, labels).

    Args:
      labels: Probabilities of the classes, of the shape of `logits`.
      dim: The dimension of the classes.
    """
    labels, logits, name = _by_name(
        "softmax_cross_entropy_with_logits", _sentinel, labels, logits, name
    )
    dim = renamed_argument("axis", axis, "dim", None if axis is not None and dim == -1 else dim)
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as scope:
        labels = stop_gradient(labels, name="labels_stop_gradient")
        return softmax_cross_entropy_with_logits_v2(labels, logits, axis=dim, name=scope)


def softmax_cross_entropy_with_logits_v2(
    labels: Any, logits: Any, axis: Any = None, name: str | None = None, dim: Any = None
) -> Tensor:
    """The cross entropy of softmax(logits) and `labels`.

    Args:
      labels: Probabilities of the classes, of the shape of `logits`.
      axis: The dimension of the classes, the last by default.
    """
    axis = renamed_argument("axis", axis, "dim", dim)
    axis = -1 if axis is None else axis
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        given = logits.dtype.base_dtype
        logits = _at_least_single(logits)
        labels = cast(labels, logits.dtype.base_dtype)
        dimensions, sizes = rank(logits), logits.get_shape()
        if axis != -1:
            axis = axis if axis >= 0 or sizes.ndims is None else axis + sizes.ndims
            logits = _moved_to_last(logits, axis, dimensions)
            labels = _moved_to_last(labels, axis, dimensions)
        outer = shape(logits)
        cost, _ = SoftmaxCrossEntropyWithLogits(_rows(logits), _rows(labels), name=scope)
        cost = reshape(cost, slice_of(outer, [0], [subtract(dimensions, 1)]))
        if sizes.ndims is not None:
            kept = sizes.as_list()
            del kept[axis]
            cost.set_shape(kept)
        return cast(cost, given)


def _at_least_single(logits: Tensor) -> Tensor:
    """Logits in a precision in which sums of exponentials are worth something."""
    narrow = (dtypes.float16, dtypes.bfloat16)
    if logits.dtype.base_dtype in narrow:
        return cast(logits, dtypes.float32)
    return logits


def _rows(tensor: Tensor) -> Tensor:
    """The tensor as a matrix: all dimensions but the last made one."""
    dimensions = rank(tensor)
    last = slice_of(shape(tensor), [subtract(dimensions, 1)], [1])
    return reshape(tensor, concat([[-1], last], 0))


def _moved_to_last(tensor: Tensor, axis: int, dimensions: Tensor) -> Tensor:
    """The tensor with dimension `axis` behind all others."""
    order = concat([count(axis), count(axis + 1, dimensions), [axis]], 0)
    return transpose(tensor, order)


def sparse_softmax_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Tensor:
    """The cross entropy of softmax(logits) and classes given by their numbers.

    Two positional arguments are read as (logits, labels).

    Args:
      labels: The number of the right class for each row of `logits`: [d0, …, dn-1].
      logits: [d0, …, dn-1, classes].
    """
    labels, logits, name = _by_name(
        "sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits, name
    )
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels, logits = convert_to_tensor(labels), convert_to_tensor(logits)
        given = logits.dtype.base_dtype
        rows = _at_least_single(logits)
        labels_shape = shape(labels)
        _check_sparse_labels(labels, logits)
        if logits.get_shape().ndims == 2:
            cost, _ = SparseSoftmaxCrossEntropyWithLogits(rows, labels, name=name)
            return cast(cost, given)
        with get_default_graph().control_dependencies(_dynamic_checks(labels, logits)):
            classes = shape(logits)[rank(logits) - 1]
            rows = reshape(rows, [-1, classes])
            flat = reshape(labels, [-1])
            cost, _ = SparseSoftmaxCrossEntropyWithLogits(rows, flat, name=name)
            cost = reshape(cost, labels_shape)
            cost.set_shape(labels.get_shape())
            return cast(cost, given)


def _check_sparse_labels(labels: Tensor, logits: Tensor) -> None:
    """Checks what the static shapes tell."""
    of_labels, of_logits = labels.get_shape(), logits.get_shape()
    if of_logits.ndims == 0:
        raise ValueError(f"Logits cannot be scalars - received shape {of_logits}.")
    if of_logits.ndims is None or of_labels.ndims is None:
        return
    if of_labels.ndims != of_logits.ndims - 1:
        raise ValueError(
            f"Rank mismatch: Rank of labels (received {of_labels.ndims}) should equal rank of "
            f"logits minus 1 (received {of_logits.ndims})."
        )
    if _both_known(labels, logits) and of_labels != of_logits[:-1]:
        raise ValueError(
            f"Shape mismatch: The shape of labels (received {of_labels}) should equal the shape of "
            f"logits except for the last dimension (received {of_logits})."
        )


def _both_known(labels: Tensor, logits: Tensor) -> bool:
    of_labels, of_logits = labels.get_shape(), logits.get_shape()
    return of_labels.is_fully_defined() and of_logits[:-1].is_fully_defined()


def _dynamic_checks(labels: Tensor, logits: Tensor) -> list[Any]:
    """Nodes that fail in a step where labels and logits don't fit each other."""
    if _both_known(labels, logits):
        return []
    given, sizes = shape(labels), shape(logits)
    wanted = sizes[:-1]
    with name_scope("assert_equal_1"):
        fits = reduce_all(equal(given, wanted))
        told = "Condition x == y did not hold element-wise:"
        parts = [told, f"x ({given.name}) = ", given, f"y ({wanted.name}) = ", wanted]
        return [Assert(fits, parts)]


# Sigmoid and Poisson --------------------------------------------------------------------------


def _require_same_shape(a: Tensor, b: Tensor, names: str) -> None:
    try:
        b.get_shape().assert_is_compatible_with(a.get_shape())
    except ValueError:
        raise ValueError(
            f"{names} must have the same shape ({a.get_shape()} vs {b.get_shape()})"
        ) from None


def sigmoid_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Tensor:
    """The cross entropy of sigmoid(logits) and `labels`, each class by itself.

    Two positional arguments are read as (logits, labels).
    """
    labels, logits, name = _by_name(
        "sigmoid_cross_entropy_with_logits", _sentinel, labels, logits, name
    )
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        _require_same_shape(logits, labels, "logits and labels")
        # max(x, 0) - x * z + log(1 + exp(-|x|)), with derivatives at zero as for x > 0.
        zeros = zeros_like(logits, dtype=logits.dtype.base_dtype)
        positive = logits >= zeros
        rectified = Select(positive, logits, zeros)
        negative_size = Select(positive, -logits, logits)
        return add(rectified - logits * labels, log1p(exp(negative_size)), name=scope)


def weighted_cross_entropy_with_logits(
    labels: Any = None,
    logits: Any = None,
    pos_weight: Any = None,
    name: str | None = None,
    targets: Any = None,
) -> Tensor:
    """`sigmoid_cross_entropy_with_logits` in which errors on positive labels weigh `pos_weight`."""
    from penstock.ops.activations import relu

    labels = renamed_argument("labels", labels, "targets", targets)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        _require_same_shape(logits, labels, "logits and labels")
        weight = 1 + (pos_weight - 1) * labels
        return add(
            (1 - labels) * logits,
            weight * (log1p(exp(-absolute(logits))) + relu(-logits)),
            name=scope,
        )


def log_poisson_loss(
    targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None
) -> Tensor:
    """The negative log-likelihood of counts `targets` at Poisson rates exp(log_input).

    Args:
      compute_full_loss: Whether to add Stirling's estimate of the part that no gradient sees.
    """
    with name_scope(name, "log_poisson_loss", [log_input, targets]):
        log_input = convert_to_tensor(log_input, name="log_input")
        targets = convert_to_tensor(targets, name="targets")
        _require_same_shape(log_input, targets, "log_input and targets")
        result = exp(log_input) - log_input * targets
        return result + _stirling(targets) if compute_full_loss else result


def _stirling(counts: Tensor) -> Tensor:
    """An estimate of log(n!), zero for n from 0 to 1."""
    dtype = counts.dtype.base_dtype
    half, two_pi = constant(0.5, dtype), constant(2 * math.pi, dtype)
    estimate = counts * log(counts) - counts + half * log(two_pi * counts)
    zeros, ones = zeros_like(counts, dtype=dtype), ones_like(counts, dtype=dtype)
    small = logical_and(counts >= zeros, counts <= ones)
    return Select(small, zeros, estimate)
