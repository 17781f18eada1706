"""What Keras' layers assume where an argument isn't given."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from penstock.keras import backend as K
from penstock.layers.core_layer import CoreLayer
from penstock.ops.initializers import GlorotUniform

_IN_KWARGS = ("trainable", "name")  # Keras' own layers take them there


def _with_keras_defaults(initializer: Any, rank: int) -> inspect.Signature:
    signature = inspect.signature(initializer)
    shown = []
    for name, parameter in signature.parameters.items():
        if name in _IN_KWARGS:
            continue
        if name.endswith("_initializer"):
            default = "zeros" if name == "bias_initializer" else "glorot_uniform"
            parameter = parameter.replace(default=default)
        elif name == "data_format":
            parameter = parameter.replace(default=None)
        elif name in ("strides", "dilation_rate") and rank > 1:
            parameter = parameter.replace(default=(1,) * rank)
        shown.append(parameter)
    return signature.replace(parameters=shown)


class WithKerasDefaults(CoreLayer):
    """Layers whose kernels are Glorot's and whose data format is the one set for all.

    It comes first among the bases of a class, before what computes.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Gives a class the signature that programs see: the bases', with Keras' defaults."""
        super().__init_subclass__(**kwargs)
        inherited: Any = cls.__init__
        kinds = {each.kind for each in inspect.signature(inherited).parameters.values()}
        if inspect.Parameter.VAR_POSITIONAL not in kinds:
            return

        @functools.wraps(inherited)
        def __init__(self: WithKerasDefaults, *args: Any, **kwargs: Any) -> None:
            inherited(self, *args, **kwargs)

        behind: Any = super().__init__
        shown = _with_keras_defaults(behind, getattr(cls, "rank", 1))
        __init__.__signature__ = shown  # type: ignore[attr-defined]
        cls.__init__ = __init__  # type: ignore[method-assign]

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
