"""Functions on sparse tensors under the private names that TensorFlow's own programs use."""

from penstock.ops.sparse_cross import sparse_cross as _sparse_cross
from penstock.ops.sparse_cross import sparse_cross_hashed as _sparse_cross_hashed
from penstock.ops.sparse_serialization import (
    add_many_sparse_to_tensors_map as _add_many_sparse_to_tensors_map,
)
from penstock.ops.sparse_serialization import (
    add_sparse_to_tensors_map as _add_sparse_to_tensors_map,
)
from penstock.ops.sparse_serialization import (
    take_many_sparse_from_tensors_map as _take_many_sparse_from_tensors_map,
)
from penstock.ops.sparse_tensors import as_sparse as _convert_to_sparse_tensor

__all__ = [
    "_add_many_sparse_to_tensors_map",
    "_add_sparse_to_tensors_map",
    "_convert_to_sparse_tensor",
    "_sparse_cross",
    "_sparse_cross_hashed",
    "_take_many_sparse_from_tensors_map",
]
