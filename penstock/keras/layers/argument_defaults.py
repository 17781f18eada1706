"""What Keras' layers assume where an argument isn't given."""

from __future__ import annotations

import inspect
from typing import Any

from penstock.keras import backend as K
from penstock.layers.core_layer import CoreLayer
from penstock.ops.initializers import GlorotUniform


class WithKerasDefaults(CoreLayer):
    """Layers whose kernels are Glorot's and whose data format is the one set for all.

    It comes first among the bases of a class, before what computes.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        signature = inspect.signature(super().__init__)
        bound = signature.bind(*args, **kwargs)
        for name in signature.parameters:
            if name == "data_format" and bound.arguments.get(name) is None:
                bound.arguments[name] = K.image_data_format()
            is_kernel = name.endswith(("kernel_initializer", "wise_initializer"))
            if is_kernel and bound.arguments.get(name) is None:
                bound.arguments[name] = GlorotUniform()
        super().__init__(*bound.args, **bound.kwargs)
