"""What `saved_model_cli show --all` says of the functions of a SavedModel's object."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.ir.graph import Graph
from penstock.ir.tensor_spec import TensorSpec
from penstock.saved_model.exported_objects import ExportedView, concrete_functions_of
from penstock.saved_model.object_loader import load
from penstock.tools.saved_model_utils import read_saved_model

_INDENT = "        "


def show_defined_functions(saved_model_dir: str) -> None:
    """Prints the functions of a model, and for which arguments each can be called."""
    graphs = read_saved_model(saved_model_dir).meta_graphs
    if not any(each.HasField("object_graph_def") for each in graphs):
        return
    with Graph().as_default():
        root = load(saved_model_dir)
    print("\nDefined Functions:", end="")
    for name, function in sorted(ExportedView(root).list_functions(root).items()):
        print(f"\n  Function Name: '{name}'")
        traces = sorted(concrete_functions_of(function), key=lambda each: each.name)
        for number, trace in enumerate(traces, 1):
            args, kwargs = trace.structured_input_signature
            print(f"    Option #{number}\n      Callable with:")
            _show_arguments(args, "Argument")
            _show_arguments(kwargs, "Named Argument")


def _show_arguments(arguments: Iterable[Any], kind: str) -> None:
    for number, element in enumerate(arguments, 1):
        print(f"{_INDENT}{kind} #{number}")
        if isinstance(element, TensorSpec):
            print(f"{_INDENT}  {element.name}: {element!r}")
            continue
        print(f"{_INDENT}  DType: {type(element).__name__}")
        print(f"{_INDENT}  Value: {_shown(element)}")


def _shown(value: Any) -> str:
    # The backspaces that TensorFlow prints over its last comma are part of what others compare.
    if isinstance(value, dict):
        return "{" + "".join(f"'{key}': {_quoted(v)}, " for key, v in value.items()) + "\b\b}"
    if isinstance(value, Iterable):
        return "[" + "".join(f"{_quoted(each)}, " for each in value) + "\b\b]"
    return str(value)


def _quoted(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value)
