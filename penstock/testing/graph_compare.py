"""Comparing graphs: GraphDefs node by node, MetaGraphDefs, the ops that a graph must have."""

from __future__ import annotations

import re
from typing import Any

from penstock import proto
from penstock.ir.attr_codec import decode
from penstock.ir.collection_protos import get_collection_proto_type
from penstock.ir.graph import Graph
from penstock.ir.importer import import_graph_def

_SHARDED_SAVE = re.compile(rb"_temp_[0-9a-z]{32}/part")
_TABLE_NAME = re.compile(rb"hash_table_[0-9a-z\-]+")


def assert_ops_in_graph(expected_ops: dict[str, str], graph: Graph) -> dict[str, Any]:
    """ValueError unless nodes of these names have these types; the nodes by name."""
    found = {node.name: node for node in graph.as_graph_def().node if node.name in expected_ops}
    for name, node in found.items():
        if node.op != expected_ops[name]:
            raise ValueError(
                f"Expected op for node {name} is different. {expected_ops[name]} vs {node.op}"
            )
    if found.keys() != expected_ops.keys():
        raise ValueError(
            f"Not all expected ops are present. Expected {list(expected_ops)}, found {list(found)}"
        )
    return found


def assert_equal_graph_def(
    actual: Any, expected: Any, checkpoint_v2: bool = False, hash_table_shared_name: bool = False
) -> None:
    """AssertionError unless two GraphDefs have the same nodes, in whatever order.

    `checkpoint_v2` and `hash_table_shared_name` remove names made at random from both of them.
    """
    for role, graph_def in (("actual", actual), ("expected", expected)):
        if not isinstance(graph_def, proto.GraphDef):
            raise TypeError(f"Expected tf.GraphDef for {role}, got {type(graph_def).__name__}")
        if checkpoint_v2:
            _strip_sharded_save_names(graph_def)
        if hash_table_shared_name:
            _strip_table_names(graph_def)
    difference = _graph_difference(actual, expected)
    if difference:
        raise AssertionError(difference)


assert_equal_graph_def_v1 = assert_equal_graph_def


def assert_equal_graph_def_v2(expected: Any, actual: Any) -> None:
    """As `assert_equal_graph_def`, past all names made at random."""
    assert_equal_graph_def(actual, expected, checkpoint_v2=True, hash_table_shared_name=True)


def EqualGraphDefWrapper(actual: bytes, expected: bytes) -> bytes:
    """What differs between two serialized GraphDefs; nothing where they are equal."""
    parsed = (proto.GraphDef.FromString(each) for each in (actual, expected))
    return (_graph_difference(*parsed) or "").encode()


def _strip_sharded_save_names(graph_def: Any) -> None:
    for node in graph_def.node:
        for key in list(node.attr):
            strings = node.attr[key].tensor.string_val
            if len(strings) == 1 and _SHARDED_SAVE.match(strings[0]):
                del node.attr[key]


def _strip_table_names(graph_def: Any) -> None:
    for node in graph_def.node:
        if node.op == "HashTableV2" and _TABLE_NAME.match(node.attr["shared_name"].s):
            del node.attr["shared_name"]


def _graph_difference(actual: Any, expected: Any) -> str | None:
    wanted = {node.name: node for node in expected.node}
    for node in reversed(actual.node):  # the last wrong one is told, as in TensorFlow
        if node.name not in wanted:
            return f"Found unexpected node '{_describe(node)}'"
        difference = _node_difference(node, wanted.pop(node.name))
        if difference:
            return difference
    if wanted:
        return f"Did not find expected node '{_describe(next(iter(wanted.values())))}'"
    return None


def _describe(node: Any) -> str:
    return f"{{{{node {node.name}}}}} = {node.op}({', '.join(node.input)})"


def _node_difference(actual: Any, expected: Any) -> str | None:
    where = f"Node named '{actual.name}'"
    if actual.op != expected.op:
        return f"{where} has op '{actual.op}' that is not expected '{expected.op}'"
    if actual.device != expected.device:
        return f"{where} has device '{actual.device}' that is not expected '{expected.device}'"
    if len(actual.input) != len(expected.input):
        return (
            f"{where} has {len(actual.input)} inputs that does not match expected "
            f"{len(expected.input)} inputs"
        )
    return _input_difference(where, actual, expected) or _attr_difference(where, actual, expected)


def _input_difference(where: str, actual: Any, expected: Any) -> str | None:
    data, wanted = (
        [name for name in node.input if not name.startswith("^")] for node in (actual, expected)
    )
    for index, (name, expected_name) in enumerate(zip(data, wanted, strict=False)):
        # x and x:0 are the same tensor.
        if name.removesuffix(":0") != expected_name.removesuffix(":0"):
            return (
                f"{where} has input {index} '{name}' that doesn't match expected '{expected_name}'"
            )
    controls = {name for name in actual.input if name.startswith("^")}
    wanted_controls = {name for name in expected.input if name.startswith("^")}
    for name in sorted(wanted_controls - controls):
        return f"{where} missing expected control input '{name}'"
    for name in sorted(controls - wanted_controls):
        return f"{where} has unexpected control input '{name}'"
    return None


def _attr_difference(where: str, actual: Any, expected: Any) -> str | None:
    # Attrs that start with an underscore are the system's own notes.
    attrs, wanted = (
        {key: value for key, value in node.attr.items() if not key.startswith("_")}
        for node in (actual, expected)
    )
    for key, value in wanted.items():
        if key not in attrs:
            return f"{where} missing expected attr '{key}' with value: {value}"
        if not _attrs_equal(attrs[key], value):
            return f"{where} has attr '{key}' with value: {attrs[key]} that does not match {value}"
    for key in attrs.keys() - wanted.keys():
        return f"{where} has unexpected attr '{key}' with value: {attrs[key]}"
    return None


def _attrs_equal(actual: Any, expected: Any) -> bool:
    if actual == expected:
        return True
    if actual.WhichOneof("value") != "tensor" or expected.WhichOneof("value") != "tensor":
        return False
    # One tensor can be written in several ways: as bytes, as a list, with equal ends left out.
    a, b = decode(actual), decode(expected)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    # Numbers by their bits, so that NaN equals itself; strings are objects and have no bits.
    return bool(a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes())


def assert_meta_graph_protos_equal(tester: Any, a: Any, b: Any) -> None:
    """Compares two MetaGraphDefs in a test case; empties what it has compared."""
    tester.assertEqual(set(a.collection_def), set(b.collection_def))
    for key in a.collection_def:
        pair = a.collection_def[key], b.collection_def[key]
        message_type = get_collection_proto_type(key)
        if message_type is None:
            tester.assertEqual(*pair)
            continue
        values = [each.bytes_list.value for each in pair]
        tester.assertEqual(*map(len, values))
        for encoded in zip(*values, strict=True):
            tester.assertProtoEquals(*map(message_type.FromString, encoded))
    assert_equal_graph_def(a.graph_def, b.graph_def, checkpoint_v2=True)
    tester.assertProtoEquals(a.graph_def.versions, b.graph_def.versions)
    for meta_graph in (a, b):
        meta_graph.ClearField("collection_def")
        meta_graph.ClearField("graph_def")
    tester.assertProtoEquals(a, b)


def get_node_def_from_graph(node_name: str, graph_def: Any) -> Any:
    """The NodeDef of a name in a GraphDef, or None."""
    return next((node for node in graph_def.node if node.name == node_name), None)


def set_producer_version(graph: Graph, producer_version: int) -> None:
    """Imports an empty GraphDef of an older version into a graph."""
    graph_def = proto.GraphDef()
    graph_def.versions.producer = producer_version
    with graph.as_default():
        import_graph_def(graph_def)
