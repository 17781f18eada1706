"""The updates of optimizers, in all their forms: the variable and its slots are compared."""

from typing import Any

import numpy as np

from tests.ops.case import Case, Made, Ref, Resource, array, floats, i32

# For each rule the variables and the other arguments, in the order of the op's signature.
RULES = {
    "GradientDescent": ("var", "alpha delta"),
    "ProximalGradientDescent": ("var", "alpha l1 l2 delta"),
    "Momentum": ("var accum", "lr grad momentum"),
    "KerasMomentum": ("var accum", "lr grad momentum"),
    "Adagrad": ("var accum", "lr grad"),
    "AdagradV2": ("var accum", "lr epsilon grad"),
    "ProximalAdagrad": ("var accum", "lr l1 l2 grad"),
    "AdagradDA": (
        "var gradient_accumulator gradient_squared_accumulator",
        "grad lr l1 l2 global_step",
    ),
    "Adadelta": ("var accum accum_update", "lr rho epsilon grad"),
    "RMSProp": ("var ms mom", "lr rho momentum epsilon grad"),
    "CenteredRMSProp": ("var mg ms mom", "lr rho momentum epsilon grad"),
    "Adam": ("var m v", "beta1_power beta2_power lr beta1 beta2 epsilon grad"),
    "AdamWithAmsgrad": ("var m v vhat", "beta1_power beta2_power lr beta1 beta2 epsilon grad"),
    "AdaMax": ("var m v", "beta1_power lr beta1 beta2 epsilon grad"),
    "Ftrl": ("var accum linear", "grad lr l1 l2 lr_power"),
    "FtrlV2": ("var accum linear", "grad lr l1 l2 l2_shrinkage lr_power"),
    "AddSign": ("var m", "lr alpha sign_decay beta grad"),
    "PowerSign": ("var m", "lr logbase sign_decay beta grad"),
}
HANDLES_ALONE = ("KerasMomentum", "AdamWithAmsgrad")
DENSE_ALONE = ("GradientDescent", "Adam", "AdamWithAmsgrad", "AdaMax", "AddSign", "PowerSign")

PARAMETERS = {
    "alpha": 0.125,
    "beta": 0.875,
    "beta1": 0.875,
    "beta1_power": 0.75,
    "beta2": 0.96875,
    "beta2_power": 0.9375,
    "epsilon": 0.03125,
    "global_step": 7,
    "l1": 0.25,
    "l2": 0.0625,
    "l2_shrinkage": 0.125,
    "logbase": 1.0,
    "lr": 0.125,
    "lr_power": -0.5,
    "momentum": 0.875,
    "rho": 0.875,
    "sign_decay": 0.75,
}
SIGNED_SLOTS = ("m", "mom", "linear", "gradient_accumulator")  # the others hold squares
FLAGS = {
    "Momentum": "use_nesterov",
    "KerasMomentum": "use_nesterov",
    "Adagrad": "update_slots",
    "AdagradV2": "update_slots",
    "Adam": "use_nesterov",
    "Ftrl": "multiply_linear_by_lr",
    "FtrlV2": "multiply_linear_by_lr",
}


def _values(name: str, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    if name == "mg":
        return floats(dtype, *shape, lo=-0.5, hi=0.5)
    if name == "var" or name in SIGNED_SLOTS:
        return floats(dtype, *shape)
    return floats(dtype, *shape, lo=0.5, hi=2.0)


class Update:
    """One form of a rule; `case` makes cases of it."""

    def __init__(self, rule: str, kind: type, sparse: bool):
        prefix = "Resource" if kind is Resource else ""
        self.op = f"{prefix}{'Sparse' if sparse else ''}Apply{rule}"
        self.kind = kind
        self.sparse = sparse
        variables, others = RULES[rule]
        self.variables = variables.split()
        self.others = others.split()
        if sparse:  # a dense op may call its gradient by another name
            self.others = ["grad" if name == "delta" else name for name in self.others]
            self.others.insert(self.others.index("grad") + 1, "indices")

    def types(self) -> list[str]:
        """The types of which TensorFlow has a CPU kernel."""
        wide_alone = ("ProximalGradientDescent", "ProximalAdagrad", "AdagradDA")
        if self.op.endswith(wide_alone):
            return ["float32", "float64"]
        without_bfloat16 = self.op.endswith("AdaMax") or (
            self.sparse and self.op.endswith("RMSProp")
        )
        return ["float32", "float64", "float16", *([] if without_bfloat16 else ["bfloat16"])]

    def inputs(
        self,
        dtype: str = "float32",
        shape: tuple[int, ...] = (5, 3),
        indices: Any = (3, 0),
        gradient_shape: tuple[int, ...] | None = None,
        **parameters: float,
    ) -> tuple[Any, ...]:
        where = array(list(indices), "int32") if self.sparse else None
        rows = gradient_shape or (shape if where is None else (len(where), *shape[1:]))
        found: list[Any] = [self.kind(_values(name, dtype, shape)) for name in self.variables]
        for name in self.others:
            if name in ("grad", "delta"):
                found.append(floats(dtype, *rows))
            elif name == "indices":
                found.append(where)
            else:
                value = parameters.get(name, PARAMETERS[name])
                found.append(array(value, "int64" if name == "global_step" else dtype))
        return tuple(found)

    def case(
        self,
        label: str = "",
        attrs: dict[str, Any] | None = None,
        fails: bool = False,
        **given: Any,
    ) -> Case:
        return Case(
            self.op,
            self.inputs(**given),
            attrs or {},
            label,
            grad=False,
            fails=fails,
            **_loose(given),
        )


def _loose(given: dict[str, Any]) -> dict[str, float]:
    """Narrow types: TensorFlow rounds after each operation, and the roundings add up."""
    tolerance = {"float16": 1e-2, "bfloat16": 6e-2}.get(given.get("dtype", ""))
    return {} if tolerance is None else {"rtol": tolerance, "atol": tolerance}


def _common(update: Update) -> list[Case]:
    unset = update.inputs()
    unset = (update.kind(unset[0].value, initialized=False), *unset[1:])
    cases = [
        *[update.case(dtype=dtype) for dtype in update.types()],
        update.case("a vector", shape=(7,)),
        update.case("locked", {"use_locking": True}),
        update.case("other gradient", gradient_shape=(2, 4), fails=True),
        Case(update.op, unset, label="uninitialized", fails=True),
    ]
    if len(update.variables) > 1:
        slot = update.inputs()
        slot = (slot[0], update.kind(slot[1].value, initialized=False), *slot[2:])
        other = update.inputs()
        other = (other[0], update.kind(floats("float32", 2, 3)), *other[2:])
        cases += [
            Case(update.op, slot, label="slot uninitialized", fails=True),
            Case(update.op, other, label="slot of another shape", fails=True),
        ]
    return cases


def _variants(rule: str, update: Update) -> list[Case]:
    """With each flag set otherwise, and with parameters that are cases of their own."""
    cases = []
    if rule in FLAGS:
        flag = FLAGS[rule]
        for dtype in ("float32", "float64"):
            attrs = {flag: flag != "update_slots"}
            cases.append(update.case(f"{flag} {dtype}", attrs, dtype=dtype))
    if "l1" in update.others:
        cases.append(update.case("no l1", l1=0.0))
        cases.append(update.case("large l1", l1=4.0))
        cases.append(update.case("no penalty", l1=0.0, l2=0.0))
    if "lr_power" in update.others:
        cases.append(update.case("another power", lr_power=-0.75))
        cases.append(update.case("another power in float64", dtype="float64", lr_power=-0.25))
    if rule == "Adam":
        cases.append(update.case("first step", beta1_power=0.875, beta2_power=0.96875))
        cases.append(update.case("no decay", beta1=0.0, beta2=0.0))
    if rule == "AddSign":
        cases.append(update.case("negative", alpha=-1.0))
    return cases


def _dense(rule: str, kind: type) -> list[Case]:
    update = Update(rule, kind, sparse=False)
    inputs = update.inputs()
    at = next(i for i, name in enumerate(update.others) if name in ("grad", "delta"))
    at += len(update.variables)
    scalar = at - 1 if at > len(update.variables) else at + 1
    vector = (*inputs[:scalar], array([0.5, 0.5], "float32"), *inputs[scalar + 1 :])
    cases = [
        *_common(update),
        *_variants(rule, update),
        update.case("a scalar", shape=()),
        update.case("nothing", shape=(4, 0)),
        Case(update.op, vector, label="rate not scalar", fails=True),
    ]
    if kind is Resource:  # by reference TensorFlow reads a gradient that it has overwritten
        read = Made("ReadVariableOp", (inputs[0],), {"dtype": "float32"})
        own = (*inputs[:at], read, *inputs[at + 1 :])
        cases.append(Case(update.op, own, label="by its own value", grad=False))
    return cases


def _sparse(rule: str, kind: type) -> list[Case]:
    update = Update(rule, kind, sparse=True)
    repeated = (2, 2, 0, 2)
    wide = update.inputs()
    at = len(update.variables) + update.others.index("indices")
    matrix = (*wide[:at], i32(0, 5, 2, 1), *wide[at + 1 :])
    wide = (*wide[:at], array([4, 1], "int64"), *wide[at + 1 :])
    return [
        *_common(update),
        *_variants(rule, update),
        update.case("repeated", indices=repeated),
        update.case("repeated in float64", indices=repeated, dtype="float64"),
        update.case("no rows", indices=()),
        Case(update.op, wide, label="long indices", grad=False),
        Case(update.op, matrix, label="matrix of indices", fails=True),
        update.case("beyond", indices=(0, 5), fails=True),
        update.case("before", indices=(0, -1), fails=True),
        update.case("rows differ", gradient_shape=(3, 3), fails=True),
    ]


def _all() -> list[Case]:
    cases: list[Case] = []
    for rule in RULES:
        for kind in (Ref, Resource):
            if kind is Ref and rule in HANDLES_ALONE:
                continue
            cases += _dense(rule, kind)
            if rule not in DENSE_ALONE:
                cases += _sparse(rule, kind)
    return cases


CASES = _all()
