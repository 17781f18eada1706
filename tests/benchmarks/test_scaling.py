"""The simulation of large clusters, in small ones whose times are known."""

from xml.etree import ElementTree

import pytest

from benchmarks.scaling.line_plot import line_plot, linear, logarithmic
from benchmarks.scaling.null_steps import SERVERS, Machine, NullModel, NullSteps
from benchmarks.scaling.training import ImageModel, Outcome, Training

EVEN = ImageModel(spread=0.0, straggles=0.0)


def test_a_dense_step_takes_as_long_as_its_bytes():
    model = NullModel("dense", moved=160_000_000, steps=2)
    machine = Machine(bandwidth=1e9)
    alone = NullSteps(model, 1, machine).median_seconds()
    assert alone == pytest.approx(0.16, rel=0.05)  # by the interface of the worker
    crowded = NullSteps(model, 2 * SERVERS, machine).median_seconds()
    assert crowded == pytest.approx(0.32, rel=0.1)  # by those of the servers


def test_a_small_step_takes_as_long_as_its_messages():
    model = NullModel("scalar", moved=4 * SERVERS, steps=3)
    machine = Machine(handling=1e-3, kernel=0.0, latency=0.0)
    # The worker takes a value and an answer from each server.
    assert NullSteps(model, 1, machine).median_seconds() > 2e-3 * SERVERS


def test_asynchronous_workers_do_not_wait_for_each_other():
    alone, many = (Training(count, rounds=2, model=EVEN).outcome() for count in (1, 6))
    assert many.images == pytest.approx(6 * alone.images, rel=0.05)


def test_backup_workers_shorten_steps_with_stragglers():
    model = ImageModel(spread=0.0, straggles=0.15, straggle=0.8)

    def seconds(workers):
        return sum(Training(workers, 8, rounds=12, model=model, seed=3).outcome().seconds)

    assert seconds(10) < 0.95 * seconds(8)


def test_without_stragglers_backup_workers_only_add_to_the_traffic():
    plain = Training(8, 8, rounds=4, model=EVEN).outcome()
    spared = Training(11, 8, rounds=4, model=EVEN).outcome()
    assert plain.median <= spared.median


def test_what_an_outcome_says():
    outcome = Outcome(1.0, [float(i) for i in range(1, 20)])
    assert outcome.median == 10.0
    assert outcome.slow == 18.0


def test_a_plot_is_an_image_with_a_line_for_each_name():
    lines = {"a & b": [(1.0, 10.0), (100.0, 1000.0)], "c": [(1.0, 20.0), (100.0, 20.0)]}
    text = line_plot("t", logarithmic("x", [1, 100]), linear("y", 1000.0, 500.0), lines)
    root = ElementTree.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    first, _ = root.findall(f"{space}polyline")
    assert first.get("points") == "70.0,307.3 470.0,40.0"
    assert "a & b" in [each.text for each in root.findall(f"{space}text")]
