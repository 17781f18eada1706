"""`tf.saved_model.load_v2` of a SavedModel that has a graph, but no objects.

That is what `SavedModelBuilder` writes. The graph is imported as the body of a function, whose
variables are moved out of it; each signature is the function of a part of that body.
"""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ops.concrete_functions import ConcreteFunction
from penstock.ops.constants import constant, placeholder
from penstock.ops.graph_lifting import UnliftableError
from penstock.platform import file_limits, logging
from penstock.proto import MetaGraphDef
from penstock.saved_model.loader import SavedModelLoader, get_asset_tensors, get_init_op
from penstock.saved_model.restored_functions import (
    new_names,
    rename_in_nodes,
    rename_library,
    suffix_of_load,
)
from penstock.saved_model.signature_functions import SignatureMap
from penstock.train.saved_graphs import import_meta_graph
from penstock.train.saver import Saver
from penstock.train.scaffold import Scaffold
from penstock.train.tracking import AutoTrackable
from penstock.train.tracking.resources import CapturableResource, TrackableAsset
from penstock.wrapped_functions import WrappedFunction, wrap_function


class _Initializer(CapturableResource):
    """Runs the initialization of a graph, with the paths of its assets.

    It is among the objects of the model, so that the model can be saved and loaded again.
    """

    def __init__(self, init_fn: WrappedFunction, asset_paths: list[TrackableAsset]):
        super().__init__()
        self._asset_paths = asset_paths
        self._init_fn = init_fn

    def _create_resource(self) -> Any:
        return placeholder(dtypes.resource, shape=[], name="unused_resource")

    def _initialize(self) -> Any:
        return self._init_fn(*[each.asset_path for each in self._asset_paths])


class GraphLoader(SavedModelLoader):
    """Makes an object of one graph of a SavedModel."""

    def get_meta_graph_def_from_tags(self, tags: Any) -> Any:
        """The MetaGraphDef with these tags; without tags, the only one there is."""
        if tags is not None:
            return super().get_meta_graph_def_from_tags([tags] if isinstance(tags, str) else tags)
        graphs = self._saved_model.meta_graphs
        if len(graphs) != 1:
            raise ValueError(
                "Importing a SavedModel with tf.saved_model.load requires a 'tags=' argument if "
                f"there is more than one MetaGraph. Got 'tags=None', but there are {len(graphs)} "
                "MetaGraphs in the SavedModel with tag sets "
                f"{[list(each.meta_info_def.tags) for each in graphs]}. Pass a 'tags=' argument "
                "to load this SavedModel."
            )
        return graphs[0]

    def load_object(self, tags: Any) -> Any:
        """The object: it has the signatures and variables of the graph, and the graph itself."""
        message = MetaGraphDef()
        message.CopyFrom(self.get_meta_graph_def_from_tags(tags))
        _make_names_new(message.graph_def)
        savers: list[Saver | None] = []
        wrapped = wrap_function(lambda: savers.append(import_meta_graph(message)), signature=[])
        root: Any = AutoTrackable()
        with file_limits.allowing(self._export_dir):
            if savers[0] is not None:
                self._restore(wrapped, savers[0])
            root.initializer = self._initialized(wrapped, message)
        root.asset_paths = root.initializer._asset_paths
        root.signatures = SignatureMap(_signatures(wrapped, message))
        root.variables = list(wrapped.graph.variables)
        root.graph = wrapped.graph
        root.prune = wrapped.prune
        return root

    def _restore(self, wrapped: WrappedFunction, saver: Saver) -> None:
        """Gives the variables their values; while a graph is built, by their initializers."""
        graph = wrapped.graph
        saver_def = saver.saver_def
        filename = graph.as_graph_element(saver_def.filename_tensor_name)
        restore_op = graph.as_graph_element(saver_def.restore_op_name)
        # The name is a result, too: something to wait for.
        restore = wrapped.prune(feeds=[filename], fetches=[filename, restore_op])
        restored, _ = restore(constant(self._variables_path))
        if executing_eagerly():
            return
        get_default_graph().add_to_collection(GraphKeys.TABLE_INITIALIZERS, restored.op)
        variables = graph.get_collection_ref(GraphKeys.GLOBAL_VARIABLES)
        for variable in variables:
            variable._initializer_op = restored.op
        if any(variable.graph is graph for variable in variables):
            logging.warning(
                "Some variables could not be lifted out of a loaded function. Run the "
                "tf.initializers.tables_initializer() operation to restore these variables."
            )

    def _initialized(self, wrapped: WrappedFunction, message: Any) -> _Initializer:
        """What initializes the graph, which it has done once, or will with the tables."""
        graph = wrapped.graph
        with graph.as_default():
            init_op = get_init_op(message)
            if init_op is None:
                init_op = Scaffold.default_local_init_op()
            anchor = constant(0.0, name="dummy_fetch")
        assets = get_asset_tensors(self._export_dir, message)
        feeds = [graph.as_graph_element(name) for name in assets]
        init_fn = wrapped.prune(feeds=feeds, fetches=[anchor, graph.as_graph_element(init_op)])
        initializer = _Initializer(init_fn, [TrackableAsset(path) for path in assets.values()])
        done, _ = initializer._initialize()
        if not executing_eagerly():
            get_default_graph().add_to_collection(GraphKeys.TABLE_INITIALIZERS, done.op)
            for variable in graph.get_collection_ref(GraphKeys.LOCAL_VARIABLES):
                variable._initializer_op = done.op
        return initializer


def _make_names_new(graph_def: Any) -> None:
    """Gives functions, and the state that nodes share, names of this load: there may be others."""
    names = new_names(get_default_graph(), graph_def.library)
    suffix = suffix_of_load()
    rename_library(graph_def.library, names, suffix)
    rename_in_nodes(graph_def.node, names, suffix)


def _signatures(wrapped: WrappedFunction, message: Any) -> dict[str, ConcreteFunction]:
    made: dict[str, ConcreteFunction] = {}
    for key, signature in message.signature_def.items():
        names = list(signature.inputs)
        feeds = [wrapped.graph.as_graph_element(signature.inputs[name].name) for name in names]
        try:
            function = wrapped.prune(feeds=feeds, fetches=dict(signature.outputs))
        except UnliftableError as error:
            raise UnliftableError(
                "A SavedModel signature needs an input for each placeholder the signature's "
                f"outputs use. An output for signature '{key}' depends on a placeholder which is "
                f"not an input (i.e. the placeholder is not fed a value).\n\n{error}"
            ) from None
        function._arg_keywords = names
        # One argument needs no name to be told from others.
        function._num_positional_args = 1 if len(names) == 1 else 0
        made[key] = function
    return made
