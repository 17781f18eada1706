"""Kernels of circular and hyperbolic functions."""

import torch

from penstock.kernels.registry import direct, inplace

direct(
    {
        "Sin": torch.sin,
        "Cos": torch.cos,
        "Tan": torch.tan,
        "Asin": torch.asin,
        "Acos": torch.acos,
        "Atan": torch.atan,
        "Sinh": torch.sinh,
        "Cosh": torch.cosh,
        "Asinh": torch.asinh,
        "Acosh": torch.acosh,
        "Atanh": torch.atanh,
        "Atan2": torch.atan2,
    }
)

inplace(
    {
        "Sin": {0: torch.sin_},
        "Cos": {0: torch.cos_},
        "Tan": {0: torch.tan_},
        "Asin": {0: torch.asin_},
        "Acos": {0: torch.acos_},
        "Atan": {0: torch.atan_},
        "Sinh": {0: torch.sinh_},
        "Cosh": {0: torch.cosh_},
        "Asinh": {0: torch.asinh_},
        "Acosh": {0: torch.acosh_},
        "Atanh": {0: torch.atanh_},
    }
)
