"""`tf.wrap_function`: code of TensorFlow 1.x as a function that keeps its variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from penstock.ir import expanded_trees, nest
from penstock.ir.convert import CompositeTensor, convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.function import Function
from penstock.ir.graph import Graph
from penstock.ir.importer import import_graph_def
from penstock.ir.name_scope import name_scope
from penstock.ir.naming import without_slash
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.ops.concrete_functions import ConcreteFunction, FuncGraph
from penstock.ops.control import add_to_collections
from penstock.ops.flow_graphs import unique_function_name
from penstock.ops.function_tracing import func_graph_from_py_func
from penstock.ops.graph_lifting import lift_to_graph
from penstock.ops.lifted_variables import UninitializedVariable
from penstock.ops.resource_variable import ResourceVariable
from penstock.ops.variable_creation import variable_creator_scope

__all__ = ["VariableHolder", "WrappedFunction", "WrappedGraph", "wrap_function"]


class VariableHolder:
    """Keeps the variables that a function makes, by name.

    Args:
      share_variables: whether a variable of a name that is known is that one.
    """

    def __init__(self, fn: Callable[..., Any] | None = None, share_variables: bool = False):
        self._fn = fn
        self._share_variables = share_variables
        self._variables_by_name: dict[str, Any] = {}

    @property
    def variables(self) -> dict[str, Any]:
        return self._variables_by_name

    def variable_creator_scope(self, next_creator: Any, **kwargs: Any) -> Any:
        """A creator, for `tf.variable_creator_scope`, that keeps what is made."""
        collections = kwargs.pop("collections", None)
        with name_scope(kwargs.get("name"), "Variable") as scope:
            name = without_slash(scope)
            kwargs["name"] = scope
        made = self._variables_by_name.get(name) if self._share_variables else None
        if made is None:
            made = self._variables_by_name[name] = next_creator(**kwargs)
        joined = ["variables"] if collections is None else list(collections)
        if made.trainable and "trainable_variables" not in joined:
            joined.append("trainable_variables")
        add_to_collections(joined, made)
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        assert self._fn is not None
        return self.call_with_variable_creator_scope(self._fn)(*args, **kwargs)

    def call_with_variable_creator_scope(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """The function, whose variables are kept here."""

        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with variable_creator_scope(self.variable_creator_scope):
                return fn(*args, **kwargs)

        return wrapped


class WrappedFunction(ConcreteFunction):
    """A function made of a graph of TensorFlow 1.x, of which parts can be functions, too."""

    def __init__(
        self,
        fn_graph: FuncGraph,
        variable_holder: VariableHolder,
        attrs: Mapping[str, Any] | None = None,
        signature: Any = None,
    ):
        self._variable_holder = variable_holder
        _lift_variables(fn_graph, variable_holder)
        # As in a graph, only what is asked for runs.
        fn_graph.effects = fn_graph.control_outputs
        self._signature = signature
        name = unique_function_name(get_default_graph(), "", f"__inference_{fn_graph.name}")
        super().__init__(fn_graph, Function(name, body=fn_graph), attrs=attrs)

    @property
    def variables(self) -> tuple[Any, ...]:
        return tuple(self.graph.variables)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._signature is None:
            return super().__call__(*args, **kwargs)
        if kwargs:
            raise NotImplementedError(
                "Keyword arguments not supported when calling a wrap_function-decorated function."
            )
        return self._call_flat(self._as_signature_says(expanded_trees.flatten(args)))

    def _as_signature_says(self, values: list[Any]) -> list[Any]:
        leaves = expanded_trees.flatten(self._signature)
        specs = [leaf for leaf in leaves if isinstance(leaf, TensorSpec)]
        return [
            value
            if isinstance(value, (Tensor, ResourceVariable))
            else convert_to_tensor(value, spec.dtype)
            for value, spec in zip(values, specs, strict=True)
        ]

    def prune(
        self, feeds: Any, fetches: Any, name: str | None = None, input_signature: Any = None
    ) -> WrappedFunction:
        """The function that computes some elements of this graph from others.

        Args:
          feeds: tensors of the graph, which become arguments, in any structure.
          fetches: tensors, operations, their names or TensorInfo messages, in any structure.
        """
        graph = self.graph
        given = [graph.as_graph_element(each) for each in expanded_trees.flatten(feeds)]
        if not all(isinstance(each, Tensor) for each in given):
            raise ValueError("Feeds must be tensors.")
        captured = {id(each) for each in graph.internal_captures}
        given = [each for each in given if id(each) not in captured]
        wanted = nest.map_structure(lambda each: _fetched(each, graph), fetches)
        flat = expanded_trees.flatten(wanted)
        self._check_own([*given, *flat])
        with graph.as_default():
            pruned = FuncGraph(name or "pruned")
        known = lift_to_graph(flat, pruned, sources=[*given, *graph.internal_captures])
        _describe_pruned(pruned, graph, known, given, wanted)
        pruned.structured_input_signature = input_signature
        pruned.outer_graph = graph.outer_graph
        made = WrappedFunction(pruned, self._variable_holder)
        made._arg_keywords = [tensor._op.name for tensor in given]
        made._num_positional_args = len(given)
        return made

    def _check_own(self, elements: Iterable[Any]) -> None:
        for each in elements:
            if each.graph is not self.graph:
                raise ValueError(
                    "Can only prune function whose feeds and fetches are from this graph "
                    f"({self.graph}). Input {each} is from graph {each.graph}"
                )


def _describe_pruned(
    pruned: FuncGraph, graph: FuncGraph, known: Mapping[Any, Any], given: list[Tensor], wanted: Any
) -> None:
    """Says what a part of a graph takes and gives."""
    flat = expanded_trees.flatten(wanted)
    pruned.outputs = [known[each] for each in flat if isinstance(each, Tensor)]
    pruned.control_outputs = [known[each] for each in flat if isinstance(each, Operation)]
    if pruned.control_outputs and pruned.outputs:
        pruned.outputs = _after(pruned, pruned.outputs, pruned.control_outputs)
    pruned.inputs = [known[each] for each in given]
    for outside, inside in graph.captures:
        pruned.add_capture(outside, known[inside])
    pruned.variables = graph.variables
    replaced = iter(pruned.outputs)
    leaves = [next(replaced) if isinstance(each, Tensor) else None for each in flat]
    pruned.structured_outputs = expanded_trees.pack(wanted, leaves)


def _after(graph: FuncGraph, outputs: list[Tensor], ops: list[Operation]) -> list[Tensor]:
    """Outputs that are given once the operations have run."""
    from penstock.ops.identity import identity

    with graph.as_default(), graph.control_dependencies(ops):
        return [identity(each) for each in outputs]


def _fetched(fetch: Any, graph: Graph) -> Any:
    """An element of a graph by itself, its name, or the TensorInfo message that names it."""
    if isinstance(fetch, (Operation, Tensor, CompositeTensor)):
        return fetch
    if not hasattr(fetch, "WhichOneof"):
        return graph.as_graph_element(fetch)
    if fetch.WhichOneof("encoding") == "name":
        element = graph.as_graph_element(fetch.name)
        if isinstance(element, Tensor):
            element.set_shape(fetch.tensor_shape)
        return element
    from penstock.saved_model.tensor_infos import get_tensor_from_tensor_info  # uses this module

    return get_tensor_from_tensor_info(fetch, graph)


def _lift_variables(graph: FuncGraph, holder: VariableHolder) -> None:
    """Moves the variables of an imported graph out of the body: they are captured instead."""
    collections = [
        graph.get_collection_ref(key) if key in graph._collections else []
        for key in ("variables", "local_variables")
    ]
    moved: dict[int, Any] = {}
    for variables in collections:
        for place, variable in enumerate(variables):
            if getattr(variable, "graph", None) is not graph:
                continue
            if not isinstance(variable, ResourceVariable):
                continue
            if id(variable) not in moved:
                moved[id(variable)] = _moved_out(variable, graph, holder)
            variables[place] = moved[id(variable)]


def _moved_out(variable: ResourceVariable, graph: FuncGraph, holder: VariableHolder) -> Any:
    name = variable.op.name
    made = UninitializedVariable(
        shape=variable.shape, dtype=variable.dtype, name=name, trainable=variable.trainable
    )
    made._initializer_op = variable.initializer
    graph.add_capture(made.handle, variable.handle)
    holder._variables_by_name[name] = made
    graph.watch_variable(made)
    return made


class WrappedGraph:
    """Several functions of TensorFlow 1.x in one graph, with the variables that they share."""

    def __init__(self, variable_holder: VariableHolder | None = None, **kwargs: Any):
        self._variable_holder = variable_holder or VariableHolder(share_variables=True)
        name = kwargs.pop("name", "wrapped_function_graph")
        collections = kwargs.pop("collections", {})
        self.graph = FuncGraph(name, collections=collections, **kwargs)
        self._wrapped_function = WrappedFunction(self.graph, self._variable_holder)
        self._functions: dict[str, WrappedFunction] = {}

    @property
    def functions(self) -> dict[str, WrappedFunction]:
        return self._functions

    @property
    def variables(self) -> dict[str, Any]:
        return self._variable_holder.variables

    def wrap_function(
        self, fn: Callable[..., Any], signature: Any, name: str | None = None
    ) -> WrappedFunction:
        """A function that runs `fn`, whose nodes are built once, in this graph."""
        return self._wrap_function(fn, signature=signature, name=name)

    def _wrap_function(
        self,
        fn: Callable[..., Any],
        args: Any = None,
        kwargs: Any = None,
        signature: Any = None,
        name: str | None = None,
    ) -> WrappedFunction:
        """See `wrap_function`; without a signature, `args` and `kwargs` are examples."""
        returned: dict[int, Operation] = {}
        func_graph_from_py_func(
            None,
            _without_operations(
                self._variable_holder.call_with_variable_creator_scope(fn), returned
            ),
            args,
            kwargs,
            signature=signature,
            add_control_dependencies=False,
            func_graph=self.graph,
        )
        inputs = self.graph.inputs[: len(self.graph.inputs) - len(self.graph.captured)]
        outputs = nest.flatten(self.graph.structured_outputs)
        for place, op in returned.items():
            outputs[place] = op
        fetches = nest.pack_as(self.graph.structured_outputs, outputs)
        name = name or fn.__name__
        made = self._wrapped_function.prune(
            inputs, fetches, name, self.graph.structured_input_signature
        )
        self._functions[name] = made
        return made


def _without_operations(
    fn: Callable[..., Any], returned: dict[int, Operation]
) -> Callable[..., Any]:
    """The function with None in the place of operations that it returns, which are noted."""

    def filtered(*args: Any, **kwargs: Any) -> Any:
        results = fn(*args, **kwargs)
        leaves = nest.flatten(results)
        returned.update(
            (place, leaf) for place, leaf in enumerate(leaves) if isinstance(leaf, Operation)
        )
        kept = [None if isinstance(leaf, Operation) else leaf for leaf in leaves]
        return nest.pack_as(results, kept)

    return filtered


def wrap_function(fn: Callable[..., Any], signature: Any, name: str | None = None) -> Any:
    """A function of one signature that keeps the variables `fn` makes; it is built at once.

    Args:
      signature: `tf.TensorSpec`s for the arguments, in any structure.
    """
    holder = VariableHolder(fn)
    label = "wrapped_function" if name is None else f"wrapped_function_{name}"
    graph = func_graph_from_py_func(
        label,
        holder,
        args=None,
        kwargs=None,
        signature=signature,
        add_control_dependencies=False,
        collections={},
    )
    return WrappedFunction(graph, holder, signature=signature)


def function_from_graph_def(graph_def: Any, inputs: Any, outputs: Any) -> WrappedFunction:
    """The function that a GraphDef computes: from the tensors of these names those of others."""

    def imports() -> None:
        import_graph_def(graph_def, name="")

    wrapped = wrap_function(imports, [])
    graph: Graph = wrapped.graph
    made: WrappedFunction = wrapped.prune(
        nest.map_structure(graph.as_graph_element, inputs),
        nest.map_structure(graph.as_graph_element, outputs),
    )
    return made
