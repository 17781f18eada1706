"""Kernels of updates of several variables in one call; `passes/together.py` makes their nodes."""

import functools

from penstock import dtypes, errors
from penstock.kernels.filter_order import as_it_lies
from penstock.kernels.registry import kernel
from penstock.kernels.training import hyper_parameter, reader_of
from penstock.kernels.update_lists import LIST_RULES
from penstock.passes.together import TOGETHER


def _readers(node, env):
    """For each argument of the rule what makes it of the node's inputs; variables come first."""
    count, start, readers = node.attrs["N"], 0, []
    for arg in node.spec.inputs:
        if arg.is_list:
            readers.append(functools.partial(_some, start, start + count))
        else:
            readers.append(functools.partial(_one, start, hyper_parameter(node, env, start)))
        start += arg.count(node.attrs)
    return readers


def _some(start, end, inputs):
    return list(inputs[start:end])


def _one(index, read, inputs):
    return read(inputs[index])


@kernel(*[spec.name for spec in TOGETHER.values()])
def _(node, env):
    name = node.type.removeprefix("_").removeprefix("Resource").removeprefix("Apply")
    rule = LIST_RULES[name.removesuffix("Together")]
    if "use_nesterov" in node.spec.attrs:
        rule = functools.partial(rule, use_nesterov=node.attrs["use_nesterov"])
    readers = _readers(node, env)
    arguments = node.spec.inputs
    variables = sum(arg.is_ref or arg.dtype is dtypes.resource for arg in arguments)
    gradient = next(i for i, arg in enumerate(arguments) if i >= variables and arg.is_list)
    read = reader_of(node)

    def run(*inputs):
        values = [reader(inputs) for reader in readers]
        gradients = []
        for i, grad in enumerate(values[gradient]):
            states = [values[slot][i] for slot in range(variables)]
            buffers = [read(state) for state in states]
            _check_shapes(states, buffers, grad)
            buffers, grad = as_it_lies(states, buffers, grad)
            for slot, buffer in enumerate(buffers):
                values[slot][i] = buffer
            gradients.append(grad)
        values[gradient] = gradients
        rule(*values)

    return run


def _check_shapes(states, buffers, grad):
    for state, buffer in zip(states, buffers, strict=True):
        if buffer.shape != grad.shape:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"var and grad do not have the same shape: {state.name} has {list(buffer.shape)}, "
                f"its gradient {list(grad.shape)}",
            )
