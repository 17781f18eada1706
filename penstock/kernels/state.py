"""Kernels of variables: finding the buffer, replacing its value, adding to it.

A kernel gets the variable itself for a ref or resource input and, for a ref output, returns it.
"""

import functools

import numpy as np
import torch

from penstock import dtypes, errors, shapes
from penstock.kernels.registry import Constant, inplace_factory, kernel
from penstock.kernels.values import TORCH_TYPE, is_host_type, torch_type
from penstock.state.variable import HandledVariable, VariableState

# Types that torch stores but does not add: sums wrap around alike in the signed type.
SIGNED = {
    torch.uint16: torch.int16,
    torch.uint32: torch.int32,
    torch.uint64: torch.int64,
}


def locking(run):
    """The same kernel, holding the lock of its first argument: a variable."""

    @functools.wraps(run)
    def locked(state, *inputs):
        with state.lock:
            return run(state, *inputs)

    return locked


def locks(node):
    """Whether an update holds its variable's lock: on request, and always behind a handle."""
    return node.attrs.get("use_locking", node.inputs[0].dtype is dtypes.resource)


def buffer_reader(node):
    """The function that gives the buffer of a variable which a node takes.

    To an operation with a handle a variable without a value does not exist, and the error says so.
    """
    behind_handle = node.inputs[0].dtype is dtypes.resource
    return _existing if behind_handle else VariableState.read


def _existing(state):
    if state.value is None:
        raise errors.NotFoundError(
            None,
            None,
            f"Resource localhost/{state.name} does not exist: run the variable's initializer first",
        )
    return state.value


def shares_memory(a, b):
    """Whether two tensors are views of one piece of memory."""
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


# The variable ---------------------------------------------------------------------------------


@kernel("Variable", "VariableV2", "VarHandleOp")
def _(node, env):
    dtype, shape = node.attrs["dtype"], node.attrs["shape"]
    if node.type == "Variable":
        shape = shape or None
    name = node.attrs["shared_name"] or node.name
    container = node.attrs["container"]
    kind = HandledVariable if node.type == "VarHandleOp" else VariableState
    state = env.resources.get_or_create(kind, container, name, lambda: kind(name, dtype, shape))
    if state.dtype is not dtype:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"variable {name!r} has type {state.dtype.name}, and is used as {dtype.name} here",
        )
    return Constant(state)


_OF_STEP = "tmp_var"


@kernel("TemporaryVariable", step=True)
def _(node, env):
    dtype, shape = node.attrs["dtype"], node.attrs["shape"]
    name = node.attrs["var_name"] or node.name

    def run(step):
        if step.resources.find(VariableState, _OF_STEP, name) is not None:
            raise errors.AlreadyExistsError(
                None, None, f"Resource {_OF_STEP}/{name} of this step exists already"
            )
        state = VariableState(name, dtype, shape)
        state.value = torch.empty(shape, dtype=torch_type(dtype), device=env.torch_device)
        return step.resources.get_or_create(VariableState, _OF_STEP, name, lambda: state)

    return run


@kernel("DestroyTemporaryVariable", step=True)
def _(node):
    name = node.attrs["var_name"]

    def run(step, state):
        value = state.read()
        if not step.resources.remove(VariableState, _OF_STEP, name):
            raise errors.NotFoundError(
                None, None, f"Resource {_OF_STEP}/{name} of this step does not exist"
            )
        state.value = None
        return value

    return run


@kernel("IsVariableInitialized", "VarIsInitializedOp", fresh=True)
def _(node, env):
    return lambda state: env.to_device(torch.tensor(state.value is not None))


# Assigning ------------------------------------------------------------------------------------


def _check_shape(state, value, wanted):
    if not shapes.compatible(tuple(value.shape), wanted):
        raise errors.InvalidArgumentError(
            None,
            None,
            "Assign requires shapes of both tensors to match. lhs shape= "
            f"{shapes.text(wanted)} rhs shape= {shapes.text(tuple(value.shape))} (the lhs is "
            f"variable {state.name})",
        )


def _own_copy(value):
    if isinstance(value, np.ndarray):
        return value.copy()
    return value.clone(memory_format=torch.contiguous_format)


def _assigner(validate):
    """Writes into the buffer where the shapes agree, else gives the variable a new one."""

    def assign(state, value):
        buffer = state.value
        if buffer is None:
            if validate:
                _check_shape(state, value, state.shape)
            state.value = _own_copy(value)
        elif buffer.shape == value.shape:
            if not value.is_contiguous() and shares_memory(buffer, value):
                value = value.clone()
            buffer.copy_(value)
        else:
            if validate:
                _check_shape(state, value, tuple(buffer.shape))
            state.value = _own_copy(value)
        return state

    return assign


def _taker(validate):
    """As `_assigner`, for a value whose memory nobody else needs: it becomes the buffer."""

    def take(state, value):
        if validate:
            buffer = state.value
            _check_shape(state, value, state.shape if buffer is None else tuple(buffer.shape))
        whole = value.is_contiguous() and value.untyped_storage().nbytes() == value.nbytes
        state.value = value if whole else _own_copy(value)
        return state

    return take


def _host_assigner(validate):
    """Assigns arrays of strings."""

    def assign(state, value):
        if validate:
            held = state.value
            _check_shape(state, value, state.shape if held is None else held.shape)
        state.value = _own_copy(value)
        return state

    return assign


def _value_type(node):
    return node.inputs[1].dtype.base_dtype


@kernel("Assign")
def _(node):
    make = _host_assigner if is_host_type(_value_type(node)) else _assigner
    run = make(node.attrs["validate_shape"])
    return locking(run) if node.attrs["use_locking"] else run


@inplace_factory("Assign")
def _(node):
    if is_host_type(_value_type(node)):
        return {}
    take = _taker(node.attrs["validate_shape"])
    write = _assigner(node.attrs["validate_shape"])

    def run(state, value):
        # The buffer of a reference variable stays the same one: reads of it elsewhere are live.
        buffer = state.value
        kept = buffer is not None and buffer.shape == value.shape
        return write(state, value) if kept else take(state, value)

    return {1: locking(run) if node.attrs["use_locking"] else run}


@kernel("AssignVariableOp")
def _(node):
    make = _host_assigner if is_host_type(_value_type(node)) else _assigner
    return make(node.attrs["validate_shape"])


@inplace_factory("AssignVariableOp")
def _(node):
    if is_host_type(_value_type(node)):
        return {}
    return {1: _taker(node.attrs["validate_shape"])}


# Adding ---------------------------------------------------------------------------------------


def _adder(node, change):
    """`change` adds to a buffer in place; a factor would cost it a third of its time."""
    signed = SIGNED.get(TORCH_TYPE[_value_type(node)])
    read = buffer_reader(node)

    def matching(state, buffer, value):
        if buffer.shape != value.shape:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Parameters and update must be the same size: variable {state.name} has shape "
                f"{shapes.text(buffer.shape)}, the update {shapes.text(value.shape)}",
            )
        if not value.is_contiguous() and shares_memory(buffer, value):
            return value.clone()
        return value

    def add(state, value):
        buffer = read(state)
        if buffer.dim() or value.dim():  # counters, the most frequent ones, are scalars
            value = matching(state, buffer, value)
        if signed is not None:
            buffer, value = buffer.view(signed), value.view(signed)
        change(buffer, value)
        return state

    return add


@kernel("AssignAdd", "AssignSub", "AssignAddVariableOp", "AssignSubVariableOp")
def _(node):
    run = _adder(node, torch.Tensor.sub_ if "Sub" in node.type else torch.Tensor.add_)
    return locking(run) if locks(node) else run


@kernel("CountUpTo", "ResourceCountUpTo", fresh=True)
def _(node):
    limit = node.attrs["limit"]
    read = buffer_reader(node)

    @locking
    def run(state):
        buffer = read(state)
        if buffer.dim() != 0:
            raise errors.InvalidArgumentError(
                None, None, f"input is not a scalar: {list(buffer.shape)}"
            )
        if buffer.item() >= limit:
            raise errors.OutOfRangeError(None, None, f"Reached limit of {limit}")
        before = buffer.clone()
        buffer.add_(1)
        return before

    return run


# Behind a handle ------------------------------------------------------------------------------


@kernel("ReadVariableOp")
def _(node):
    return VariableState.read


@kernel("VariableShape", fresh=True)
def _(node):
    dtype = torch_type(node.attrs["out_type"])
    return lambda state: torch.tensor(_existing(state).shape, dtype=dtype)


@kernel("DestroyResourceOp")
def _(node):
    ignore = node.attrs["ignore_lookup_error"]

    def run(state):
        if not isinstance(state, VariableState):
            state.close()
            return
        if not ignore:
            _existing(state)
        state.value = None

    return run
