"""`tf.function` inside a graph: a Python function whose calls with one signature share one body."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock.ir import nest, tapes
from penstock.ir.attr_codec import Function as FunctionName
from penstock.ir.convert import CompositeTensor, convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.function import Function, add_function
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.ops.differentiated_calls import Differentiated, called, watched
from penstock.ops.flow_graphs import FlowGraph, trace, unique_function_name
from penstock.ops.flow_structures import leaf_tensors, packed_tensors
from penstock.ops.functions import (
    PartitionedCall,
    StatefulPartitionedCall,
    argument_names,
    entered,
)
from penstock.ops.variables import Variable

__all__ = ["defun", "function", "wrap_function"]


class FuncGraph(FlowGraph):
    """The body of a `tf.function`: its effects are in the order of the program."""

    def __init__(self, name: str, collections: Any = None, capture_by_value: bool | None = None):
        super().__init__(name, collections)
        self.orders_effects = True


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
) -> Any:
    """`tf.function` inside a graph: calls with the same types and shapes share one function.

    The Python code runs once per signature; Python branches and loops on tensors are not converted.

    Args:
      func: the function; without it, a decorator is returned.
      input_signature: a list of `tf.TensorSpec`s that every call must fit; the body is built once.
    """
    if func is None:
        return lambda later: function(later, input_signature, autograph)
    return GraphFunction(func, input_signature)


def defun(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
) -> Any:
    """The older name of `tf.function`."""
    return function(func, input_signature, autograph)


def wrap_function(fn: Callable[..., Any], signature: Any, name: str | None = None) -> Any:
    """A function of one signature, built at once: something to call with tensors."""
    made = GraphFunction(fn, signature, name=name)
    return made.get_concrete_function()


class ConcreteFunction:
    """A function for arguments of one signature; calling it adds a node."""

    def __init__(self, graph: FuncGraph, function: Function, arguments: int):
        self.graph = graph
        self._function = function
        self._arguments = arguments
        self._differentiated: Differentiated | None = None
        #: The names that arguments may be given by, and how many may be given without.
        self._arg_keywords: list[str] = [each.op.name for each in graph.inputs[:arguments]]
        self._num_positional_args = arguments
        #: Positional and keyword arguments with a `tf.TensorSpec` for each tensor.
        self.structured_input_signature: Any = None

    @property
    def name(self) -> str:
        return self._function.name

    @property
    def function_def(self) -> Any:
        """The FunctionDef message."""
        return self._function.definition

    @property
    def inputs(self) -> list[Tensor]:
        return self.graph.inputs

    @property
    def outputs(self) -> list[Tensor]:
        return self.graph.outputs

    @property
    def structured_outputs(self) -> Any:
        return self.graph.structured_outputs

    @property
    def captured_inputs(self) -> list[Tensor]:
        """The tensors of the graph around it that the body uses."""
        return self.graph.external_captures

    @property
    def output_dtypes(self) -> Any:
        return nest.map_structure(lambda each: each.dtype, self.structured_outputs)

    @property
    def output_shapes(self) -> Any:
        return nest.map_structure(lambda each: each.shape, self.structured_outputs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = [*nest.flatten(list(args)), *nest.flatten(self._in_order(len(args), kwargs))]
        tensors = [tensor for value in given if _is_tensor_like(value) for tensor in _parts(value)]
        if len(tensors) != self._arguments:
            tensors = [convert_to_tensor(value) for value in given][: self._arguments]
        if len(tensors) < self._arguments:
            missing = [name for name in self._arg_keywords[len(args) :] if name not in kwargs]
            raise TypeError(f"{self.name} is missing the arguments {', '.join(missing)}")
        return self.call(tensors)

    def _in_order(self, positional: int, kwargs: dict[str, Any]) -> list[Any]:
        """Keyword arguments in the order of the function's own."""
        order = {name: index for index, name in enumerate(self._arg_keywords)}
        taken = set(self._arg_keywords[:positional]) & set(kwargs)
        if taken:
            raise TypeError(f"{self.name} got two values for {sorted(taken)[0]!r}")
        return [kwargs[name] for name in sorted(kwargs, key=lambda name: order.get(name, -1))]

    def call(self, tensors: Sequence[Tensor], captures: Sequence[Tensor] | None = None) -> Any:
        """Adds a node that calls the function; its results in the form that the body gives.

        Args:
          tensors: the arguments.
          captures: what to use in place of `captured_inputs`, in the graph of another program.
        """
        graph = get_default_graph()
        inputs = [*tensors, *(self.captured_inputs if captures is None else captures)]
        if graph.is_eager:
            return self._packed(self._call_now(inputs))
        for variable in self.graph.read_variables.values():
            graph.watch_variable(variable)
        add_function(graph, self._function)
        inputs = entered(inputs)
        call = StatefulPartitionedCall if self._function.is_stateful else PartitionedCall
        types = [output._dtype.base_dtype for output in self.graph.outputs]
        waits = [] if captures is not None else list(self.graph.control_captures)
        with graph.control_dependencies(waits):
            made = call(inputs, Tout=types, f=FunctionName(self._function.name, {}))
        return self._packed([] if isinstance(made, Operation) else list(made))

    def _packed(self, results: list[Tensor]) -> Any:
        """Results in the form that the body gives them."""
        return packed_tensors(self.graph.structured_outputs, results)

    def _call_now(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """The results of a call in eager mode, flat."""
        for variable in self.graph.read_variables.values():
            if variable.trainable:
                tapes.variable_accessed(variable)
        if not watched(inputs):
            return called(self._function, inputs)
        if self._differentiated is None:
            self._differentiated = Differentiated(self.graph, FuncGraph, get_default_graph())
        return self._differentiated.call(inputs)


class GraphFunction:
    """What `tf.function` makes."""

    def __init__(
        self,
        python_function: Callable[..., Any],
        input_signature: Any = None,
        name: str | None = None,
    ):
        self.python_function = python_function
        self.input_signature = input_signature
        self._made: dict[Any, ConcreteFunction] = {}
        self._bound: dict[int, GraphFunction] = {}
        self.__name__ = name or getattr(python_function, "__name__", "function").strip("<>")
        self.__doc__ = python_function.__doc__
        self.__wrapped__ = python_function

    def __get__(self, instance: Any, owner: Any) -> Any:
        if instance is None:
            return self
        made = instance.__dict__.setdefault("_graph_functions", {})
        if self.__name__ not in made:
            bound = self.python_function.__get__(instance, owner)
            made[self.__name__] = GraphFunction(bound, self.input_signature)
        return made[self.__name__]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call = _Call(self, args, kwargs)
        return self._concrete(call).call(call.tensors)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The function for arguments of one signature; a `tf.TensorSpec` stands for any tensor."""
        if self.input_signature is not None and not args and not kwargs:
            args = tuple(self.input_signature)
        return self._concrete(_Call(self, args, kwargs))

    def _concrete(self, call: _Call) -> ConcreteFunction:
        key = (get_default_graph(), _place(), *call.key)
        if key not in self._made:
            self._made[key] = self._traced(call)
        return self._made[key]

    def _traced(self, call: _Call) -> ConcreteFunction:
        name = unique_function_name(get_default_graph(), "", f"__inference_{self.__name__}")
        body = FuncGraph(name)
        names = argument_names(self.python_function, len(call.specs))
        for spec, argument in zip(call.specs, names, strict=True):
            body.add_input(spec.dtype, spec.shape, spec.name or argument)
        args, kwargs = call.with_tensors(body.inputs)
        trace(body, functools.partial(self.python_function, *args, **kwargs))
        made = ConcreteFunction(body, Function(name, body=body), len(call.specs))
        made._arg_keywords = [
            spec.name or argument for spec, argument in zip(call.specs, names, strict=True)
        ]
        made.structured_input_signature = call.signature(made._arg_keywords)
        return made


class _Probe:
    """What device scopes are asked with."""

    device = ""

    def _set_device(self, device: str) -> None:
        self.device = device


def _place() -> str:
    """The device that nodes get here: a function is traced for each place, as in TensorFlow."""
    graph = get_default_graph()
    if not graph._scopes.devices:
        return ""
    probe = _Probe()
    graph._apply_device_functions(probe)
    return probe.device


def _form(structure: Any) -> str:
    """The form of a structure as text, in which lists of any class are the same."""
    if isinstance(structure, list):
        return f"[{', '.join(map(_form, structure))}]"
    if type(structure) is tuple:
        return f"({', '.join(map(_form, structure))})"
    if type(structure) is dict:
        return repr({key: _form(value) for key, value in structure.items()})
    return repr(nest.map_structure(lambda _: 0, structure))


class _Call:
    """The arguments of a call: the tensors among them, and what the others are."""

    def __init__(self, owner: GraphFunction, args: Any, kwargs: Any):
        args, kwargs = _positional(
            owner.python_function, args, kwargs, with_defaults=owner.input_signature is None
        )
        if owner.input_signature is not None:
            args = _fitting(args, kwargs, owner.input_signature)
        self.structure = (args, kwargs)
        self.leaves = [_converted(leaf) for leaf in nest.flatten(self.structure)]
        self.specs = [spec for leaf in self.leaves for spec in _specs(leaf)]
        self.tensors = [part for leaf in self.leaves if _is_value(leaf) for part in _parts(leaf)]
        if owner.input_signature is not None:
            self.specs = [spec for each in nest.flatten(owner.input_signature) for spec in [each]]
        self.key = (
            _form(self.structure),
            *((spec.dtype, repr(spec.shape)) for spec in self.specs),
            *(_identity(leaf) for leaf in self.leaves if not _is_argument(leaf)),
        )

    def with_tensors(self, tensors: Sequence[Tensor]) -> tuple[Any, Any]:
        """The arguments with other tensors."""
        remaining = iter(tensors)
        leaves = []
        for leaf in self.leaves:
            if isinstance(leaf, CompositeTensor):
                leaves.append(leaf._with_parts([next(remaining) for _ in leaf._parts()]))
            else:
                leaves.append(next(remaining) if _is_argument(leaf) else leaf)
        args, kwargs = nest.pack_as(self.structure, leaves)
        return args, kwargs

    def signature(self, names: Sequence[str]) -> Any:
        """The arguments with a named `TensorSpec` in the place of each tensor."""
        specs = (
            TensorSpec(spec.shape, spec.dtype, name)
            for spec, name in zip(self.specs, names, strict=True)
        )
        leaves = []
        for leaf in self.leaves:
            if isinstance(leaf, CompositeTensor):
                parts = [next(specs) for _ in leaf._parts()]
                leaves.append(getattr(leaf, "_type_spec", parts))
            else:
                leaves.append(next(specs) if _is_argument(leaf) else leaf)
        return nest.pack_as(self.structure, leaves)


def _positional(
    func: Callable[..., Any], args: Any, kwargs: Any, *, with_defaults: bool
) -> tuple[Any, Any]:
    """The arguments by position, as far as the function's signature allows it."""
    try:
        bound = inspect.signature(func).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return args, kwargs  # the call itself tells what is wrong
    if with_defaults:
        bound.apply_defaults()
    return bound.args, bound.kwargs


def _fitting(args: Any, kwargs: Any, signature: Any) -> Any:
    """The arguments as tensors of a signature; ValueError where they don't fit."""
    wanted = nest.flatten(signature)
    given = nest.flatten((args, kwargs))
    if len(given) != len(wanted):
        raise ValueError(
            "Structure of Python function inputs does not match input_signature. Inputs "
            f"({args}), input_signature ({signature})."
        )
    fitting = []
    for value, spec in zip(given, wanted, strict=True):
        try:
            tensor = value if isinstance(value, TensorSpec) else convert_to_tensor(value)
        except (TypeError, ValueError):
            raise ValueError(
                "When input_signature is provided, all inputs to the Python function must be "
                f"convertible to tensors. Inputs ({args}), input_signature ({signature})."
            ) from None
        if not spec.is_compatible_with(tensor):
            raise ValueError(
                "Python inputs incompatible with input_signature: inputs: "
                f"({tensor}), input_signature: ({spec})"
            )
        fitting.append(tensor)
    packed = nest.pack_as((args, kwargs), fitting)
    return packed[0]


def _converted(leaf: Any) -> Any:
    if _is_tensor_like(leaf) and not isinstance(leaf, (CompositeTensor, TensorSpec)):
        return convert_to_tensor(leaf)
    return leaf


def _is_tensor_like(value: Any) -> bool:
    if isinstance(value, Variable):
        return False
    is_tensor = isinstance(value, (Tensor, CompositeTensor, np.ndarray, np.generic, TensorSpec))
    return is_tensor or hasattr(value, "_as_graph_element")


def _is_value(leaf: Any) -> bool:
    return isinstance(leaf, (Tensor, CompositeTensor))


def _is_argument(leaf: Any) -> bool:
    return _is_value(leaf) or isinstance(leaf, TensorSpec)


def _parts(leaf: Any) -> list[Tensor]:
    return leaf_tensors(_converted(leaf))


def _specs(leaf: Any) -> list[TensorSpec]:
    if isinstance(leaf, TensorSpec):
        return [leaf]
    if not _is_value(leaf):
        return []
    return [TensorSpec(part.shape, part.dtype.base_dtype) for part in leaf_tensors(leaf)]


def _identity(leaf: Any) -> Any:
    """What tells one Python argument from another."""
    if isinstance(leaf, (bool, int, float, complex, str, bytes, type(None))):
        return type(leaf), leaf
    return id(leaf)
