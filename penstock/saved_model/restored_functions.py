"""The functions of a SavedModel, to be called again."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from penstock.ir import nest
from penstock.ir.convert import CompositeTensor, convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.function import Function, add_library
from penstock.ir.graph import Graph
from penstock.ir.registry import find
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.nest import flatten_up_to
from penstock.ops.concrete_functions import ConcreteFunction
from penstock.ops.flow_graphs import unique_function_name
from penstock.ops.function_arguments import signature_inputs
from penstock.ops.graph_functions import GraphFunction
from penstock.ops.variables import Variable
from penstock.proto import FunctionDefLibrary
from penstock.saved_model.structured_values import StructureCoder

_COUNT_BEHIND = re.compile(r"(_\d+)+$")
_count_of_loads = itertools.count()


def add_renamed_library(graph: Graph, library: Any) -> dict[str, Function]:
    """Adds the functions of a library under new names; they are returned by their old ones.

    A program may load a model twice, or have functions of its own by the same names.
    """
    names = new_names(graph, library)
    renamed = FunctionDefLibrary()
    renamed.CopyFrom(library)
    rename_library(renamed, names, suffix_of_load())
    add_library(graph, renamed)
    return {old: graph._functions[new] for old, new in names.items()}


def new_names(graph: Graph, library: Any) -> dict[str, str]:
    """Names that a program has not used yet for the functions of a library, by their old ones."""
    return {
        each.signature.name: unique_function_name(
            graph, "", _COUNT_BEHIND.sub("", each.signature.name)
        )
        for each in library.function
    }


def suffix_of_load() -> str:
    """What tells the names of shared state, such as tables, from those of other loads."""
    return f"_load_{next(_count_of_loads)}"


def rename_library(library: Any, names: Mapping[str, str], suffix: str) -> None:
    """Renames the functions of a library, where they are called, too, and what they share."""
    for function in library.function:
        function.signature.name = names[function.signature.name]
        rename_in_nodes(function.node_def, names, suffix)
    for gradient in library.gradient:
        gradient.function_name = names[gradient.function_name]
        gradient.gradient_func = names.get(gradient.gradient_func, gradient.gradient_func)


def rename_in_nodes(nodes: Iterable[Any], names: Mapping[str, str], suffix: str) -> None:
    """Lets nodes call functions by their new names, and share state by names with a suffix."""
    for node in nodes:
        spec = find(node.op)
        if spec is not None and "shared_name" in spec.attrs:
            shared = node.attr["shared_name"].s.decode() or node.name
            node.attr["shared_name"].s = (shared + suffix).encode()
        node.op = names.get(node.op, node.op)
        if node.op in ("PartitionedCall", "StatefulPartitionedCall"):
            # The gradient that it names was one of the process that wrote the file.
            node.attr.pop("_gradient_op_type", None)
        for value in node.attr.values():
            _rename(value, names)


def _rename(value: Any, names: Mapping[str, str]) -> None:
    if value.func.name in names:
        value.func.name = names[value.func.name]
    for each in value.list.func:
        each.name = names.get(each.name, each.name)


class RestoredConcreteFunction(ConcreteFunction):
    """A function of a SavedModel for arguments of one signature.

    Its body is built when it is first asked for: of the functions of a large model, most are never
    called.

    Args:
      function: the function of the graph.
      message: its SavedConcreteFunction.
      functions: all functions of the SavedModel, by their names in the graph.
    """

    def __init__(
        self, function: Function, message: Any, functions: Mapping[str, RestoredConcreteFunction]
    ):
        coder = StructureCoder()
        self.structured_input_signature = coder.decode_proto(message.canonicalized_input_signature)
        self._output_signature = coder.decode_proto(message.output_signature)
        self._set_function(function, self._names(function, len(message.bound_inputs)))
        self._functions = functions
        outer = get_default_graph()
        self._library, self._seed = outer._functions, outer._seed
        self._captures: list[Tensor] = []
        self._sources: list[Any] = []
        self._variables: list[Any] = []
        self._body: Any = None

    def _names(self, function: Function, captures: int) -> list[str]:
        """The names of the arguments: those of the specs, if all have one."""
        specs = nest.flatten(self.structured_input_signature)
        named = [each.name for each in specs if isinstance(each, TensorSpec) and each.name]
        inputs = [each.name for each in function.definition.signature.input_arg]
        own = inputs[: len(inputs) - captures]
        return named if len(named) == len(own) else own

    def bind(
        self, captures: Sequence[Tensor], variables: Sequence[Any], sources: Sequence[Any] = ()
    ) -> None:
        """Says which tensors of the program the function uses, some of them of variables.

        Args:
          sources: the objects that the tensors are of; each replica uses its copy of a variable.
        """
        self._captures, self._variables = list(captures), list(variables)
        self._sources = list(sources)
        if self._body is not None:
            self._bind(self._body)

    @property
    def graph(self) -> Any:  # type: ignore[override]  # a FunctionGraph, of no trace
        if self._body is None:
            body: Any = self._function.body({}, self._library)
            body._seed = self._seed
            body.structured_outputs = self._output_signature
            body.control_outputs = [op for op in body.get_operations() if op.spec.is_stateful]
            self._bind(body)
            self._body = body  # before those of others: a function may call itself
            for called in self._called_functions():
                _ = called.graph  # variables are found by what is bound in each body
        return self._body

    def _bind(self, body: Any) -> None:
        body.read_variables = {id(variable): variable for variable in self._variables}
        inner = body.inputs[len(body.inputs) - len(self._captures) :]
        body.captured = dict(zip(self._captures, inner, strict=True))
        for tensor, argument in zip(self._captures, inner, strict=True):
            argument._op.__dict__["_stands_for"] = tensor

    def _called_functions(self) -> list[RestoredConcreteFunction]:
        attrs = [value for node in self.function_def.node_def for value in node.attr.values()]
        names = [each.name for value in attrs for each in (value.func, *value.list.func)]
        return [self._functions[name] for name in names if name in self._functions]

    @property
    def captured_inputs(self) -> list[Tensor]:
        if not any(getattr(source, "_is_distributed", False) for source in self._sources):
            return self._captures
        return [
            source._closest().handle if getattr(source, "_is_distributed", False) else tensor
            for tensor, source in zip(self._captures, self._sources, strict=True)
        ]

    def _packed(self, results: list[Tensor]) -> Any:
        return _packed(self._output_signature, results)


def _packed(structure: Any, tensors: list[Tensor]) -> Any:
    """Tensors in the form of a structure of specs."""
    remaining = iter(tensors)

    def value(spec: Any) -> Any:
        if spec is None:
            return None
        if isinstance(spec, TensorSpec):
            return next(remaining)
        parts = nest.map_structure(lambda _: next(remaining), spec._component_specs)
        return spec._from_components(parts)

    return nest.pack_as(structure, [value(spec) for spec in nest.flatten(structure)])


class RestoredFunction(GraphFunction):
    """A `tf.function` of a SavedModel: its calls are those that it was saved with.

    Args:
      message: its SavedFunction.
      functions: the functions of the SavedModel by name.
    """

    def __init__(self, message: Any, functions: Mapping[str, RestoredConcreteFunction]):
        self.concrete_functions = [functions[name] for name in message.concrete_functions]
        coder = StructureCoder()
        self.saved_spec = spec = message.function_spec
        super().__init__(self._called, input_signature=coder.decode_proto(spec.input_signature))
        # What it was made of says nothing of its parameters.
        del self.__wrapped__
        self.__signature__ = _signature(coder.decode_proto(spec.fullargspec), spec.is_method)

    def __get__(self, instance: Any, owner: Any) -> Any:
        return self  # it is a method of what it was saved with

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._called(*args, **kwargs)

    def _called(self, *args: Any, **kwargs: Any) -> Any:
        given = self._canonical(args, kwargs)
        if self.input_signature is not None and not given[1]:
            specs = self.flat_input_signature
            given = signature_inputs(given[0], self.input_signature, specs), {}
        # A trace for Python values as they are comes before one for tensors made of them.
        for converts in (False, True):
            if (found := self._match(given, converts=converts)) is not None:
                function, tensors = found
                return function.call(tensors)
        raise ValueError(self._no_match(given))

    def _match(
        self, given: Any, *, as_specs: bool = False, converts: bool = True
    ) -> tuple[RestoredConcreteFunction, list[Tensor]] | None:
        """The function that is for these arguments, and the tensors among them."""
        args, kwargs = given
        # Defaults of keywords may or may not have been a part of what it was saved for.
        for keywords in (kwargs, {**self._keyword_defaults(), **kwargs}):
            for function in self.concrete_functions:
                signature = function.structured_input_signature
                tensors = _fitting(
                    (args, keywords), signature, as_specs=as_specs, converts=converts
                )
                if tensors is not None:
                    return function, tensors
        return None

    def _keyword_defaults(self) -> dict[str, Any]:
        if self.input_signature is not None:
            return {}  # it was saved for what this has, and for no other arguments
        parameters = self.__signature__.parameters.values()
        return {
            each.name: each.default
            for each in parameters
            if each.kind is each.KEYWORD_ONLY and each.default is not each.empty
        }

    def _list_all_concrete_functions_for_serialization(self) -> list[ConcreteFunction]:
        return list(self.concrete_functions)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        if not args and not kwargs and self.input_signature is not None:
            return self.concrete_functions[0]
        given = self._canonical(args, kwargs)
        found = self._match(given, as_specs=True)
        if found is None:
            raise ValueError(self._no_match(given))
        return found[0]

    def _canonical(self, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments by position as far as can be, with the defaults of those that are missing."""
        positional, rest = list(args), dict(kwargs)
        # With a signature, it was saved for what this has, and for no other arguments.
        is_filled = self.input_signature is None
        parameters = list(self.__signature__.parameters.values())
        by_position = [each for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
        for each in by_position[len(positional) :]:
            if each.name not in rest and (not is_filled or each.default is each.empty):
                break
            positional.append(rest.pop(each.name, each.default))
        return tuple(positional), rest

    def _no_match(self, given: Any) -> str:
        saved = [str(each.structured_input_signature) for each in self.concrete_functions]
        return (
            "Could not find matching function to call loaded from the SavedModel: it was saved for "
            + (" or ".join(saved) or "no arguments at all")
            + f", got {given}"
        )


def _signature(argspec: Any, is_method: bool) -> inspect.Signature:
    """The parameters of a saved argspec, without the object that a method is bound to."""
    kinds = inspect.Parameter
    names = list(argspec.args)
    defaults = list(argspec.defaults or ())
    default_of = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    default_of.update(argspec.kwonlydefaults or {})

    def parameter(name: str, kind: Any) -> inspect.Parameter:
        return kinds(name, kind, default=default_of.get(name, kinds.empty))

    found = [parameter(name, kinds.POSITIONAL_OR_KEYWORD) for name in names[int(is_method) :]]
    if argspec.varargs:
        found.append(kinds(argspec.varargs, kinds.VAR_POSITIONAL))
    found += [parameter(name, kinds.KEYWORD_ONLY) for name in argspec.kwonlyargs or ()]
    if argspec.varkw:
        found.append(kinds(argspec.varkw, kinds.VAR_KEYWORD))
    return inspect.Signature(found)


def _fitting(
    given: Any, signature: Any, *, as_specs: bool = False, converts: bool = True
) -> list[Tensor] | None:
    """The tensors among arguments, if these fit a signature."""
    args, kwargs = given
    wanted_args, wanted_kwargs = signature
    if len(args) != len(wanted_args) or set(kwargs) != set(wanted_kwargs):
        return None
    try:
        # What stands for one tensor may be a list of numbers.
        values = flatten_up_to(signature, given, check_types=False)
    except (TypeError, ValueError):
        return None
    tensors: list[Tensor] = []
    for value, spec in zip(values, nest.flatten(signature), strict=True):
        found = _tensors_of(value, spec, as_specs, converts)
        if found is None:
            return None
        tensors += found
    return tensors


def _tensors_of(value: Any, spec: Any, as_specs: bool, converts: bool) -> list[Any] | None:
    if not isinstance(spec, TensorSpec):
        if isinstance(value, CompositeTensor):
            return value._parts() if spec.is_compatible_with(value) else None
        is_tensor = isinstance(value, (Tensor, Variable))
        return [] if not is_tensor and type(value) is type(spec) and value == spec else None
    if as_specs and isinstance(value, TensorSpec):
        return [value] if spec.is_compatible_with(value) else None
    if not converts and not isinstance(value, (Tensor, Variable)):
        return None
    try:
        tensor = convert_to_tensor(value, dtype=None if _has_type(value) else spec.dtype)
    except (TypeError, ValueError):
        return None
    is_fit = tensor.dtype == spec.dtype and spec.shape.is_compatible_with(tensor.shape)
    return [tensor] if is_fit else None


def _has_type(value: Any) -> bool:
    return hasattr(value, "dtype")
