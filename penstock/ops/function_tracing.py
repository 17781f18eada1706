"""Bodies of functions from Python code: tensors among its arguments become the body's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock import shapes
from penstock.dtypes import DType
from penstock.ir import expanded_trees, nest
from penstock.ir.conversion_status import converted
from penstock.ir.convert import CompositeTensor
from penstock.ir.same_structure import is_expanded_spec
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.ir.type_spec import TypeSpec
from penstock.ops.concrete_functions import FuncGraph
from penstock.ops.flow_graphs import set_results, tracing
from penstock.ops.function_arguments import Method
from penstock.ops.resource_variable import ResourceVariable

_USER_NAME = "_user_specified_name"


class UnknownArgument:
    """Stands in a signature for an argument that no signature can describe."""


def func_graph_from_py_func(
    name: str | None,
    python_func: Callable[..., Any],
    args: Any,
    kwargs: Any,
    signature: Any = None,
    func_graph: FuncGraph | None = None,
    autograph: bool = False,
    autograph_options: Any = None,
    add_control_dependencies: bool = True,
    arg_names: Sequence[str] | None = None,
    op_return_value: Tensor | None = None,
    collections: Any = None,
    capture_by_value: bool | None = None,
    override_flat_arg_shapes: Sequence[Any] | None = None,
) -> FuncGraph:
    """The graph that a Python function builds, with an argument for each tensor it is given.

    Args:
      autograph: whether its Python code is converted, with `autograph_options` as features.
      signature: specs in any structure, which are the arguments in the place of `args`.
      func_graph: where to build; a new graph if None.
      add_control_dependencies: whether effects are in the order of the program.
      arg_names: of the positional arguments.
      op_return_value: what to return in the place of an operation, once it has run.
      override_flat_arg_shapes: for each leaf of the arguments a shape, or None if it is no tensor.
    """
    if signature is not None and override_flat_arg_shapes is not None:
        raise ValueError(
            f"Passed both signature and override_flat_arg_shapes: {signature} and "
            f"{override_flat_arg_shapes}."
        )
    graph = func_graph or FuncGraph(name or "", collections, capture_by_value)
    graph.orders_effects = add_control_dependencies
    given = (args, kwargs or {}) if signature is None else (signature, {})
    inside_args, inside_kwargs = _placeholders(graph, given, arg_names, override_flat_arg_shapes)
    graph.structured_input_signature = (
        convert_structure_to_signature(inside_args, arg_names),
        convert_structure_to_signature(inside_kwargs),
    )
    before = _copied((inside_args, inside_kwargs))
    call = _converted(python_func, autograph_options) if autograph else python_func
    with tracing(graph):
        results = call(*inside_args, **inside_kwargs)
        _check_mutation(before, (inside_args, inside_kwargs))
        set_results(graph, results, python_func, op_return_value)
    _give_variables_as_arguments(graph, (inside_args, inside_kwargs))
    return graph


def _converted(python_func: Callable[..., Any], features: Any) -> Callable[..., Any]:
    """The function as a program that wants its Python code converted means it."""
    function = python_func.bound() if isinstance(python_func, Method) else python_func
    return converted(function, features)


# Arguments ----------------------------------------------------------------------------------------


def _placeholders(
    graph: FuncGraph, given: Any, names: Sequence[str] | None, flat_shapes: Sequence[Any] | None
) -> tuple[Any, Any]:
    """Positional and keyword arguments with placeholders of the body in the place of tensors."""
    args, kwargs = given
    if names is None:
        names = [""] * len(args)
    remaining = iter(flat_shapes) if flat_shapes is not None else None

    def shape_of_next() -> Any:
        return next(remaining) if remaining is not None else None

    def inside(leaf: Any, name: str) -> Any:
        spec = leaf._type_spec if isinstance(leaf, CompositeTensor) else leaf
        if not is_expanded_spec(spec):
            return _inside(graph, leaf, name, shape_of_next())
        # How many values a composite tensor has is no part of its type.
        parts = [(each, shape_of_next())[0] for each in expanded_trees.flatten(spec)]
        return expanded_trees.pack(spec, [_inside(graph, each, name, None) for each in parts])

    def all_inside(value: Any, name: str) -> Any:
        _check_names(value)
        return nest.pack_as(value, [inside(leaf, name) for leaf in nest.flatten(value)])

    inner = [all_inside(value, name) for value, name in zip(args, names, strict=True)]
    return tuple(inner), {key: all_inside(kwargs[key], key) for key in sorted(kwargs)}


def _check_names(value: Any) -> None:
    specs = [each for each in expanded_trees.flatten(value) if isinstance(each, TensorSpec)]
    named = [each for each in specs if each.name]
    if named and len(named) < len(specs):
        raise ValueError(
            "If specifying TensorSpec names for nested structures, either zero or all names have "
            "to be specified."
        )


def _inside(graph: FuncGraph, leaf: Any, name: str, shape: Any) -> Any:
    """What stands for a leaf of the arguments while the body is built."""
    if isinstance(leaf, ResourceVariable):
        # It is an argument, though the body finds it as what it captures.
        placeholder = graph.capture(leaf.handle, name or None)
        placeholder._op.attrs[_USER_NAME] = name.encode()
        return leaf
    if not isinstance(leaf, (Tensor, TensorSpec)):
        return leaf
    wanted = (leaf.name if isinstance(leaf, TensorSpec) else None) or name
    placeholder = _placeholder(graph, leaf, wanted, leaf.shape if shape is None else shape)
    if name or wanted:
        placeholder._op.attrs[_USER_NAME] = wanted.encode()
    return placeholder


def _placeholder(graph: FuncGraph, leaf: Any, name: str, shape: Any) -> Tensor:
    try:
        return graph.add_input(leaf.dtype, shapes.raw(shape), name or "Placeholder")
    except ValueError:  # not every parameter's name is one of a node
        return graph.add_input(leaf.dtype, shapes.raw(shape), "Placeholder")


def _give_variables_as_arguments(graph: FuncGraph, given: Any) -> None:
    """Orders the body's inputs: arguments, variables among them, then what is captured."""
    inputs = []
    for leaf in expanded_trees.flatten(given):
        if isinstance(leaf, ResourceVariable):
            handle = graph.pop_capture(leaf.handle)
            if handle is not None:
                inputs.append(handle)
                graph.read_variables.pop(id(leaf), None)
        elif isinstance(leaf, Tensor):
            inputs.append(leaf)
    graph.inputs = [*inputs, *graph.internal_captures]


def convert_structure_to_signature(structure: Any, arg_names: Sequence[str] | None = None) -> Any:
    """A structure with a `tf.TensorSpec` in the place of each tensor, named by the way to it."""
    if arg_names and len(arg_names) != len(structure):
        raise ValueError(f"Passed in arg_names don't match actual signature ({arg_names}).")
    described = []
    for path, leaf in expanded_trees.leaves(structure, nest.is_nested):
        way = (arg_names[path[0]], *path[1:]) if arg_names else path
        described.append(_described(leaf, way))
    return nest.pack_as(structure, described)


def _described(leaf: Any, path: tuple[Any, ...]) -> Any:
    if isinstance(leaf, Tensor):
        own = leaf._op.attrs.get(_USER_NAME, b"").decode()
        name = own if path and own and own != path[0] else "/".join(map(str, path))
        return TensorSpec(leaf.shape, leaf.dtype, name)
    if isinstance(leaf, CompositeTensor):
        return leaf._type_spec
    if leaf is None or isinstance(leaf, (int, float, bool, DType, TypeSpec)):
        return leaf
    return UnknownArgument()


# Mutation -----------------------------------------------------------------------------------------


def _copied(structure: Any) -> Any:
    """A copy of a structure, of the same leaves."""
    return nest.pack_as(structure, nest.flatten(structure))


def _check_mutation(before: Any, after: Any) -> None:
    """Refuses a function that has changed the lists and dictionaries that it was given."""
    pairs = zip(nest.flatten(before), nest.flatten(after), strict=False)
    if _form(before) != _form(after) or not all(a is b for a, b in pairs):
        raise ValueError(
            "Function to be traced should not modify structure of input arguments: it must not "
            "add to the lists and dictionaries that it gets, or take out of them (`list.pop`, "
            "`list.append`, ...)."
        )


def _form(structure: Any) -> Any:
    if not nest.is_nested(structure):
        return None
    return [(path, None) for path, _ in expanded_trees.leaves(structure, nest.is_nested)]


__all__ = ["UnknownArgument", "convert_structure_to_signature", "func_graph_from_py_func"]
