"""Kernels of stacks. A stack lives as long as the step that made it."""

from penstock import errors
from penstock.kernels.registry import kernel
from penstock.state.stack import Stack


@kernel("Stack", "StackV2")
def _(node):
    name = node.attrs["stack_name"] or node.name
    dtype = node.attrs["elem_type"]
    return lambda max_size=-1: Stack(name, dtype, int(max_size))


@kernel("StackPush", "StackPushV2")
def _(node):
    dtype = node.attrs["T"]

    def run(stack, value):
        if stack.dtype is not dtype:
            raise errors.InvalidArgumentError(
                None, None, f"Must have type {stack.dtype.name} but got {dtype.name}"
            )
        stack.push(value)
        return value

    return run


@kernel("StackPop", "StackPopV2")
def _(node):
    return lambda stack: stack.pop()


@kernel("StackClose", "StackCloseV2")
def _(node):
    return lambda stack: stack.close()
