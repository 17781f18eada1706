"""Turning a kernel's failure into the error of TensorFlow's class, with node, values and line.

Nothing of this costs a step that succeeds: the failed node is found from the traceback, and its
shape rule is asked again, now with the shapes that it really got.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock import errors
from penstock.ir.operation import Operation, describe
from penstock.ir.step_graph import Edge, Node
from penstock.runtime import kernel_messages
from penstock.runtime.out_of_memory import Held, describe_shortage, is_out_of_memory, may_be_size
from penstock.shapes import Shape, is_full, text
from penstock.state.variable import VariableState


@dataclass
class Failure:
    """A node that raised and the runtime values of its inputs, as far as they are known.

    An input that the kernel takes by reference is the state itself, any other a value. `held` says
    what else the step holds, by the names of nodes.
    """

    node: Node
    values: list[Any]
    held: Held = dict

    @classmethod
    def of(cls, node: Node, given: Iterable[Any], held: Held = dict) -> Failure:
        """From what the step holds: references are followed where the kernel wants values."""
        values = [
            value.value if isinstance(value, VariableState) and not takes_ref else value
            for value, takes_ref in zip(given, node.ref_inputs(), strict=True)
        ]
        return cls(node, values, held)


def diagnose(failure: Failure, error: Exception) -> Exception:
    """The error to raise instead of `error`."""
    if isinstance(error, errors.OpError) and error.op is not None:
        return error
    error_class, message = cause(failure, error)
    return named_error(error_class, failure.node, message)


def read_fetched(edge: Edge, state: VariableState) -> Any:
    """The value of a variable that is fetched itself; the error of one without names its node."""
    try:
        return state.read()
    except errors.OpError as error:
        raise diagnose(Failure(edge.node, []), error) from error


def cause(failure: Failure, error: Exception) -> tuple[type[errors.OpError], str]:
    """The class of TensorFlow's error, and what it says besides the node's name."""
    node = failure.node
    if isinstance(error, errors.OpError):
        return type(error), error.message
    if is_out_of_memory(error):
        shortage = describe_shortage(node, _result_shapes(failure), failure.held(), error)
        return errors.ResourceExhaustedError, shortage
    explained = kernel_messages.message(node, failure.values) or _explain(failure)
    if explained is not None:
        return errors.InvalidArgumentError, explained
    given = ", ".join(_describe_value(v) for v in failure.values)
    message = f"{error} (inputs: {given})" if given else str(error)
    if isinstance(error, NotImplementedError) or "not implemented for" in str(error):
        return errors.UnimplementedError, message
    if isinstance(error, (ValueError, IndexError, TypeError, RuntimeError, ArithmeticError)):
        return errors.InvalidArgumentError, message
    return errors.UnknownError, f"{type(error).__name__}: {message}"


def in_iteration(error: Exception, loop: str, iteration: int) -> Exception:
    """The error with the iteration that it happened in (the first one is 0)."""
    if not isinstance(error, errors.OpError):
        return error
    message = f"{error.message}\n\t in iteration {iteration} of the loop {loop!r}"
    return type(error)(error.node_def, error.op, message)  # type: ignore[call-arg]


def named_error(cls: type[errors.OpError], node: Node, message: str) -> errors.OpError:
    """An error that names the operation which the program knows: that of the node, if it has one.

    What a client at the other end of a connection raises has the operation of that name.
    """
    origin = node.origin
    named = describe(origin) if origin is not None else f"{node.type} '{node.name}'"
    is_known = origin is not None and not origin.graph.building_function
    name = origin.name if origin is not None and is_known else node.name
    text_ = f"{named}: {message}\n\t [[{{{{node {name}}}}}]]"
    return cls(origin.node_def if origin is not None else None, origin, text_)  # type: ignore[call-arg]


def _describe_value(value: Any) -> str:
    shape = getattr(value, "shape", None)
    if shape is None:
        return type(value).__name__
    dtype = str(getattr(value, "dtype", "")).removeprefix("torch.")
    return f"{dtype}{list(shape)}"


class _Concrete:
    """An operation's stand-in for its shape rule: same attrs, inputs with their actual values."""

    def __init__(self, origin: Operation, node: Node, values: list[Any]):
        self.attrs = node.attrs
        self.spec = node.spec
        self.name = node.name
        self.type = node.type
        self.graph = origin.graph
        self.inputs = self._inputs = tuple(
            _ConcreteTensor(value, tensor)
            for value, tensor in zip(values, origin.inputs, strict=True)
        )
        self.outputs = self._outputs = origin.outputs


class _ConcreteTensor:
    """A tensor's stand-in whose constant value is the value that it had in the step."""

    def __init__(self, value: Any, tensor: Any):
        self.dtype = self._dtype = tensor.dtype
        self.name = getattr(tensor, "name", "")  # of a tensor with a value: it has none
        self._value_index = 0
        self._shape = tuple(value.shape) if hasattr(value, "shape") else None
        self.shape = self._shape
        self._op = self.op = _ConcreteConst(value)

    def _known_value(self) -> Any:
        return self.op.attrs["value"]


class _ConcreteConst:
    def __init__(self, value: Any):
        from penstock.ir import registry
        from penstock.kernels.values import to_array

        self.spec = registry.find("Const")
        self.attrs = {"value": to_array(value)}


def _explain(failure: Failure) -> str | None:
    """What the op's shape rule says about the concrete shapes; None if it accepts them."""
    try:
        _apply_shape_rule(failure.node, failure.values)
    except ValueError as error:
        given = ", ".join(text(_shape_of(value)) for value in failure.values)
        return f"{error}, with input shapes: {given}"
    except Exception:
        return None
    return None


def _result_shapes(failure: Failure) -> list[Shape] | None:
    """The shapes that the node's outputs would have had, if its shape rule can tell."""
    # To look at a large value would need memory.
    values = [
        value if may_be_size(value) else np.broadcast_to(np.float32(0), value.shape)
        for value in failure.values
    ]
    try:
        found = _apply_shape_rule(failure.node, values)
    except Exception:
        return None
    shapes = found if isinstance(found, list) else [found] * len(failure.node.dtypes)
    return shapes if all(is_full(shape) for shape in shapes) else None


def _apply_shape_rule(node: Node, values: list[Any]) -> Any:
    """What the op's shape rule says of the values; None where it can't be asked."""
    origin, rule = node.origin, node.spec.shape_rule
    if rule is None or origin is None or len(origin.inputs) != len(values):
        return None
    return rule(_Concrete(origin, node, values), *map(_shape_of, values))


def _shape_of(value: Any) -> Shape:
    return tuple(value.shape) if hasattr(value, "shape") else None
