"""Jacobians: the gradients of all elements of a tensor, by `gradients` of one at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import nest
from penstock.autodiff.gradients import gradients
from penstock.ir.defaults import executing_eagerly
from penstock.ir.tensor import Tensor
from penstock.ops.control import control_dependencies
from penstock.ops.gather import gather
from penstock.ops.joining import concat, stack
from penstock.ops.permuting import transpose
from penstock.ops.shaping import reshape, shape, size
from penstock.ops.value_assertions import assert_equal
from penstock.parallel_loops import for_loop, pfor

__all__ = ["batch_jacobian", "jacobian"]

#: The gradients of a tensor by some others.
Differentiate = Callable[[Tensor, list[Any]], list[Any]]


def _differentiate(y: Tensor, xs: list[Any]) -> list[Any]:
    return gradients(y, xs)


def jacobian(
    output: Tensor,
    inputs: Any,
    use_pfor: bool = True,
    parallel_iterations: int | None = None,
    differentiate: Differentiate = _differentiate,
) -> Any:
    """The derivatives of each element of a tensor by each element of others.

    The result for an input has the shape of `output`, followed by the input's; None where the
    output doesn't depend on it.

    Args:
      output: what to differentiate.
      inputs: a structure of tensors, by which to differentiate.
      use_pfor: whether the size of the result's types may be found by building an iteration.
      parallel_iterations: how many elements may be differentiated at a time.
      differentiate: takes the place of `tf.gradients`.
    """
    flat_inputs = nest.flatten(inputs)
    sizes = shape(output)
    elements = reshape(output, [-1])

    def gradient_of_element(i: Any) -> list[Any]:
        return differentiate(gather(elements, i), flat_inputs)

    known = elements.shape.num_elements()
    count = shape(elements)[0] if known is None else known
    types = [output.dtype] * len(flat_inputs)
    found = _loop(gradient_of_element, types, count, use_pfor, parallel_iterations)
    results = []
    for x, rows in zip(flat_inputs, found, strict=True):
        if rows is not None:
            rows = reshape(rows, concat([sizes, shape(rows)[1:]], 0))
            rows.set_shape(output.shape.concatenate(x.shape))
        results.append(rows)
    return nest.pack_sequence_as(inputs, results)


def batch_jacobian(
    output: Tensor,
    inp: Any,
    use_pfor: bool = True,
    parallel_iterations: int | None = None,
    differentiate: Differentiate = _differentiate,
) -> Tensor | None:
    """The Jacobian of each row of a tensor by the same row of another, stacked.

    Args:
      output: what to differentiate; its row i must depend on no other row of `inp` than i.
      inp: by which to differentiate.
      use_pfor: whether the size of the result's types may be found by building an iteration.
      parallel_iterations: how many columns may be differentiated at a time.
      differentiate: takes the place of `tf.gradients`.
    """
    known = output.shape
    inp_known = inp.shape.with_rank_at_least(2)
    if not known.with_rank_at_least(2)[:1].is_compatible_with(inp_known[:1]):
        raise ValueError(
            f"Need first dimension of output shape ({known}) and inp shape ({inp.shape}) to match."
        )
    sizes: Any
    if known.is_fully_defined():
        sizes = known.as_list()
        rows, columns = sizes[0], known.num_elements() // sizes[0]
    else:
        sizes = shape(output)
        rows = sizes[0]
        columns = size(output) // rows
    inp_sizes = shape(inp)
    with control_dependencies([assert_equal(rows, inp_sizes[0])]):
        matrix = reshape(output, [rows, columns])

    def gradient_of_column(i: Any) -> Any:
        return differentiate(gather(matrix, i, axis=1), [inp])

    found = _loop(gradient_of_column, [output.dtype], columns, use_pfor, parallel_iterations)[0]
    if found is None:
        return None
    by_row = transpose(reshape(found, [columns, rows, -1]), [1, 0, 2])
    result = reshape(by_row, concat([sizes, inp_sizes[1:]], 0))
    result.set_shape(known.concatenate(inp.shape[1:]))
    return result


def _loop(
    step: Callable[[Any], list[Any]],
    types: list[Any],
    count: Any,
    use_pfor: bool,
    parallel_iterations: int | None,
) -> list[Any]:
    found: list[Any]
    if executing_eagerly():
        rows = [step(i) for i in range(count)]
        return [None if None in column else stack(column) for column in zip(*rows, strict=True)]
    if use_pfor:
        found = pfor(step, count, parallel_iterations)
    else:
        found = for_loop(step, types, count, parallel_iterations)
    return found
