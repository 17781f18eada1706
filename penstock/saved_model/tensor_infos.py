"""Tensors as the TensorInfo messages of signatures, and the paths of a SavedModel."""

from __future__ import annotations

import os
from typing import Any

from penstock import dtypes
from penstock.ir.composite import SparseTensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.graph import Graph
from penstock.ir.naming import within_scope
from penstock.ir.operation import Operation
from penstock.platform import file_io
from penstock.proto import TensorInfo
from penstock.saved_model import constants
from penstock.shapes import unknown_shape


def build_tensor_info(tensor: Any) -> Any:
    """A tensor, sparse tensor or variable as a TensorInfo message."""
    message = TensorInfo(
        dtype=dtypes.as_dtype(tensor.dtype).as_datatype_enum,
        tensor_shape=tensor.get_shape().as_proto(),
    )
    if isinstance(tensor, SparseTensor):
        message.coo_sparse.values_tensor_name = tensor.values.name
        message.coo_sparse.indices_tensor_name = tensor.indices.name
        message.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        message.name = tensor.name
    return message


def build_tensor_info_from_op(op: Operation) -> Any:
    """An operation as a TensorInfo message, without type and shape."""
    return TensorInfo(name=op.name, tensor_shape=unknown_shape().as_proto())


def get_tensor_from_tensor_info(
    tensor_info: Any, graph: Graph | None = None, import_scope: str | None = None
) -> Any:
    """The tensor that a TensorInfo message names."""
    graph = graph or get_default_graph()

    def tensor(name: str) -> Any:
        return graph.get_tensor_by_name(within_scope(name, import_scope))

    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return tensor(tensor_info.name)
    if encoding == "coo_sparse":
        sparse = tensor_info.coo_sparse
        return SparseTensor(
            tensor(sparse.indices_tensor_name),
            tensor(sparse.values_tensor_name),
            tensor(sparse.dense_shape_tensor_name),
        )
    raise ValueError(f"Invalid TensorInfo.encoding: {encoding}")


def get_element_from_tensor_info(
    tensor_info: Any, graph: Graph | None = None, import_scope: str | None = None
) -> Any:
    """The tensor or operation that a TensorInfo message names."""
    graph = graph or get_default_graph()
    return graph.as_graph_element(within_scope(tensor_info.name, import_scope))


# Paths ----------------------------------------------------------------------------------------


def get_variables_dir(export_dir: Any) -> str:
    return os.path.join(os.fsdecode(export_dir), constants.VARIABLES_DIRECTORY)


def get_variables_path(export_dir: Any) -> str:
    """The prefix of the checkpoint in a SavedModel."""
    return os.path.join(get_variables_dir(export_dir), constants.VARIABLES_FILENAME)


def get_assets_dir(export_dir: Any) -> str:
    return os.path.join(os.fsdecode(export_dir), constants.ASSETS_DIRECTORY)


def _made(directory: str) -> str:
    if not file_io.file_exists(directory):
        file_io.recursive_create_dir(directory)
    return directory


def get_or_create_variables_dir(export_dir: Any) -> str:
    return _made(get_variables_dir(export_dir))


def get_or_create_assets_dir(export_dir: Any) -> str:
    return _made(get_assets_dir(export_dir))
