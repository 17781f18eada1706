"""One op case: an op, its inputs and attrs. Real TensorFlow says what comes out of it.

    CASES = [
        Case("MatMul", (f32(2, 3), f32(3, 4))),
        Case("MatMul", (f64(3, 2), f64(3, 4)), {"transpose_a": True}, label="transposed"),
        Case("AssignAdd", (Ref(f32(3)), f32(3))),
        Case("MatMul", (f32(2, 3), f32(2, 3)), label="sizes differ", fails=True),
    ]

Such lists stand in `cases/<family>.py`. `record.py` runs them in TensorFlow and stores what it
computed, `test_cases.py` runs them in Penstock and compares. So this file and the lists import
neither: NumPy alone.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

FLOATING = ("bfloat16", "float16", "float32", "float64")
DIFFERENTIABLE = (*FLOATING, "complex64", "complex128")


@dataclass(frozen=True, eq=False)
class Ref:
    """A variable of the old kind (VariableV2), passed as a reference."""

    value: np.ndarray
    initialized: bool = True


@dataclass(frozen=True, eq=False)
class Resource:
    """A resource variable (VarHandleOp), passed as its handle."""

    value: np.ndarray
    initialized: bool = True


@dataclass(frozen=True, eq=False)
class Made:
    """An input that another op makes, such as the handle of a queue; `made[1]` is its output 1.

    The same object may be an input in several places: it is one node. `after` lists what must
    run before the node.
    """

    op: str
    inputs: tuple[Any, ...] = ()
    attrs: dict[str, Any] = field(default_factory=dict)
    after: tuple[Made, ...] = ()

    def __getitem__(self, output: int) -> Output:
        return Output(self, output)


@dataclass(frozen=True, eq=False)
class Output:
    """One output of a node that a case makes for its inputs."""

    made: Made
    index: int


@dataclass(eq=False)
class Case:
    """An op to run and to compare with TensorFlow.

    Args:
      op: The op type.
      inputs: One entry per argument of the op's signature: an array (of bytes objects for
        strings), a `Ref`, a `Resource`, a `Made`, or a list of these for a list argument.
      attrs: Attrs that don't follow from the inputs. Types are names ("float32"), tensors arrays.
      label: Makes the case's id readable; without it cases of an op are numbered.
      grad: Numbers of the arguments whose gradients are compared, False for none. None: every
        array of a floating or complex type, if TensorFlow has a gradient for the op.
      rtol, atol: Tolerances in place of those of the output's type. `atol` is in units of the
        largest expected number if that is above one, since errors of sums grow with it.
      outputs: Numbers of the outputs to compare, where the others are undefined. None: all.
      shape_only: Compare types and shapes but not values, for random ops.
      static_shapes: Whether static shapes are compared; False where TensorFlow's rule gives one
        that the value doesn't have.
      fails: TensorFlow must refuse the case, and Penstock with an error of the same class.
      numeric: Whether a float64 case's gradient is also compared with finite differences; False
        for an op whose gradient is by design not its derivative.
      expected: The outputs, where TensorFlow has no CPU kernel to ask.
      after: What must run before the op.
      normalize: Brings a list of outputs into one form before they are compared, where TensorFlow
        leaves open which it gives (the signs of eigenvectors). Gradients are then compared with
        finite differences alone.
    """

    op: str
    inputs: tuple[Any, ...] = ()
    attrs: dict[str, Any] = field(default_factory=dict)
    label: str = ""
    grad: tuple[int, ...] | bool | None = None
    rtol: float | None = None
    atol: float | None = None
    outputs: tuple[int, ...] | None = None
    shape_only: bool = False
    static_shapes: bool = True
    fails: bool = False
    numeric: bool = True
    expected: tuple[Any, ...] | None = None
    after: tuple[Made, ...] = ()
    normalize: Callable[[list[Any]], list[Any]] | None = None
    id: str = field(init=False, default="")

    def __post_init__(self) -> None:
        if not isinstance(self.inputs, tuple):
            raise TypeError(f"{self.op}: inputs is a tuple with one entry per argument")
        for value in self.inputs:
            _check_input(self.op, value)
        _draws.restart()

    def differentiated(self) -> list[int]:
        """The numbers of the arguments whose gradients are compared."""
        if self.grad is False or self.fails or self.shape_only:
            return []
        if isinstance(self.grad, tuple):
            return list(self.grad)
        return [i for i, value in enumerate(self.inputs) if _is_differentiable(value)]

    def variables(self) -> list[Ref | Resource]:
        """The variables of the case, each once, in the order in which it mentions them."""
        found: dict[int, Ref | Resource] = {}
        for value in _walk((self.inputs, self.after)):
            if isinstance(value, (Ref, Resource)):
                found.setdefault(id(value), value)
        return list(found.values())

    def digest(self) -> str:
        """Changes with everything that can change what TensorFlow computes."""
        text = json.dumps(
            [
                self.id,
                self.op,
                [_described(value) for value in self.inputs],
                {key: _described(value) for key, value in sorted(self.attrs.items())},
                [_described(value) for value in self.after],
                self.outputs,
                self.differentiated(),
                [self.shape_only, self.fails, self.expected is not None],
            ]
        )
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def seed(self) -> int:
        """A number of its own for each case, from its id."""
        return zlib.crc32(self.id.encode())


def number(cases: list[Case]) -> None:
    """Gives each case of a family its id: the op with the label, or with a running number."""
    counts: dict[str, int] = {}
    taken: set[str] = set()
    for case in cases:
        if case.label:
            case.id = f"{case.op}-{case.label.replace(' ', '-')}"
        else:
            case.id = f"{case.op}-{counts.setdefault(case.op, 0)}"
            counts[case.op] += 1
        if case.id in taken:
            raise ValueError(f"two cases have the id {case.id!r}: give them labels that differ")
        taken.add(case.id)


def dtype_name(array: np.ndarray) -> str:
    """TensorFlow's name of an array's type."""
    if array.dtype.kind in "OSU":
        return "string"
    if array.dtype.names is not None:  # NumPy's form of quantized types: one field, named so
        return str(array.dtype.names[0])
    return array.dtype.name


def gradient_like(case: Case, output: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """The gradient that flows into an output: pseudo-random numbers that only the id decides."""
    rng = np.random.RandomState((case.seed() + output) % 2**32)
    return _cast(_normal(rng, shape, dtype), dtype)


# Inputs ---------------------------------------------------------------------------------------


class _Draws:
    """Numbers the draws of random inputs, starting anew after each case.

    So the draws of a case differ from each other, but what a case gets depends neither on the
    cases before it nor on the order in which families are imported.
    """

    def __init__(self) -> None:
        self._count = 0

    def restart(self) -> None:
        self._count = 0

    def generator(self) -> np.random.RandomState:
        self._count += 1
        return np.random.RandomState(self._count)  # its streams never change with NumPy


_draws = _Draws()
restart_draws = _draws.restart


def floats(dtype: str, *shape: int, lo: float | None = None, hi: float | None = None) -> np.ndarray:
    """Normally distributed numbers, or uniform ones in [lo, hi)."""
    rng = _draws.generator()
    if lo is not None and hi is not None:
        return _cast(np.asarray(rng.uniform(lo, hi, shape)), dtype)
    return _cast(_normal(rng, shape, dtype), dtype)


def ints(dtype: str, lo: int, hi: int, *shape: int) -> np.ndarray:
    """Integers from lo to hi - 1."""
    return np.asarray(_draws.generator().randint(lo, hi, shape, dtype=np.int64)).astype(dtype)


def f32(*shape: int, lo: float | None = None, hi: float | None = None) -> np.ndarray:
    return floats("float32", *shape, lo=lo, hi=hi)


def f64(*shape: int, lo: float | None = None, hi: float | None = None) -> np.ndarray:
    return floats("float64", *shape, lo=lo, hi=hi)


def f16(*shape: int, lo: float | None = None, hi: float | None = None) -> np.ndarray:
    return floats("float16", *shape, lo=lo, hi=hi)


def bf16(*shape: int, lo: float | None = None, hi: float | None = None) -> np.ndarray:
    return floats("bfloat16", *shape, lo=lo, hi=hi)


def c64(*shape: int) -> np.ndarray:
    return floats("complex64", *shape)


def c128(*shape: int) -> np.ndarray:
    return floats("complex128", *shape)


def i32(lo: int, hi: int, *shape: int) -> np.ndarray:
    return ints("int32", lo, hi, *shape)


def i64(lo: int, hi: int, *shape: int) -> np.ndarray:
    return ints("int64", lo, hi, *shape)


def u8(lo: int, hi: int, *shape: int) -> np.ndarray:
    return ints("uint8", lo, hi, *shape)


def bools(*shape: int) -> np.ndarray:
    return np.asarray(_draws.generator().randint(0, 2, shape)).astype(bool)


def coarse(x: np.ndarray) -> np.ndarray:
    """Numbers of few bits: matrix products of them are exact, the same on every processor."""
    return np.round(x * 64) / 64


def lower_factor(x: np.ndarray) -> np.ndarray:
    """Lower triangles with a positive diagonal, as Cholesky's decomposition gives, of few bits."""
    found = np.tril(coarse(x))
    diagonal = range(x.shape[-1])
    found[..., diagonal, diagonal] = np.abs(found[..., diagonal, diagonal]) + 1
    return found


def array(value: Any, dtype: str) -> np.ndarray:
    """Given numbers as an array of the type with TensorFlow's name `dtype`."""
    return np.asarray(value, dtype=_numpy_type(dtype))


def strings(*values: Any) -> np.ndarray:
    """Bytes (or text, nested in lists) as an array of strings."""
    return np.vectorize(_to_bytes, otypes=[object])(np.array(values, dtype=object))


def string(value: bytes | str) -> np.ndarray:
    """A scalar string."""
    result = np.empty((), dtype=object)
    result[()] = _to_bytes(value)
    return result


def _to_bytes(value: bytes | str) -> bytes:
    return value.encode() if isinstance(value, str) else value


def _numpy_type(dtype: str) -> Any:
    return ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)


def _normal(rng: np.random.RandomState, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    drawn = np.asarray(rng.standard_normal(shape))
    if dtype.startswith("complex"):
        return drawn + 1j * np.asarray(rng.standard_normal(shape))
    return drawn


def _cast(drawn: np.ndarray, dtype: str) -> np.ndarray:
    return drawn.astype(_numpy_type(dtype))


# What a case is made of -----------------------------------------------------------------------


def _check_input(op: str, value: Any) -> None:
    entries = value if isinstance(value, list) else [value]
    for entry in entries:
        if not isinstance(entry, (np.ndarray, Ref, Resource, Made, Output)):
            raise TypeError(
                f"{op}: an input is an array, a Ref, a Resource, a Made or a list of these, got "
                f"{entry!r}; array(3, 'int32') makes an array of a number"
            )


def _is_differentiable(value: Any) -> bool:
    entries = value if isinstance(value, list) else [value]
    return bool(entries) and all(
        isinstance(entry, np.ndarray) and dtype_name(entry) in DIFFERENTIABLE for entry in entries
    )


def _walk(value: Any) -> Iterator[Any]:
    """Everything that a case's inputs hold, nested or behind a Made."""
    if isinstance(value, (list, tuple)):
        for entry in value:
            yield from _walk(entry)
    else:
        yield value
        if isinstance(value, Output):
            yield from _walk(value.made)
        if isinstance(value, Made):
            yield from _walk((value.inputs, value.after))


def _described(value: Any) -> Any:
    """A value as JSON that differs where the values differ."""
    if isinstance(value, (list, tuple)):
        return [_described(entry) for entry in value]
    if isinstance(value, np.ndarray):
        content = repr(value.tolist()).encode() if value.dtype == object else value.tobytes()
        return [dtype_name(value), value.shape, hashlib.sha256(content).hexdigest()]
    if isinstance(value, (Ref, Resource)):
        return [type(value).__name__, _described(value.value), value.initialized]
    if isinstance(value, Output):
        return [_described(value.made), value.index]
    if isinstance(value, Made):
        attrs = {key: _described(entry) for key, entry in sorted(value.attrs.items())}
        return [value.op, _described(value.inputs), attrs, _described(value.after)]
    return repr(value)
