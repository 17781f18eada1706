"""Values known while building: constants, and the arithmetic on shapes that hangs on them.

`constant_value` gives a whole value or None, `static_value` only what users may rely on.
`constant_shape` reads a tensor as a shape and may
know some of its dimensions only: `tf.stack([tf.shape(x)[0], 10])` is (None, 10).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from penstock import shapes
from penstock.ir import computed_ahead
from penstock.ir.tensor import Tensor
from penstock.shapes import Shape

_LARGEST = 10_000  # elements: shape arithmetic is small, and building must stay fast


def constant_value(tensor: Tensor) -> np.ndarray | None:
    """The value of `tensor` where the graph determines it, else None."""
    if type(tensor) is Tensor and tensor._op.spec.name == "Enter":
        # TensorFlow looks out of a loop for the input of a node, but not for the input's inputs.
        tensor = tensor._op._inputs[0]
    try:
        return _value(tensor)
    except RecursionError:  # a chain of constants that is too long to look through
        return None


def _value(tensor: Tensor) -> np.ndarray | None:
    if type(tensor) is not Tensor and (known := tensor._known_value()) is not None:
        return known
    op = tensor._op
    rule = op.spec.fold_rule
    if op.spec.name == "Const":
        return op.attrs["value"]
    inferring = computed_ahead.while_inferring.depth > 0
    if rule is None and not inferring:
        return None
    key = "_computed" if inferring else "_folded"
    known = op.__dict__.get(key, False)
    if known is False:
        # A rule of NumPy's may read the static shapes of its results, a kernel does not.
        full = all(shapes.is_full(each._shape) for each in op.outputs)
        known = _fold(op, rule) if rule is not None and (full or not inferring) else None
        if known is None and inferring:
            known = _compute(op)
        op.__dict__[key] = known
    return None if known is None else known[tensor._value_index]


def _compute(op: Any) -> list[np.ndarray] | None:
    if not computed_ahead.may_be_computed(op):
        return None
    inputs = []
    for tensor in op._inputs:
        value = _value(tensor)
        if value is None or value.size > _LARGEST:
            return None
        inputs.append(value)
    return computed_ahead.computed(op, inputs)


# The ops that TensorFlow's own Python code looks through for a value.
_LOOKED_THROUGH = frozenset(
    ["Cast", "Concat", "ConcatOffset", "ConcatV2", "Const", "Equal", "Fill", "NotEqual", "Pack"]
    + ["Range", "Rank", "Shape", "Size"]
)


def static_value(tensor: Tensor) -> np.ndarray | None:
    """The value of `tensor` where TensorFlow's Python code would know it, too, else None.

    An assertion that is known to fail raises when it is built, any other when it runs: which of the
    two it is must not depend on how much Penstock can compute ahead.
    """
    if type(tensor) is not Tensor and (known := tensor._known_value()) is not None:
        return known
    op = tensor._op
    if op.spec.name not in _LOOKED_THROUGH or (op.spec.name == "Pack" and op.attrs["axis"]):
        return None
    shapes_only = getattr(op.spec.fold_rule, "reads_shapes_only", False)
    if not shapes_only and any(static_value(each) is None for each in op._inputs):
        return None
    return constant_value(tensor)


def _fold(op: Any, rule: Any) -> list[np.ndarray] | None:
    if any(tensor._shape is None for tensor in op.outputs):
        return None
    inputs = []
    if getattr(rule, "reads_partial_shapes", False):
        if any(_value(tensor) is None for tensor in op._inputs):
            return None
    elif not getattr(rule, "reads_shapes_only", False):
        for tensor in op._inputs:
            value = _value(tensor)
            if value is None or value.size > _LARGEST:
                return None
            inputs.append(value)
    result = rule(op, *inputs)
    if result is None:
        return None
    outputs = result if isinstance(result, list) else [result]
    return [
        np.asarray(value, dtype=tensor.dtype.as_numpy_dtype)
        for value, tensor in zip(outputs, op.outputs, strict=True)
    ]


def reads_shapes_only(rule: Any) -> Any:
    """Marks a fold rule that needs only its inputs' static shapes: `rule(op)`."""
    rule.reads_shapes_only = True
    return rule


def reads_partial_shapes(rule: Any) -> Any:
    """Marks a rule of `reads_shapes_only` that may know its result in spite of unknown sizes.

    A compiled step makes use of that. A graph being built does not, so that its static shapes are
    those that TensorFlow infers.
    """
    rule.reads_partial_shapes = True
    return reads_shapes_only(rule)


def constant_shape(tensor: Tensor) -> Shape:
    """The shape that a 1-D integer tensor holds, as far as it is known; negative is unknown."""
    value = constant_value(tensor)
    if value is not None:
        return tuple(None if size < 0 else int(size) for size in value.reshape(-1))
    entries = _partial(tensor)
    if entries is None:
        length = tensor._shape[0] if tensor._shape else None
        return None if length is None else (None,) * length
    return tuple(None if size is None or size < 0 else size for size in entries)


def static_shape(tensor: Tensor) -> Shape:
    """The shape that a 1-D integer tensor holds, where TensorFlow's Python code would know it."""
    maker = tensor._op.spec.name
    if tensor._op.graph.is_eager:
        return constant_shape(tensor)
    if maker == "Cast":
        return static_shape(tensor._op._inputs[0])
    if maker == "Pack":
        values = map(static_value, tensor._op._inputs)
        return tuple(None if value is None or value < 0 else int(value) for value in values)
    if maker in _LOOKED_THROUGH or maker == "StridedSlice":
        return constant_shape(tensor)
    length = tensor._shape[0] if tensor._shape else None
    return None if length is None else (None,) * length


def _partial(tensor: Tensor) -> list[int | None] | None:
    """The entries of a small integer vector (a scalar is a list of one); None if all unknown."""
    value = constant_value(tensor)
    if value is not None:
        if value.ndim > 1 or not np.issubdtype(value.dtype, np.integer):
            return None
        return [int(entry) for entry in value.reshape(-1)]
    if tensor._op.spec.name == "ShapeN":  # one shape per input
        shape = tensor._op._inputs[tensor._value_index]._shape
        return None if shape is None else list(shape)
    if tensor._op.spec.name == "SparseReshape" and tensor._value_index == 1:
        return _of_sparse_reshape(tensor._op)
    rule = _PARTIAL.get(tensor._op.spec.name)
    return None if rule is None else rule(tensor._op)


def _of_shape(op: Any) -> list[int | None] | None:
    shape = op._inputs[0]._shape
    return None if shape is None else list(shape)


def _of_pack(op: Any) -> list[int | None] | None:
    if any(tensor._shape not in ((), None) for tensor in op._inputs):
        return None
    return [(_partial(tensor) or [None])[0] for tensor in op._inputs]


def _of_concat(op: Any) -> list[int | None] | None:
    tensors = op._inputs[1:] if op.spec.name == "Concat" else op._inputs[:-1]
    entries: list[int | None] = []
    for tensor in tensors:
        part = _partial(tensor)
        if part is None:
            if not tensor._shape or tensor._shape[0] is None:
                return None
            part = [None] * tensor._shape[0]
        entries += part
    return entries


def _of_strided_slice(op: Any) -> list[int | None] | None:
    source = _partial(op._inputs[0])
    begin, end, strides = (constant_value(tensor) for tensor in op._inputs[1:4])
    masked = any(op.attrs[f"{key}_mask"] for key in ("ellipsis", "new_axis"))
    if (
        source is None
        or begin is None
        or end is None
        or strides is None
        or begin.size != 1
        or masked
    ):
        return None
    if op.attrs["shrink_axis_mask"] & 1:  # TensorFlow, too, does not look for a single size
        return None
    first = int(begin[0])
    start = None if op.attrs["begin_mask"] & 1 else first
    stop = None if op.attrs["end_mask"] & 1 else int(end[0])
    return source[start : stop : int(strides[0])]


def _of_sparse_reshape(op: Any) -> list[int | None] | None:
    """The shape that a sparse tensor gets; a size of -1 is what the others leave."""
    given: Any = _partial(op._inputs[1])
    wanted: Any = _partial(op._inputs[2])
    if wanted is None:
        return None
    others = [size for size in wanted if size != -1]
    is_known = given is not None and None not in given + others
    if is_known and len(others) + 1 == len(wanted) and math.prod(others):
        rest = math.prod(given) // math.prod(others)
        return [rest if size == -1 else size for size in wanted]
    return [None if size == -1 else size for size in wanted]


def _of_same(op: Any) -> list[int | None] | None:
    return _partial(op._inputs[0])


def _of_slice(op: Any) -> list[int | None] | None:
    source = _partial(op._inputs[0])
    begin, size = constant_value(op._inputs[1]), constant_value(op._inputs[2])
    if source is None or begin is None or size is None or begin.size != 1:
        return None
    stop = None if size[0] < 0 else int(begin[0] + size[0])
    return source[int(begin[0]) : stop]


_ARITHMETIC: dict[str, Any] = {
    "Add": lambda x, y: x + y,
    "AddV2": lambda x, y: x + y,
    "Sub": lambda x, y: x - y,
    "Mul": lambda x, y: x * y,
    "Maximum": max,
    "Minimum": min,
}


def _of_arithmetic(op: Any) -> list[int | None] | None:
    if any(tensor._op.spec.name == "Enter" for tensor in op._inputs):
        return None  # as in `constant_value`
    x, y = _partial(op._inputs[0]), _partial(op._inputs[1])
    if x is None or y is None or (len(x) != len(y) and 1 not in (len(x), len(y))):
        return None
    length = max(len(x), len(y))
    compute = _ARITHMETIC[op.spec.name]
    pairs = zip(x * (length // len(x)), y * (length // len(y)), strict=True) if x and y else ()
    return [None if None in pair else compute(*pair) for pair in pairs]


_PARTIAL = {
    "Shape": _of_shape,
    "Pack": _of_pack,
    "Concat": _of_concat,
    "ConcatV2": _of_concat,
    "StridedSlice": _of_strided_slice,
    "Slice": _of_slice,
    "Identity": _of_same,
    "Cast": _of_same,
    "StopGradient": _of_same,
    "PreventGradient": _of_same,
    **dict.fromkeys(_ARITHMETIC, _of_arithmetic),
}
