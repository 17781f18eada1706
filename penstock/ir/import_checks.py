"""What `tf.import_graph_def` refuses, in TensorFlow's words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from penstock import shapes
from penstock.dtypes import DType
from penstock.ir.operation import Operation
from penstock.ir.registry import OpSpec
from penstock.ir.tensor import Tensor
from penstock.platform.versions import (
    GRAPH_DEF_VERSION,
    GRAPH_DEF_VERSION_MIN_PRODUCER,
    VERSION,
)
from penstock.proto import GraphDef

ParsedInput = tuple[bool, str, int]
#: The default of each attr of each op type, as the program that wrote a GraphDef knew them.
ProducerDefaults = dict[tuple[str, str], Any]

_NODE_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_./>-]*\Z")
_WITH_OUTPUT = re.compile(r"(.+):(\d+)\Z")

# Handles of these were vectors of two strings once and are scalars now; what the rule for the
# reserved outputs of the last ones says has changed between releases. No kernel cares.
_SHAPES_THAT_CHANGED = frozenset(
    "RandomShuffleQueue PaddingFIFOQueue FIFOQueue PriorityQueue QueueSize Stack Barrier "
    "BarrierReadySize BarrierIncompleteSize HashTable MutableHashTable MutableHashTableOfTensors "
    "Mutex CuckooTable IndexTable WholeFileReader TextLineReader FixedLengthRecordReader "
    "TFRecordReader IdentityReader RefSwitch RefEnter RefNextIteration RefMerge RefIdentity "
    "LMDBReader ConditionalAccumulator SparseConditionalAccumulator Table FusedBatchNorm "
    "FusedBatchNormV2 FusedBatchNormV3 FusedBatchNormGrad FusedBatchNormGradV2 "
    "FusedBatchNormGradV3".split()
)


# Arguments ------------------------------------------------------------------------------------


def as_graph_def(message: Any) -> Any:
    """The GraphDef itself, or one of another package's classes as ours."""
    if isinstance(message, GraphDef):
        return message
    descriptor = getattr(message, "DESCRIPTOR", None)
    if descriptor is None or descriptor.full_name != GraphDef.DESCRIPTOR.full_name:
        raise TypeError("graph_def must be a GraphDef proto.")
    return GraphDef.FromString(message.SerializeToString())


def elements(given: Any) -> list[str] | None:
    """The names of the elements to return."""
    if given is None:
        return None
    if isinstance(given, (str, bytes)) or not all(isinstance(e, (str, bytes)) for e in given):
        raise TypeError("return_elements must be a list of strings.")
    names = [e.decode() if isinstance(e, bytes) else e for e in given]
    for name in names:
        if ":" in name and (name.count(":") > 1 or _WITH_OUTPUT.match(name) is None):
            raise ValueError(f"Cannot convert {name!r} to a tensor name.")
    return names


def map_keys(input_map: Any) -> dict[str, Any]:
    """The input map with all its keys as text."""
    is_map = isinstance(input_map, dict)
    if not is_map or not all(isinstance(key, (str, bytes)) for key in input_map):
        raise TypeError("input_map must be a dictionary mapping strings to Tensor objects.")
    return {k.decode() if isinstance(k, bytes) else k: v for k, v in input_map.items()}


def versions(given: Any) -> None:
    """Refuses a GraphDef that is too old, or whose writer asks for a newer reader."""
    if given.producer < GRAPH_DEF_VERSION_MIN_PRODUCER:
        raise ValueError(
            f"GraphDef producer version {given.producer} below min producer "
            f"{GRAPH_DEF_VERSION_MIN_PRODUCER} supported by TensorFlow {VERSION}.  Please "
            "regenerate your graph."
        )
    if given.min_consumer > GRAPH_DEF_VERSION:
        raise ValueError(
            f"GraphDef min consumer version {given.min_consumer} above current version "
            f"{GRAPH_DEF_VERSION} for TensorFlow {VERSION}.  Please upgrade TensorFlow."
        )
    if GRAPH_DEF_VERSION in given.bad_consumers:
        raise ValueError(
            f"GraphDef disallows consumer version {GRAPH_DEF_VERSION}.  Please upgrade "
            "TensorFlow: this version is likely buggy."
        )


# Nodes ----------------------------------------------------------------------------------------


def unique_nodes(graph_def: Any) -> Iterator[Any]:
    """The nodes, each with a name of its own that a node may have."""
    seen: set[str] = set()
    for node in graph_def.node:
        if node.name in seen:
            raise ValueError(f"Node '{node.name}' is not unique")
        if not _NODE_NAME.match(node.name):
            raise ValueError(f"Node '{node.name}': Node name contains invalid characters")
        seen.add(node.name)
        yield node


def unknown_op(node: Any) -> str:
    return (
        f"Op type not registered '{node.op}' (node '{node.name}'): penstock has no op of that "
        "type; register it with penstock's op() if it is one of your own"
    )


def parse_input(text: str) -> ParsedInput:
    """Whether it is a control input, the node that it names, and the output's number."""
    is_control = text.startswith("^")
    match = None if is_control else _WITH_OUTPUT.match(text)
    if match is not None:
        return False, match[1], int(match[2])
    return is_control, text.removeprefix("^"), 0


def parsed_inputs(node: Any) -> Iterator[tuple[str, ParsedInput]]:
    """A node's inputs, in order: data first, then control inputs."""
    in_controls = False
    for text in node.input:
        parsed = parse_input(text)
        if in_controls and not parsed[0]:
            raise ValueError(
                f"Node '{node.name}': Control dependencies must come after regular dependencies"
            )
        in_controls = parsed[0]
        yield text, parsed


_MOST_NAMED = 100  # inputs, in an error


def _type_name(dtype: DType) -> str:
    """A type as TensorFlow's runtime writes it."""
    names = {"float32": "float", "float64": "double", "float16": "half"}
    name = names.get(dtype.base_dtype.name, dtype.base_dtype.name)
    return f"{name}_ref" if dtype.is_ref_dtype else name


def input_types(spec: OpSpec, name: str, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> None:
    """Refuses inputs whose number or types are not those of the op."""
    expected = [dtype for arg in spec.inputs for dtype in arg.types(attrs)]
    if len(expected) != len(inputs):
        wanted = ", ".join(map(_type_name, expected[:_MOST_NAMED]))
        more = f", … ({len(expected)} in all)" if len(expected) > _MOST_NAMED else ""
        raise ValueError(
            f"NodeDef expected inputs '{wanted}{more}' do not match {len(inputs)} inputs "
            f"specified; {spec.name} node '{name}'"
        )
    for number, (dtype, tensor) in enumerate(zip(expected, inputs, strict=True)):
        is_same = tensor.dtype.base_dtype is dtype.base_dtype
        if not is_same or (dtype.is_ref_dtype and not tensor.dtype.is_ref_dtype):
            raise ValueError(
                f"Input {number} of node {name} was passed {_type_name(tensor.dtype)} from "
                f"{tensor.name} incompatible with expected {_type_name(dtype)}."
            )


_KINDS = {"s": "string", "i": "int", "f": "float", "b": "bool"}


def attr_kind(spec: OpSpec, node: Any, key: str, value: Any) -> None:
    """Refuses a value of another kind than the attr's; an empty list may be of any."""
    expected = spec.attrs[key].kind
    field = value.WhichOneof("value")
    if field == "list":
        inner = [_KINDS.get(each.name, each.name) for each, _ in value.list.ListFields()]
        found = f"list({inner[0]})" if inner else expected
    else:
        found = _KINDS.get(field, field)
    if found not in (expected, "placeholder"):
        given = f"had value with type '{found}' when" if found else "missing value with"
        raise ValueError(
            f"AttrValue {given} '{expected}' expected for attr '{key}'; "
            f"NodeDef: {{{{node {node.name}}}}}; Op<name={spec.name}>"
        )
    is_constant = node.op == "Const" and key == "value" and "dtype" in node.attr
    if is_constant and value.tensor.dtype != node.attr["dtype"].type:
        raise ValueError(
            f"Inconsistency between attr dtype ({node.attr['dtype'].type}) and the type of the "
            f"tensor ({value.tensor.dtype}); NodeDef: {{{{node {node.name}}}}}"
        )


def attrs(spec: OpSpec, name: str, values: dict[str, Any]) -> None:
    """Refuses a node that lacks an attr or has a type that the op is not for."""
    for key, declared in spec.attrs.items():
        if key not in values:
            if not declared.has_default:
                raise ValueError(
                    f"NodeDef missing attr '{key}' from Op<name={spec.name}>; "
                    f"NodeDef: {{{{node {name}}}}}"
                )
            continue
        entries = values[key] if isinstance(values[key], list) else [values[key]]
        for entry in entries if declared.allowed is not None else ():
            if isinstance(entry, DType) and entry not in (declared.allowed or ()):
                known = ", ".join(map(_type_name, declared.allowed or ()))
                raise ValueError(
                    f"Value for attr '{key}' of {_type_name(entry)} is not in the list of allowed "
                    f"values: {known}; NodeDef: {{{{node {name}}}}}; Op<name={spec.name}>"
                )


def inconsistent_shape(op: Operation, tensor: Tensor, shape: Any) -> None:
    """Refuses a shape that the GraphDef claims and the op can't have."""
    if op.type not in _SHAPES_THAT_CHANGED:
        raise ValueError(
            f"Node '{op.name}' has an _output_shapes attribute inconsistent with the GraphDef for "
            f"output #{tensor.value_index}: Shapes {shapes.text(tensor._shape)} and "
            f"{shapes.text(shape)} are not compatible"
        )


# Attrs of other releases ----------------------------------------------------------------------


def defaults_of_producer(op_list: Any) -> ProducerDefaults:
    """The attrs with defaults in an OpList message."""
    if op_list is None:
        return {}
    return {
        (op.name, attr.name): attr.default_value
        for op in op_list.op
        for attr in op.attr
        if attr.HasField("default_value")
    }


def future_attr(spec: OpSpec, node: Any, key: str, value: Any, defaults: ProducerDefaults) -> None:
    """Refuses an attr that the op does not have, unless it holds the producer's default."""
    default = defaults.get((node.op, key))
    if default is None or default.SerializeToString() != value.SerializeToString():
        raise ValueError(
            f"NodeDef mentions attr '{key}' not in Op {spec.name}; node '{node.name}'. (Check "
            "whether your GraphDef-interpreting binary is up to date with your "
            "GraphDef-generating binary.)"
        )
