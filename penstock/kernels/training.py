"""Kernels of optimizers' updates: a rule's arithmetic on the buffers, whole or row by row."""

import functools
from contextlib import ExitStack

from penstock import dtypes, errors
from penstock.ir.registry import OpSpec
from penstock.kernels.filter_order import as_it_lies
from penstock.kernels.registry import kernel
from penstock.kernels.rows import guard_device, has_repeats, refuse_indices, rounds
from penstock.kernels.update_rules import RULES
from penstock.ops import training
from penstock.state.variable import VariableState

_GRADIENTS = ("grad", "delta")
_FLAGS = ("use_nesterov", "update_slots", "multiply_linear_by_lr")


def _locking(run, variables):
    """The same kernel, holding the locks of its variables, always taken in the same order."""

    @functools.wraps(run)
    def locked(*inputs):
        with ExitStack() as stack:
            distinct = {id(state): state for state in inputs[:variables]}
            for key in sorted(distinct):
                stack.enter_context(distinct[key].lock)
            return run(*inputs)

    return locked


def _number(scalar):
    if scalar.dim() != 0:
        raise errors.InvalidArgumentError(
            None, None, f"a hyper-parameter is not a scalar but of shape {list(scalar.shape)}"
        )
    value = scalar.item()
    return value if isinstance(value, complex) else float(value)


def hyper_parameter(node, env, index):
    """A function from the runtime value of a hyper-parameter to what a rule takes."""
    known = env.constant(node, index)
    if known is not None:
        number = _number(known)
        return lambda _: number
    # Reading a number of an accelerator would make the host wait for it.
    return _number if env.torch_device.type == "cpu" else lambda scalar: scalar


class _Arguments:
    """Where a node's inputs go in its rule's arguments, which are the inputs but for `indices`."""

    def __init__(self, node, env):
        names = [arg.name for arg in node.spec.inputs]
        self.variables = sum(arg.is_ref or arg.dtype is dtypes.resource for arg in node.spec.inputs)
        self.indices = names.index("indices") if "indices" in names else None
        self.gradient = next(i for i, name in enumerate(names) if name in _GRADIENTS)
        self.template = [None] * len(names)
        self.read = []  # numbers of the hyper-parameters to read in each step
        self.passed = []  # and of those that stay tensors
        for i in range(self.variables, len(names)):
            if i in (self.gradient, self.indices):
                continue
            known = env.constant(node, i)
            if known is not None:
                self.template[i] = _number(known)
            elif env.torch_device.type == "cpu":
                self.read.append(i)
            else:
                self.passed.append(i)

    def fill(self, inputs):
        """The rule's arguments, but for the buffers; the gradient's place is still empty."""
        values = self.template.copy()
        for i in self.read:
            values[i] = _number(inputs[i])
        for i in self.passed:
            values[i] = inputs[i]
        return values


def _update(node, env):
    rule = RULES[node.type.removeprefix("Resource").removeprefix("Sparse").removeprefix("Apply")]
    flags = {name: node.attrs[name] for name in _FLAGS if name in node.attrs}
    if flags:
        rule = functools.partial(rule, **flags)
    arguments = _Arguments(node, env)
    make = _dense if arguments.indices is None else _sparse
    run = make(rule, arguments, reader_of(node))
    return _locking(run, arguments.variables) if node.attrs["use_locking"] else run


def reader_of(node):
    """What reads the variables that a node updates."""
    behind_handle = node.inputs[0].dtype is dtypes.resource
    return _behind_handle if behind_handle else VariableState.read


def _behind_handle(state):
    if state.value is None:
        raise errors.InternalError(
            None,
            None,
            f"Invalid variable reference: {state.name} has no value, run its initializer first",
        )
    return state.value


def _check_slots(inputs, buffers):
    shape = buffers[0].shape
    for state, buffer in zip(inputs, buffers, strict=False):
        if buffer.shape != shape:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"variables of an update must have the same shape: {inputs[0].name} has "
                f"{list(shape)}, {state.name} {list(buffer.shape)}",
            )


def _dense(rule, arguments, read):
    variables, gradient = arguments.variables, arguments.gradient

    def run(*inputs):
        buffers = [read(state) for state in inputs[:variables]]
        grad = inputs[gradient]
        shape = grad.shape
        for buffer in buffers:
            if buffer.shape != shape:
                _check_slots(inputs, buffers)
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"var and grad do not have the same shape: {list(buffer.shape)} {list(shape)}",
                )
        values = arguments.fill(inputs)
        values[:variables], values[gradient] = as_it_lies(inputs[:variables], buffers, grad)
        rule(*values)
        return inputs[0]

    return run


def _sparse(rule, arguments, read):
    """Applies the rule to the rows that have a gradient, to one with several in their order."""
    variables, gradient, at = arguments.variables, arguments.gradient, arguments.indices

    def run(*inputs):
        buffers = [read(state) for state in inputs[:variables]]
        _check_slots(inputs, buffers)
        grad, indices = inputs[gradient], inputs[at]
        _check_rows(buffers[0], grad, indices)
        if not indices.numel():
            return inputs[0]
        indices = indices.long()
        values = arguments.fill(inputs)
        guard_device(indices, buffers[0].shape[0])
        try:
            repeated = has_repeats(indices, buffers[0].shape[0])
            for part in rounds(indices) if repeated else (None,):
                target = indices if part is None else indices[part]
                rows = [buffer.index_select(0, target) for buffer in buffers]
                values[:variables] = rows
                values[gradient] = grad if part is None else grad[part]
                rule(*values[:at], *values[at + 1 :])
                for buffer, row in zip(buffers, rows, strict=True):
                    buffer.index_copy_(0, target, row)
        except (IndexError, RuntimeError):
            refuse_indices(indices, buffers[0].shape[0])
            raise
        return inputs[0]

    return run


def _check_rows(buffer, grad, indices):
    if indices.dim() != 1:
        raise errors.InvalidArgumentError(None, None, "indices must be one-dimensional")
    if buffer.dim() < 1 or grad.shape != (len(indices), *buffer.shape[1:]):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"grad must be one row of var per index: var {list(buffer.shape)}, grad "
            f"{list(grad.shape)}, indices {list(indices.shape)}",
        )


kernel(*[spec.name for spec in vars(training).values() if isinstance(spec, OpSpec)])(_update)
