"""Parts of a graph copied, with some tensors replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from penstock.contrib.graph_editor import reroute, select
from penstock.contrib.graph_editor.elements import (
    ControlOutputs,
    flatten_tree,
    get_predefined_collection_names,
    get_unique_graph,
    make_placeholder_from_tensor,
    scope_finalize,
    transform_tree,
)
from penstock.contrib.graph_editor.subgraph import SubGraphView, make_view
from penstock.ir.attr_codec import python_value
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.while_context import WhileContext

__all__ = [
    "Transformer",
    "TransformerInfo",
    "assign_renamed_collections_handler",
    "copy",
    "copy_op_handler",
    "copy_with_input_replacements",
    "graph_replace",
    "keep_t_if_possible_handler",
    "replace_t_with_placeholder_handler",
    "transform_op_if_inside_handler",
]


class _Transformation:
    """What handlers know about the transformation that they are called in."""

    def __init__(self, sgv: SubGraphView, dst_graph: Graph, dst_scope: str, src_scope: str):
        self.sgv = sgv
        self.sgv_inputs_set = frozenset(sgv.inputs)
        self.ops = frozenset(sgv.ops)
        self.graph, self.scope = sgv.graph, src_scope
        self.graph_, self.scope_ = dst_graph, dst_scope
        self.transformed_ops: dict[Operation, Operation] = {}
        self.transformed_ts: dict[Tensor, Tensor] = {}
        self.collections = {
            key: self.graph.get_collection(key) for key in self.graph.get_all_collection_keys()
        }
        #: Inputs that were not there yet, as in loops: the tensor, what takes it, as which input.
        self.back_edges: list[tuple[Tensor, Operation, int]] = []

    def new_name(self, name: str) -> str:
        """The name that something has after the transformation."""
        if not name.startswith(self.scope):
            raise ValueError(f"{name} does not belong to source scope: {self.scope}.")
        return self.scope_ + name[len(self.scope) :]


def replace_t_with_placeholder_handler(info: Any, t: Tensor) -> Tensor:
    """A placeholder for a tensor."""
    with info.graph_.as_default():
        return make_placeholder_from_tensor(t, scope=info.scope_)


def keep_t_if_possible_handler(info: Any, t: Tensor) -> Tensor:
    """A tensor itself, or a placeholder for it in another graph."""
    return t if info.graph is info.graph_ else replace_t_with_placeholder_handler(info, t)


def assign_renamed_collections_handler(info: Any, elem: Any, elem_: Any) -> None:
    """Puts what was transformed into the collections of what it was, renamed unless well known."""
    known = get_predefined_collection_names()
    for name, members in info.collections.items():
        if any(elem is member for member in members):
            info.graph_.add_to_collection(name if name in known else info.new_name(name), elem_)


def transform_op_if_inside_handler(
    info: Any, op: Operation, keep_if_possible: bool = True
) -> Operation | None:
    """What an operation was transformed into; outside of the view itself, or None elsewhere."""
    if op in info.ops:
        return info.transformed_ops[op]
    return op if keep_if_possible and info.graph is info.graph_ else None


def copy_op_handler(
    info: Any,
    op: Operation,
    new_inputs: Any,
    copy_shape: bool = False,
    nodedef_fn: Callable[[Any], Any] | None = None,
) -> tuple[Operation, list[Tensor]]:
    """A copy of an operation, and its outputs.

    Args:
      info: about the transformation.
      op: the operation.
      new_inputs: of the copy.
      copy_shape: whether outputs get the shapes that they have now, if they are known better.
      nodedef_fn: changes the NodeDef of the copy before it is made.
    """
    if isinstance(new_inputs, bool):
        raise TypeError("the `new_inputs` argument must be an iterable.")
    graph: Graph = info.graph_
    name, attrs = graph.unique_name(info.new_name(op.name)), dict(op.attrs)
    if nodedef_fn is not None:
        node_def = op.node_def
        node_def.name = name
        node_def = nodedef_fn(node_def)
        name = node_def.name
        attrs = {key: python_value(value) for key, value in node_def.attr.items()}
    output_types = [tensor.dtype for tensor in op.outputs]
    with graph.control_dependencies(None):
        made = graph._add(op.spec, name, tuple(new_inputs), attrs, output_types)
    made._set_device(op.device)
    if copy_shape:
        for tensor, copied in zip(op.outputs, made.outputs, strict=True):
            copied.set_shape(tensor.get_shape())
    return made, made.outputs


class TransformerInfo:
    """What became of which operation and tensor."""

    def __init__(self, info: _Transformation):
        self._graph, self._scope = info.graph, info.scope
        self._graph_, self._scope_ = info.graph_, info.scope_
        self._transformed_ops = info.transformed_ops
        self._transformed_ts = info.transformed_ts

    def _pairs(self, element: Any) -> dict[Any, Any]:
        if isinstance(element, Operation):
            return self._transformed_ops
        if isinstance(element, Tensor):
            return self._transformed_ts
        raise TypeError(f"Expected a tf.Tensor or a tf.Operation, got a {type(element)}")

    def transformed(self, original: Any, missing_fn: Callable[[Any], Any] | None = None) -> Any:
        """What each of nested operations and tensors became; `missing_fn` of it, if nothing."""

        def one(element: Any) -> Any:
            found = self._pairs(element).get(element)
            return missing_fn(element) if found is None and missing_fn is not None else found

        return transform_tree(original, one)

    def original(self, transformed: Any, missing_fn: Callable[[Any], Any] | None = None) -> Any:
        """What each of nested operations and tensors was; `missing_fn` of it, if nothing."""

        def one(element: Any) -> Any:
            for before, after in self._pairs(element).items():
                if after is element:
                    return before
            return None if missing_fn is None else missing_fn(element)

        return transform_tree(transformed, one)

    def __str__(self) -> str:
        if self._graph is self._graph_:
            where = f"  Within graph[{id(self._graph)}]{'' if self._scope_ else ' IN-PLACE'}"
        else:
            where = f"  graph[{id(self._graph)}] => graph[{id(self._graph_)}]"
        lines = ["Transform result info:", where]
        if self._scope:
            lines.append(f"  Relative to source scope: {self._scope}")
        if self._scope_:
            lines.append(f"  Scope destination: {self._scope_}")
        lines.append("Operations mapping:")
        lines += [f"  {op.name} => {made.name}" for op, made in self._transformed_ops.items()]
        return "\n".join(lines) + "\n"


class Transformer:
    """Copies a part of a graph; its handlers, which may be replaced, say how."""

    def __init__(self) -> None:
        self.transform_op_handler: Callable[..., Any] = copy_op_handler
        self.transform_control_input_handler: Callable[..., Any] = transform_op_if_inside_handler
        self.assign_collections_handler: Callable[..., Any] = assign_renamed_collections_handler
        self.transform_external_input_handler: Callable[..., Any] = (
            replace_t_with_placeholder_handler
        )
        self.transform_external_hidden_input_handler: Callable[..., Any] = (
            keep_t_if_possible_handler
        )
        self.transform_original_op_handler: Callable[..., Any] = transform_op_if_inside_handler

    def __call__(
        self,
        sgv: Any,
        dst_graph: Graph,
        dst_scope: str,
        src_scope: str = "",
        reuse_dst_scope: bool = False,
    ) -> tuple[SubGraphView, TransformerInfo]:
        """Transforms a view; the view of what it became, and what became of what.

        Args:
          sgv: the view, or what `make_view` takes.
          dst_graph: where copies go.
          dst_scope: the scope that copies are in.
          src_scope: the scope that their names lose.
          reuse_dst_scope: whether a scope of that name may be there; if not, it gets a number.
        """
        view = make_view(sgv)
        if not isinstance(dst_graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(dst_graph)}")
        scope = scope_finalize(dst_scope)
        if scope and not reuse_dst_scope:
            scope = scope_finalize(dst_graph.unique_name(scope[:-1]))
        info = _Transformation(view, dst_graph, scope, scope_finalize(src_scope))
        for op in sorted(view.ops, key=lambda op: op._id):
            self._transform(info, op)
        for tensor, taker, index in info.back_edges:
            info.transformed_ops[taker]._update_input(index, info.transformed_ts[tensor])
        for op in view.ops:
            waits = (self.transform_control_input_handler(info, each) for each in op.control_inputs)
            made = info.transformed_ops[op]
            already = made.control_inputs
            added = [each for each in waits if each is not None and each not in already]
            reroute.add_control_inputs(made, added)
        return self._transformed_view(info), TransformerInfo(info)

    def _transform(self, info: _Transformation, op: Operation) -> None:
        inputs = [self._input(info, op, index) for index in range(len(op.inputs))]
        made, outputs = self.transform_op_handler(info, op, inputs)
        if made is op:
            raise ValueError("In-place transformation not allowed.")
        info.transformed_ops[op] = made
        self.assign_collections_handler(info, op, made)
        for tensor, copied in zip(op.outputs, outputs, strict=True):
            info.transformed_ts[tensor] = copied
            self.assign_collections_handler(info, tensor, copied)

    def _input(self, info: _Transformation, op: Operation, index: int) -> Tensor:
        """What a copy takes as an input; in a loop a stand-in, until what it takes is there."""
        tensor = op.inputs[index]
        if tensor in info.transformed_ts:
            return info.transformed_ts[tensor]
        if tensor in info.sgv_inputs_set:
            return self.transform_external_input_handler(info, tensor)
        if tensor.op not in info.ops:
            return self.transform_external_hidden_input_handler(info, tensor)
        info.back_edges.append((tensor, op, index))
        if op.type in ("Merge", "RefMerge") and index > 0:
            return self._input(info, op, 0)
        with info.graph_.as_default():
            return make_placeholder_from_tensor(tensor, scope=info.scope_, prefix="geph_tmp")

    @staticmethod
    def _transformed_view(info: _Transformation) -> SubGraphView:
        made = SubGraphView(list(info.transformed_ops.values()))

        def kept(old: Iterable[Tensor], new: list[Tensor]) -> list[int]:
            copies = (info.transformed_ts.get(tensor) for tensor in old)
            return [new.index(copied) for copied in copies if copied in new]

        return made.remap(
            kept(info.sgv.inputs, made._input_ts), kept(info.sgv.outputs, made._output_ts)
        )


def _copied(transformer: Transformer, sgv: Any, dst_graph: Any, *scopes: Any) -> Any:
    view = make_view(sgv)
    graph = view.graph if dst_graph is None else dst_graph
    return transformer(view, graph, *scopes)


def copy(
    sgv: Any,
    dst_graph: Graph | None = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:
    """A copy of a view, with placeholders for its inputs; see `Transformer`."""
    return _copied(Transformer(), sgv, dst_graph, dst_scope, src_scope, reuse_dst_scope)


def copy_with_input_replacements(
    sgv: Any,
    replacement_ts: dict[Tensor, Tensor],
    dst_graph: Graph | None = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:
    """A copy of a view, with other tensors for some of its inputs; see `Transformer`."""
    transformer = Transformer()

    def replaced(info: Any, tensor: Tensor) -> Tensor:
        if tensor in replacement_ts:
            return replacement_ts[tensor]
        return keep_t_if_possible_handler(info, tensor)

    transformer.transform_external_input_handler = replaced
    return _copied(transformer, sgv, dst_graph, dst_scope, src_scope, reuse_dst_scope)


def _with_whole_loops(ops: list[Operation], control_ios: ControlOutputs) -> list[Operation]:
    """Operations, and the rest of the loops that some are in: half a loop can't run."""
    contexts = dict.fromkeys(op._get_control_flow_context() for op in ops)
    whole = dict.fromkeys(ops)
    for context in contexts:
        if isinstance(context, WhileContext):
            loop = select.get_walks_intersection_ops(
                [tensor.op for tensor in context.loop_enters],
                [tensor.op for tensor in context.loop_exits],
                control_ios=control_ios,
            )
            whole.update(dict.fromkeys(loop))
    return list(whole)


def graph_replace(
    target_ts: Any,
    replacement_ts: dict[Tensor, Tensor],
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> Any:
    """Tensors computed anew, with others in the place of some that they depend on.

    Args:
      target_ts: a tensor, or nested ones.
      replacement_ts: for a tensor the one to take instead.
      dst_scope: the scope of the copies.
      src_scope: the scope that their names lose.
      reuse_dst_scope: whether a scope of that name may be there.
    """
    targets = flatten_tree(target_ts)
    control_ios = ControlOutputs(get_unique_graph(targets, check_types=Tensor))
    between = select.get_walks_intersection_ops(
        list(replacement_ts), targets, control_ios=control_ios
    )
    if not between:
        raise ValueError("Targets and replacements are not connected!")
    _, info = copy_with_input_replacements(
        _with_whole_loops(between, control_ios),
        replacement_ts,
        None,
        dst_scope,
        src_scope,
        reuse_dst_scope,
    )
    return info.transformed(target_ts, lambda original: original)
