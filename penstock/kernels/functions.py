"""Calls of functions: the body is a step of its own, compiled when the call first runs."""

from __future__ import annotations

import torch

from penstock import errors
from penstock.devices import DeviceSpec
from penstock.kernels.registry import kernel
from penstock.state.mutexes import release_locks


def _first_of_one(node, results):
    return results[0] if len(node.dtypes) == 1 else results


@kernel("PartitionedCall", "StatefulPartitionedCall", "_FunctionCall", step=True)
def _(node, env):
    if node.spec.function is not None:
        call = env.shared_function(node, node.spec.function.name, node.attrs)
    else:
        call = env.shared_function(node, node.attrs["f"].name, node.attrs["f"].attrs)

    def run(step, *args):
        try:
            return _first_of_one(node, call(step, args))
        except Exception:
            # The error keeps the frames of the body alive, and with them locks that it holds.
            release_locks(step.resources)
            raise

    return run


@kernel("RemoteCall", step=True)
def _(node, env):
    """The function runs where the call is: what it gives does not depend on the device."""
    call = env.shared_function(node, node.attrs["f"].name, node.attrs["f"].attrs)

    def run(step, target, *args):
        name = target.item().decode()
        try:
            DeviceSpec.from_string(name)
        except ValueError as error:
            raise _invalid(f"Device {name!r} of a remote call is no device: {error}") from None
        return _first_of_one(node, call(step, args))

    return run


@kernel("SymbolicGradient", step=True)
def _(node, env):
    call = env.gradient_function(node, node.attrs["f"].name, node.attrs["f"].attrs)
    expected = len(node.dtypes)

    def run(step, *args):
        found = call(step, args)
        if len(found) != expected:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"SymGrad expects to return {expected} (== len(Tin)) gradient(s), but get "
                f"{len(found)} instead.",
            )
        return _first_of_one(node, found)

    return run


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


def _is_true(value) -> bool:
    """TensorFlow's truth of a tensor: a scalar's value, else whether it has elements."""
    if isinstance(value, torch.Tensor):
        return bool(value) if value.dim() == 0 else value.numel() > 0
    return bool(value.item()) if value.ndim == 0 else value.size > 0


@kernel("If", "StatelessIf", step=True)
def _(node, env):
    branches = [
        env.function(node, node.attrs[key].name, node.attrs[key].attrs)
        for key in ("then_branch", "else_branch")
    ]

    def run(step, cond, *args):
        chosen = branches[0] if _is_true(cond) else branches[1]
        return _first_of_one(node, chosen(step, args))

    return run


@kernel("Case", "StatelessCase", step=True)
def _(node, env):
    branches = [env.function(node, each.name, each.attrs) for each in node.attrs["branches"]]

    def run(step, index, *args):
        place = int(index)
        in_range = 0 <= place < len(branches)
        return _first_of_one(node, branches[place if in_range else -1](step, args))

    return run


@kernel("While", "StatelessWhile", step=True)
def _(node, env):
    condition, body = (
        env.function(node, node.attrs[key].name, node.attrs[key].attrs) for key in ("cond", "body")
    )

    def goes_on(step, values):
        found = condition(step, values)
        if len(found) != 1:
            raise _invalid(
                f"Expected a single scalar return value from cond, got {len(found)} tensors."
            )
        return _is_true(found[0])

    def run(step, *values):
        count = len(values)
        while goes_on(step, values):
            step.check()
            values = body(step, values)
            if len(values) != count:
                raise _invalid(
                    f"While loop body returned {len(values)} arguments. Expected: {count}"
                )
        return _first_of_one(node, values)

    return run


@kernel("For", step=True)
def _(node, env):
    body = env.function(node, node.attrs["body"].name, node.attrs["body"].attrs)

    def run(step, start, limit, delta, *values):
        for name, value in (("start", start), ("limit", limit), ("delta", delta)):
            if value.dim():
                raise _invalid(f"{name} must be a scalar, got shape {list(value.shape)}")
        first, end, by = int(start), int(limit), int(delta)
        if (by > 0 and first > end) or (by < 0 and first < end) or by == 0:
            raise _invalid(f"Invalid start/limit/delta: {first} {end} {by}")
        count = len(values)
        for index in range(first, end, by):
            step.check()
            values = body(step, (torch.tensor(index, dtype=torch.int32), *values))
            if len(values) != count:
                raise _invalid(f"For loop body returned {len(values)} arguments. Expected: {count}")
        return _first_of_one(node, values)

    return run


@kernel("FakeParam")
def _(node, env):
    from penstock.kernels.values import torch_type

    shape = [size or 0 for size in node.attrs["shape"] or ()]
    empty = torch.empty(shape, dtype=torch_type(node.dtypes[0]), device=env.torch_device)
    return lambda: empty
