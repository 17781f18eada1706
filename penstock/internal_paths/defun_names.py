"""`tensorflow.python.eager.function`: what `defun` makes, under TensorFlow's names."""

from __future__ import annotations

from penstock.ops.concrete_functions import (  # noqa: F401
    ConcreteFunction,
    FuncGraph,
    checked_attrs,
)
from penstock.ops.function_arguments import (  # noqa: F401
    FunctionSpec,
    validate_signature,
)
from penstock.ops.function_cache import (  # noqa: F401
    CacheKey,
    FunctionCache,
    common_shape,
    is_same_structure,
)
from penstock.ops.graph_functions import (  # noqa: F401
    GraphFunction,
    defun,
    defun_with_attributes,
    register,
)

FORWARD_FUNCTION_ATTRIBUTE_NAME = "forward_function_name"
BACKWARD_FUNCTION_ATTRIBUTE_NAME = "backward_function_name"

Function = GraphFunction
_parse_func_attrs = checked_attrs
