"""The updates of optimizers, dense and of rows."""

from functools import partial
from typing import Any

import numpy as np

from benchmarks.ops.trial import Family, Trial, takes
from tests.ops.case import Ref, Resource, array, f32

_COLUMNS = 50

# For each rule its variables and its other arguments, in the order of the op's signature.
_RULES = {
    "GradientDescent": (1, "alpha grad"),
    "ProximalGradientDescent": (1, "alpha l1 l2 grad"),
    "Momentum": (2, "lr grad momentum"),
    "KerasMomentum": (2, "lr grad momentum"),
    "Adagrad": (2, "lr grad"),
    "AdagradV2": (2, "lr epsilon grad"),
    "ProximalAdagrad": (2, "lr l1 l2 grad"),
    "AdagradDA": (3, "grad lr l1 l2 global_step"),
    "Adadelta": (3, "lr rho epsilon grad"),
    "RMSProp": (3, "lr rho momentum epsilon grad"),
    "CenteredRMSProp": (4, "lr rho momentum epsilon grad"),
    "Adam": (3, "beta1_power beta2_power lr beta1 beta2 epsilon grad"),
    "AdamWithAmsgrad": (4, "beta1_power beta2_power lr beta1 beta2 epsilon grad"),
    "AdaMax": (3, "beta1_power lr beta1 beta2 epsilon grad"),
    "Ftrl": (3, "grad lr l1 l2 lr_power"),
    "FtrlV2": (3, "grad lr l1 l2 l2_shrinkage lr_power"),
    "AddSign": (2, "lr alpha sign_decay beta grad"),
    "PowerSign": (2, "lr logbase sign_decay beta grad"),
}
_HANDLES_ALONE = ("KerasMomentum", "AdamWithAmsgrad")
_DENSE_ALONE = ("GradientDescent", "Adam", "AdamWithAmsgrad", "AdaMax", "AddSign", "PowerSign")
_RATES = {"lr": 1e-4, "alpha": 1e-4, "l1": 1e-6, "l2": 1e-6, "lr_power": -0.5, "logbase": 1.0}


def _parameter(name: str) -> np.ndarray:
    if name == "global_step":
        return array(7, "int64")
    return array(_RATES.get(name, 0.5), "float32")


def _update(kind: type, rule: str, sparse: bool, n: int) -> Trial:
    """An update of a matrix of n elements; if sparse, of half of its rows."""
    rows = n // _COLUMNS
    chosen = np.random.RandomState(0).permutation(rows)[: rows // 2].astype("int32")
    count, others = _RULES[rule]
    arguments: list[Any] = [kind(f32(rows, _COLUMNS, lo=1, hi=2)) for _ in range(count)]
    for name in others.split():
        if name != "grad":
            arguments.append(_parameter(name))
        elif sparse:
            arguments += [f32(len(chosen), _COLUMNS, lo=0.1, hi=0.2), chosen]
        else:
            arguments.append(f32(rows, _COLUMNS, lo=0.1, hi=0.2))
    return takes(*arguments)


FAMILY: Family = {
    f"{prefix}{'Sparse' if sparse else ''}Apply{rule}": partial(_update, kind, rule, sparse)
    for prefix, kind in (("", Ref), ("Resource", Resource))
    for sparse in (False, True)
    for rule in _RULES
    if not (kind is Ref and rule in _HANDLES_ALONE) and not (sparse and rule in _DENSE_ALONE)
}
