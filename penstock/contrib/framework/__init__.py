"""`tf.contrib.framework`: argument scopes, variables by collection, checkpoints, checks."""

from penstock import nest
from penstock.contrib import lazy_paths
from penstock.contrib.framework.arg_scope import (
    add_arg_scope,
    arg_scope,
    arg_scope_func_key,
    arg_scoped_arguments,
    current_arg_scope,
    has_arg_scope,
)
from penstock.contrib.framework.bounded_specs import BoundedTensorSpec
from penstock.contrib.framework.checkpoints import *
from penstock.contrib.framework.graph_parts import (
    fuse_op,
    get_graph_from_inputs,
    get_placeholders,
)
from penstock.contrib.framework.python_calls import py_func
from penstock.contrib.framework.remapped_checkpoints import *
from penstock.contrib.framework.tensor_checks import *
from penstock.contrib.framework.variables import *
from penstock.internal_paths.framework_ops import (
    get_name_scope,
    prepend_name_scope,
    strip_name_scope,
)
from penstock.internal_paths.python_util import (
    deprecated,
    deprecated_arg_values,
    deprecated_args,
)
from penstock.ir.tensor_spec import TensorSpec
from penstock.layers.smart_cond import smart_case, smart_cond, smart_constant_value
from penstock.ops.convolution_initializers import (
    convolutional_orthogonal_1d,
    convolutional_orthogonal_2d,
    convolutional_orthogonal_3d,
)
from penstock.ops.critical_sections import CriticalSection
from penstock.ops.orthogonal_initializers import convolutional_delta_orthogonal
from penstock.ops.rank_assertions import assert_scalar
from penstock.ops.record_input import RecordInput
from penstock.ops.sorting import argsort, sort
from penstock.ops.sparse_tensors import convert_to_tensor_or_sparse_tensor
from penstock.ops.tensor_values import is_tensor
from penstock.ops.type_assertions import assert_same_float_dtype, is_numeric_tensor
from penstock.ops.value_assertions import is_non_decreasing, is_strictly_increasing

__getattr__ = lazy_paths.resolver(__name__)
