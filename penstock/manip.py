"""`tf.manip`: tensors rearranged."""

from penstock.ops.blocks import batch_to_space_nd, space_to_batch_nd
from penstock.ops.broadcasting import tile
from penstock.ops.gather import gather_nd
from penstock.ops.permuting import reverse
from penstock.ops.rolling import roll
from penstock.ops.scatter import scatter_nd
from penstock.ops.shaping import reshape

__all__ = [
    "batch_to_space_nd",
    "gather_nd",
    "reshape",
    "reverse",
    "roll",
    "scatter_nd",
    "space_to_batch_nd",
    "tile",
]
