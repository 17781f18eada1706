"""The functions that datasets call: Python functions of elements, as functions of the graph."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from penstock.data import nest, structure
from penstock.ir.attr_codec import Function as FunctionName
from penstock.ir.composite import SparseTensor, SparseTensorValue
from penstock.ir.conversion_status import control_status_ctx
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.function import Function, FunctionGraph, add_function, function_def, hashed_name
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.functions import traced
from penstock.ops.seeds import numbers_ops


def _with_sparse_tensors(value: Any) -> Any:
    return SparseTensor.from_value(value) if isinstance(value, SparseTensorValue) else value


def _outermost_graph() -> Graph:
    graph = get_default_graph()
    while isinstance(graph, FunctionGraph) and graph.outer_graph is not None:
        graph = graph.outer_graph
    return graph


def _convertible(func: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its Python code converted, if it is a program's."""
    from penstock.autograph.calls import tf_convert

    return tf_convert(func, control_status_ctx())


class StructuredFunctionWrapper:
    """A Python function of a dataset's element, built as a function of the graph.

    `function` names it for the attr of a node, `captured_inputs` are further arguments that the
    node passes, and `output_structure` is what it returns.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        transformation_name: str,
        dataset: Any = None,
        input_classes: Any = None,
        input_shapes: Any = None,
        input_types: Any = None,
        input_structure: Any = None,
        add_to_graph: bool = True,
        use_legacy_function: bool = False,
        defun_kwargs: Any = None,
    ):
        if not callable(func):
            raise ValueError(f"Argument must be callable, got {func!r}")
        if dataset is not None:
            input_structure = dataset.element_spec
        elif input_structure is None:
            input_structure = structure.convert_legacy_structure(
                input_types, input_shapes, input_classes
            )
        self._func = func
        self._converted = _convertible(func)
        self._transformation = transformation_name
        self._input_structure = input_structure
        self.output_structure: Any = None
        specs = structure.get_flat_tensor_specs(input_structure)
        outermost = _outermost_graph()
        before = len(outermost.get_operations())
        self._body = traced(
            self._call,
            [spec.dtype for spec in specs],
            [spec.shape for spec in specs],
            names=[f"args_{number}" for number in range(len(specs))],
        )
        self._warn([*self._body.get_operations(), *outermost.get_operations()[before:]])
        name = hashed_name(self._name(), self._body)
        self._function = Function(name, function_def(name, self._body), self._body)
        if add_to_graph:
            self.add_to_graph()

    def _warn(self, ops: list[Operation]) -> None:
        """Tells of what a function that is called often probably does not mean to do.

        `ops` are those in it and those that it has made around it, where tables are.
        """
        if any(output.name == "table_handle" for op in ops for output in op.spec.outputs):
            warnings.warn(
                f"Creating resources inside a function passed to {self._transformation} is not "
                "supported. Create each resource outside the function, and capture it inside the "
                "function to use it.",
                stacklevel=5,
            )
        seed = get_default_graph().seed
        if seed and self._body.seed == seed and numbers_ops(self._body):
            warnings.warn(
                f"Seed {seed} from outer graph might be getting used by function {self._name()}, "
                "if the random op has not been provided any seed. Explicitly set the seed in the "
                "function if this is not the intended behavior.",
                stacklevel=5,
            )

    def add_to_graph(self) -> None:
        """Lets the nodes of the default graph call the function."""
        add_function(get_default_graph(), self._function)

    def _name(self) -> str:
        func = self._func.func if isinstance(self._func, functools.partial) else self._func
        name = getattr(func, "__name__", type(func).__name__).strip("<>")
        return f"{self._transformation.replace('.', '_').removesuffix('()')}_{name}"

    def _call(self, *args: Tensor) -> list[Tensor]:
        nested = structure.from_compatible_tensor_list(self._input_structure, args)
        # Only a plain tuple is several arguments: a named tuple is one.
        result = self._converted(*(nested if type(nested) is tuple else (nested,)))
        if isinstance(result, list):
            result = tuple(result)
        result = nest.map_structure(_with_sparse_tensors, result)
        try:
            self.output_structure = structure.type_spec_from_value(result)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"Unsupported return value from function passed to {self._transformation}: "
                f"{result}."
            ) from error
        tensors = structure.to_tensor_list(self.output_structure, result)
        return [convert_to_tensor(tensor) for tensor in tensors]

    @property
    def function(self) -> FunctionName:
        return FunctionName(self._function.name, {})

    @property
    def captured_inputs(self) -> list[Tensor]:
        """The tensors of the graph around it that the function uses."""
        return list(self._body.captured)

    @property
    def output_types(self) -> Any:
        return structure.legacy_types(self.output_structure)

    @property
    def output_shapes(self) -> Any:
        return structure.legacy_shapes(self.output_structure)

    @property
    def output_classes(self) -> Any:
        return structure.legacy_classes(self.output_structure)
