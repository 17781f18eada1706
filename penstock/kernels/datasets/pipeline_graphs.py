"""A pipeline as a graph of its own: to be written, made again elsewhere, and told from others."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from penstock import dtypes, errors, proto
from penstock.ir.graph import Graph
from penstock.ir.graph_def import fill_node_def
from penstock.ir.importer import import_graph_def
from penstock.ir.tensor_codec import array_to_proto
from penstock.kernels.datasets.recipes import called_bodies, functions_of
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.sparse_rows import invalid
from penstock.kernels.values import to_array
from penstock.state.datasets import Dataset

_RESULT = "dataset"
#: Stateful ops with which a pipeline that is made again gives the same elements: their state ends
#: with the call, or is only read or told, or is that of bodies which are looked at as well.
_REPEATABLE = re.compile(
    r"Assert|Print|PrintV2|Timestamp|If|While|(TensorArray|Stack).*|LookupTable(Find|Size)(V2)?"
)


class _Writer:
    """Writes a pipeline as a GraphDef: values become constants, the functions come along.

    A function whose results depend on more than its arguments is refused, unless all of its ops
    that make it so are among `stateful`.
    """

    def __init__(self, stateful: set[str] | None):
        self.message = proto.GraphDef()
        self._stateful = stateful
        self._functions: dict[str, Any] = {}

    def add(self, dataset: Dataset) -> str:
        """Adds a dataset with all that it reads; gives the name of its node."""
        if dataset.recipe is None:
            raise errors.UnimplementedError(
                None, None, f"a {type(dataset).__name__} can't be written as a graph"
            )
        node, values, _ = dataset.recipe
        self._add_functions(node)
        types = [edge.dtype for edge in node.inputs]
        inputs = [self._input(*each) for each in zip(values, types, strict=True)]
        made = self.message.node.add()
        assert node.origin is not None
        fill_node_def(node.origin, made)
        made.name, made.device = self._new_name(node.type), ""
        made.input[:] = inputs
        for key in [key for key in made.attr if key.startswith("_")]:
            del made.attr[key]  # it tells something of the graph around, such as `_class`
        return str(made.name)

    def _input(self, value: Any, dtype: dtypes.DType) -> str:
        if isinstance(value, Dataset):
            return self.add(value)
        if dtype in (dtypes.resource, dtypes.variant):
            raise errors.FailedPreconditionError(
                None, None, f"a pipeline that uses a {dtype.name} can't be written as a graph"
            )
        made = self.message.node.add(name=self._new_name("Const"), op="Const")
        made.attr["dtype"].type = dtype.base_dtype.as_datatype_enum
        made.attr["value"].tensor.CopyFrom(array_to_proto(to_array(value), dtype))
        return str(made.name)

    def _new_name(self, kind: str) -> str:
        return f"{kind}/_{len(self.message.node) - (kind != 'Const')}"

    def _add_functions(self, node: Any) -> None:
        library = node.origin.graph._functions
        for body in called_bodies(node):
            for op in body.get_operations():
                if self._stateful is not None:
                    _refuse_stateful(op, self._stateful)
                self._add_named(functions_of(op.attrs), library)
        self._add_named(functions_of(node.attrs), library)

    def _add_named(self, names: Any, library: dict[str, Any]) -> None:
        for each in names:
            if each.name not in self._functions and each.name in library:
                self._functions[each.name] = library[each.name]
                self.message.library.function.add().CopyFrom(library[each.name].definition)


def _refuse_stateful(op: Any, allowed: Collection[str]) -> None:
    gives_dataset = op.outputs and all(each.dtype is dtypes.variant for each in op.outputs)
    if not op.spec.is_stateful or gives_dataset or op.type in allowed:
        return
    if not _REPEATABLE.fullmatch(op.type):
        raise errors.FailedPreconditionError(None, None, f"{op.type} is stateful.")


def check_repeatable(dataset: Dataset) -> None:
    """Refuses a pipeline whose functions, called again, may give something else."""
    if dataset.recipe is None:
        return
    for body in called_bodies(dataset.recipe.node):
        for op in body.get_operations():
            if "seed2" not in op.attrs:  # an iterator keeps the place of its random ops
                _refuse_stateful(op, ())
    for each in dataset.recipe.inputs:
        if isinstance(each, Dataset):
            check_repeatable(each)


def pipeline_graph(dataset: Dataset, stateful: set[str] | None = None) -> Any:
    """A pipeline as a GraphDef, whose node `dataset` has the handle of it.

    Args:
      dataset: the pipeline's end.
      stateful: the stateful ops that its functions may use; None: any.
    """
    writer = _Writer(stateful)
    result = writer.message.node.add(name=_RESULT, op="_Retval", input=[writer.add(dataset)])
    result.attr["T"].type = dtypes.variant.as_datatype_enum
    result.attr["index"].i = 0
    return writer.message


def fingerprint(dataset: Dataset) -> str:
    """16 digits that are the same for pipelines that do the same with the same values."""
    message = pipeline_graph(dataset)
    by_name = {each.signature.name: each for each in message.library.function}
    digests: dict[str, str] = {}

    def digest_of(name: str) -> str:
        if name not in digests:
            digests[name] = ""  # of a function that calls itself
            body = proto.FunctionDef()
            body.CopyFrom(by_name[name])
            body.signature.name = ""
            digests[name] = _digest(body, body.node_def, digest_of, by_name)
        return digests[name]

    message.ClearField("library")
    return _digest(message, message.node, digest_of, by_name)


def _digest(message: Any, nodes: Any, digest_of: Any, by_name: dict[str, Any]) -> str:
    """The digest of a message, in which functions are called by theirs: names are made up."""
    for node in nodes:
        node.ClearField("experimental_debug_info")
        for attr in node.attr.values():
            for function in [attr.func, *attr.list.func] if attr.WhichOneof("value") else ():
                if function.name in by_name:
                    function.name = digest_of(function.name)
    return hashlib.sha1(message.SerializeToString(deterministic=True)).hexdigest()[:16]


@kernel("DatasetToGraph", devices=HOST)
def _(node):
    stateful = set(node.attrs["stateful_whitelist"])

    def run(dataset):
        graph = pipeline_graph(dataset, stateful)
        return np.array(graph.SerializeToString(deterministic=True), dtype=object)

    return run


@kernel("DatasetFromGraph", devices=HOST, step=True)
def _(node, env):
    def run(step, text):
        message = proto.GraphDef()
        try:
            message.ParseFromString(text.item())
            source = next(each for each in message.node if each.op == "_Retval")
        except (DecodeError, StopIteration):
            raise invalid("the value is no graph of a dataset") from None
        message.node.remove(source)
        graph = Graph()
        with graph.as_default():
            name = re.sub(r"(:\d+)?$", "", source.input[0], count=1)
            found = import_graph_def(message, name="", return_elements=[f"{name}:0"])
        return env.tensor_reader(found[0])(step)

    return run
