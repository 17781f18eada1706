"""Calling functions: the call ops, and `Defun`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from typing import Any

from penstock import dtypes, errors, shapes
from penstock.ir import nest
from penstock.ir.attr_codec import Function as FunctionName
from penstock.ir.attr_codec import encode
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.function import (
    Function,
    FunctionGraph,
    add_function,
    argument_name,
    function_def,
    hashed_name,
)
from penstock.ir.operation import Operation
from penstock.ir.registry import STATEFUL, attr, op
from penstock.ir.tensor import Tensor
from penstock.ops.defun_graph import DefunGraph, with_outer_variables
from penstock.ops.resource_variables import handle_shape, variable_of
from penstock.shapes import Shape

_TYPES = {"Tin": attr("list(type)", minimum=0), "Tout": attr("list(type)", minimum=0)}
_CALL = {**_TYPES, "f": attr("func"), "config": "", "config_proto": "", "executor_type": ""}

PartitionedCall = op("PartitionedCall(args: *Tin) -> output: *Tout", **_CALL)
StatefulPartitionedCall = op(
    "StatefulPartitionedCall(args: *Tin) -> output: *Tout", STATEFUL, **_CALL
)
RemoteCall = op(
    "RemoteCall(target: string, args: *Tin) -> output: *Tout",
    STATEFUL,
    Tout=attr("list(type)", minimum=1),
    f=attr("func"),
)
SymbolicGradient = op(
    "SymbolicGradient(input: *Tin) -> output: *Tout",
    Tout=attr("list(type)", minimum=1),
    f=attr("func"),
)


def function_called(op: Operation, key: str = "f") -> Function:
    """The function that an attr of a node names."""
    return function_named(op, op.attrs[key])


def function_named(op: Operation, name: FunctionName) -> Function:
    """The function of a node's graph that has a name."""
    try:
        return op.graph._functions[name.name]
    except KeyError:
        raise ValueError(
            f"{op.type} '{op.name}' calls the function {name.name!r}, which its graph does not have"
        ) from None


def result_shapes(op: Operation, name: FunctionName) -> list[Shape]:
    """The static shapes of what a function returns, as far as its body alone tells."""
    function = op.graph._functions.get(name.name)
    if function is None:
        return [None] * len(op._outputs)
    return [output._shape for output in function.body(name.attrs, op.graph._functions).outputs]


@PartitionedCall.shape
@StatefulPartitionedCall.shape
def _(op: Operation, *args: Shape) -> list[Shape]:
    from penstock.ops.call_shapes import shapes_for_call

    name = op.attrs["f"]
    function = op.graph._functions.get(name.name)
    if function is None:
        return [None] * len(op._outputs)
    return shapes_for_call(op, function.body(name.attrs, op.graph._functions))


@RemoteCall.shape
def _(op: Operation, target: Shape, *args: Shape) -> list[Shape]:
    return [None] * len(op._outputs)


@SymbolicGradient.shape
def _(op: Operation, *inputs: Shape) -> list[Shape]:
    by = op._inputs[: len(op.attrs["Tout"])]
    return [
        handle_shape(tensor) if tensor._dtype is dtypes.resource else tensor._shape for tensor in by
    ]


def symbolic_gradient_of_call(op: Operation, *grads: Any) -> list[Tensor | None]:
    """The gradients of a call: a node that differentiates the function's body when it runs.

    The gradient by the handle of a variable is one by its value; other handles have none.
    """
    from penstock.ops.filling import zeros_like

    # The library has one of the functions that are alike but for their gradients.
    function = op.__dict__.get("_called") or op.spec.function or function_called(op)
    if function.gradient is not None:
        return function.gradient(op, *grads)
    name = op.attrs.get("f") or FunctionName(function.name, dict(op.attrs))
    full = [
        zeros_like(output) if grad is None else convert_to_tensor(grad)
        for output, grad in zip(op._outputs, grads, strict=True)
    ]
    types = [_type_of_gradient(tensor) for tensor in op._inputs]
    made = SymbolicGradient([*op._inputs, *full], Tout=types, f=name)
    return [None if each._dtype is dtypes.resource else each for each in made]


def _type_of_gradient(tensor: Tensor) -> dtypes.DType:
    variable = variable_of(tensor) if tensor._dtype is dtypes.resource else None
    return tensor._dtype.base_dtype if variable is None else variable.attrs["dtype"]


class Defun:
    """Decorator that makes a Python function of tensors a function of the graph.

    >>> @function.Defun(tf.float32, tf.float32)
    ... def multiply_add(x, y):
    ...     return x * y + 1.0

    Args:
      input_types: the arguments' types; without them, those of the first call.
      func_name: the function's name in the graph; grad_func: another Defun, of the arguments and
        the gradients; python_grad_func: a Python function of the node and the gradients;
        out_names: names of the results; shape_func: static shapes of a call's results.
    """

    def __init__(self, *input_types: Any, **kwargs: Any):
        self._input_types = tuple(dtypes.as_dtype(each) for each in input_types)
        self._kwargs = kwargs

    def __call__(self, func: Callable[..., Any]) -> DefinedFunction:
        if not callable(func):
            raise ValueError(f"function {func} must be callable")
        spec = inspect.getfullargspec(func)
        if spec.varkw or spec.defaults:
            raise ValueError(
                "function with argument defaults or keywords arguments are not supported. "
                f"{func} has defaults {spec.defaults} and keywords {spec.varkw}."
            )
        count = len(spec.args) - (1 if inspect.ismethod(func) else 0)
        given = len(self._input_types)
        if given and (given < count or (given > count and not spec.varargs)):
            raise ValueError(
                "The function has fewer arguments than the number of specified input types."
            )
        has_types = bool(self._input_types) or (count == 0 and not spec.varargs)
        return DefinedFunction(func, self._input_types if has_types else None, **self._kwargs)


class DefinedFunction:
    """What `Defun` makes: calling it with tensors adds a node that calls the function."""

    def __init__(
        self,
        func: Callable[..., Any] | None,
        input_types: Sequence[Any] | None,
        func_name: str | None = None,
        grad_func: Any = None,
        python_grad_func: Callable[..., Any] | None = None,
        out_names: Sequence[str] | None = None,
        shape_func: Callable[..., Any] | None = None,
        capture_by_value: bool = False,
        whitelisted_stateful_ops: Collection[Operation] | None = None,
        capture_resource_var_by_value: bool = True,
        **kwargs: Any,
    ):
        self._func: Any = func
        self._types = input_types
        self._wanted_name = func_name
        self._grad_func = grad_func
        self._python_gradient = python_grad_func
        self._out_names = out_names
        self._shape_func = shape_func
        self._by_value = capture_by_value
        self._may_copy = whitelisted_stateful_ops or ()
        self._resources_by_value = capture_resource_var_by_value
        self._attrs = kwargs
        #: The device of a body with declared types is that of the place of its definition.
        self._device = None if input_types is None else _innermost_device()
        self._made: dict[tuple[Any, ...], Function] = {}
        self.__name__ = getattr(func, "__name__", "function")
        self.__doc__ = func.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = kwargs.pop("name", None)
        tensors = self._converted(args)
        function = self._function(tuple(tensor._dtype.base_dtype for tensor in tensors))
        graph = get_default_graph()
        self._add(function, graph)
        inputs = [*tensors, *_captured(function)]
        attrs = _call_attrs(kwargs, function.name)
        made = graph.create_op(function.name, entered(inputs), name=name, attrs=attrs)
        made.__dict__["_called"] = function
        if self._shape_func is not None:
            known = self._shape_func(made)
            if len(known) != len(made.outputs):
                raise ValueError(
                    f"shape_func produced {len(known)} shapes for {len(made.outputs)} outputs"
                )
            for output, shape in zip(made.outputs, known, strict=True):
                output.set_shape(shape)
        outputs = made.outputs
        if not outputs:
            return made
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _converted(self, args: Sequence[Any]) -> list[Tensor]:
        if self._types is None:
            return [convert_to_tensor(value) for value in args]
        if len(args) != len(self._types):
            raise ValueError(
                f"Expected number of arguments: {len(self._types)}, received: {len(args)}"
            )
        return [
            convert_to_tensor(value, dtype.base_dtype)
            for value, dtype in zip(args, self._types, strict=True)
        ]

    def _function(self, types: tuple[Any, ...]) -> Function:
        if types not in self._made:
            body = self._traced(types)
            name = self._wanted_name or hashed_name(self._base_name(), body)
            self._check_names(len(body.outputs))
            definition = function_def(name, body, self._out_names)
            for key, value in _call_attrs(self._attrs, self._wanted_name or self.__name__).items():
                definition.attr[key].CopyFrom(encode(value))
            definition.signature.description = self._func.__doc__ or ""
            self._made[types] = Function(
                name, definition, body, self._gradient(), self._gradient_name()
            )
        return self._made[types]

    def _traced(self, types: tuple[Any, ...]) -> FunctionGraph:
        device = self._device if self._types is not None else _innermost_device()
        outer = get_default_graph()
        body = DefunGraph(outer, self._by_value, self._may_copy)
        run = with_outer_variables(self._func, self._resources_by_value)
        with body.device(device) if device is not None else nullcontext():
            return traced(run, types, names=self._names(len(types)), body=body)

    def _base_name(self) -> str:
        name = self.__name__.strip("<>")
        return f"{name}_{self._grad_func.name}" if self._gradient_name() else name

    def _names(self, count: int) -> list[str]:
        return argument_names(self._func, count)

    def _check_names(self, count: int) -> None:
        if self._out_names and len(self._out_names) != count:
            raise errors.InvalidArgumentError(
                None,
                None,
                "output names must be either empty or equal in size to outputs. output names size "
                f"= {len(self._out_names)} outputs size = {count}",
            )

    def _gradient_name(self) -> str:
        """The function of the graph that computes the gradient, if it is one with a signature."""
        other = self._grad_func
        is_defined = isinstance(other, DefinedFunction) and other._types is not None
        return other.name if is_defined and self._python_gradient is None else ""

    def _gradient(self) -> Callable[..., Any] | None:
        if self._python_gradient is not None:
            return self._python_gradient
        other = self._grad_func
        if other is None or self._gradient_name():
            return None

        def call_other(op: Operation, *grads: Any) -> list[Tensor]:
            found = other(*op.inputs, *grads)
            return [found] if isinstance(found, Tensor) else list(found)

        return call_other

    def _only(self) -> Function:
        if self._types is None and not self._made:
            raise ValueError("the function has no argument types yet: declare them, or call it")
        return (
            self._function(tuple(self._types))
            if self._types is not None
            else next(iter(self._made.values()))
        )

    def instantiate(self, input_types: Sequence[Any]) -> DefinedFunction:
        """The function for arguments of these types."""
        if self._types is not None:
            return self
        kwargs = dict(self._attrs, python_grad_func=self._python_gradient)
        defined = DefinedFunction(
            self._func, list(input_types), self._wanted_name, out_names=self._out_names, **kwargs
        )
        if self._grad_func is not None:
            results = [dtypes.as_dtype(arg.type) for arg in defined._signature.output_arg]
            defined = DefinedFunction(
                self._func,
                list(input_types),
                self._wanted_name,
                self._grad_func.instantiate([*input_types, *results]),
                out_names=self._out_names,
                **kwargs,
            )
        return defined

    def set_grad_func(self, grad_func: Any) -> None:
        """Says which function computes the gradient."""
        assert self._grad_func is None
        self._grad_func = grad_func

    def add_to_graph(self, graph: Any) -> None:
        """Adds the function to a graph's library, with its gradient function."""
        self._add(self._only(), graph)

    def _add(self, function: Function, graph: Any) -> None:
        add_function(graph, function)
        if function.gradient_name:
            self._grad_func.add_to_graph(graph)

    @property
    def name(self) -> str:
        """The function's name in the graph."""
        return self._only().name

    @property
    def definition(self) -> Any:
        """The FunctionDef message."""
        return self._only().definition

    @property
    def _signature(self) -> Any:
        return self.definition.signature

    @property
    def declared_input_types(self) -> Any:
        return self._types

    @property
    def captured_inputs(self) -> list[Tensor]:
        """The outer tensors that the body uses."""
        return _captured(self._only())

    @property
    def stateful_ops(self) -> list[tuple[str, str]]:
        """Names and types of the body's nodes that have state."""
        graph = get_default_graph()
        ops = self._only().body({}, graph._functions).get_operations()
        return [(op.name, op.type) for op in ops if op.spec.is_stateful]

    @property
    def grad_func_name(self) -> str | None:
        return self._grad_func.name if self._grad_func is not None else None

    @property
    def python_grad_func(self) -> Callable[..., Any] | None:
        return self._python_gradient


def _captured(function: Function) -> list[Tensor]:
    """The outer tensors that a traced body uses; one from a message has none."""
    return [] if function._body is None else list(function._body.captured)


def _innermost_device() -> Any:
    open_scopes = get_default_graph()._scopes.devices
    return open_scopes[-1].given if open_scopes else None


def _call_attrs(kwargs: dict[str, Any], name: str) -> dict[str, Any]:
    """The attrs of a function or a call of it from the keywords of `Defun` and of the call."""
    attrs: dict[str, Any] = {}
    unknown = []
    for key, value in kwargs.items():
        if key == "noinline":
            attrs["_noinline"] = bool(value)
        elif key == "compiled":
            attrs |= _compiled(bool(value), bool(kwargs.get("separate_compiled_gradients")), name)
        elif key.startswith("experimental_") or key in ("_implements", "_reference"):
            attrs[key] = value
        elif key != "separate_compiled_gradients":
            unknown.append(key)
    if unknown:
        raise ValueError(f"Unknown keyword arguments: {unknown}")
    return attrs


def _compiled(is_compiled: bool, is_gradient_apart: bool, name: str) -> dict[str, Any]:
    """The attrs of a function that is compiled, with the open scope or by itself."""
    scope = get_default_graph()._scopes.attrs.get("_XlaScope", f"function_{name}".encode())
    return {
        "_XlaCompile": is_compiled,
        "_XlaSeparateCompiledGradients": is_gradient_apart,
        "_XlaScope": scope,
    }


def entered(inputs: Sequence[Tensor]) -> list[Tensor]:
    """The inputs of a call as tensors of the current graph, captured where it is a body itself."""
    graph = get_default_graph()
    if isinstance(graph, FunctionGraph):
        return [graph.capture(tensor) for tensor in inputs]
    return list(inputs)


def traced(
    func: Callable[..., Any],
    types: Sequence[Any],
    input_shapes: Sequence[Any] | None = None,
    names: Sequence[str] | None = None,
    body: FunctionGraph | None = None,
) -> FunctionGraph:
    """The body of a Python function of tensors, built in a graph of its own."""
    body = FunctionGraph(get_default_graph()) if body is None else body
    known = input_shapes or [None] * len(types)
    if names is None:
        names = argument_names(func, len(types))
    with body.as_default():
        args = [
            body.add_input(dtype, shapes.raw(shape), name)
            for dtype, shape, name in zip(types, known, names, strict=True)
        ]
        results = func(*args)
        if results is None:
            results = []
        flat = nest.flatten(results) if nest.is_nested(results) else [results]
        if any(value is None for value in flat):
            name = getattr(func, "__name__", "function")
            raise ValueError(f"Function {name} can not return None.")
        body.outputs = [
            body.capture(convert_to_tensor(value)) for value in flat if not _is_operation(value)
        ]
    body.finalize()
    return body


def _is_operation(value: Any) -> bool:
    return isinstance(value, Operation)


def argument_names(func: Callable[..., Any], count: int) -> list[str]:
    try:
        parameters = list(inspect.signature(func).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [argument_name(each.name) for each in parameters if each.kind in positional][:count]
    return names + [f"arg{index}" for index in range(len(names), count)]
