"""Every op case in Penstock against what TensorFlow computed: values, shapes, gradients, errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.ir import registry
from tests.ops import drive, records
from tests.ops.case import Case, dtype_name
from tests.ops.cases import cases_of, families
from tests.ops.drive import Graph, Library, Mode
from tests.ops.records import Record

# Relative and absolute tolerance by type; every other type is compared exactly.
TOLERANCE: dict[str, tuple[float, float]] = {
    "bfloat16": (2e-2, 1e-2),
    "float16": (2e-3, 1e-3),
    "float32": (1e-5, 1e-6),
    "float64": (1e-11, 1e-12),
    "complex64": (1e-5, 1e-6),
    "complex128": (1e-11, 1e-12),
}
STEP = 1e-5  # of finite differences in float64
NUMERIC_TOLERANCE = 1e-6


def _apply(op: str, inputs: Sequence[Any], attrs: dict[str, Any], name: str | None) -> Any:
    spec = registry.find(op)
    if spec is None:
        raise LookupError(f"op {op!r} is not registered")
    return spec(*inputs, name=name, **attrs)


PENSTOCK = Library(tf, _apply)
# A GPU does not look at indices before it uses them, and converts what is out of range in its own
# way; tests/gpu tests what it does.
PENSTOCK_ON_HOST = Library(tf, _apply, tf.ConfigProto(device_count={"GPU": 0}))
_OF_THE_PROCESSOR = ("Cast-outside-int32", "Cast-outside-int64")


def _library(case: Case) -> Library:
    return PENSTOCK_ON_HOST if case.fails or case.id in _OF_THE_PROCESSOR else PENSTOCK


Wanted = Callable[[Case, Record], bool]


def _current(family: str, case: Case) -> Record | None:
    """The record of a case; None where there is none of this very case."""
    try:
        return records.find(family, case)
    except records.StaleRecord:
        return None


def _loaded(family: str) -> list[Case]:
    """The cases of a family; none if it can't be imported, which a test of its own tells."""
    try:
        return cases_of(family)
    except Exception:
        return []


ALL = [(family, case) for family in families() for case in _loaded(family)]
RECORDED = [
    (family, case, record) for family, case in ALL if (record := _current(family, case)) is not None
]


def _cases(wanted: Wanted) -> Any:
    """Runs a test for the cases for which `wanted` holds: -k finds them by family, op and label."""
    chosen = [
        pytest.param(case, record, id=f"{family}/{case.id}")
        for family, case, record in RECORDED
        if wanted(case, record)
    ]
    return pytest.mark.parametrize(("case", "record"), chosen)


def _succeeding_or_stale() -> list[Any]:
    recorded = {id(case) for _, case, _ in RECORDED}
    return [
        pytest.param(family, case, id=f"{family}/{case.id}")
        for family, case in ALL
        if not case.fails or id(case) not in recorded
    ]


def _builds(mode: Mode) -> Wanted:
    """Whether the case works in a mode: some of TensorFlow's ops must know a shape."""

    def wanted(case: Case, record: Record) -> bool:
        accepted = record.modes[mode.value].error is None or case.expected is not None
        return accepted and not case.fails

    return wanted


def _fails(mode: Mode) -> Wanted:
    """Whether TensorFlow refuses the case in a mode (what one notices, the other may not)."""
    return lambda case, record: case.fails and record.modes[mode.value].error is not None


def _has_gradient(case: Case, record: Record) -> bool:
    return record.gradients is not None and case.normalize is None


def _is_smooth(case: Case, record: Record) -> bool:
    """Whether finite differences can tell the gradient."""
    values = drive.differentiated_values(case)
    known = record.gradients is not None or case.expected is not None
    return known and case.numeric and all(dtype_name(value) == "float64" for value in values)


@pytest.mark.parametrize(("family", "case"), _succeeding_or_stale())
def test_value(family: str, case: Case) -> None:
    record = records.find(family, case)  # no other test sees a case without a record of its own
    graph = drive.build(PENSTOCK, case, Mode.CONSTANTS)
    _check_static_shapes(graph, record, case, Mode.CONSTANTS)
    _check_result(case, record, drive.run(PENSTOCK, case, graph))


@_cases(_builds(Mode.FED))
def test_value_when_fed(case: Case, record: Record) -> None:
    graph = drive.build(PENSTOCK, case, Mode.FED)
    _check_static_shapes(graph, record, case, Mode.FED)
    _check_result(case, record, drive.run(_library(case), case, graph))


@_cases(_builds(Mode.SHAPED))
def test_static_shape_without_values(case: Case, record: Record) -> None:
    graph = drive.build(PENSTOCK, case, Mode.SHAPED)
    _check_static_shapes(graph, record, case, Mode.SHAPED)


@_cases(lambda case, record: not case.fails)
def test_round_trip(case: Case, record: Record) -> None:
    graph = drive.build(PENSTOCK, case, Mode.CONSTANTS)
    message = graph.graph.as_graph_def()
    copy = type(message).FromString(message.SerializeToString())
    graph.graph = tf.Graph()
    with graph.graph.as_default():
        tf.import_graph_def(copy, name="")
    _check_result(case, record, drive.run(PENSTOCK, case, graph))


@_cases(_fails(Mode.CONSTANTS))
def test_error(case: Case, record: Record) -> None:
    _check_error(case, record, Mode.CONSTANTS)


@_cases(_fails(Mode.FED))
def test_error_when_fed(case: Case, record: Record) -> None:
    _check_error(case, record, Mode.FED)


@_cases(_has_gradient)
def test_gradient(case: Case, record: Record) -> None:
    _check_gradients(case, record, Mode.CONSTANTS)


@_cases(lambda case, record: record.gradients_fed and case.normalize is None)
def test_gradient_when_fed(case: Case, record: Record) -> None:
    _check_gradients(case, record, Mode.FED)


@_cases(_is_smooth)
def test_gradient_is_the_derivative(case: Case, record: Record) -> None:
    """Along a random direction of each input the outputs change as the gradient says."""
    mode = Mode.FED if record.gradients_fed else Mode.SHAPED
    graph = drive.build(PENSTOCK, case, mode)
    outputs = drive.run(PENSTOCK, case, graph).outputs
    gradients = drive.gradients(PENSTOCK, case, graph, outputs)
    ys = drive.differentiable_outputs(case, graph.op)
    weights = {y.value_index: drive.output_gradient(case, y.value_index, outputs) for y in ys}
    rng = np.random.RandomState(case.seed())
    for name, gradient in zip(drive.differentiated(case, graph), gradients, strict=True):
        if gradient is None or name not in graph.feeds:
            continue
        direction = np.asarray(rng.standard_normal(gradient.shape))
        slope = _slope(case, graph, name, direction, weights)
        size = max(1.0, float(np.abs(gradient).sum()))
        difference = abs(float(np.sum(gradient * direction)) - slope)
        assert difference <= NUMERIC_TOLERANCE * size, f"gradient of {name}: slope is {slope}"


def _slope(
    case: Case, graph: Graph, name: str, direction: np.ndarray, weights: dict[int, np.ndarray]
) -> float:
    """The derivative of the weighted sum of the outputs along a direction of one input."""
    value = graph.feeds[name]
    sums = []
    for sign in (1, -1):
        graph.feeds[name] = value + sign * STEP * direction
        outputs = drive.run(PENSTOCK, case, graph).outputs
        sums.append(sum(np.vdot(outputs[i], weight).real for i, weight in weights.items()))
    graph.feeds[name] = value
    return float(sums[0] - sums[1]) / (2 * STEP)


@pytest.mark.parametrize("family", families())
def test_family(family: str) -> None:
    """It can be imported, and nothing is recorded that no case asks for any more."""
    assert records.ids(family) == {case.id for case in cases_of(family)}


# Comparing ------------------------------------------------------------------------------------


def _check_error(case: Case, record: Record, mode: Mode) -> None:
    expected = record.modes[mode.value].error
    try:
        drive.run(_library(case), case, drive.build(PENSTOCK, case, mode))
    except Exception as error:
        if type(error).__name__ != expected:
            raise AssertionError(f"TensorFlow raises {expected}") from error
    else:
        pytest.fail(f"TensorFlow raises {expected}, Penstock nothing")


def _check_gradients(case: Case, record: Record, mode: Mode) -> None:
    assert record.gradients is not None
    graph = drive.build(PENSTOCK, case, mode)
    found = drive.gradients(PENSTOCK, case, graph, record.outputs)
    names = drive.differentiated(case, graph)
    for name, ours, theirs in zip(names, found, record.gradients, strict=True):
        _check_array(case, f"gradient of {name}", ours, theirs)


def _check_result(case: Case, record: Record, result: drive.Result) -> None:
    expected = record.outputs if case.expected is None else list(case.expected)
    found = result.outputs
    if case.normalize is not None:
        expected, found = case.normalize(expected), case.normalize(found)
    for i, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        _check_array(case, f"output {i}", ours, theirs)
    if case.expected is None:
        pairs = zip(result.variables, record.variables, strict=True)
        for i, (ours, theirs) in enumerate(pairs):
            _check_array(case, f"variable {i} after the step", ours, theirs)


def _check_static_shapes(graph: Graph, record: Record, case: Case, mode: Mode) -> None:
    """The graph knows at least what TensorFlow's does, and nothing that the results contradict."""
    ours = graph.static_shapes()
    theirs = record.modes[mode.value].shapes or [None] * len(ours)
    results = record.outputs if case.expected is None else case.expected
    for i, (shape, known, result) in enumerate(zip(ours, theirs, results, strict=True)):
        given = f"output {i} ({mode.value}): static shape {shape}"
        if case.static_shapes:
            assert _is_at_least(shape, known), f"{given}, TensorFlow knows {known}"
        if result is not None:
            assert _is_at_least(list(result.shape), shape), f"{given} of a {result.shape}"


def _is_at_least(shape: Any, known: Any) -> bool:
    """Whether a static shape agrees with all that is known of it."""
    if known is None:
        return True
    if shape is None or len(shape) != len(known):
        return False
    return all(size is None or size == ours for ours, size in zip(shape, known, strict=True))


def _check_array(case: Case, what: str, ours: np.ndarray | None, theirs: np.ndarray | None) -> None:
    if ours is None or theirs is None:
        assert ours is theirs, f"{what} is {_brief(ours)}, TensorFlow has {_brief(theirs)}"
        return
    given = f"{dtype_name(ours)} {list(ours.shape)}"
    wanted = f"{dtype_name(theirs)} {list(theirs.shape)}"
    assert given == wanted, f"{what} is a {given}, TensorFlow has a {wanted}"
    if case.shape_only:
        return
    tolerance = TOLERANCE.get(dtype_name(theirs))
    if tolerance is None:
        assert ours.tolist() == theirs.tolist(), f"{what}:\n{ours}\nTensorFlow has\n{theirs}"
        return
    rtol = tolerance[0] if case.rtol is None else case.rtol
    atol = (tolerance[1] if case.atol is None else case.atol) * _magnitude(theirs)
    np.testing.assert_allclose(_wide(ours), _wide(theirs), rtol, atol, err_msg=what)


def _magnitude(values: np.ndarray) -> float:
    finite = np.abs(_wide(values))
    return max(1.0, float(np.max(finite, initial=0.0, where=np.isfinite(finite))))


def _wide(values: np.ndarray) -> np.ndarray:
    return values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)


def _brief(value: np.ndarray | None) -> str:
    return "None" if value is None else f"a {dtype_name(value)} {list(value.shape)}"
