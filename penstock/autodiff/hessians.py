"""Second derivatives."""

from __future__ import annotations

from typing import Any

from penstock import shapes
from penstock.autodiff.gradients import gradients
from penstock.ir.tensor import Tensor


def hessians(
    ys: Any,
    xs: Any,
    name: str = "hessians",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
) -> list[Tensor]:
    """For each x the matrix of second derivatives of the sum of `ys`, of shape x.shape * 2.

    One gradient is built for each element of an x of known shape, and a loop of them for another.
    """
    from penstock.ops.array import concat, reshape
    from penstock.ops.array import shape as dynamic_shape

    xs = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    options: dict[str, Any] = {
        "colocate_gradients_with_ops": colocate_gradients_with_ops,
        "gate_gradients": gate_gradients,
        "aggregation_method": aggregation_method,
    }
    found = []
    for x, gradient in zip(xs, gradients(ys, xs, name=name, **options), strict=True):
        if gradient is None:
            raise ValueError(f"hessians of {x!r}: the ys do not depend on it")
        flat = reshape(gradient, [-1])
        full = dynamic_shape(gradient)
        found.append(reshape(_rows(flat, x, options), concat([full, full], 0)))
    return found


def _rows(flat: Tensor, x: Any, options: dict[str, Any]) -> Tensor:
    """The second derivatives that belong to each element of a gradient."""
    from penstock.ops.array import size, stack
    from penstock.ops.loops import while_loop
    from penstock.ops.tensor_array import TensorArray

    count = shapes.num_elements(shapes.raw(x.shape))
    if count is not None:
        return stack([_row(flat[i], x, options) for i in range(count)])
    unknown = size(x)
    _, rows = while_loop(
        lambda i, rows: i < unknown,
        lambda i, rows: (i + 1, rows.write(i, _row(flat[i], x, options))),
        [0, TensorArray(x.dtype.base_dtype, unknown)],
    )
    matrix: Tensor = rows.stack()
    return matrix


def _row(element: Tensor, x: Any, options: dict[str, Any]) -> Tensor:
    from penstock.ops.array import reshape

    (row,) = gradients(element, x, **options)
    if row is None:
        raise ValueError(
            f"None values not supported: the gradient by {x!r} does not depend on it, and so has "
            "no derivative of its own"
        )
    return reshape(row, [-1])


def _hessian_vector_product(ys: Any, xs: Any, v: Any) -> list[Tensor | None]:
    """The second derivatives of `ys` by `xs` times vectors `v` of the shapes of `xs`."""
    from penstock.ops.array import stop_gradient

    if len(v) != len(xs):
        raise ValueError("xs and v must have the same length.")
    products = [
        gradient * stop_gradient(vector)
        for gradient, vector in zip(gradients(ys, xs), v, strict=True)
        if gradient is not None
    ]
    return gradients(products, xs)
