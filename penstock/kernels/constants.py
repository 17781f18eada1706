"""Kernels of constants, placeholders and feeds."""

import numpy as np

from penstock import errors
from penstock.dtypes import runtime_name
from penstock.kernels.registry import Constant, kernel
from penstock.kernels.values import from_array
from penstock.shapes import text


@kernel("Const")
def _(node, env):
    value = node.attrs["value"]
    if isinstance(value, np.ndarray):
        value = from_array(value)
    return Constant(env.to_device(value))


@kernel("Placeholder", "PlaceholderV2")
def _(node):
    shape = node.attrs["shape"]
    of_shape = f" and shape {text(shape)}" if shape else ""

    def run():
        raise errors.InvalidArgumentError(
            None,
            None,
            f"You must feed a value for placeholder tensor '{node.name}' with dtype "
            f"{runtime_name(node.attrs['dtype'])}{of_shape}",
        )

    return run


@kernel("PlaceholderWithDefault")
def _(node):
    return lambda value: value
