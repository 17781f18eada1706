"""The op registry: one `OpSpec` per op type, with signature, shape rule, gradient and folding rule.

What always holds:
1. An op type is registered once. A gradient may also be registered by type name alone, since
   `tf.RegisterGradient` names need no op of that type (gradient_override_map uses such names).
2. Whether an op is stateful, commutative, or reads or writes state is a fact of its spec, never of
   a list of names elsewhere.
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from penstock.ir import signature as sig
from penstock.ir.signature import REQUIRED, Arg, Attr, attr, types

__all__ = ["REQUIRED", "Arg", "Attr", "OpSpec", "Trait", "attr", "find", "op", "specs", "types"]


class Trait(Enum):
    """Facts about an op that its signature does not tell."""

    STATEFUL = "stateful"  # has state or side effects: neither folded, merged nor run twice
    COMMUTATIVE = "commutative"
    AGGREGATE = "aggregate"
    READS = "reads"  # reads the state behind its ref or resource inputs, and leaves it as it is
    WRITES = "writes"  # changes the state behind its first ref or resource input
    ALIASES = "aliases"  # passes its first input's memory on: what it reads is read when used
    ADDS_ROWS = "adds_rows"  # adds rows (its third input) to its state; takes a factor, `_scale`
    RESHAPES = "reshapes"  # its output has the elements of its first input, in their order
    SAME_IF_SAME_SHAPE = "same_if_same_shape"  # then its output is its first input
    WAITS = "waits"  # may wait for what other steps do, or other nodes of its own
    CALLS_PYTHON = "calls_python"  # calls a function of the user's, which may wait for another one
    LOCKS = "locks"  # what comes after it runs while nothing else does under the same lock
    MEETS = "meets"  # waits for the nodes of its collective instance on the other devices
    CONTROL_FLOW = "control_flow"  # decides which nodes run: only the executor can run it
    ALLOWS_UNINITIALIZED = "allows_uninitialized_input"  # its ref input may have no value yet


STATEFUL, COMMUTATIVE, AGGREGATE = Trait.STATEFUL, Trait.COMMUTATIVE, Trait.AGGREGATE
READS, WRITES, ALIASES = Trait.READS, Trait.WRITES, Trait.ALIASES
ADDS_ROWS, RESHAPES = Trait.ADDS_ROWS, Trait.RESHAPES
SAME_IF_SAME_SHAPE = Trait.SAME_IF_SAME_SHAPE
WAITS, MEETS, LOCKS = Trait.WAITS, Trait.MEETS, Trait.LOCKS
CALLS_PYTHON = Trait.CALLS_PYTHON
CONTROL_FLOW, ALLOWS_UNINITIALIZED = Trait.CONTROL_FLOW, Trait.ALLOWS_UNINITIALIZED

ShapeRule = Callable[..., Any]
GradientFunction = Callable[..., Any]
FoldRule = Callable[..., Any]


class OpSpec:
    """An op type: calling it adds a node of that type to the graph and returns its outputs."""

    __slots__ = (
        "attrs",
        "fold_rule",
        "function",
        "implicit_attrs",
        "inputs",
        "name",
        "outputs",
        "result_type",
        "shape_rule",
        "takes_refs",
        "traits",
    )

    def __init__(self, signature: sig.Signature, traits: frozenset[Trait]):
        self.name = signature.name
        self.inputs = signature.inputs
        self.outputs = signature.outputs
        self.attrs = signature.attrs
        self.traits = traits
        self.takes_refs = any(arg.is_ref for arg in signature.inputs)
        self.shape_rule: ShapeRule | None = None
        self.fold_rule: FoldRule | None = None
        self.function: Any = None  # the function of a graph that a node of this type calls
        # Attrs that the inputs determine: a caller can't set them.
        self.implicit_attrs = frozenset(
            key
            for arg in signature.inputs
            for key in (arg.type_attr, arg.number_attr, arg.type_list_attr)
            if key is not None
        )
        self.result_type = (
            namedtuple(  # the name of a function from a file may be none of Python's
                re.sub(r"\W|^(?=\d)", "_", signature.name),
                [arg.name for arg in signature.outputs],
                rename=True,
            )
            if len(signature.outputs) > 1
            else None
        )

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    @property
    def is_stateful(self) -> bool:
        return Trait.STATEFUL in self.traits

    @property
    def is_commutative(self) -> bool:
        return Trait.COMMUTATIVE in self.traits

    def __call__(self, *inputs: Any, name: str | None = None, **attrs: Any) -> Any:
        from penstock.ir.apply import apply_op

        return apply_op(self, inputs, attrs, name)

    def shape(self, rule: ShapeRule) -> ShapeRule:
        """Registers `rule(op, *input_shapes)`: a raw shape, or a list of them, one per output."""
        self.shape_rule = rule
        return rule

    def gradient(self, function: GradientFunction) -> GradientFunction:
        """Registers `function(op, *output_gradients)`: one gradient (or None) per input."""
        register_gradient(self.name, function)
        return function

    def fold(self, rule: FoldRule) -> FoldRule:
        """Registers `rule(op, *input_arrays)`: the value in NumPy, for shape arithmetic."""
        self.fold_rule = rule
        return rule


_specs: dict[str, OpSpec] = {}
_gradients: dict[str, GradientFunction | None] = {}


def op(text: str, *traits: Trait, **attrs: Any) -> OpSpec:
    """Registers an op type from its signature line, its traits and its attrs with their defaults.

    >>> matmul = op("MatMul(a: T, b: T) -> product: T", transpose_a=False, T=types(float32))
    """
    return register(OpSpec(sig.parse(text, attrs), frozenset(traits)))


def register(spec: OpSpec) -> OpSpec:
    """Makes an op type known by its name."""
    if spec.name in _specs:
        raise ValueError(f"op {spec.name!r} is registered already")
    _specs[spec.name] = spec
    return spec


def find(name: str) -> OpSpec | None:
    """The spec of an op type, or None where it is not registered."""
    return _specs.get(name)


def specs() -> dict[str, OpSpec]:
    """All registered op types by name."""
    return dict(_specs)


def unregister(name: str) -> None:
    """Forgets an op type and its gradient (a user who redefines an op in a notebook, tests)."""
    _specs.pop(name, None)
    _gradients.pop(name, None)


def register_gradient(name: str, function: GradientFunction | None) -> None:
    """Registers the gradient of op type `name`; None says that it is not differentiable."""
    if name in _gradients:
        raise KeyError(f"Registering two gradient with name {name!r}!")
    _gradients[name] = function


def gradients() -> dict[str, GradientFunction | None]:
    """The table of gradients by op type, itself: what is changed in it counts from then on."""
    return _gradients


@dataclass(frozen=True)
class Keeping:
    """A forward op and its gradient op, and their partners that share what the first computes.

    `keeping` has a second output; `of_kept` takes it as a further, last input. `input` and
    `output` say which inputs of the gradient op are the forward op's input and output.
    """

    forward: str
    input: int
    output: int
    keeping: OpSpec
    of_kept: OpSpec


_keeping: dict[str, Keeping] = {}


def keeps_for_gradient(
    forward: OpSpec, gradient: OpSpec, *, input: int, output: int, keeping: OpSpec, of_kept: OpSpec
) -> None:
    """Registers a pair of ops whose work can be shared within a step; see `Keeping`."""
    _keeping[gradient.name] = Keeping(forward.name, input, output, keeping, of_kept)


def keeping_for(gradient: str) -> Keeping | None:
    return _keeping.get(gradient)


def takes_missing(function: GradientFunction) -> GradientFunction:
    """Says of a gradient function that it wants None where an output has no gradient, not zeros."""
    function.takes_missing = True  # type: ignore[attr-defined]
    return function


def not_differentiable(*specs_or_names: OpSpec | str) -> None:
    """Says that the outputs of these op types have no gradient."""
    for entry in specs_or_names:
        register_gradient(entry.name if isinstance(entry, OpSpec) else entry, None)


def gradient_of(name: str) -> GradientFunction | None:
    """The gradient function registered for `name`; LookupError where there is none."""
    try:
        return _gradients[name]
    except KeyError:
        raise LookupError(
            f"No gradient defined for op type {name!r}; register one with @tf.RegisterGradient"
        ) from None
