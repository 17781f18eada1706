"""Operations: one module per family, each with signatures, shape rules, gradients, functions."""

from importlib import import_module

_FAMILIES = (
    "constants",
    "control",
    "script",
)

for _family in _FAMILIES:
    import_module(f"{__name__}.{_family}")
