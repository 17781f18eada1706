"""`tf.contrib.util`: values of tensors as messages, and the ops of graphs."""

from penstock.ops.tensor_values import constant_value, make_ndarray, make_tensor_proto
from penstock.train.exported_nodes import ops_used_by_graph_def, stripped_op_list_for_graph

__all__ = [
    "constant_value",
    "make_ndarray",
    "make_tensor_proto",
    "ops_used_by_graph_def",
    "stripped_op_list_for_graph",
]
