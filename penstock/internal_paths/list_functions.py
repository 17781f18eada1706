"""`tensorflow.python.ops.list_ops`: functions of tensor lists."""

from __future__ import annotations

from penstock.ops.list_functions import build_element_shape as _build_element_shape  # noqa: F401
from penstock.ops.list_functions import empty_tensor_list as empty_tensor_list
from penstock.ops.list_functions import tensor_list_concat as tensor_list_concat
from penstock.ops.list_functions import tensor_list_from_tensor as tensor_list_from_tensor
from penstock.ops.list_functions import tensor_list_gather as tensor_list_gather
from penstock.ops.list_functions import tensor_list_get_item as tensor_list_get_item
from penstock.ops.list_functions import tensor_list_pop_back as tensor_list_pop_back
from penstock.ops.list_functions import tensor_list_reserve as tensor_list_reserve
from penstock.ops.list_functions import tensor_list_scatter as tensor_list_scatter
from penstock.ops.list_functions import tensor_list_set_item as tensor_list_set_item
from penstock.ops.list_functions import tensor_list_split as tensor_list_split
from penstock.ops.list_functions import tensor_list_stack as tensor_list_stack
