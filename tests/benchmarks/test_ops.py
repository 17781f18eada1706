"""The machinery of `benchmarks.ops`: every op is measured or has a reason; no speed."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from benchmarks.contestant import WorkerError
from benchmarks.frameworks import session_config
from benchmarks.ops import measure
from benchmarks.ops.explanations import WHY
from benchmarks.ops.families import FAMILIES
from benchmarks.ops.measure import Measurer, per_copy
from benchmarks.ops.report import line, report
from benchmarks.ops.results import SIDES, Result, Results
from benchmarks.ops.step_graph import build
from benchmarks.ops.trial import takes
from benchmarks.ops.unmeasured import REASONS, reason
from benchmarks.ops.worker import OpWorker
from tests.ops.case import Made, Ref, array, f32
from tests.ops.opdefs import public_op_types

MEASURED = {op_type: table[op_type] for table in FAMILIES.values() for op_type in table}


def test_every_op_is_measured_or_has_a_reason():
    undecided = [name for name in public_op_types() if name not in MEASURED and not reason(name)]
    assert not undecided, f"neither in a family of benchmarks/ops nor excused: {undecided}"


def test_tables_name_registered_ops_once():
    known = set(public_op_types())
    assert not (set(MEASURED) | set(REASONS) | set(WHY)) - known
    assert not set(MEASURED) & set(REASONS)
    assert sum(len(table) for table in FAMILIES.values()) == len(MEASURED)


@pytest.mark.parametrize("op_type", sorted(MEASURED))
def test_a_graph_can_be_built(op_type: str):
    built = build(op_type, MEASURED[op_type](1000), 2)
    assert len(built.targets) == 2
    definition = tf.GraphDef.FromString(built.content)
    by_name = {node.name: node for node in definition.node}
    first, second = (by_name[name] for name in built.targets)
    assert (first.op, second.op) == (op_type, op_type)


def test_a_copy_waits_for_the_one_before():
    built = build("Abs", takes(f32(100)), 2)
    nodes = {node.name: node for node in tf.GraphDef.FromString(built.content).node}
    assert f"^{built.targets[0]}" in nodes[built.targets[1]].input
    assert f"^{built.targets[1]}" not in nodes[built.targets[0]].input


def test_small_inputs_are_constants_and_large_ones_are_read():
    built = build("Sum", takes(f32(10, 100), array(1, "int32")), 1)
    nodes = {node.name: node for node in tf.GraphDef.FromString(built.content).node}
    read, axis = (nodes[name] for name in nodes[built.targets[0]].input)
    assert (read.op, axis.op) == ("ReadVariableOp", "Const")


def test_each_copy_has_what_it_changes_and_setup_runs_once():
    table = Made("MutableHashTableV2", (), {**TYPES, "shared_name": "table"})
    filled = Made("LookupTableInsertV2", (table, array([1], "int64"), f32(1)))
    built = build("LookupTableSizeV2", takes(table, before=(filled,)), 3)
    assert len(built.rest) == 3
    assert all(len(names) == 1 for names in built.rest)
    assert len(built.initializers[-1]) == 1


TYPES = {"key_dtype": "int64", "value_dtype": "float32"}


NANS = np.full(100, np.nan, "float32")


def loaded(tmp_path: Path, op_type: str, *inputs: object) -> tuple[OpWorker, dict]:
    built = build(op_type, takes(*inputs), 3)
    path = tmp_path / "graph.pb"
    path.write_bytes(built.content)
    worker = OpWorker(tf, 1)
    return worker, worker.load(str(path), built.initializers, built.targets, built.rest)


def test_a_worker_runs_as_many_copies_as_asked(tmp_path: Path):
    worker, answer = loaded(tmp_path, "AssignAdd", Ref(f32(5)), f32(5))
    assert answer["seconds"] > 0
    worker.prepare(3)
    times = worker.run(0.0)
    assert len(times["full"]) == len(times["rest"]) == 1
    worker.drop()


def test_a_worker_survives_a_graph_that_fails(tmp_path: Path):
    worker, answer = loaded(tmp_path, "Sqrt", Made("CheckNumerics", (NANS,), {"message": "bad"}))
    assert answer["failed"].startswith("InvalidArgumentError")
    worker.drop()


def test_the_time_of_the_rest_is_subtracted():
    assert per_copy([5.0, 1.0, 9.0], [1.0, 1.0, 1.0], copies=4) == pytest.approx(1.0)
    assert per_copy([5.0], [6.0], copies=1) == pytest.approx(0.05)


def test_the_ratio_is_that_of_the_medians():
    result = Result("Abs", 1000, {"penstock": [1.0, 9.0, 2.0], "tensorflow": [4.0, 5.0, 0.1]})
    assert result.ratio == pytest.approx(0.5)
    assert result.seconds("penstock") == 2.0
    assert Result("Abs", 1000, failure="no kernel").ratio is None


class FakeWorker:
    """Answers at once; TensorFlow's ends while it loads an Exp."""

    def __init__(self, framework: str, command: list[str], **settings: object) -> None:
        self.framework = framework

    def await_ready(self) -> str:
        return "1.0"

    def ask(self, do: str, **request: object) -> dict:
        if do == "load":
            if self.framework == "tensorflow" and "Exp" in request["targets"]:
                raise WorkerError("killed")
            return {"seconds": 1e-3}
        seconds = 3.0 if self.framework == "penstock" else 2.0
        return {"full": [seconds], "rest": [1.0]}

    def __exit__(self, *exception: object) -> None:
        pass


def test_sides_take_turns_and_a_dead_worker_is_replaced(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(measure, "WorkerProcess", FakeWorker)
    monkeypatch.setattr(measure, "SETTLING", 0.0)
    with Measurer(rounds=3, milliseconds=1.0, threads=1, peers=Path()) as measurer:
        failed = measurer.measure("Exp", 1000, takes(f32(100)))
        result = measurer.measure("Abs", 1000, takes(f32(100)))
    assert failed.failure == "tensorflow ended: killed"
    assert result.ratio == pytest.approx(2.0)
    assert [len(result.rounds[side]) for side in SIDES] == [3, 3]


def test_the_report_has_a_row_per_op_and_names_failures():
    good = [
        Result("Abs", size, {"penstock": [3e-6], "tensorflow": [1e-6]}) for size in (10**3, 10**6)
    ]
    failed = Result("Exp", 10**3, failure="penstock: no kernel")
    results = Results({"penstock": "1.0", "tensorflow": "2.0"}, threads=2)
    for result in (*good, failed):
        results.add(result)
    text = report(results)
    assert "| `Abs` | 3.00 | 1.00 | **3.00** | 3.00 | 1.00 | **3.00** | not looked" in text
    assert "- `Exp`, 1,000: penstock: no kernel" in text
    assert "`NoOp`" in text
    assert line(failed).endswith("failed: penstock: no kernel")


def test_results_are_kept_and_replaced(tmp_path: Path):
    path = tmp_path / "results.json"
    results = Results.load(path)
    results.add(Result("Abs", 1000, {"penstock": [2.0], "tensorflow": [1.0]}))
    results.add(Result("Exp", 1000, failure="no kernel"))
    results.save(path)
    again = Results.load(path)
    again.add(Result("Abs", 1000, {"penstock": [1.0], "tensorflow": [1.0]}))
    assert again.measured["Abs", 1000].ratio == 1.0
    assert again.measured["Exp", 1000].failure == "no kernel"


def test_the_command_refuses_an_unknown_family():
    command = [sys.executable, "-m", "benchmarks.ops", "--family", "none"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 2
    assert "invalid choice: 'none'" in done.stderr


def test_threads_are_the_same_on_both_sides():
    config = session_config(tf, 2)
    assert config.intra_op_parallelism_threads == config.inter_op_parallelism_threads == 2
