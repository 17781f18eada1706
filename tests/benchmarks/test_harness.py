"""The benchmark harness without any peer: statistics, table, turns, and the worker's protocol."""

import io
import json
from argparse import ArgumentTypeError, Namespace
from pathlib import Path

import pytest

from benchmarks import run as runner
from benchmarks.contestant import WorkerError
from benchmarks.frameworks import interpreter
from benchmarks.model import Model, Program
from benchmarks.noise import NoiseMeter
from benchmarks.results import Failure, Measurement, ModelResult, find_disagreement, rows
from benchmarks.table import main_table, number, report, target_table
from benchmarks.worker import Worker, serve


def measured(framework: str, *milliseconds: float, variant: str = "", peak: int | None = None):
    seconds = [value / 1e3 for value in milliseconds]
    return Measurement(framework, variant, "1.0", [2.5], seconds, peak)


MLP = ModelResult(
    "mlp",
    "MLP",
    [
        measured("penstock", 0.7, 0.5, 0.6),
        measured("tensorflow", 1.2, 9.0, 1.1),
        measured("jax", 0.4, 0.4, 0.4),
    ],
)


def test_rows_take_the_median_and_the_least_in_milliseconds():
    (row,) = rows([MLP])
    assert row.cells["tensorflow"].value == pytest.approx(1.2)
    assert row.cells["tensorflow"].least == pytest.approx(1.1)
    assert row.ratio_to("tensorflow") == pytest.approx(0.5)
    assert row.fastest_peer() == "jax"


def test_ratios_need_both_sides():
    (row,) = rows([ModelResult("mlp", "MLP", [measured("jax", 1.0)])])
    assert row.ratio_to("jax") is None
    assert row.ratio_to("tensorflow") is None


def test_the_faster_variant_counts_whatever_the_order():
    slow, fast = measured("torch", 5, variant="NCHW"), measured("torch", 3, variant="NHWC")
    for order in ([slow, fast], [fast, slow]):
        assert ModelResult("cifar", "CIFAR", order).best()["torch"].variant == "NHWC"


def test_memory_is_a_row_of_its_own():
    result = ModelResult("alexnet", "AlexNet", [measured("torch", 5, peak=3 * 2**20)])
    _, memory = rows([result])
    assert (memory.name, memory.unit) == ("alexnet_memory", "MiB")
    assert memory.cells["torch"].value == 3


def test_main_table():
    lines = main_table(rows([MLP]), ["penstock", "tensorflow", "torch", "jax"]).splitlines()
    assert lines == [
        "|  | Penstock | TensorFlow | PyTorch eager | JAX jit | ÷ TensorFlow | ÷ fastest peer |",
        "| --- | --: | --: | --: | --: | --: | --: |",
        "| MLP, ms | 0.600 (0.500) | 1.20 (1.10) | – | 0.400 (0.400) | 0.50 | 1.50 |",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.00712, "0.00712"), (1.0, "1.00"), (12.34, "12.3"), (99.96, "100"), (1234.5, "1234")],
)
def test_numbers_have_three_digits(value, text):
    assert number(value) == text


def test_targets_are_met_or_missed():
    null_step = ModelResult(
        "null_step", "null", [measured("penstock", 0.03), measured("tensorflow", 0.2)]
    )
    importing = ModelResult("import_time", "import", [measured("penstock", 480)])
    failed = ModelResult("word2vec", "word2vec", [measured("tensorflow", 0.4)])
    lines = target_table(rows([null_step, importing, MLP, failed])).splitlines()[2:]
    assert lines == [
        "| null | ≤ 0.1 × TensorFlow | 0.15 | missed |",
        "| MLP | ≤ 0.6 × TensorFlow | 0.50 | met |",
        "| word2vec | ≤ 0.6 × TensorFlow | – | not measured |",
        "| import | ≤ 500 ms | 480 ms | met |",
    ]


def test_the_report_names_failures_and_disagreements():
    result = ModelResult(
        "mlp",
        "MLP",
        [measured("penstock", 1, variant="fused")],
        [Failure("jax", "NCHW", "out of memory")],
        disagreement="before the first step: a 1, b 2",
    )
    text = report([result], ["penstock", "jax"])
    assert "- MLP: the fastest variants are Penstock fused." in text
    assert "- MLP: JAX jit NCHW failed: out of memory" in text
    assert "- **MLP: the frameworks disagree** before the first step: a 1, b 2." in text


def test_agreement_is_relative():
    assert find_disagreement({"a": [1000.0, 2.0], "b": [1000.05, 2.0]}, 1e-4) is None
    assert find_disagreement({}, 1e-4) is None


@pytest.mark.parametrize("other", [2.001, float("nan")])
def test_disagreement_says_who_and_when(other):
    found = find_disagreement({"a": [1.0, 2.0], "b": [1.0, other]}, 1e-4)
    assert found is not None
    assert found.startswith("after the steps of the check: a 2, b ")


def test_names_keep_the_known_order_and_refuse_unknown_ones():
    assert runner.names(["a", "b", "c"], "c,a") == ["a", "c"]
    with pytest.raises(ArgumentTypeError, match=r"unknown: x \(known: a, b\)"):
        runner.names(["a", "b"], "a,x")


def test_a_missing_environment_says_how_to_make_it(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match=r"benchmarks\.setup_peers --dir"):
        interpreter("tensorflow", tmp_path)


class FakeContestant:
    """Stands for a worker: a step takes as many seconds as the framework's name has letters."""

    turns: tuple[str, ...] = ()

    def __init__(self, model: str, framework: str, variant: str, **settings: object) -> None:
        self.framework, self.variant, self.pid = framework, variant, 1
        self._runs = 0

    def __enter__(self):
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def await_ready(self) -> str:
        if self.framework == "torch-compiled":
            raise WorkerError("no compiler")
        return "1.0"

    def check(self) -> list[float]:
        return [1.0]

    def run(self, steps: int) -> list[float]:
        self._runs += 1
        if self.framework == "jax" and self._runs == 3:
            raise WorkerError("out of memory")
        type(self).turns += (self.framework,)
        return [float(len(self.framework))] * steps

    warm_up = run


def test_workers_take_turns_and_failures_leave_the_run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(runner, "Contestant", FakeContestant)
    monkeypatch.setattr(FakeContestant, "turns", ())
    frameworks = ["penstock", "torch", "torch-compiled", "jax"]
    builders = dict.fromkeys(frameworks, lambda framework, variant: None)
    model = Model("fake", steps=2, builders=builders)
    options = Namespace(frameworks=frameworks, steps=None, rounds=3, threads=1, peers=Path())

    result = runner.ModelRun("fake", model, options).run()

    warm_up, rounds = FakeContestant.turns[:3], FakeContestant.turns[3:]
    assert warm_up == ("penstock", "torch", "jax")
    # Round by round; JAX fails in the second, which starts with torch.
    assert rounds == ("penstock", "torch", "jax", "torch", "penstock", "penstock", "torch")
    assert {m.framework: m.seconds for m in result.measurements} == {
        "penstock": [8.0] * 6,
        "torch": [5.0] * 6,
    }
    assert result.failures == [
        Failure("torch-compiled", "", "no compiler"),
        Failure("jax", "", "out of memory"),
    ]


def ask(program: Program, check_steps: int, *requests: dict[str, object]) -> list[dict]:
    model = Model("fake", steps=1, builders={}, check_steps=check_steps)
    answers = io.StringIO()
    text = "".join(json.dumps(request) + "\n" for request in requests)
    serve(lambda: (Worker(model, program, 0), "1.0"), io.StringIO(text), answers)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def test_a_worker_answers_line_by_line():
    taken: list[str] = []
    program = Program(
        step=lambda: taken.append("step"),
        observe=lambda: len(taken),
        replay=lambda: taken.append("replay"),
    )
    version, checked, ran = ask(program, 2, {"do": "check"}, {"do": "run", "steps": 3})
    assert version == {"version": "1.0"}
    assert checked == {"observed": [0, 2]}
    assert len(ran["seconds"]) == 3
    assert taken == ["replay"] * 2 + ["step"] * 3


def test_a_worker_reports_its_error(capsys: pytest.CaptureFixture[str]):
    def fail() -> None:
        raise ValueError("no such kernel\nmore lines")

    program = Program(step=fail, observe=lambda: 0.0)
    assert ask(program, 0, {"do": "run", "steps": 1})[-1] == {"error": "ValueError: no such kernel"}
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("meter", "summary"),
    [
        (NoiseMeter(2.0, 4.5, 4.0, 0.1), "20% of one CPU went to other processes, 5% to workers"),
        # Ticks that fell into a slot for the worker but not for the machine.
        (NoiseMeter(2.0, 3.9, 4.0, 0.0), "0% of one CPU went to other processes, 0% to workers"),
        (NoiseMeter(0.5, 3.0, 1.0, 0.0), "too short a run"),
    ],
)
def test_noise_is_what_neither_turn_explains(meter: NoiseMeter, summary: str):
    assert meter.summary().startswith(summary)
