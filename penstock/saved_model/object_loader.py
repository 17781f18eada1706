"""`tf.saved_model.load_v2`: the object that `tf.saved_model.save` wrote."""

from __future__ import annotations

import operator
import os
from collections import deque
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from penstock import dtypes
from penstock.checkpoint.reader import NewCheckpointReader
from penstock.ir import nest
from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_codec import proto_to_array
from penstock.ir.trackable import OBJECT_GRAPH_PROTO_KEY, VARIABLE_VALUE_KEY
from penstock.layers.owned_attributes import LiveContents
from penstock.ops.checkpoint_files import restore_v2
from penstock.ops.constants import constant
from penstock.ops.control import device, init_scope
from penstock.ops.resource_variable import ResourceVariable
from penstock.ops.variables import VariableAggregation, VariableSynchronization
from penstock.proto import TrackableObjectGraph
from penstock.saved_model import revived_types, tensor_infos
from penstock.saved_model.graph_loader import GraphLoader
from penstock.saved_model.loader import parse_saved_model
from penstock.saved_model.restored_functions import (
    RestoredConcreteFunction,
    RestoredFunction,
    add_renamed_library,
)
from penstock.shapes import TensorShape
from penstock.train.tracking import AutoTrackable, ListWrapper, NoDependency, _DictWrapper
from penstock.train.tracking.resources import (
    CapturableResource,
    TrackableAsset,
    TrackableResource,
)

__all__ = ["load"]


def load(export_dir: Any, tags: Any = None) -> Any:
    """The object of a SavedModel, with its variables, functions and signatures.

    A SavedModel of a graph without objects gives an object with signatures, variables and graph.
    While a graph is built, the initializers of its variables restore them.

    >>> model = tf.saved_model.load_v2("export")
    >>> result = model.signatures["serving_default"](x=tf.ones([1, 2]))

    Args:
      export_dir: the directory that `tf.saved_model.save` wrote.
      tags: the tags of the graph in it; they need not be given where there is one graph.
    """
    return load_by(ObjectLoader, export_dir, tags)


def load_by(loader: Callable[[Any, str], ObjectLoader], export_dir: Any, tags: Any = None) -> Any:
    """What `load` gives, of the objects that a loader makes."""
    export_dir = os.fsdecode(export_dir)
    saved_model = parse_saved_model(export_dir)
    meta_graph = saved_model.meta_graphs[0]
    if len(saved_model.meta_graphs) > 1 or not meta_graph.HasField("object_graph_def"):
        graph_loader = GraphLoader(export_dir)
        with init_scope():
            return _with_versions(
                graph_loader.load_object(tags), graph_loader.get_meta_graph_def_from_tags(tags)
            )
    has_tags = set(meta_graph.meta_info_def.tags)
    if tags is not None and set(nest.flatten(list(tags) if isinstance(tags, set) else tags)) != (
        has_tags
    ):
        raise ValueError(
            f"The SavedModel at {export_dir} has one MetaGraph with tags {sorted(has_tags)}, but "
            f"got an incompatible argument tags={tags} to tf.saved_model.load. Leave it out, or "
            "pass matching tags."
        )
    with init_scope():
        root = loader(meta_graph, export_dir).root
    return _with_versions(root, meta_graph)


def _with_versions(root: Any, meta_graph: Any) -> Any:
    """The object, which knows what wrote it."""
    root.tensorflow_version = meta_graph.meta_info_def.tensorflow_version
    root.tensorflow_git_version = meta_graph.meta_info_def.tensorflow_git_version
    return root


class ObjectLoader:
    """Makes the objects of one SavedModel.

    Args:
      known: objects that are there already, by their numbers in the SavedModel.
    """

    def __init__(self, meta_graph: Any, export_dir: str, known: Mapping[int, Any] | None = None):
        self._known = known or {}
        self._meta_graph = meta_graph
        self._objects = meta_graph.object_graph_def
        self._export_dir = export_dir
        self._variables_path = tensor_infos.get_variables_path(export_dir)
        self._keys = _checkpoint_keys(self._objects, self._variables_path)
        self._functions = self._made_functions()
        made = [self._made(number, node) for number, node in enumerate(self._objects.nodes)]
        self._nodes = [node for node, _ in made]
        self._connect([setter for _, setter in made])
        for name, message in self._objects.concrete_functions.items():
            bound = [self._nodes[number] for number in message.bound_inputs]
            variables = [node for node in bound if isinstance(node, ResourceVariable)]
            self._functions[name].bind([_tensor_of(node) for node in bound], variables, bound)
        self._fill_resources()

    @property
    def root(self) -> Any:
        return self._nodes[0]

    def _made_functions(self) -> dict[str, RestoredConcreteFunction]:
        graph = get_default_graph()
        functions = add_renamed_library(graph, self._meta_graph.graph_def.library)
        made: dict[str, RestoredConcreteFunction] = {}
        by_new_name: dict[str, RestoredConcreteFunction] = {}
        for name, message in self._objects.concrete_functions.items():
            made[name] = RestoredConcreteFunction(functions[name], message, by_new_name)
            by_new_name[functions[name].name] = made[name]
        return made

    def _connect(self, setters: list[Callable[..., None]]) -> None:
        """Gives the objects what they own; slot variables go to their optimizers."""
        messages = self._objects.nodes
        for number, (node, setter) in enumerate(zip(self._nodes, setters, strict=True)):
            message = messages[number]
            for child in message.children:
                setter(node, child.local_name, self._nodes[child.node_id])
                if child.local_name == "__call__" and not callable(node):
                    type(node).__call__ = _called_as_saved
            for slot in () if number in self._known else message.slot_variables:
                variable = self._nodes[slot.original_variable_node_id]
                node.add_slot(variable, slot.slot_name, self._nodes[slot.slot_variable_node_id])

    def _fill_resources(self) -> None:
        for node in self._nodes:
            if isinstance(node, CapturableResource):
                filled = node._initialize()
                if not executing_eagerly():
                    get_default_graph().add_to_collection(GraphKeys.TABLE_INITIALIZERS, filled)

    # One object -----------------------------------------------------------------------------------

    def _made(self, number: int, message: Any) -> tuple[Any, Callable[..., None]]:
        """The object that a message describes, and what sets its attributes."""
        if number in self._known:
            return self._known[number], self._add_to_known
        kind = message.WhichOneof("kind")
        if kind == "user_object":
            return self._user_object(message.user_object)
        if kind not in _MAKERS:
            raise ValueError(
                f"Unknown SavedObject type: {kind!r} of object {number} (known types: "
                f"{', '.join(['user_object', *_MAKERS])})"
            )
        return _MAKERS[kind](self, number, getattr(message, kind)), setattr

    def _add_to_known(self, known: Any, name: str, value: Any) -> None:
        """Gives an object that was there what the SavedModel says that it owns."""

    def _user_object(self, message: Any) -> tuple[Any, Callable[..., None]]:
        revived = revived_types.deserialize(message)
        return (_restored_object(), setattr) if revived is None else revived

    def _asset(self, number: int, message: Any) -> TrackableAsset:
        filename = self._meta_graph.asset_file_def[message.asset_file_def_index].filename
        return TrackableAsset(os.path.join(tensor_infos.get_assets_dir(self._export_dir), filename))

    def _function(self, number: int, message: Any) -> RestoredFunction:
        return RestoredFunction(message, self._functions)

    def _concrete_function(self, number: int, message: Any) -> RestoredConcreteFunction:
        function = self._functions[message.concrete_function_name]
        function._arg_keywords = list(message.argument_keywords)
        function._num_positional_args = message.allowed_positional_arguments
        return function

    def _variable(self, number: int, message: Any) -> ResourceVariable:
        dtype = dtypes.as_dtype(message.dtype).base_dtype
        shape = TensorShape(message.shape)

        made = ResourceVariable(
            lambda: self._restored_value(number, dtype, shape),
            trainable=message.trainable,
            name=message.name or None,
            dtype=dtype,
            synchronization=VariableSynchronization(message.synchronization),
            aggregation=VariableAggregation(message.aggregation),
            shape=shape,
        )
        if not executing_eagerly():
            # Whoever uses the model says whether it is trained.
            trained = get_default_graph().get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)
            trained[:] = [each for each in trained if each is not made]
        return made

    def _restored_value(self, number: int, dtype: dtypes.DType, shape: TensorShape) -> Tensor:
        """The saved value of a variable."""
        with device("/cpu:0"):
            (value,) = restore_v2(self._variables_path, [self._keys[number]], [""], [dtype])
        value.set_shape(shape)
        return value

    @cached_property
    def _graph_nodes(self) -> dict[str, Any]:
        return {node.name: node for node in self._meta_graph.graph_def.node}

    def _constant(self, number: int, message: Any) -> Tensor:
        node = self._graph_nodes[message.operation]
        return constant(proto_to_array(node.attr["value"].tensor))

    def _resource(self, number: int, message: Any) -> CapturableResource:
        return _ResourceOfFunctions(device=message.device)


#: What makes an object of its number and its message, by the kind of the message.
_MAKERS: dict[str, Callable[[ObjectLoader, int, Any], Any]] = {
    "variable": ObjectLoader._variable,
    "constant": ObjectLoader._constant,
    "asset": ObjectLoader._asset,
    "resource": ObjectLoader._resource,
    "function": ObjectLoader._function,
    "bare_concrete_function": ObjectLoader._concrete_function,
}


#: Which attribute of an object is the tensor that functions use.
_TENSORS: dict[type, str] = {
    ResourceVariable: "handle",
    CapturableResource: "resource_handle",
    TrackableAsset: "asset_path",
}


def _tensor_of(node: Any) -> Tensor:
    """The tensor that functions use of an object; of a variable with copies, the first one's."""
    if getattr(node, "_is_distributed", False):
        node = node.primary
    for kind, attribute in _TENSORS.items():
        if isinstance(node, kind):
            tensor: Tensor = getattr(node, attribute)
            return tensor
    if not isinstance(node, Tensor):
        raise ValueError(f"A function of the SavedModel uses {node}, which has no tensor")
    return node


def _checkpoint_keys(objects: Any, path: str) -> dict[int, str]:
    """The keys of variables in the checkpoint, by their numbers in the SavedModel.

    The two describe the same objects, with other numbers: they are matched by names.
    """
    if not any(node.WhichOneof("kind") == "variable" for node in objects.nodes):
        return {}
    reader = NewCheckpointReader(path)
    saved = TrackableObjectGraph.FromString(reader.get_tensor(OBJECT_GRAPH_PROTO_KEY)).nodes
    keys: dict[int, str] = {}
    visited = {0}
    to_visit = deque([(0, 0)])
    while to_visit:
        number, in_checkpoint = to_visit.popleft()
        for attribute in saved[in_checkpoint].attributes:
            if attribute.name == VARIABLE_VALUE_KEY:
                keys[number] = attribute.checkpoint_key
        children = {each.local_name: each.node_id for each in saved[in_checkpoint].children}
        owned = [(each.local_name, each.node_id) for each in objects.nodes[number].children]
        pairs = [(own, children[name]) for name, own in owned if name in children]
        slots: dict[str, list[int]] = {}
        for each in saved[in_checkpoint].slot_variables:
            slots.setdefault(each.slot_name, []).append(each.slot_variable_node_id)
        for each in objects.nodes[number].slot_variables:
            if slots.get(each.slot_name):
                pairs.append((each.slot_variable_node_id, slots[each.slot_name].pop(0)))
        for pair in pairs:
            if pair[0] not in visited:
                visited.add(pair[0])
                to_visit.append(pair)
    return keys


class RestoredOptimizer(AutoTrackable):
    """An optimizer of a SavedModel: its hyper-parameters and slot variables."""

    def __init__(self) -> None:
        self._slots: dict[str, dict[int, Any]] = NoDependency({})  # type: ignore[assignment]

    def add_slot(self, var: Any, slot_name: str, slot: Any) -> None:
        """Notes the slot variable of a variable."""
        self._slots.setdefault(slot_name, {})[id(var)] = slot

    def get_slot(self, var: Any, slot_name: str) -> Any:
        """The slot variable that it has for a variable."""
        return self._slots[slot_name][id(var)]

    def get_slot_names(self) -> list[str]:
        return sorted(self._slots)

    def _create_or_restore_slot_variable(self, **unused: Any) -> None:
        """Its slot variables have been made with it."""


def _restored_object() -> Any:
    """An object of a class of its own: it may get a `__call__`, which Python asks classes for."""
    return type("RestoredObject", (AutoTrackable,), {})()


def _called_as_saved(instance: Any, *args: Any, **kwargs: Any) -> Any:
    return vars(instance)["__call__"](*args, **kwargs)


class _ResourceOfFunctions(TrackableResource):
    """A resource, such as a table, that functions of the SavedModel make and fill."""

    def _initialize(self) -> Any:
        raise RuntimeError("A restored resource has a function that fills it.")

    def _list_functions_for_serialization(self, unused_serialization_cache: Any) -> dict[str, Any]:
        names = ("_create_resource", "_initialize", "_destroy_resource")
        return {name: vars(self)[name] for name in names if name in vars(self)}


def _set_list_item(items: Any, index: str, value: Any) -> None:
    position = int(index)
    if len(items) <= position:
        items.extend([None] * (1 + position - len(items)))
    items[position] = value


def _register(
    identifier: str,
    predicate: Callable[[Any], bool],
    make: Callable[[], Any],
    setter: Callable[..., None],
) -> None:
    registration = revived_types.VersionedTypeRegistration(
        object_factory=lambda proto: make(),
        version=1,
        min_producer_version=1,
        min_consumer_version=1,
        setter=setter,
    )
    revived_types.register_revived_type(identifier, predicate, versions=[registration])


def _is_live(obj: Any, kind: type) -> bool:
    """Whether this is the view of a layer's plain list or dictionary, which is saved as such."""
    return isinstance(obj, LiveContents) and isinstance(obj.container, kind)


_register(
    "trackable_list_wrapper",
    lambda obj: isinstance(obj, ListWrapper) or _is_live(obj, list),
    lambda: ListWrapper([]),
    _set_list_item,
)
_register(
    "trackable_dict_wrapper",
    lambda obj: isinstance(obj, _DictWrapper) or _is_live(obj, dict),
    lambda: _DictWrapper({}),
    operator.setitem,
)
_register(
    "optimizer",
    lambda obj: hasattr(obj, "_create_or_restore_slot_variable"),
    RestoredOptimizer,
    setattr,
)
