"""Random operations: TensorFlow's own numbers from seeds, run after run, and good ones without."""

from __future__ import annotations

import subprocess
import sys
import threading
from functools import cache
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.ir import registry
from tests.ops import random_runs
from tests.ops.case import Case
from tests.ops.drive import Library

EXACT = ("RandomUniform", "RandomUniformInt", "RandomShuffle", "Multinomial", "RandomPoissonV2")


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


def _apply(op: str, inputs: Any, attrs: dict[str, Any], name: str | None) -> Any:
    spec = registry.find(op)
    assert spec is not None
    return spec(*inputs, name=name, **attrs)


PENSTOCK = Library(tf, _apply)


_recorded = cache(random_runs.recorded)


@pytest.mark.parametrize("case", [*random_runs.cases()], ids=lambda case: case.id.replace(" ", "-"))
def test_runs_are_tensorflows(case: Case) -> None:
    stored, digests = _recorded()
    for run, values in enumerate(random_runs.draw(PENSTOCK, case)):
        expected = stored[case.id][run]
        ours = random_runs.kept(values)
        assert ours.dtype == expected.dtype
        if case.op in EXACT:
            assert random_runs.digest(values) == digests[case.id][run]
        elif values.dtype.itemsize == 2:
            # Rounding hides that logarithm, sine and cosine may differ in their last place, save
            # where a number lies between two of the type.
            close = np.abs(ours.view(np.int16).astype(int) - expected.view(np.int16).astype(int))
            assert close.max() <= 1
            assert (close > 0).mean() < 0.01
        else:
            np.testing.assert_allclose(ours, expected, rtol=8 * np.finfo(values.dtype).eps)


# Sessions -------------------------------------------------------------------------------------


def _seeded() -> list[Any]:
    return [
        tf.random_uniform([5], seed=1),
        tf.random_normal([5], seed=1),
        tf.truncated_normal([5], seed=1),
        tf.random_uniform([5], maxval=100, dtype=tf.int32, seed=1),
        tf.random_shuffle(tf.range(20), seed=1),
        tf.multinomial([[0.1, 0.2, 0.7]], 20, seed=1),
        tf.random_gamma([5], 2.0, seed=1),
        tf.random_poisson(7.0, [20], seed=1),
    ]


def _unseeded() -> list[Any]:
    return [
        tf.random_uniform([5]),
        tf.random_normal([5]),
        tf.truncated_normal([5]),
        tf.random_uniform([5], maxval=10**6, dtype=tf.int32),
        tf.random_shuffle(tf.range(20)),
        tf.multinomial([[0.1, 0.2, 0.7]], 40),
        tf.random_gamma([5], 2.0),
        tf.random_poisson(7.0, [20]),
    ]


def _draws(tensors: Any, runs: int = 2) -> list[Any]:
    with tf.Session() as session:
        return [[value.tolist() for value in session.run(tensors)] for _ in range(runs)]


def test_a_new_session_repeats_the_runs_of_seeded_ops() -> None:
    tensors = _seeded()
    first = _draws(tensors)
    assert first == _draws(tensors)
    for one, other in zip(*first, strict=True):
        assert one != other


def test_ops_without_seeds_never_repeat() -> None:
    tensors = _unseeded()
    runs = _draws(tensors) + _draws(tensors)
    for draws in zip(*runs, strict=True):
        assert len({str(draw) for draw in draws}) == len(runs)


def test_steps_of_one_session_share_a_nodes_generator() -> None:
    """The stream goes on, whichever fetches a step has."""
    drawn = tf.random_uniform([3], seed=4)
    other = drawn + 1.0
    with tf.Session() as session:
        mixed = [session.run(drawn), session.run(other) - 1, session.run([drawn, other])[0]]
    with tf.Session() as session:
        plain = [session.run(drawn) for _ in range(3)]
    np.testing.assert_allclose(mixed, plain, rtol=1e-6)


def test_two_nodes_with_the_same_seed_draw_alike_but_apart() -> None:
    one, other = tf.random_normal([4], seed=3), tf.random_normal([4], seed=3)
    with tf.Session() as session:
        first = session.run(one)
        session.run(one)
        assert session.run(other).tolist() == first.tolist()


def test_numbers_are_the_same_in_another_process() -> None:
    program = (
        "import penstock as tf\n"
        "tf.set_random_seed(3)\n"
        "x = tf.random_normal([4])\n"
        "print(tf.Session().run(x).tolist())"
    )
    command = [sys.executable, "-c", program]
    runs = [subprocess.run(command, capture_output=True, text=True) for _ in range(2)]
    assert runs[0].returncode == 0, runs[0].stderr
    assert runs[0].stdout == runs[1].stdout
    tf.set_random_seed(3)
    with tf.Session() as session:
        assert runs[0].stdout.strip() == str(session.run(tf.random_normal([4])).tolist())


def test_concurrent_steps_draw_different_numbers() -> None:
    drawn = tf.random_uniform([], maxval=2**31 - 1, dtype=tf.int32, seed=1)
    found: list[int] = []
    with tf.Session() as session:
        draw = session.make_callable(drawn)

        def work() -> None:
            found.extend(int(draw()) for _ in range(50))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with tf.Session() as session:
        expected = [int(session.run(drawn)) for _ in range(200)]
    assert sorted(found) == sorted(expected)


# Distributions --------------------------------------------------------------------------------

COUNT = 200_000


def _sample(tensor: Any) -> np.ndarray:
    with tf.Session() as session:
        return np.asarray(session.run(tensor), np.float64)


@pytest.mark.parametrize("seed", [None, 5])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16, tf.bfloat16])
def test_uniform_numbers_fill_the_interval(dtype: Any, seed: int | None) -> None:
    sample = _sample(tf.random_uniform([COUNT], dtype=dtype, seed=seed))
    assert sample.min() >= 0
    assert sample.max() < 1
    counts, _ = np.histogram(sample, bins=16, range=(0, 1))
    assert np.abs(counts / COUNT * 16 - 1).max() < 0.05


@pytest.mark.parametrize("seed", [None, 5])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16, tf.bfloat16])
def test_normal_numbers_have_the_normal_moments(dtype: Any, seed: int | None) -> None:
    sample = _sample(tf.random_normal([COUNT], dtype=dtype, seed=seed))
    moments = [np.mean(sample**k) for k in range(1, 5)]
    np.testing.assert_allclose(moments, [0, 1, 0, 3], atol=0.1)
    assert np.abs(sample).max() > 3.5


@pytest.mark.parametrize("seed", [None, 5])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16])
def test_truncated_numbers_stay_within_two_deviations(dtype: Any, seed: int | None) -> None:
    sample = _sample(tf.truncated_normal([COUNT], dtype=dtype, seed=seed))
    assert 1.99 < np.abs(sample).max() <= 2
    assert abs(sample.mean()) < 0.02
    assert abs(sample.std() - 0.8796) < 0.01


@pytest.mark.parametrize("seed", [None, 5])
@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_integers_are_equally_likely(dtype: Any, seed: int | None) -> None:
    sample = _sample(tf.random_uniform([COUNT], -2, 5, dtype, seed=seed))
    values, counts = np.unique(sample, return_counts=True)
    assert values.tolist() == list(range(-2, 5))
    assert np.abs(counts / COUNT * 7 - 1).max() < 0.05


@pytest.mark.parametrize("seed", [None, 5])
def test_each_row_is_equally_likely_anywhere(seed: int | None) -> None:
    shuffled = tf.random_shuffle(tf.range(5), seed=seed)
    with tf.Session() as session:
        run = session.make_callable(shuffled)
        orders = np.array([run() for _ in range(3000)])
    assert (np.sort(orders, axis=1) == np.arange(5)).all()
    for place in orders.T:
        assert np.abs(np.bincount(place, minlength=5) / 3000 - 0.2).max() < 0.05


@pytest.mark.parametrize("seed", [None, 5])
def test_categories_come_as_often_as_their_weights_say(seed: int | None) -> None:
    weights = np.array([[0.1, 0.2, 0.7], [0.6, 0.4, 0.0]])
    with np.errstate(divide="ignore"):
        logits = np.log(weights) + [[3.0], [-2.0]]
    sample = _sample(tf.multinomial(logits, COUNT, seed=seed)).astype(int)
    for row, expected in zip(sample, weights, strict=True):
        found = np.bincount(row, minlength=3) / COUNT
        np.testing.assert_allclose(found, expected, atol=0.01)


@pytest.mark.parametrize("alpha", [0.4, 1.0, 3.0, 80.0])
def test_gamma_samples_have_the_moments_of_the_distribution(alpha: float) -> None:
    sample = _sample(tf.random_gamma([COUNT], alpha, 2.0))
    assert abs(sample.mean() / (alpha / 2) - 1) < 0.03
    assert abs(sample.var() / (alpha / 4) - 1) < 0.05


@pytest.mark.parametrize("rate", [0.4, 3.0, 9.9, 10.0, 500.0])
def test_poisson_samples_have_the_moments_of_the_distribution(rate: float) -> None:
    sample = _sample(tf.random_poisson(rate, [COUNT], dtype=tf.int64))
    assert abs(sample.mean() / rate - 1) < 0.03
    assert abs(sample.var() / rate - 1) < 0.05


def test_the_old_op_for_poisson_samples() -> None:
    """RandomPoisson, which TensorFlow itself no longer runs."""
    attrs = {"seed": 3, "seed2": 4}
    rates = tf.constant([0.5, 40.0])
    old = _apply("RandomPoisson", ([100], rates), attrs, None)
    new = _apply("RandomPoissonV2", ([100], rates), {"dtype": tf.float32, **attrs}, None)
    with tf.Session() as session:
        assert session.run(old).tolist() == session.run(new).tolist()


# Functions ------------------------------------------------------------------------------------


def test_crops_are_parts_of_the_image_at_every_position() -> None:
    image = tf.reshape(tf.range(12), [3, 4])
    crop = tf.random_crop(image, [2, 3], seed=1)
    with tf.Session() as session:
        corners = set()
        for _ in range(60):
            part = session.run(crop)
            corners.add(int(part[0, 0]))
            np.testing.assert_array_equal(part - part[0, 0], [[0, 1, 2], [4, 5, 6]])
    assert corners == {0, 1, 4, 5}


def test_a_crop_must_fit() -> None:
    crop = tf.random_crop([[1.0, 2.0]], [2, 2])
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="Need value"):
        session.run(crop)


def test_sizes_may_be_known_in_the_step_alone() -> None:
    sizes = tf.placeholder(tf.int32, [None])
    drawn = [tf.random_uniform(sizes, seed=2), tf.random_normal(sizes), tf.truncated_normal(sizes)]
    with tf.Session() as session:
        for shape in ([2, 3], [], [0, 4], [7]):
            for value in session.run(drawn, {sizes: shape}):
                assert list(np.shape(value)) == shape


def test_of_a_seed_tensor_the_same_seed_gives_the_same_numbers() -> None:
    seed = tf.placeholder(tf.int64, [2])
    drawn = [
        tf.random.stateless_uniform([4], seed),
        tf.random.stateless_normal([4], seed),
        tf.random.stateless_truncated_normal([4], seed),
        tf.random.stateless_uniform([4], seed, 0, 1000, tf.int32),
        tf.random.stateless_multinomial([[0.0] * 9], 9, seed),
    ]
    with tf.Session() as session:
        first, again, other = (
            session.run(drawn, {seed: value}) for value in ([1, 2], [1, 2], [2, 1])
        )
    for one, two, three in zip(first, again, other, strict=True):
        assert one.tolist() == two.tolist() != three.tolist()


def test_bounds_that_leave_nothing_are_refused_by_the_step() -> None:
    drawn = tf.random_uniform([3], minval=5, maxval=5, dtype=tf.int32)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="5 >= 5"):
        session.run(drawn)
    empty = tf.random_uniform([0], minval=5, maxval=5, dtype=tf.int32)
    with tf.Session() as session:
        assert session.run(empty).shape == (0,)
