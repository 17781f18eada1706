"""Functions: subgraphs with a name that nodes call.

A `FunctionGraph` is a body under construction; what it uses of the graph around it becomes a
further argument. A `Function` is a finished one: made from such a body, or from a FunctionDef
message, whose body is built when it is first needed. A graph keeps the functions that its nodes
name.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from penstock import dtypes, errors, proto
from penstock.dtypes import DType
from penstock.ir import registry
from penstock.ir.attr_codec import decode, encode
from penstock.ir.defaults import get_default_graph
from penstock.ir.graph import Graph
from penstock.ir.graph_def import fill_node_def
from penstock.ir.operation import Operation
from penstock.ir.registry import OpSpec, Trait
from penstock.ir.signature import Arg, Signature
from penstock.ir.tensor import Tensor


class FunctionGraph(Graph):
    """The body of a function while it is built.

    `captured` maps each tensor of an outer graph that the body uses to the argument that stands for
    it; these arguments follow the declared ones in `inputs`. `control_captures` are the nodes
    around it that the body waits for: whoever calls the function waits for them.
    """

    #: Whether conditionals and loops inside are nodes that call functions, as in `tf.function`.
    functional_flow = False

    def __init__(self, outer: Graph | None = None, name: str = ""):
        super().__init__()
        self._building_function = True
        self.name = name
        self.base = self  # the graph that the nodes are of, where another signature was given
        self.outer_graph = outer
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.structured_outputs: Any = None
        self.effects: list[Operation] | None = (
            None  # the nodes that must run; all with state if None
        )
        self.captured: dict[Tensor, Tensor] = {}
        self.control_captures: dict[Operation, None] = {}
        self.asked_variables: list[Any] = []  # that the body asked for, of the graph around it
        self.read_variables: dict[int, Any] = {}  # behind handles, in the order of their use
        if outer is not None:
            self._functions = outer._functions
            self._py_functions = outer._py_functions
            self._seed = outer._seed

    @property
    def captures(self) -> list[tuple[Tensor, Tensor]]:
        """The outer tensors that the body uses, each with the argument that stands for it."""
        return list(self.captured.items())

    @property
    def external_captures(self) -> list[Tensor]:
        return list(self.captured)

    @property
    def internal_captures(self) -> list[Tensor]:
        return list(self.captured.values())

    @property
    def output_types(self) -> list[DType]:
        return [tensor._dtype for tensor in self.outputs]

    @property
    def output_shapes(self) -> list[Any]:
        return [tensor.shape for tensor in self.outputs]

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables behind handles that the body reads."""
        return tuple(self.read_variables.values())

    @variables.setter
    def variables(self, variables: Iterable[Any]) -> None:
        self.read_variables = {id(each): each for each in variables}

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        return tuple(variable for variable in self.variables if variable.trainable)

    def watch_variable(self, variable: Any) -> None:
        """Notes that the body reads a variable of the graph around it."""
        self.read_variables[id(variable)] = variable
        if self.outer_graph is not None:
            self.outer_graph.watch_variable(variable)

    def add_input(self, dtype: Any, shape: Any, name: str) -> Tensor:
        """A further argument of the function."""
        spec = registry.find("Placeholder")
        assert spec is not None
        with self.as_default(), self.control_dependencies(None):
            tensor: Tensor = spec(dtype=dtype.base_dtype, shape=shape, name=name)
        self.inputs.append(tensor)
        return tensor

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """The tensor of this graph that stands for one of an outer graph."""
        if tensor._op.graph is self:
            return tensor
        known = self.captured.get(tensor)
        if known is None:
            known = self._new_capture(tensor, name)
            known._op.__dict__["_stands_for"] = tensor
            self.captured[tensor] = known
        return known

    def _new_capture(self, tensor: Tensor, name: str | None) -> Tensor:
        scope, self._scopes.name = self._scopes.name, ""
        try:
            wanted = name or tensor._op.name.split("/")[-1]
            return self.add_input(tensor._dtype, tensor._shape, wanted)
        finally:
            self._scopes.name = scope

    def with_signature(
        self, name: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor]
    ) -> FunctionGraph:
        """The same nodes as the body of another function, with these arguments and results."""
        other: FunctionGraph = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.name = name
        other.inputs, other.outputs = list(inputs), list(outputs)
        return other

    def _add(
        self,
        spec: OpSpec,
        name: str,
        inputs: tuple[Tensor, ...],
        attrs: dict[str, Any],
        output_types: Iterable[DType],
        control_inputs: Iterable[Operation] = (),
    ) -> Operation:
        inputs = tuple(self.capture(tensor) for tensor in inputs)
        return super()._add(spec, name, inputs, attrs, output_types, control_inputs)

    @contextmanager
    def control_dependencies(self, control_inputs: Any) -> Iterator[None]:
        """As of any graph; nodes of an outer graph have run before the function is called."""
        if control_inputs is not None:
            ops = [self._outer_op(value) for value in control_inputs]
            control_inputs = [op for op in ops if op.graph is self]
            self.control_captures.update((op, None) for op in ops if op.graph is not self)
        with super().control_dependencies(control_inputs):
            yield

    def _outer_op(self, value: Any) -> Operation:
        element = getattr(value, "op", value)
        return element if isinstance(element, Operation) else self._control_op(value)


class Function:
    """A function that nodes can call, by its name among `Graph._functions`."""

    def __init__(
        self,
        name: str,
        definition: Any = None,
        body: FunctionGraph | None = None,
        gradient: Any = None,
        gradient_name: str = "",
    ):
        self.name = name
        self.gradient = gradient  # of the call: a Python function of the node and its gradients
        self.gradient_name = gradient_name  # the function of the graph that computes it
        self._definition = definition
        self._body = body
        self._bodies: dict[bytes, FunctionGraph] = {}
        self._spec: OpSpec | None = None

    @property
    def definition(self) -> Any:
        """The FunctionDef message."""
        if self._definition is None:
            assert self._body is not None
            self._definition = function_def(self.name, self._body)
        return self._definition

    @property
    def spec(self) -> OpSpec:
        """The op type that a node has that calls the function by its name."""
        if self._spec is None:
            self._spec = _call_spec(self)
        return self._spec

    def body(self, attrs: dict[str, Any], library: dict[str, Function]) -> FunctionGraph:
        """The graph of the function for a call with these attrs."""
        if self._body is not None:
            return self._body
        attrs = {key: value for key, value in attrs.items() if not key.startswith("_")}
        key = repr(sorted(attrs.items())).encode()
        if key not in self._bodies:
            with _building(self, key):
                self._bodies[key] = _body_of(self.definition, attrs, library)
        return self._bodies[key]

    @property
    def is_stateful(self) -> bool:
        return bool(self.definition.signature.is_stateful)


class _UnderWay(threading.local):
    def __init__(self) -> None:
        self.bodies: list[tuple[Function, bytes]] = []


_under_way = _UnderWay()


@contextmanager
def _building(function: Function, key: bytes) -> Iterator[None]:
    """A block that builds a body from a FunctionDef, which may be wrong in any way."""
    if (function, key) in _under_way.bodies:
        raise ValueError(f"The function {function.name!r} calls itself, without a condition.")
    _under_way.bodies.append((function, key))
    try:
        yield
    except (KeyError, IndexError) as error:
        raise ValueError(
            f"The definition of the function {function.name!r} names {error}, which it hasn't."
        ) from None
    finally:
        _under_way.bodies.pop()


def add_function(graph: Graph, function: Function) -> None:
    """Lets the nodes of a graph call a function."""
    known = graph._functions.get(function.name)
    if known is not None and known is not function:
        if known.definition != function.definition:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Cannot add function '{function.name}' because a different function with the same "
                "name already exists.",
            )
        return
    graph._functions[function.name] = function


def add_library(graph: Graph, library: Any) -> None:
    """Lets the nodes of a graph call the functions of a FunctionDefLibrary message."""
    gradients = {each.function_name: each.gradient_func for each in library.gradient}
    for message in library.function:
        name = message.signature.name
        gradient = gradients.get(name, "")
        call = _calling(gradient) if gradient else None
        add_function(graph, Function(name, message, gradient=call, gradient_name=gradient))


def _calling(function_name: str) -> Any:
    """The gradient of a call: another function, of the inputs and the outputs' gradients."""

    def gradient(op: Operation, *grads: Any) -> list[Tensor]:
        return get_default_graph().create_op(function_name, [*op.inputs, *grads]).outputs

    return gradient


def find_spec(op_type: str, functions: dict[str, Function]) -> OpSpec | None:
    """The op type of a node: a registered one, or the call of a function of its graph."""
    spec = registry.find(op_type)
    if spec is None and op_type in functions:
        return functions[op_type].spec
    return spec


def _call_spec(function: Function) -> OpSpec:
    spec = spec_of(function.definition.signature)
    spec.function = function
    spec.shape(lambda op, *inputs: _result_shapes(op, function))
    return spec


def spec_of(op_def: Any) -> OpSpec:
    """The op type that an OpDef message describes."""
    signature = Signature(
        op_def.name,
        tuple(_arg(each) for each in op_def.input_arg),
        tuple(_arg(each) for each in op_def.output_arg),
        {each.name: _attr(each) for each in op_def.attr},
    )
    return OpSpec(signature, frozenset([Trait.STATEFUL] if op_def.is_stateful else []))


def _result_shapes(op: Any, function: Function) -> list[Any]:
    return [output._shape for output in function.body(op.attrs, op.graph._functions).outputs]


def _arg(message: Any) -> Arg:
    return Arg(
        message.name,
        dtypes.as_dtype(message.type) if message.type else None,
        message.type_attr or None,
        message.number_attr or None,
        message.type_list_attr or None,
        message.is_ref,
    )


def _attr(message: Any) -> Any:
    from penstock.ir.signature import REQUIRED, Attr

    has_default = message.HasField("default_value")
    default = decode(message.default_value) if has_default else REQUIRED
    return Attr(message.name, message.type, default)


# To and from messages -----------------------------------------------------------------------------


def argument_name(text: str) -> str:
    """A node's name as the name of an argument: letters, digits and underscores, no capitals."""
    name = re.sub(r"[^a-z0-9_]", "_", text.lower()).lstrip("_0123456789")
    return name or "arg"


def _unique(names: Sequence[str]) -> list[str]:
    taken: set[str] = set()
    found = []
    for name in names:
        candidate, suffix = name, 0
        while candidate in taken:
            candidate, suffix = f"{name}_{suffix}", suffix + 1
        taken.add(candidate)
        found.append(candidate)
    return found


def function_def(name: str, body: FunctionGraph, output_names: Sequence[str] | None = None) -> Any:
    """The FunctionDef message of a body."""
    nodes = body.get_operations()
    return function_def_of_nodes(name, nodes, body.inputs, body.outputs, output_names)


def function_def_of_nodes(
    name: str,
    nodes: Sequence[Operation],
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    output_names: Sequence[str] | None = None,
) -> Any:
    """The FunctionDef message of some nodes; those that give the inputs are none of it."""
    message = proto.FunctionDef()
    message.signature.name = name
    arguments = _unique([argument_name(tensor._op.name) for tensor in inputs])
    references = dict(zip(inputs, arguments, strict=True))
    for place, (tensor, argument) in enumerate(references.items()):
        message.signature.input_arg.add(name=argument, type=tensor._dtype.as_datatype_enum)
        if (named := tensor._op.attrs.get("_user_specified_name")) is not None:
            message.arg_attr[place].attr["_user_specified_name"].s = named
    results = output_names or [argument_name(tensor._op.name) for tensor in outputs]
    placeholders = {tensor._op for tensor in inputs}
    for op in nodes:
        if op not in placeholders:
            _add_node(message, op, references)
            message.signature.is_stateful |= op.spec.is_stateful
    for result, tensor in zip(_unique(list(results)), outputs, strict=True):
        message.signature.output_arg.add(
            name=result, type=tensor._dtype.base_dtype.as_datatype_enum
        )
        message.ret[result] = _reference(tensor, references)
    return message


def _add_node(message: Any, op: Operation, references: dict[Tensor, str]) -> None:
    node = message.node_def.add()
    fill_node_def(op, node)
    controls = [text for text in node.input if text.startswith("^")]
    del node.input[:]
    node.input.extend(_reference(tensor, references) for tensor in op._inputs)
    node.input.extend(controls)


def _reference(tensor: Tensor, references: dict[Tensor, str]) -> str:
    """A tensor in a function body: an argument, or `node:output argument:index in it`."""
    if tensor in references:
        return references[tensor]
    op, left = tensor._op, tensor._value_index
    for arg in op.spec.outputs:
        count = arg.count(op.attrs)
        if left < count:
            return f"{op.name}:{arg.name}:{left}"
        left -= count
    raise AssertionError(f"{tensor.name} is no output of its node")


def hashed_name(name: str, body: FunctionGraph) -> str:
    """A name that tells bodies of the same Python function apart."""
    digest = hashlib.sha1(function_def(name, body).SerializeToString(deterministic=True))
    return f"{name}_{digest.hexdigest()[:8]}"


def _body_of(definition: Any, attrs: dict[str, Any], library: dict[str, Function]) -> FunctionGraph:
    """The graph of a FunctionDef, its attr placeholders replaced by the attrs of a call."""
    from penstock.ir.importer import import_graph_def

    body = FunctionGraph(name=definition.signature.name)
    body._functions = library
    shapes = (
        definition.attr["_input_shapes"].list.shape if "_input_shapes" in definition.attr else []
    )
    graph_def, arguments, results = body_graph_def(definition, attrs, library, shapes)
    with body.as_default():
        wanted = [f"{name}:0" for name in arguments] + [with_index(text) for text in results]
        found = import_graph_def(graph_def, name="", return_elements=wanted) or []
    for op in body.get_operations():
        op._line = None  # it would be the line that happens to need the body
    body.inputs = found[: len(arguments)]
    body.outputs = found[len(arguments) :]
    return body


def body_graph_def(
    definition: Any,
    attrs: dict[str, Any],
    library: dict[str, Function],
    input_shapes: Sequence[Any] | None = None,
) -> tuple[Any, list[str], list[str]]:
    """The nodes of a FunctionDef as a GraphDef, with the names of its arguments and results."""
    graph_def = proto.GraphDef()
    for arg in definition.signature.input_arg:
        _add_arguments(graph_def, arg, attrs)
    for node, shape in zip(graph_def.node, input_shapes or (), strict=False):
        if shape is not None:
            node.attr["shape"].shape.CopyFrom(shape)
    arguments = [node.name for node in graph_def.node]
    specs = {}
    for node in definition.node_def:
        copy = graph_def.node.add()
        copy.CopyFrom(node)
        _fill_placeholders(copy, attrs)
        copy.attr.pop("_class", None)  # it may name nodes of the graph that calls
        specs[node.name] = (find_spec(node.op, library), copy)
    places = _Places(definition, attrs, specs)
    for node in graph_def.node:
        node.input[:] = [places.flat(text) for text in node.input]
    results = [
        places.flat(text)
        for arg in definition.signature.output_arg
        for text in places.results(arg, definition.ret[arg.name])
    ]
    return graph_def, arguments, results


def with_index(text: str) -> str:
    return text if ":" in text else f"{text}:0"


def _add_arguments(graph_def: Any, arg: Any, attrs: dict[str, Any]) -> None:
    types = _arg(arg).types(attrs)
    names = [arg.name] if len(types) == 1 else [f"{arg.name}_{i}" for i in range(len(types))]
    for name, dtype in zip(names, types, strict=True):
        node = graph_def.node.add(name=name, op="Placeholder")
        node.attr["dtype"].type = dtype.base_dtype.as_datatype_enum
        node.attr["shape"].shape.unknown_rank = True


def _fill_placeholders(node: Any, attrs: dict[str, Any]) -> None:
    for value in node.attr.values():
        if value.WhichOneof("value") == "placeholder":
            value.CopyFrom(encode(attrs[value.placeholder]))


class _Places:
    """Where the names inside a FunctionDef point, in the words of a GraphDef."""

    def __init__(self, definition: Any, attrs: dict[str, Any], specs: dict[str, tuple[Any, Any]]):
        self._arguments = {arg.name: arg for arg in definition.signature.input_arg}
        self._attrs = attrs
        self._specs = specs

    def flat(self, text: str) -> str:
        """`node:argument:index` as `node:number of the output`."""
        if text.startswith("^"):
            return text
        name, *place = text.split(":")
        if name in self._arguments and name not in self._specs:
            is_list = len(_arg(self._arguments[name]).types(self._attrs)) != 1
            return f"{name}_{place[0]}" if place and is_list else name
        if len(place) < 2:
            return text
        spec, node = self._specs[name]
        if spec is None:
            return f"{name}:{place[1]}"
        values = {key: decode(value) for key, value in node.attr.items()}
        start = 0
        for arg in spec.outputs:
            if arg.name == place[0]:
                return f"{name}:{start + int(place[1])}"
            start += arg.count(values)
        raise ValueError(f"{spec.name} '{name}' has no output {place[0]!r}")

    def results(self, arg: Any, text: str) -> list[str]:
        """The tensors of a result, which may be a list."""
        count = len(_arg(arg).types(self._attrs))
        if count == 1:
            return [text]
        name, _, place = text.partition(":")
        head = f"{name}:{place.rsplit(':', 1)[0]}" if place else name
        return [f"{head}:{index}" for index in range(count)]
