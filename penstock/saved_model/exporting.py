"""`tf.saved_model.save`: an object with its functions and variables as a SavedModel."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from penstock import dtypes
from penstock.checkpoint import files
from penstock.ir.defaults import get_default_graph
from penstock.ir.function import Function, add_function
from penstock.ir.graph import Graph
from penstock.ir.tensor import Tensor
from penstock.ir.trackable import OBJECT_GRAPH_PROTO_KEY, VARIABLE_VALUE_KEY, Trackable
from penstock.ops import resource_variables
from penstock.ops.concrete_functions import ConcreteFunction
from penstock.ops.constants import constant, placeholder
from penstock.ops.control import control_dependencies, device, no_op
from penstock.ops.graph_functions import GraphFunction
from penstock.ops.resource_variable import ResourceVariable
from penstock.ops.tensor_values import constant_value
from penstock.proto import AssetFileDef, SavedModel
from penstock.saved_model import constants, tag_constants, tensor_infos
from penstock.saved_model.assets import copy_assets_to_destination_dir, get_asset_filename_to_add
from penstock.saved_model.exported_objects import ExportedObjects, ExportedView
from penstock.saved_model.signature_constants import PREDICT_METHOD_NAME
from penstock.saved_model.signature_def_utils import build_signature_def, op_signature_def
from penstock.saved_model.signature_functions import (
    SignatureMap,
    canonicalize_signatures,
    find_function_to_export,
)
from penstock.train.functional_saver import MultiDeviceSaver
from penstock.train.meta_graph import create_meta_graph_def
from penstock.train.saveables import SaveableObject, SaveSpec
from penstock.train.tracking import NoRestoreSaveable, TrackableSaver
from penstock.train.tracking.resources import CapturableResource, TrackableAsset

__all__ = ["save"]


def save(obj: Any, export_dir: Any, signatures: Any = None) -> None:
    """Writes an object, with its variables and the `tf.function`s among its attributes.

    While a graph is built, the values of the variables are those of the default session.

    Args:
      obj: a trackable object, such as a `tf.Module` or a `tf.train.Checkpoint`.
      export_dir: the directory of the SavedModel.
      signatures: a `tf.function` with an input signature, or a concrete function, to be called by
        others; or several by key. Without it, the only such function of `obj`.
    """
    if get_default_graph().building_function:
        raise AssertionError(
            "tf.saved_model.save is not supported inside a traced @tf.function. Call it from "
            "outside of the function."
        )
    if not isinstance(obj, Trackable):
        raise ValueError(f"Expected a Trackable object for export, got {obj}.")
    export_dir = os.fsdecode(export_dir)
    view = ExportedView(obj)
    if signatures is None:
        signatures = find_function_to_export(view.list_functions(obj))
    functions = canonicalize_signatures(signatures)
    view.set_signatures(SignatureMap(functions))
    objects = ExportedObjects(view)
    model = _Model(objects)
    saved_model = SavedModel(saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION)
    saved_model.meta_graphs.append(model.meta_graph(functions))
    tensor_infos.get_or_create_variables_dir(export_dir)
    TrackableSaver(view).save(tensor_infos.get_variables_path(export_dir))
    copy_assets_to_destination_dir(model.asset_files, export_dir)
    with files.new_file(os.path.join(export_dir, constants.SAVED_MODEL_FILENAME_PB)) as file:
        file.write(saved_model.SerializeToString(deterministic=True))


class _Model:
    """The graph that is written: variables, a node for each signature, and the functions."""

    def __init__(self, objects: ExportedObjects):
        self._objects = objects
        self._state, self._object_graph = objects.view.frozen_saveable_objects()
        self._graph = Graph()
        self._library = get_default_graph()._functions
        self._copies: dict[Tensor, Any] = {}  # of what functions capture
        self._handles: dict[int, Tensor] = {}  # of variables, by their number
        self._initializers: list[Any] = []
        self._asset_numbers: dict[int, int] = {}
        self._asset_defs: list[Any] = []
        self.asset_files: dict[str, str] = {}

    def meta_graph(self, signatures: dict[str, ConcreteFunction]) -> Any:
        """The MetaGraphDef of the objects, with these signatures."""
        fillers = self._traced_fillers()
        with self._graph.as_default():
            self._copy_resources()
            self._copy_constants([*self._objects.concrete_functions, *fillers])
            self._fill_resources(fillers)
            with control_dependencies(self._initializers):
                init = no_op()
            described = {key: self._signature(key, signatures[key]) for key in sorted(signatures)}
            for function in self._objects.concrete_functions:
                self._add_function(function._function)
            saver_def = MultiDeviceSaver(self._saveables()).to_proto()
            message = create_meta_graph_def(
                graph_def=self._graph.as_graph_def(add_shapes=True),
                saver_def=saver_def,
                strip_default_attrs=True,
            )
        message.meta_info_def.tags.append(tag_constants.SERVING)
        message.collection_def[constants.MAIN_OP_KEY].node_list.value.append(init.name)
        key = constants.INIT_OP_SIGNATURE_KEY
        message.signature_def[key].CopyFrom(op_signature_def(init, key))
        for key, signature in described.items():
            message.signature_def[key].CopyFrom(signature)
        message.asset_file_def.extend(self._asset_defs)
        message.object_graph_def.CopyFrom(self._objects.message(self._asset_numbers))
        return message

    # What functions use ---------------------------------------------------------------------------

    def _copy_resources(self) -> None:
        for number, node in enumerate(self._objects.nodes):
            if isinstance(node, ResourceVariable):
                # Variables that were made eagerly may have one name.
                wanted = node.name.partition(":")[0]
                name = self._graph.unique_name(wanted, mark_as_used=False)
                handle = resource_variables.VarHandleOp(
                    shape=node._shape, dtype=node.dtype.base_dtype, shared_name=name, name=name
                )
                self._handles[number] = handle
                self._copy(node.handle, handle, number)
            elif isinstance(node, TrackableAsset):
                self._copy(node.asset_path, self._copy_asset(node), number)
            elif isinstance(node, CapturableResource):
                with device(node._resource_device):
                    self._copy(node.resource_handle, node._create_resource(), number)

    def _copy(self, original: Tensor, copied: Any, number: int) -> None:
        self._copies[original] = copied
        self._objects.number_of_capture[original] = number

    def _copy_asset(self, asset: TrackableAsset) -> ResourceVariable:
        """The path of a file of the model: whoever loads it feeds the initializer's placeholder."""
        value = constant_value(asset.asset_path)
        assert value is not None, f"The path {asset.asset_path} of an asset must be a constant."
        path = os.fsdecode(value.item())
        name = get_asset_filename_to_add(path, self.asset_files)
        self.asset_files[name] = path
        given = placeholder(dtypes.string, shape=[], name="asset_path_initializer")
        variable = ResourceVariable(given, trainable=False, collections=[])
        definition = AssetFileDef(filename=name)
        definition.tensor_info.name = given.name
        self._asset_numbers[id(asset)] = len(self._asset_defs)
        self._asset_defs.append(definition)
        self._initializers.append(variable.initializer)
        return variable

    def _copy_constants(self, functions: list[ConcreteFunction]) -> None:
        for function in functions:
            for capture in function.captured_inputs:
                if capture in self._copies or capture.dtype in (dtypes.resource, dtypes.variant):
                    continue
                value = constant_value(capture)
                if value is None:
                    raise ValueError(
                        f"Attempted to save a function {function.name} which references a symbolic "
                        f"Tensor {capture} that is not a simple constant. This is not supported."
                    )
                copied = constant(value, dtype=capture.dtype)
                self._copies[capture] = copied
                self._objects.add_constant(capture, copied)

    def _traced_fillers(self) -> list[ConcreteFunction]:
        """Functions that fill the resources, such as tables, of the objects."""
        resources = [node for node in self._objects.nodes if isinstance(node, CapturableResource)]
        return [
            GraphFunction(_filler(each), input_signature=[]).get_concrete_function()
            for each in resources
        ]

    def _fill_resources(self, fillers: list[ConcreteFunction]) -> None:
        with control_dependencies(list(self._initializers)):
            self._initializers += [self._call(each, []).op for each in fillers]

    # Signatures -----------------------------------------------------------------------------------

    def _signature(self, key: str, function: ConcreteFunction) -> Any:
        inputs = {
            name: placeholder(argument.dtype, shape=argument.shape, name=f"{key}_{name}")
            for name, argument in zip(function._arg_keywords, function.inputs, strict=False)
        }
        outputs = self._call(function, list(inputs.values()))
        return build_signature_def(
            {name: tensor_infos.build_tensor_info(each) for name, each in inputs.items()},
            {name: tensor_infos.build_tensor_info(each) for name, each in outputs.items()},
            method_name=PREDICT_METHOD_NAME,
        )

    def _call(self, function: ConcreteFunction, tensors: list[Tensor]) -> Any:
        captures = []
        for outer, inner in function.graph.captures:
            if outer not in self._copies:
                raise AssertionError(
                    f"Tried to export a function which references untracked object {inner}. "
                    "TensorFlow objects (e.g. tf.Variable) captured by functions must be tracked "
                    "by assigning them to an attribute of a tracked object or assigned to an "
                    "attribute of the main object directly."
                )
            copied = self._copies[outer]
            # A path is read where it is used, which may be once it is initialized.
            is_path = isinstance(copied, ResourceVariable)
            captures.append(copied.read_value() if is_path else copied)
        self._add_function(function._function)
        return function.call(tensors, captures)

    def _add_function(self, function: Function) -> None:
        """Adds a function and those that it calls."""
        if function.name in self._graph._functions:
            return
        add_function(self._graph, function)
        for name in _called_functions(function.definition):
            if name in self._library:
                self._add_function(self._library[name])

    # Variables ------------------------------------------------------------------------------------

    def _saveables(self) -> Iterator[SaveableObject]:
        of_variables = set()
        for number, node in enumerate(self._object_graph.nodes):
            for attribute in node.attributes:
                if number in self._handles and attribute.name == VARIABLE_VALUE_KEY:
                    of_variables.add(attribute.checkpoint_key)
                    variable = self._objects.nodes[number]
                    yield _CopiedVariable(variable, self._handles[number], attribute.checkpoint_key)
        others = [each for each in self._state if each.name not in of_variables]
        yield from (each for each in others if isinstance(each, NoRestoreSaveable))
        description = constant(self._object_graph.SerializeToString(deterministic=True))
        yield NoRestoreSaveable(description, OBJECT_GRAPH_PROTO_KEY)


class _CopiedVariable(SaveableObject):
    """A variable of the graph that is written."""

    def __init__(self, variable: ResourceVariable, handle: Tensor, name: str):
        self._handle = handle
        self._shape = variable.shape
        dtype = variable.dtype.base_dtype

        def read() -> Tensor:
            value: Tensor = resource_variables.ReadVariableOp(handle, dtype=dtype)
            return value

        super().__init__(handle, [SaveSpec(read, "", name, dtype=dtype, device="")], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        (tensor,) = restored_tensors
        tensor.set_shape(self._shape)
        return resource_variables.AssignVariableOp(self._handle, tensor)


def _filler(resource: CapturableResource) -> Any:
    def fill() -> Tensor:
        resource._initialize()
        return constant(1.0)

    return fill


def _called_functions(definition: Any) -> Iterator[str]:
    for node in definition.node_def:
        yield node.op
        for value in node.attr.values():
            if value.func.name:
                yield value.func.name
            yield from (each.name for each in value.list.func)
