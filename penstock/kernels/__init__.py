"""What runs: for each op type its implementation on ATen, or on the host.

Importing this package imports torch and registers every kernel; the first session does so.
"""

from importlib import import_module

_FAMILIES = (
    "binary",
    "bitwise",
    "blocks",
    "broadcasting",
    "casts",
    "clip",
    "comparison",
    "constants",
    "control",
    "control_flow",
    "counting",
    "debugging",
    "diagonals",
    "einsum",
    "elementwise",
    "filling",
    "gather",
    "identity",
    "joining",
    "masking",
    "matmul",
    "padding",
    "partitioning",
    "permuting",
    "reductions",
    "scans",
    "scatter",
    "script",
    "stacks",
    "segments",
    "select",
    "shaping",
    "slicing",
    "sparse_segments",
    "special",
    "trigonometry",
    "unique",
    "activations",
    "batch_norm",
    "candidate_sampling",
    "conv",
    "depthwise",
    "lrn",
    "morphology",
    "pooling",
    "softmax",
    "sparse_to_dense",
    "topk",
)

for _family in _FAMILIES:
    import_module(f"{__name__}.{_family}")
