"""Functions for arguments of one signature: a body, and the calls of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from weakref import WeakValueDictionary

from penstock import shapes
from penstock.ir import expanded_trees, nest, tapes
from penstock.ir.apply import make_op
from penstock.ir.attr_codec import Function as FunctionName
from penstock.ir.convert import CompositeTensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.function import Function, add_function
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.deferred_values import DeferredValue, DeferredValues, values_at_call
from penstock.ops.differentiated_calls import Differentiated, called, watched
from penstock.ops.flow_graphs import FlowGraph
from penstock.ops.flow_structures import packed_tensors
from penstock.ops.functions import PartitionedCall, StatefulPartitionedCall, entered
from penstock.ops.resource_variable import ResourceVariable

#: The functions that programs hold, by name.
functions_made: WeakValueDictionary[str, Function] = WeakValueDictionary()


class FuncGraph(FlowGraph):
    """The body of a `tf.function`: its effects are in the order of the program.

    `tf.device` blocks around a call that have names alone are those of the call, whose device is
    that of nodes without one: the body may be called from anywhere. A device function has to see
    each node.

    Args:
      collections: those of the graph around it where this is None.
      capture_by_value: whether variables are read once, when the body is built.
    """

    def __init__(self, name: str, collections: Any = None, capture_by_value: bool | None = None):
        super().__init__(name, collections)
        self.orders_effects = True
        outer = self.outer_graph
        is_within_eager = outer is not None and outer.is_eager
        if not is_within_eager and not any(callable(each.given) for each in self._scopes.devices):
            self._scopes.devices = []
        if capture_by_value is not None:
            self.capture_by_value = capture_by_value
        #: Positional and keyword arguments with a `tf.TensorSpec` for each tensor.
        self.structured_input_signature: Any = None
        self.control_outputs: list[Operation] = []
        self._saving_errors: set[str] = set()
        self._deferred: dict[Any, Any] = {}

    def __str__(self) -> str:
        return f"FuncGraph(name={self.name}, id={id(self)})"

    def add_capture(self, tensor: Tensor, placeholder: Tensor) -> None:
        """Lets a placeholder of this graph stand for a tensor of another one."""
        placeholder._op.__dict__["_stands_for"] = tensor
        self.captured[tensor] = placeholder
        self.inputs.append(placeholder)

    def reset_captures(self, capture_list: Iterable[tuple[Tensor, Tensor]]) -> None:
        """Makes these the captured tensors, and what stands for them."""
        self.captured = dict(capture_list)

    def pop_capture(self, tensor: Tensor) -> Tensor | None:
        """Lets go of a captured tensor; returns what stood for it."""
        return self.captured.pop(tensor, None)

    def capture_call_time_value(
        self, closure: Callable[[], Any], spec: Any, key: Any = None
    ) -> Any:
        """Placeholders of a structure that have the values of `closure()` when the body is called.

        Args:
          closure: takes no arguments, and gives what `spec` describes.
          key: calls with the same one give the same placeholders.
        """
        key = object() if key is None else key
        if key not in self._deferred:
            source = DeferredValues(closure, spec)
            for place, each in enumerate(source.specs):
                held = self.add_input(each.dtype, each.shape, "deferred")
                self.captured[DeferredValue(source, place)] = held  # type: ignore[index]
            inner = self.inputs[len(self.inputs) - len(source.specs) :]
            self._deferred[key] = expanded_trees.pack(spec, inner)
        return self._deferred[key]

    def clear_captures(self) -> None:
        self.captured.clear()

    @property
    def variable_captures(self) -> dict[int, Any]:
        """The variables whose handles are captured, by the ids of what stands for them."""
        return {
            id(self.captured[each.handle]): each
            for each in self.variables
            if each.handle in self.captured
        }

    def mark_as_unsaveable(self, error_message: Any) -> None:
        """Lets attempts to export the function fail with this message."""
        messages = [error_message] if isinstance(error_message, str) else error_message
        self._saving_errors.update(messages)

    @property
    def saveable(self) -> bool:
        return not self._saving_errors

    @property
    def saving_errors(self) -> set[str]:
        """What keeps the function from being exported."""
        return self._saving_errors


#: The functions that are called while a trace is on, None without one (`summary/op_traces.py`).
traced_calls: list[ConcreteFunction] | None = None


class ConcreteFunction:
    """A function for arguments of one signature; calling it adds a node.

    Args:
      graph: its body.
      function: what graphs know it by.
      arguments: how many of the body's inputs are given by callers; the others are captured.
      attrs: of the function's definition.
    """

    def __init__(
        self,
        graph: FuncGraph,
        function: Function | None = None,
        arguments: int | None = None,
        attrs: Mapping[str, Any] | None = None,
    ):
        self.graph = graph
        if arguments is None:
            arguments = len(graph.inputs) - len(graph.captured)
        named = _keywords(graph.inputs[:arguments])
        self._set_function(function or Function(graph.name, body=graph), named)
        self.structured_input_signature: Any = getattr(graph, "structured_input_signature", None)
        for key, value in checked_attrs(attrs or {}).items():
            self._function.definition.attr[key].CopyFrom(value)

    def _set_function(self, function: Function, keywords: list[str]) -> None:
        self._function = function
        self._arguments = len(keywords)
        #: The names that arguments may be given by, and how many may be given without.
        self._arg_keywords = keywords
        self._num_positional_args = len(keywords)
        self._differentiated: Differentiated | None = None
        functions_made[function.name] = function

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
        return values_at_call(self.graph.external_captures)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that the body uses."""
        return tuple(self.graph.variables)

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        return self.graph.trainable_variables

    @property
    def output_dtypes(self) -> Any:
        return nest.map_structure(
            lambda each: None if each is None else each.dtype, _in_parts(self.structured_outputs)
        )

    @property
    def output_shapes(self) -> Any:
        return nest.map_structure(
            lambda each: None if each is None else each.shape, _in_parts(self.structured_outputs)
        )

    def add_to_graph(self, g: Graph | None = None) -> None:
        """Lets the nodes of a graph call the function by its name."""
        add_function(g or get_default_graph(), self._function)

    def add_gradient_functions_to_graph(self, g: Graph | None = None) -> None:
        """Adds the function with the further results that its gradient takes, and the gradient."""
        graph = g or get_default_graph()
        self.add_to_graph(graph)
        for function in self._with_gradient().functions:
            add_function(graph, function)

    # Calls --------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call_flat(self._in_order(args, kwargs))

    def _in_order(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        """The arguments of a call in the order of the body's."""
        if len(args) > self._num_positional_args:
            raise TypeError(
                f"Expected at most {self._num_positional_args} positional arguments (and the rest "
                f"keywords, of {self._arg_keywords}), got {args}. When calling a concrete "
                "function, positional arguments may not be bound to Tensors within nested "
                "structures."
            )
        names = self._arg_keywords
        given = [*names[: len(args)], *kwargs]
        if missing := [name for name in names[len(args) :] if name not in kwargs]:
            raise TypeError(
                f"Expected argument names {names} but got values for {given}. Missing: {missing}."
            )
        if twice := [name for name in kwargs if name in names[: len(args)]]:
            raise TypeError(f"Got two values for keyword '{twice[0]}'.")
        if unknown := [name for name in kwargs if name not in names]:
            raise TypeError(f"Keyword arguments {unknown} unknown. Expected {names}.")
        return [*args, *(kwargs[name] for name in names[len(args) :])]

    def _experimental_with_cancellation_manager(self, cancellation_manager: Any) -> Any:
        return cancellation_manager.get_cancelable_function(self)

    def _filtered_call(self, args: Any, kwargs: Any) -> Any:
        """Calls the function with the tensors and variables among a Python function's arguments."""
        leaves = expanded_trees.flatten((args, kwargs))
        return self._call_flat([each for each in leaves if is_argument(each)])

    def _call_flat(self, args: Sequence[Any], captures: Sequence[Tensor] | None = None) -> Any:
        if any(isinstance(each, CompositeTensor) for each in args):
            raise AssertionError(
                "Expected all args to be Tensors or Variables; but got CompositeTensor: "
                f"{list(args)!r}"
            )
        if traced_calls is not None:
            traced_calls.append(self)
        tensors: list[Tensor] = []
        for place, value in enumerate(args):
            if isinstance(value, ResourceVariable):
                # What is given twice is one argument.
                if not any(value.handle is each for each in tensors):
                    value._note_access()
                    tensors.append(value.handle)
            else:
                tensors.append(self._tensor(value, place))
        return self.call(tensors, captures)

    def _tensor(self, value: Any, place: int) -> Tensor:
        """An argument that must be a tensor of the shape that the body is for."""
        if not isinstance(value, Tensor):
            raise ValueError(
                "All inputs to `ConcreteFunction`s must be Tensors; on invocation of "
                f"{self.graph.name}, the {place}-th input ({value}) was not a Tensor."
            )
        expected = self.graph.inputs[place] if place < len(self.graph.inputs) else value
        if not get_default_graph().is_eager and not shapes.compatible(
            expected._shape, value._shape
        ):
            raise ValueError(
                f"The argument '{self._arg_keywords[place]}' (value {value}) is not compatible "
                f"with the shape this function was traced with. Expected shape {expected.shape}, "
                f"but got shape {value.shape}.\n\nIf you called get_concrete_function, you may "
                "need to pass a tf.TensorSpec(..., shape=...) with a less specific shape, having "
                "None on axes which can vary."
            )
        return value

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
        if isinstance(graph, FuncGraph):
            graph.mark_as_unsaveable(getattr(self.graph, "saving_errors", ()))
        inputs = entered(inputs)
        call = StatefulPartitionedCall if self._function.is_stateful else PartitionedCall
        types = [output._dtype.base_dtype for output in self.graph.outputs]
        waits = [] if captures is not None else list(self.graph.control_captures)
        with graph.control_dependencies(waits):
            attrs = {"Tout": types, "f": FunctionName(self._function.name, {})}
            name = None if types else "PartitionedFunctionCall"
            node = make_op(call, [inputs], attrs, name)
        # A call without results is run for its effects: a session asks for the node.
        if self.graph.structured_outputs is None:
            return node
        return self._packed(list(node.outputs))

    def _packed(self, results: list[Tensor]) -> Any:
        """Results in the form that the body gives them."""
        structure = self.graph.structured_outputs
        return (results or None) if structure is None else packed_tensors(structure, results)

    def _call_now(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """The results of a call in eager mode, flat."""
        for variable in self.graph.read_variables.values():
            if variable.trainable:
                tapes.variable_accessed(variable)
        if not watched(inputs):
            return called(self._function, inputs)
        return self._with_gradient().call(inputs)

    def _with_gradient(self) -> Differentiated:
        if self._differentiated is None:
            self._differentiated = Differentiated(self.graph, FuncGraph, get_default_graph())
        return self._differentiated


def is_argument(value: Any) -> bool:
    """Whether a leaf among a Python function's arguments is one of the function in the graph."""
    return isinstance(value, (Tensor, ResourceVariable))


def _in_parts(structure: Any) -> Any:
    """A structure with lists of tensors in the place of composite tensors."""

    def parts(leaf: Any) -> Any:
        return leaf._parts() if isinstance(leaf, CompositeTensor) else leaf

    return nest.map_structure(parts, structure)


def _keywords(inputs: Sequence[Tensor]) -> list[str]:
    """The names of arguments: those that the user gave, made unique."""
    found: list[str] = []
    counts: dict[str, int] = {}
    for tensor in inputs:
        own = tensor._op.attrs.get("_user_specified_name", tensor._op.name)
        wanted = name = own.decode() if isinstance(own, bytes) else own
        while name in found:
            counts[wanted] = counts.get(wanted, 0) + 1
            name = f"{wanted}_{counts[wanted]}"
        found.append(name)
    return found


def checked_attrs(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The attrs of a function's definition as AttrValue messages."""
    from penstock.proto import AttrValue

    makers: dict[type, Any] = {
        bool: lambda value: AttrValue(b=value),
        int: lambda value: AttrValue(i=value),
        float: lambda value: AttrValue(f=value),
        str: lambda value: AttrValue(s=value.encode()),
        bytes: lambda value: AttrValue(s=value),
        AttrValue: lambda value: value,
    }
    for key, value in attributes.items():
        if type(value) not in makers:
            raise ValueError(f"Unsupported attribute type for {key} with type {type(value)}")
    return {key: makers[type(value)](value) for key, value in attributes.items()}


__all__ = ["ConcreteFunction", "FuncGraph"]
