"""MetaGraphDefs: a graph with its collections and its saver, to messages and back."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from penstock.ir.collection_protos import (
    get_collection_proto_type,
    get_from_proto_function,
    get_to_proto_function,
)
from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import get_default_graph
from penstock.ir.graph import Graph
from penstock.ir.importer import import_graph_def
from penstock.ir.naming import within_scope, without_scope
from penstock.platform import file_io, logging, versions
from penstock.proto import POOL, CollectionDef, GraphDef, MetaGraphDef, SaverDef
from penstock.train.exported_nodes import (
    NodeExport,
    extraneous_saver_nodes,
    ops_used_by_graph_def,  # noqa: F401 - programs look for it here
    strip_graph_default_valued_attrs,
    stripped_op_list_for_graph,
)
from penstock.train.graph_files import write_graph

_UNBOUND = "unbound_inputs"
# Releases before 1.0 wrote these collections as lists of node names.
_ONCE_NODE_LISTS = (
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.MODEL_VARIABLES,
    GraphKeys.METRIC_VARIABLES,
)

# Exporting ------------------------------------------------------------------------------------


def _kind_of(member: Any) -> str:
    if isinstance(member, (str, bytes)):
        return "bytes_list"
    if isinstance(member, int):
        return "int64_list"
    if isinstance(member, float):
        return "float_list"
    descriptor = getattr(member, "DESCRIPTOR", None)
    if descriptor is not None and descriptor.full_name == "google.protobuf.Any":
        return "any_list"
    return "node_list"


def _collection_def(key: str, members: list[Any], export_scope: str | None) -> Any:
    message = CollectionDef()
    to_proto = get_to_proto_function(key)
    if to_proto is not None:
        proto_type = get_collection_proto_type(key)
        # The kind counts, even if every member turns out to lie outside of the scope.
        message.bytes_list.SetInParent()
        for member in members:
            described = to_proto(member, export_scope=export_scope)
            if described is not None:
                if not isinstance(described, proto_type):
                    raise TypeError(f"{described!r} is not a {proto_type.DESCRIPTOR.name}")
                message.bytes_list.value.append(described.SerializeToString(deterministic=True))
        return message
    kind = _kind_of(members[0])
    values = getattr(message, kind).value
    if kind == "node_list":
        inside = [m for m in members if not export_scope or m.name.startswith(export_scope)]
        values.extend(without_scope(member.name, export_scope) for member in inside)
    elif kind == "bytes_list":
        values.extend(m.encode() if isinstance(m, str) else m for m in members)
    elif kind == "any_list":
        for member in members:  # perhaps of protobuf's own class, which is of another pool
            values.add(type_url=member.type_url, value=member.value)
    else:
        values.extend(members)
    return message


def add_collection_def(
    meta_graph_def: Any,
    key: Any,
    graph: Any = None,
    export_scope: str | None = None,
    exclude_nodes: Any = None,
    override_contents: list[Any] | None = None,
) -> None:
    """Adds a collection of the graph to a MetaGraphDef; a warning if it can't be put in one."""
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"graph must be of type Graph, not {type(graph)}")
    if not isinstance(key, (str, bytes)):
        logging.warning(
            "Only collections with string type keys will be serialized. This key has %s", type(key)
        )
        return
    key = key if isinstance(key, str) else key.decode()
    graph = graph or get_default_graph()
    export = NodeExport(export_scope, frozenset(exclude_nodes or ()), False)
    members = override_contents or graph.get_collection(key)
    members = [member for member in members if export.includes(member)]
    if not members:
        return
    try:
        meta_graph_def.collection_def[key].CopyFrom(_collection_def(key, members, export_scope))
    except Exception as error:
        # A program may keep anything in a collection: what no message can hold stays behind.
        logging.warning(
            "Issue encountered when serializing %s.\nType is unsupported, or the types of the "
            "items don't match field type in CollectionDef. Note this is a warning and probably "
            "safe to ignore.\n%s",
            key,
            error,
        )
        if key in meta_graph_def.collection_def:
            del meta_graph_def.collection_def[key]


def create_meta_graph_def(
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: Any = None,
    graph: Any = None,
    export_scope: str | None = None,
    exclude_nodes: Any = None,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
) -> Any:
    """A MetaGraphDef of a graph, or of a GraphDef with the collections of a graph."""
    for value, wanted, name in (
        (graph, Graph, "Graph"),
        (meta_info_def, MetaGraphDef.MetaInfoDef, "MetaInfoDef"),
        (graph_def, GraphDef, "GraphDef"),
        (saver_def, SaverDef, "SaverDef"),
    ):
        if value is not None and not isinstance(value, wanted):
            raise TypeError(f"{name} expected, got {type(value)}")
    graph = graph or get_default_graph()
    message = MetaGraphDef()
    if meta_info_def is not None:
        message.meta_info_def.MergeFrom(meta_info_def)
    message.meta_info_def.tensorflow_version = versions.__version__
    message.meta_info_def.tensorflow_git_version = versions.__git_version__
    if graph_def is None:
        graph_def = graph.as_graph_def(add_shapes=True)
    message.graph_def.MergeFrom(graph_def)
    if not message.meta_info_def.stripped_op_list.op:
        message.meta_info_def.stripped_op_list.MergeFrom(stripped_op_list_for_graph(graph_def))
    if strip_default_attrs:
        strip_graph_default_valued_attrs(message)
    if saver_def is not None:
        message.saver_def.MergeFrom(saver_def)
    keys = graph.get_all_collection_keys() if collection_list is None else collection_list
    for key in keys:
        contents = None
        if clear_extraneous_savers and key == GraphKeys.SAVERS and saver_def is not None:
            from_proto = get_from_proto_function(key)
            contents = None if from_proto is None else [from_proto(saver_def)]
        add_collection_def(message, key, graph, export_scope, exclude_nodes, contents)
    return message


def export_scoped_meta_graph(
    filename: Any = None,
    graph_def: Any = None,
    graph: Any = None,
    export_scope: str | None = None,
    as_text: bool = False,
    unbound_inputs_col_name: str | None = _UNBOUND,
    clear_devices: bool = False,
    saver_def: Any = None,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> tuple[Any, dict[str, Any]]:
    """A MetaGraphDef of a graph or of a name scope, and the variables in it by name."""
    graph = graph or get_default_graph()
    excluded: frozenset[str] = frozenset()
    if export_scope or clear_extraneous_savers or clear_devices:
        whole = graph_def if graph_def is not None else graph.as_graph_def(add_shapes=True)
        if clear_extraneous_savers:
            excluded = extraneous_saver_nodes(whole, saver_def)
        export = NodeExport(export_scope, excluded, clear_devices)
        graph_def = export.graph_def(whole)
        if unbound_inputs_col_name:
            graph.clear_collection(unbound_inputs_col_name)
            for name in export.unbound:
                graph.add_to_collection(unbound_inputs_col_name, name)
    else:
        export = NodeExport(None, excluded, False)
    variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=export_scope)
    exported = {without_scope(v.name, export_scope): v for v in variables if export.includes(v)}
    message = create_meta_graph_def(
        graph_def=graph_def,
        graph=graph,
        export_scope=export_scope,
        exclude_nodes=excluded,
        clear_extraneous_savers=clear_extraneous_savers,
        saver_def=saver_def,
        strip_default_attrs=strip_default_attrs,
        **kwargs,
    )
    if filename:
        path = os.fspath(filename)
        write_graph(message, os.path.dirname(path), os.path.basename(path), as_text=as_text)
    return message, exported


# Importing ------------------------------------------------------------------------------------


@contextmanager
def naming_file(filename: Any) -> Iterator[None]:
    """Adds the file's name to errors about the graph in it."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{error} (in {os.fspath(filename)})") from error


def read_meta_graph_file(filename: Any) -> Any:
    """The MetaGraphDef in a file, binary or text; IOError if there is none."""
    if not file_io.file_exists(filename):
        raise OSError(f"File {filename} does not exist.")
    content = file_io.read_file_to_string(filename, binary_mode=True)
    try:
        return MetaGraphDef.FromString(content)
    except (DecodeError, RuntimeError):
        pass  # it may be text
    message = MetaGraphDef()
    try:
        text_format.Merge(content.decode(), message, descriptor_pool=POOL)
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise OSError(f"Cannot parse file {filename}: {error}.") from None
    return message


def import_scoped_meta_graph(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    graph: Graph | None = None,
    import_scope: str | None = None,
    input_map: dict[str, Any] | None = None,
    unbound_inputs_col_name: str | None = _UNBOUND,
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
) -> dict[str, Any]:
    """Adds the nodes and collections of a MetaGraphDef to a graph.

    Returns the variables in the scope by their names in the MetaGraphDef.
    """
    return import_scoped_meta_graph_with_return_elements(
        meta_graph_or_file,
        clear_devices,
        graph,
        import_scope,
        input_map,
        unbound_inputs_col_name,
        restore_collections_predicate,
    )[0]


def import_scoped_meta_graph_with_return_elements(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    graph: Graph | None = None,
    import_scope: str | None = None,
    input_map: dict[str, Any] | None = None,
    unbound_inputs_col_name: str | None = _UNBOUND,
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
    return_elements: Any = None,
) -> tuple[dict[str, Any], Any]:
    """As `import_scoped_meta_graph`, and returns named nodes and tensors too."""
    if not isinstance(meta_graph_or_file, MetaGraphDef):
        with naming_file(meta_graph_or_file):
            return import_scoped_meta_graph_with_return_elements(
                read_meta_graph_file(meta_graph_or_file),
                clear_devices,
                graph,
                import_scope,
                input_map,
                unbound_inputs_col_name,
                restore_collections_predicate,
                return_elements,
            )
    message = meta_graph_or_file
    _check_unbound_inputs(message, unbound_inputs_col_name, input_map)
    graph = graph or get_default_graph()
    with graph.as_default():
        graph_def = message.graph_def
        if clear_devices:
            for node in graph_def.node:
                node.device = ""
        scope = graph.unique_name(import_scope or "", mark_as_used=False)
        elements = import_graph_def(
            graph_def,
            name=import_scope or scope,
            input_map=input_map,
            return_elements=return_elements,
            producer_op_list=message.meta_info_def.stripped_op_list,
        )
        importer = _CollectionImport(graph, message, scope)
        for key in importer.keys():
            if key != unbound_inputs_col_name and restore_collections_predicate(key):
                importer.add(key)
        variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=scope)
        return {without_scope(v.name, scope): v for v in variables}, elements


def _check_unbound_inputs(message: Any, key: str | None, input_map: Any) -> None:
    if not key or key not in message.collection_def:
        return
    definition = message.collection_def[key]
    kind = definition.WhichOneof("kind")
    names = [
        name.decode() if isinstance(name, bytes) else name
        for name in (getattr(definition, kind).value if kind else ())
    ]
    if names and (not input_map or sorted(names) != sorted(input_map)):
        missing = [name for name in names if not input_map or name not in input_map]
        raise ValueError(
            f"Graph contains unbound inputs: {','.join(missing)}. Must provide these inputs "
            "through input_map."
        )


class _CollectionImport:
    """Fills the collections of a graph from a MetaGraphDef.

    A variable in several collections is one object.
    """

    def __init__(self, graph: Graph, message: Any, scope: str):
        self._graph = graph
        self._definitions = message.collection_def
        self._scope = scope
        self._variables: dict[bytes, Any] = {}
        self._knows_trainable = _at_least(message.meta_info_def.tensorflow_version, (1, 9))

    def keys(self) -> list[str]:
        """All collections; trainable variables come first, since they tell what is trainable."""
        first = GraphKeys.TRAINABLE_VARIABLES
        return sorted(self._definitions, key=lambda key: (key != first, key))

    def add(self, key: str) -> None:
        definition = self._definitions[key]
        kind = definition.WhichOneof("kind")
        if kind is None:
            logging.error("Cannot identify data type for collection %s. Skipping.", key)
            return
        from_proto = get_from_proto_function(key)
        values = getattr(definition, kind).value
        if from_proto is not None and kind == "bytes_list":
            for value in values:
                self._graph.add_to_collection(key, self._member(key, value, from_proto))
            return
        if key in _ONCE_NODE_LISTS:
            logging.warning(
                "The saved meta_graph is possibly from an older release:\n'%s' collection should "
                "be of type 'byte_list', but instead is of type '%s'.",
                key,
                kind,
            )
        for value in values:
            self._graph.add_to_collection(key, self._plain(kind, value))

    def _member(self, key: str, value: bytes, from_proto: Callable[..., Any]) -> Any:
        is_variable = key in GraphKeys._VARIABLE_COLLECTIONS
        if is_variable and value in self._variables:
            return self._variables[value]
        message = get_collection_proto_type(key).FromString(value)
        if is_variable and not self._knows_trainable:
            message.trainable = key == GraphKeys.TRAINABLE_VARIABLES
        member = from_proto(message, import_scope=self._scope)
        if is_variable:
            self._variables[value] = member
        return member

    def _plain(self, kind: str, value: Any) -> Any:
        if kind == "node_list":
            return self._graph.as_graph_element(within_scope(value, self._scope))
        if kind == "bytes_list" and self._scope:
            return within_scope(value.decode(), self._scope)
        return int(value) if kind == "int64_list" else value


def _at_least(version: str, wanted: tuple[int, ...]) -> bool:
    """Whether a release is that one or later; an unnamed one counts as late."""
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    return not numbers or numbers >= wanted


def copy_scoped_meta_graph(
    from_scope: str,
    to_scope: str,
    from_graph: Graph | None = None,
    to_graph: Graph | None = None,
) -> dict[str, Any]:
    """Copies the nodes and collections of a name scope to another, or to another graph."""
    source = from_graph or get_default_graph()
    target = to_graph or get_default_graph()
    if source is target and from_scope == to_scope:
        raise ValueError(
            "'from_scope' and 'to_scope' need to be different when performing copy in the same "
            "graph."
        )
    message, _ = export_scoped_meta_graph(export_scope=from_scope, graph=source)
    return import_scoped_meta_graph(message, graph=target, import_scope=to_scope)
