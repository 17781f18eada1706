"""The objects and functions below a root, as a SavedModel describes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from penstock.ir.convert import CompositeTensor
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.ir.trackable import Trackable, TrackableReference
from penstock.nest import flatten_with_joined_string_paths, pack_sequence_as
from penstock.ops.concrete_functions import ConcreteFunction
from penstock.ops.graph_functions import GraphFunction
from penstock.ops.resource_variable import ResourceVariable
from penstock.proto import SavedObjectGraph, SavedUserObject, VersionDef
from penstock.saved_model import revived_types
from penstock.saved_model.restored_functions import RestoredFunction
from penstock.saved_model.signature_functions import SIGNATURE_ATTRIBUTE_NAME, SignatureMap
from penstock.saved_model.structured_values import StructureCoder
from penstock.train.tracking import ObjectGraphView
from penstock.train.tracking.owned_functions import functions_of
from penstock.train.tracking.resources import CapturableResource, TrackableAsset


class CapturedConstant(NamedTuple):
    """A constant that a function uses, and its copy in the graph that is written."""

    captured: Tensor
    copied: Tensor


class ExportedView(ObjectGraphView):
    """What is reachable from a root, with its signatures, and the functions of each object."""

    def __init__(self, root: Any):
        super().__init__(root)
        self._signatures: SignatureMap | None = None
        self._functions: dict[int, dict[str, Any]] = {}
        self._extras: dict[int, dict[str, Any]] = {}
        self._shared: dict[str, Any] = {}  # by the objects, while they say what they have

    def set_signatures(self, signatures: SignatureMap) -> None:
        """Lets the root own the signatures; ValueError if it owns something else by that name."""
        for name, owned in super().list_dependencies(self.root):
            if name == SIGNATURE_ATTRIBUTE_NAME and not isinstance(owned, SignatureMap):
                raise ValueError(
                    f"Exporting an object {self.root} which has an attribute named '{name}'. This "
                    "is a reserved attribute, for the signatures of what tf.saved_model.load "
                    f"gives. Delete it (del obj.{name}) before saving."
                )
        self._signatures = signatures

    def list_dependencies(self, obj: Any) -> Any:
        extras = dict(self._list_extras(obj))
        owned = list(super().list_dependencies(obj))
        for name, _ in owned:
            if name in extras:
                raise ValueError(
                    f"Error when exporting object {obj} of with identifier="
                    f"{obj._object_identifier}. The object has an attribute named {name}, which "
                    f"is reserved. List of all reserved attributes: {list(extras)}"
                )
        if obj is self.root and self._signatures is not None:
            extras[SIGNATURE_ATTRIBUTE_NAME] = self._signatures
        kept = [each for each in owned if each[0] not in extras]
        return [*kept, *(TrackableReference(*each) for each in extras.items())]

    def _list_extras(self, obj: Any) -> dict[str, Any]:
        """What an object owns in a SavedModel alone, such as the lists of a model's variables."""
        if id(obj) not in self._extras:
            listed = obj._list_extra_dependencies_for_serialization(self._shared)
            self._extras[id(obj)] = listed
        return self._extras[id(obj)]

    def list_functions(self, obj: Any) -> dict[str, Any]:
        """The functions among an object's attributes, by name."""
        if id(obj) not in self._functions:
            listed = obj._list_functions_for_serialization(self._shared)
            self._functions[id(obj)] = {**functions_of(obj), **listed}
        return self._functions[id(obj)]


def concrete_functions_of(function: Any) -> list[ConcreteFunction]:
    """The functions that a `tf.function` has been called as."""
    if isinstance(function, ConcreteFunction):
        return [function]
    if isinstance(function, RestoredFunction):
        return list(function.concrete_functions)
    made = function._list_all_concrete_functions_for_serialization()
    return list({each.name: each for each in made}.values())


class ExportedObjects:
    """Objects and functions by their numbers in a SavedModel.

    1. The objects are those of the checkpoint, in its order.
    2. Then come functions, then the constants that functions use.
    """

    def __init__(self, view: ExportedView):
        self.view = view
        gathered = view._gather()
        self.nodes: list[Any] = list(gathered.objects)
        self.numbers = {id(node): number for number, node in enumerate(self.nodes)}
        self.slots = gathered.slots
        self.number_of_capture: dict[Tensor, int] = {}
        self._concrete_functions: dict[str, ConcreteFunction] = {}
        for node in list(self.nodes):
            for function in view.list_functions(node).values():
                self._add_function(function)

    def _add_function(self, function: Any) -> None:
        """Numbers a function; ValueError if its body says that it can't be saved."""
        if id(function) not in self.numbers:
            self.numbers[id(function)] = len(self.nodes)
            self.nodes.append(function)
        for each in concrete_functions_of(function):
            if reasons := getattr(each.graph, "saving_errors", None):
                raise ValueError(
                    f"Unable to save function {each.name} for the following reason(s):\n"
                    + "\n".join(sorted(reasons))
                )
            self._concrete_functions.setdefault(each.name, each)

    @property
    def concrete_functions(self) -> list[ConcreteFunction]:
        return list(self._concrete_functions.values())

    def add_constant(self, captured: Tensor, copied: Tensor) -> None:
        """Numbers a constant that a function uses."""
        self.number_of_capture[captured] = len(self.nodes)
        self.nodes.append(CapturedConstant(captured, copied))

    def message(self, asset_numbers: Mapping[int, int]) -> Any:
        """The SavedObjectGraph; assets have their numbers among the files."""
        message = SavedObjectGraph()
        for number, node in enumerate(self.nodes):
            written = message.nodes.add()
            written.slot_variables.extend(self.slots.get(number, ()))
            if isinstance(node, Trackable):
                children = [
                    *self.view.list_dependencies(node),
                    *self.view.list_functions(node).items(),
                ]
                for name, owned in children:
                    written.children.add(node_id=self.numbers[id(owned)], local_name=name)
            _describe(node, written, asset_numbers)
        for function in self.concrete_functions:
            self._describe_function(function, message.concrete_functions[function.name])
        return message

    def _describe_function(self, function: ConcreteFunction, message: Any) -> None:
        coder = StructureCoder()
        for capture in function.captured_inputs:
            if capture not in self.number_of_capture:
                raise KeyError(
                    f"The function {function.name} captures tensor {capture!r}, which is not "
                    "reachable from root: the variable or resource that it is of must be an "
                    "attribute of an object that is saved."
                )
            message.bound_inputs.append(self.number_of_capture[capture])
        message.canonicalized_input_signature.CopyFrom(
            coder.encode_structure(function.structured_input_signature)
        )
        message.output_signature.CopyFrom(
            coder.encode_structure(_as_specs(function.structured_outputs))
        )


def _as_specs(structure: Any) -> Any:
    """The structure of tensors as one of specs, which are named by where they are in it."""
    named = flatten_with_joined_string_paths(structure)
    return pack_sequence_as(structure, [_as_spec(leaf, path) for path, leaf in named])


def _as_spec(leaf: Any, path: str) -> Any:
    if isinstance(leaf, Tensor):
        return TensorSpec(leaf.shape, leaf.dtype, path or None)
    return leaf._type_spec if isinstance(leaf, CompositeTensor) else leaf


def _describe(node: Any, message: Any, asset_numbers: Mapping[int, int]) -> None:
    if isinstance(node, TrackableAsset):
        message.asset.asset_file_def_index = asset_numbers[id(node)]
        message.asset.SetInParent()
    elif isinstance(node, ResourceVariable):
        _describe_variable(node, message.variable)
    elif isinstance(node, GraphFunction):
        _describe_tf_function(node, message.function)
    elif isinstance(node, ConcreteFunction):
        message.bare_concrete_function.concrete_function_name = node.name
        message.bare_concrete_function.argument_keywords.extend(node._arg_keywords)
        message.bare_concrete_function.allowed_positional_arguments = node._num_positional_args
    elif isinstance(node, CapturedConstant):
        message.constant.operation = node.copied.op.name
    elif isinstance(node, CapturableResource):
        message.resource.device = node._resource_device
        message.resource.SetInParent()
    else:
        message.user_object.CopyFrom(_user_object(node))


def _describe_variable(variable: ResourceVariable, message: Any) -> None:
    message.name = variable.name.partition(":")[0]
    message.trainable = variable.trainable
    message.dtype = variable.dtype.as_datatype_enum
    message.synchronization = variable.synchronization.value
    message.aggregation = variable.aggregation.value
    message.shape.CopyFrom(variable.shape.as_proto())


def _describe_tf_function(function: GraphFunction, message: Any) -> None:
    message.concrete_functions.extend(each.name for each in concrete_functions_of(function))
    if isinstance(function, RestoredFunction):
        message.function_spec.CopyFrom(function.saved_spec)
        return
    coder = StructureCoder()
    # Annotations say nothing about how to call it, and may be any objects.
    spec = function.function_spec.fullargspec._replace(annotations={})
    message.function_spec.fullargspec.CopyFrom(coder.encode_structure(spec))
    message.function_spec.is_method = function.function_spec.is_method
    message.function_spec.input_signature.CopyFrom(coder.encode_structure(function.input_signature))


def _user_object(node: Any) -> Any:
    registered = revived_types.serialize(node)
    if registered is not None:
        return registered
    return SavedUserObject(
        identifier=node._object_identifier,
        version=VersionDef(producer=1, min_consumer=1),
        metadata=node._tracking_metadata,
    )
