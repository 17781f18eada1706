"""Kernels of barriers."""

import torch

from penstock import shapes
from penstock.kernels.queues import empty, invalid, rows, shared, stacked
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.string_arrays import string_vector
from penstock.state.barriers import Barrier


@kernel("Barrier", devices=HOST)
def _(node, env):
    types, sizes = node.attrs["component_types"], node.attrs["shapes"]
    if node.attrs["capacity"] != -1:
        raise invalid(
            f"Barrier only accepts capacity=-1.  Feed the inputs to your Barrier through "
            f"a queue to enforce a limited capacity, got {node.attrs['capacity']}"
        )
    return shared(node, env, Barrier, lambda name: Barrier(name, types, sizes))


@kernel("BarrierInsertMany", devices=HOST, step=True)
def _(node):
    component, dtype = node.attrs["component_index"], node.attrs["T"]

    def run(step, barrier, keys, values):
        if not 0 <= component < len(barrier.dtypes):
            raise invalid(
                f"The component ID is out of range {component} > num_components "
                f"(={len(barrier.dtypes)})"
            )
        if barrier.dtypes[component] is not dtype:
            raise invalid(
                f"Type mismatch in tuple component {component}. Expected "
                f"{barrier.dtypes[component].name}, got {dtype.name}"
            )
        given = tuple(values.shape)
        if 0 in given[1:]:
            raise invalid(
                "Tensors with no elements are not supported for now. Received shape: "
                f"{shapes.text(given)}"
            )
        expected = barrier.shapes[component]
        if expected is not None and given[1:] != tuple(expected):
            raise invalid(
                f"Shape mismatch in tuple component {component}. Expected "
                f"{shapes.text((len(keys), *expected))}, got {shapes.text(given)}"
            )
        barrier.insert_many(keys.tolist(), rows(values), component, step)

    return run


@kernel("BarrierTakeMany", devices=HOST, fresh=True, step=True)
def _(node):
    allow_fewer = node.attrs["allow_small_batch"]
    if node.attrs["timeout_ms"] != -1:
        raise invalid("Timeout not supported yet.")

    def run(step, barrier, num_elements):
        elements = barrier.take_many(int(num_elements), step, allow_fewer=allow_fewer)
        indices = torch.tensor([element[0] for element in elements], dtype=torch.int64)
        keys = string_vector([element[1] for element in elements])
        if elements:
            values = [_stacked(part) for part in list(zip(*elements, strict=True))[2:]]
        else:
            values = [
                empty(dtype, (0, *(shape or ())))
                for dtype, shape in zip(barrier.dtypes, barrier.shapes, strict=True)
            ]
        return [indices, keys, *values]

    return run


def _stacked(values):
    for value in values:
        if value.shape != values[0].shape:
            raise invalid(
                "Barrier's elements must have equal shapes to be taken together, got "
                f"{shapes.text(tuple(values[0].shape))} and {shapes.text(tuple(value.shape))}"
            )
    return stacked(values)


@kernel("BarrierClose", devices=HOST)
def _(node):
    cancel = node.attrs["cancel_pending_enqueues"]
    return lambda barrier: barrier.close_for(cancel_pending_enqueues=cancel)


@kernel("BarrierReadySize", devices=HOST, fresh=True)
def _(node):
    return lambda barrier: torch.tensor(barrier.ready_size(), dtype=torch.int32)


@kernel("BarrierIncompleteSize", devices=HOST, fresh=True)
def _(node):
    return lambda barrier: torch.tensor(barrier.incomplete_size(), dtype=torch.int32)
