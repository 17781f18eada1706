"""GraphDefs, MetaGraphDefs and SavedModels, as `penstock inspect` shows them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

from penstock import errors
from penstock.cli import inspect_tensors
from penstock.cli.file_kinds import Found, Unreadable
from penstock.cli.inspect_tensors import plain
from penstock.cli.rows import Row, Wanted, count_text
from penstock.debugger.value_text import numbers, statistics, statistics_line
from penstock.dtypes import as_dtype
from penstock.ir.tensor_codec import proto_to_array


def graph_rows(found: Found, wanted: Wanted) -> Iterator[Row]:
    """A row for the graph and one for each node, in the order of the file."""
    graph = found.message
    if wanted.tensor:
        yield _node_in_full(graph, wanted.tensor)
        return
    data = {"kind": "GraphDef", "path": found.path, **_graph_summary(graph)}
    yield Row(f"GraphDef {found.path}: {_graph_text(graph)}", data)
    yield from _nodes(graph, wanted)


def _graph_summary(graph: Any) -> dict[str, Any]:
    return {
        "nodes": len(graph.node),
        "producer": graph.versions.producer,
        "functions": [function.signature.name for function in graph.library.function],
    }


def _graph_text(graph: Any) -> str:
    parts = [count_text(len(graph.node), "node")]
    if graph.versions.producer:
        parts.append(f"producer {graph.versions.producer}")
    if graph.library.function:
        parts.append(count_text(len(graph.library.function), "function"))
    return ", ".join(parts)


def _nodes(graph: Any, wanted: Wanted) -> Iterator[Row]:
    if wanted.statistics:
        counts = Counter(node.op for node in graph.node if wanted.has(node.name, node.op))
        for op, count in counts.most_common():
            yield Row(f"{count:>7}  {op}", {"op": op, "nodes": count})
        return
    count = 0
    for node in graph.node:
        if not wanted.has(node.name, node.op):
            continue
        yield _node(node)
        count += 1
        if wanted.is_enough(count):
            return


def _node(node: Any) -> Row:
    data = {"name": node.name, "op": node.op, "input": list(node.input)}
    text = f"{node.name} = {node.op}({', '.join(node.input)})"
    if node.device:
        data["device"] = node.device
        text += f"  on {node.device}"
    if "shape" in node.attr and node.op in ("Placeholder", "VariableV2", "VarHandleOp"):
        text += f"  {_typed(node)}"
    return Row(text, data)


def _typed(node: Any) -> str:
    attr = node.attr["dtype"]
    shape = node.attr["shape"].shape
    sizes = "?" if shape.unknown_rank else ",".join(str(dim.size) for dim in shape.dim)
    return f"{as_dtype(attr.type).name}[{sizes}]"


def _node_in_full(graph: Any, name: str) -> Row:
    node_name = name.removeprefix("^").partition(":")[0]
    node = next((each for each in graph.node if each.name == node_name), None)
    if node is None:
        import difflib

        near = difflib.get_close_matches(node_name, [each.name for each in graph.node])
        hint = f" (near it: {', '.join(near)})" if near else ""
        raise Unreadable(f"the graph has no node {node_name!r}{hint}")
    data = _node(node).data
    text = str(node).rstrip()
    if node.op == "Const":
        array = proto_to_array(node.attr["value"].tensor)
        text = f"{node.name}  {statistics_line(array)}\n{numbers(array)}"
        data |= {**statistics(array), "values": plain(array)}
    return Row(text, data)


def meta_graph_rows(found: Found, wanted: Wanted) -> Iterator[Row]:
    """What is said about the graph, and then its nodes."""
    meta = found.message
    if wanted.tensor:
        yield _node_in_full(meta.graph_def, wanted.tensor)
        return
    head = {"kind": "MetaGraphDef", "path": found.path, **_graph_summary(meta.graph_def)}
    yield Row(f"MetaGraphDef {found.path}: {_graph_text(meta.graph_def)}", head)
    yield from _about(meta)
    yield from _nodes(meta.graph_def, wanted)


def _about(meta: Any) -> Iterator[Row]:
    info = meta.meta_info_def
    data = {"tags": list(info.tags), "tensorflow_version": info.tensorflow_version}
    version = f", TensorFlow {info.tensorflow_version}" if info.tensorflow_version else ""
    yield Row(f"  tags: {', '.join(info.tags) or 'none'}{version}", data)
    if meta.HasField("saver_def"):
        saver = meta.saver_def
        yield Row(f"  saver: {saver.save_tensor_name}", {"saver": saver.save_tensor_name})
    for key in sorted(meta.collection_def):
        kind = meta.collection_def[key].WhichOneof("kind") or "empty"
        size = len(getattr(meta.collection_def[key], kind).value) if kind != "empty" else 0
        yield Row(f"  collection {key}: {size} ({kind})", {"collection": key, "size": size})
    for key in sorted(meta.signature_def):
        yield from _signature(key, meta.signature_def[key])


def _signature(key: str, signature: Any) -> Iterator[Row]:
    inputs = {name: _info(info) for name, info in sorted(signature.inputs.items())}
    outputs = {name: _info(info) for name, info in sorted(signature.outputs.items())}
    data = {
        "signature": key,
        "method": signature.method_name,
        "inputs": inputs,
        "outputs": outputs,
    }
    lines = [f"  signature {key} ({signature.method_name})"]
    for word, infos in (("in", inputs), ("out", outputs)):
        lines += [
            f"    {word:<3} {name}: {info['tensor']}  {info['dtype']}{info['shape']}"
            for name, info in infos.items()
        ]
    yield Row("\n".join(lines), data)


def _info(info: Any) -> dict[str, Any]:
    shape = info.tensor_shape
    sizes = None if shape.unknown_rank else [dim.size for dim in shape.dim]
    name = info.name or info.coo_sparse.values_tensor_name
    return {"tensor": name, "dtype": as_dtype(info.dtype).name, "shape": sizes}


def saved_model_rows(found: Found, wanted: Wanted) -> Iterator[Row]:
    """Each graph of a SavedModel, and its variables; nodes only where they are searched for."""
    graphs = found.message.meta_graphs
    variables = os.path.join(found.path, "variables", "variables")
    has_variables = os.path.exists(f"{variables}.index")
    checkpoint = Found("checkpoint", variables, form="variables")
    if wanted.tensor:
        yield _anywhere(graphs, checkpoint if has_variables else None, wanted)
        return
    data = {"kind": "SavedModel", "path": found.path, "graphs": len(graphs)}
    yield Row(f"SavedModel {found.path}: {count_text(len(graphs), 'graph')}", data)
    for meta in graphs:
        yield Row(f" graph: {_graph_text(meta.graph_def)}", _graph_summary(meta.graph_def))
        yield from _about(meta)
        if wanted.pattern or wanted.statistics:
            yield from _nodes(meta.graph_def, wanted)
    if has_variables:
        yield from inspect_tensors.rows(checkpoint, wanted)
    assets = os.path.join(found.path, "assets")
    for name in sorted(os.listdir(assets)) if os.path.isdir(assets) else ():
        yield Row(f"asset {name}", {"asset": name})


def _anywhere(graphs: Any, checkpoint: Found | None, wanted: Wanted) -> Row:
    """A variable of that name, or else a node."""
    if checkpoint is not None:
        try:
            return next(inspect_tensors.rows(checkpoint, wanted))
        except errors.NotFoundError:
            pass
    assert wanted.tensor is not None
    for meta in graphs[:-1]:
        try:
            return _node_in_full(meta.graph_def, wanted.tensor)
        except Unreadable:
            continue
    return _node_in_full(graphs[-1].graph_def, wanted.tensor)
