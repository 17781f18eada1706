"""`tf.saved_model.utils`: TensorInfo messages of tensors."""

from penstock.saved_model.tensor_infos import (
    build_tensor_info,
    build_tensor_info_from_op,
    get_assets_dir,
    get_element_from_tensor_info,
    get_or_create_assets_dir,
    get_or_create_variables_dir,
    get_tensor_from_tensor_info,
    get_variables_dir,
    get_variables_path,
)

__all__ = [
    "build_tensor_info",
    "build_tensor_info_from_op",
    "get_assets_dir",
    "get_element_from_tensor_info",
    "get_or_create_assets_dir",
    "get_or_create_variables_dir",
    "get_tensor_from_tensor_info",
    "get_variables_dir",
    "get_variables_path",
]
