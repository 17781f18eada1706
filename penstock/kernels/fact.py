"""The kernel of the example of a user's own op."""

import numpy as np

from penstock.kernels.registry import HOST, kernel


@kernel("Fact", devices=HOST, fresh=True)
def _(node):
    return lambda: np.array(b"0! == 1", dtype=object)
