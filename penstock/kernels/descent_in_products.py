"""Kernels of gradient descent along a product of matrices (`passes/descent_in_products.py`).

They are GPUs' alone: on a CPU the fastest product is not always the one that adds.
"""

from penstock import errors
from penstock.kernels.registry import kernel
from penstock.kernels.training import hyper_parameter, reader_of
from penstock.passes.descent_in_products import DESCENTS


@kernel(*[spec.name for spec in DESCENTS.values()], devices=("GPU",))
def _(node, env):
    rate = hyper_parameter(node, env, 1)
    turn_a, turn_b = node.attrs["transpose_a"], node.attrs["transpose_b"]
    read = reader_of(node)

    def run(state, alpha, a, b):
        weights = read(state)
        a, b = a.t() if turn_a else a, b.t() if turn_b else b
        if weights.shape != (a.shape[0], b.shape[1]):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"var and delta do not have the same shape: {list(weights.shape)} "
                f"{[a.shape[0], b.shape[1]]}",
            )
        weights.addmm_(a, b, alpha=-rate(alpha))
        return state

    return run
