"""Functions as the signatures of a SavedModel: tensors by name in, tensors by name out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from penstock.ir import nest
from penstock.ir.defaults import get_default_graph
from penstock.ir.function import Function
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.ir.trackable import Trackable
from penstock.ops.concrete_functions import ConcreteFunction, FuncGraph
from penstock.ops.flow_graphs import trace, unique_function_name
from penstock.ops.graph_functions import GraphFunction
from penstock.saved_model import revived_types, signature_constants

DEFAULT_SIGNATURE_ATTR = "_default_save_signature"
SIGNATURE_ATTRIBUTE_NAME = "signatures"


class SignatureMap(Trackable, Mapping[str, Any]):
    """The signatures of a SavedModel, which its root object has under the name "signatures"."""

    def __init__(self, signatures: Mapping[str, Any] | None = None) -> None:
        self._signatures: dict[str, Any] = dict(signatures or {})

    def _add_signature(self, name: str, concrete_function: Any) -> None:
        self._signatures[name] = concrete_function

    def __getitem__(self, key: str) -> Any:
        return self._signatures[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._signatures)

    def __len__(self) -> int:
        return len(self._signatures)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return f"_SignatureMap({self._signatures})"

    def _list_functions_for_serialization(self, unused_serialization_cache: Any) -> dict[str, Any]:
        return dict(self._signatures)


revived_types.register_revived_type(
    "signature_map",
    lambda obj: isinstance(obj, SignatureMap),
    versions=[
        revived_types.VersionedTypeRegistration(
            object_factory=lambda proto: SignatureMap(),
            version=1,
            min_producer_version=1,
            min_consumer_version=1,
            setter=SignatureMap._add_signature,
        )
    ],
)


def _concrete(function: Any) -> Any:
    """The one function of a `tf.function` with a signature; None for what has no such."""
    if isinstance(function, GraphFunction) and function.input_signature is not None:
        function = function.get_concrete_function()
    return function if isinstance(function, ConcreteFunction) else None


def find_function_to_export(functions: Mapping[str, Any]) -> Any:
    """The default signature among the functions of an object: the only one that can be one."""
    if functions.get(DEFAULT_SIGNATURE_ATTR) is not None:
        return functions[DEFAULT_SIGNATURE_ATTR]
    found = [each for each in map(_concrete, functions.values()) if each is not None]
    possible = [each for each in found if _has_flat_outputs(each)]
    return possible[0] if len(possible) == 1 else None


def _has_flat_outputs(function: ConcreteFunction) -> bool:
    if not function.outputs:
        return False
    try:
        _named_outputs(function.structured_outputs, "", "")
    except ValueError:
        return False
    return True


def canonicalize_signatures(signatures: Any) -> dict[str, ConcreteFunction]:
    """Functions with named inputs and outputs, by key.

    Args:
      signatures: a `tf.function` with an input signature, a concrete function, or several by key.
    """
    if signatures is None:
        return {}
    if not isinstance(signatures, Mapping):
        signatures = {signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    made = {}
    for key, given in signatures.items():
        function = _concrete(given)
        if function is None:
            raise ValueError(
                "Expected a TensorFlow function to generate a signature for, but got "
                f"{given}. Only `tf.functions` with an input signature or concrete functions can "
                "be used as a signature."
            )
        made[key] = _with_names(function, key)
    return made


def _with_names(function: ConcreteFunction, key: str) -> ConcreteFunction:
    """A function that calls another one, and returns a dictionary."""
    names = function._arg_keywords
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"Got non-flat/non-unique argument names for SavedModel signature '{key}': more "
                f"than one argument to '{function.name}' was named '{name}'. Signatures have one "
                "Tensor per named input: give each a name of its own by tf.TensorSpec(…, name=…)."
            )
    name = unique_function_name(get_default_graph(), "", "__inference_signature_wrapper")
    body = FuncGraph(name)
    arguments = dict(zip(names, function.inputs, strict=False))
    # A structure of keywords is in the order of their names.
    specs = {
        keyword: TensorSpec(arguments[keyword].shape, arguments[keyword].dtype, keyword)
        for keyword in sorted(names)
    }
    given = {key: body.add_input(spec.dtype, spec.shape, key) for key, spec in specs.items()}

    def named() -> Any:
        return _named_outputs(function.call([given[each] for each in names]), function.name, key)

    trace(body, named)
    made = ConcreteFunction(body, Function(name, body=body), len(names))
    made._arg_keywords = list(specs)
    made._num_positional_args = 1 if len(names) == 1 else 0
    made.structured_input_signature = ((), specs)
    return made


def _named_outputs(outputs: Any, function_name: str, key: str) -> dict[str, Any]:
    if isinstance(outputs, Mapping):
        for name, value in outputs.items():
            if not isinstance(value, Tensor):
                raise ValueError(
                    f"Got a dictionary containing non-Tensor value {value} for key {name} in the "
                    f"output of the function {function_name} used to generate a SavedModel "
                    "signature. Each string key is to have one tensor."
                )
        return dict(outputs)
    flat = list(outputs) if isinstance(outputs, Sequence) else [outputs]
    if any(nest.is_nested(each) for each in flat):
        raise ValueError(
            f"Got non-flat outputs '{outputs}' from '{function_name}' for SavedModel signature "
            f"'{key}'. Signatures have one Tensor per output."
        )
    return {f"output_{index}": each for index, each in enumerate(flat)}
