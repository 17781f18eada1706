"""Steps that are not complete: replicas for which there is no element get one without rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock import nest
from penstock.distribute.device_names import host_of
from penstock.ir.defaults import get_default_graph
from penstock.ir.tensor_spec import TensorSpec
from penstock.ops.conditionals import cond
from penstock.ops.control import control_dependencies
from penstock.ops.filling import zeros
from penstock.ops.identity import identity
from penstock.ops.loops import while_loop
from penstock.ops.reductions import reduce_any


def padded(dataset: Any, count: int) -> Any:
    """A dataset whose last `count` elements are completed by ones without rows.

    Where all elements have one shape there can't be any; they are then those of whole steps alone.
    """
    spec = dataset.element_spec
    if count == 1 or not can_be_empty(spec):
        return dataset
    from penstock.data import Dataset

    def completed(*windows: Any) -> Any:
        parts = windows if isinstance(spec, tuple) else windows[0]
        elements: Any = Dataset.zip(parts) if nest.is_nested(parts) else parts
        without_rows = Dataset.from_tensors(empty_element(spec)).repeat(count)
        return elements.concatenate(without_rows).take(count)

    return dataset.window(count, shift=count).flat_map(completed)


def can_be_empty(spec: Any) -> bool:
    """Whether elements are tensors, of which some may have any number of rows."""
    parts = nest.flatten(spec)
    dense = all(type(part) is TensorSpec and part.shape.ndims is not None for part in parts)
    return dense and not all(part.shape.is_fully_defined() for part in parts)


def empty_element(spec: Any) -> Any:
    """Tensors without rows: sizes that are not known are zero, or else the first one."""

    def without_rows(part: TensorSpec) -> Any:
        sizes = [size or 0 for size in part.shape.as_list()]
        if sizes and part.shape.is_fully_defined():
            sizes[0] = 0
        return zeros(sizes, part.dtype)

    return nest.map_structure(without_rows, spec)


def next_of_workers(iterators: Sequence[Any], devices: Sequence[Sequence[str]]) -> list[Any]:
    """The next elements of all workers' replicas; who has none any more gets one without rows.

    Args:
      iterators: one for each worker, which are read where they are.
      devices: those of each worker's replicas.
    """
    graph = get_default_graph()
    hosts = [host_of(own[0]) for own in devices]
    found, has_more = [], []
    for iterator, host, own in zip(iterators, hosts, devices, strict=True):
        with graph.device(host):
            found.append(_optionals(iterator, len(own)))
            has_more.append(found[-1][0].has_value())
    has_any = reduce_any(has_more)
    elements: list[Any] = []
    for iterator, host, optionals, places in zip(iterators, hosts, found, devices, strict=True):
        for optional, place in zip(optionals, places, strict=True):
            with graph.device(host):
                value = _value_or_end(optional, has_any, iterator)
            with graph.device(place):
                elements.append(nest.map_structure(identity, value))
    return elements


def _value_or_end(optional: Any, has_any: Any, iterator: Any) -> Any:
    """The element of a replica; where no worker has any, reading on is the error it should be."""
    value = _value_of(optional)
    return _shaped(
        cond(has_any, lambda: value, iterator.get_next, strict=True), optional.value_structure
    )


def reduce_steps(
    iterator: Any,
    replicas: int,
    regroup: Callable[[Sequence[Any]], Any],
    initial_state: Any,
    reduce_fn: Callable[[Any, Any], Any],
) -> Any:
    """The last state of `state = reduce_fn(state, elements)` over the steps of an iterator.

    It makes nodes: in the body of a function the steps are a loop.
    """

    def following() -> tuple[Any, list[Any]]:
        found = _optionals(iterator, replicas)
        return found[0].has_value(), [_value_of(each) for each in found]

    def step(_: Any, elements: list[Any], state: Any) -> Any:
        state = reduce_fn(state, regroup(elements))
        with control_dependencies(nest.flatten(state, expand_composites=True)):
            has_more, elements = following()
        return has_more, elements, state

    start = following()
    *_, final = while_loop(
        lambda has_more, *_: has_more, step, [*start, initial_state], parallel_iterations=1
    )
    return final


def _optionals(iterator: Any, count: int) -> list[Any]:
    """The next elements, in the order of the replicas."""
    from penstock.data.experimental.optional import get_next_as_optional

    found: list[Any] = []
    for _ in range(count):
        with control_dependencies([each._variant_tensor for each in found[-1:]]):
            found.append(get_next_as_optional(iterator))
    return found


def _value_of(optional: Any) -> Any:
    spec = optional.value_structure
    value = cond(optional.has_value(), optional.get_value, lambda: empty_element(spec), strict=True)
    return _shaped(value, spec)


def _shaped(value: Any, spec: Any) -> Any:
    for tensor, part in zip(nest.flatten(value), nest.flatten(spec), strict=True):
        tensor.set_shape(part.shape)
    return value
