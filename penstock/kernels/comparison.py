"""Kernels of comparisons, and of logic on their results."""

import numpy as np
import torch

from penstock import dtypes
from penstock.kernels.host_loops import vectorised
from penstock.kernels.registry import direct, inplace, kernel
from penstock.kernels.unsigned import WIDE_UNSIGNED, through_numpy

_ORDER = {
    "Less": (torch.lt, np.less),
    "LessEqual": (torch.le, np.less_equal),
    "Greater": (torch.gt, np.greater),
    "GreaterEqual": (torch.ge, np.greater_equal),
}


def _order(functions):
    _, numpy_function = functions
    compare, unsigned = vectorised(*functions), through_numpy(numpy_function)
    return lambda node: unsigned if node.attrs["T"] in WIDE_UNSIGNED else compare


for _op_type, _functions in _ORDER.items():
    kernel(_op_type, fresh=True)(_order(_functions))

direct(
    {
        "LogicalNot": torch.logical_not,
        "LogicalAnd": torch.logical_and,
        "LogicalOr": torch.logical_or,
    }
)
inplace({"LogicalNot": {0: torch.Tensor.logical_not_}})


def _equality(function, on_strings, otherwise):
    def factory(node):
        if node.attrs["T"] is dtypes.string:

            def compare(x, y):
                return torch.from_numpy(np.asarray(on_strings(x, y), dtype=bool))

        else:
            compare = function
        if node.attrs["incompatible_shape_error"]:
            return compare

        def run(x, y):
            try:
                np.broadcast_shapes(tuple(x.shape), tuple(y.shape))
            except ValueError:
                return torch.tensor(otherwise)
            return compare(x, y)

        return run

    return factory


kernel("Equal", fresh=True)(_equality(vectorised(torch.eq, np.equal), lambda x, y: x == y, False))
kernel("NotEqual", fresh=True)(
    _equality(vectorised(torch.ne, np.not_equal), lambda x, y: x != y, True)
)


@kernel("ApproximateEqual", fresh=True)
def _(node):
    tolerance = node.attrs["tolerance"]
    is_below = vectorised(lambda x: x < tolerance, lambda x: x < tolerance)
    return lambda x, y: is_below(torch.sub(x, y).abs_())
