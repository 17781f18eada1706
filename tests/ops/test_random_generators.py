"""`tf.random.experimental`: generators whose state is a variable. Values are TensorFlow 1.15's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.internal_paths.graph_mode import eager_mode
from penstock.random.generator import RNG_ALG_PHILOX, RNG_ALG_THREEFRY, _uint_to_int

Generator = tf.random.experimental.Generator


def _session(*generators: Any) -> tf.Session:
    session = tf.Session()
    session.run([generator.state.initializer for generator in generators])
    return session


def test_a_seed_gives_tensorflows_numbers() -> None:
    generator = Generator.from_seed(1234)
    drawn = generator.normal([2, 3])
    assert drawn.op.name == "stateful_normal"
    with _session(generator) as session:
        first, second = session.run(drawn), session.run(drawn)
    np.testing.assert_allclose(
        first,
        [[0.9356609, 1.0854305, -0.93788373], [-0.50615472, 1.31697023, 0.71375787]],
        rtol=1e-5,
    )
    np.testing.assert_allclose(
        second,
        [[-0.3964749, 0.8369565, -0.30946946], [1.1206646, 1.00852597, -0.10185789]],
        rtol=1e-5,
    )


def test_states_of_seeds() -> None:
    create = tf.random.experimental.create_rng_state
    low, high = 0xFFAA666677778888, 0xFFFF222233334444
    wide = create(high << 64 | low, RNG_ALG_PHILOX)
    assert wide.tolist() == [_uint_to_int(low), _uint_to_int(high), 0]
    assert create([7], RNG_ALG_PHILOX).tolist() == [0, 0, 7]
    assert create([5, 6, 7, 8], RNG_ALG_THREEFRY).tolist() == [5, 6]
    with pytest.raises(ValueError, match="Unsupported algorithm id: 5"):
        create(1, 5)


@pytest.mark.parametrize(
    "method", [Generator.normal, Generator.truncated_normal, Generator.uniform]
)
@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64])
def test_numbers_are_those_of_seeded_operations(method: Any, dtype: Any) -> None:
    generator = Generator(state=[0, 25, 79], alg=RNG_ALG_PHILOX)
    old = {
        Generator.normal: tf.raw_ops.RandomStandardNormal,
        Generator.truncated_normal: tf.raw_ops.TruncatedNormal,
        Generator.uniform: tf.raw_ops.RandomUniform,
    }[method](shape=[4, 7], dtype=dtype, seed=79, seed2=25)
    new = method(generator, [4, 7], dtype=dtype)
    with _session(generator) as session:
        for _ in range(3):
            expected, drawn = session.run([old, new])
            np.testing.assert_array_equal(drawn, expected)


def test_draws_of_one_step_differ_and_the_state_moves_on() -> None:
    generator = Generator.from_key_counter(key=9, counter=[5, 6], alg=RNG_ALG_PHILOX)
    a = generator.uniform_full_int([3], tf.int64)
    b = generator.uniform([3], maxval=2**40, dtype=tf.int64)
    with _session(generator) as session:
        first, second = session.run([a, b])
        assert session.run(generator.state).tolist() == [5 + 2 * 3 * 256, 6, 9]
        session.run(generator.skip(4))
        assert session.run(generator.state).tolist() == [5 + 10 * 256, 6, 9]
        assert session.run(generator.key) == 9
    assert set(first % 2**40).isdisjoint(second)


def test_resets() -> None:
    generator = Generator.from_seed(0)
    with _session(generator) as session:
        for reset, state in (
            (generator.reset([1, 2, 2**64 - 3]), [1, 2, -3]),
            (generator.reset_from_seed(1234), [1234, 0, 0]),
            (generator.reset_from_key_counter(1, [2, 3]), [2, 3, 1]),
        ):
            session.run(reset)
            assert session.run(generator.state).tolist() == state


def test_a_copy_goes_its_own_way() -> None:
    generator = Generator.from_seed(3)
    with _session(generator) as session:
        session.run(generator.skip(2))
        copy = Generator(generator)
        session.run(copy.state.initializer)
        assert copy.algorithm == generator.algorithm
        numbers = session.run([copy.normal([5]), generator.normal([5])])
    np.testing.assert_array_equal(*numbers)


def test_seeds_and_generators_made_by_a_generator() -> None:
    generator = Generator.from_seed(1234)
    with _session(generator) as session:
        seeds = session.run(generator.make_seeds(4))
        assert seeds.shape == (2, 4) and len(set(seeds[0])) == 4 and not seeds[1].any()
        parts = generator.split(3)
        session.run([part.state.initializer for part in parts])
        keys = session.run([part.key for part in parts])
    assert len({int(key) for key in keys} | set(seeds[0].tolist())) == 7


def test_the_global_generator() -> None:
    before = tf.random.experimental.get_global_generator()
    assert tf.random.experimental.get_global_generator() is before
    with _session(before) as session:
        assert session.run(before.normal([3])).shape == (3,)
    other = Generator.from_seed(50)
    tf.random.experimental.set_global_generator(other)
    assert tf.random.experimental.get_global_generator() is other


def test_the_algorithm_without_kernels() -> None:
    generator = Generator.from_seed(1, alg=RNG_ALG_THREEFRY)
    with (
        _session(generator) as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="id: 2"),
    ):
        session.run(generator.normal([2]))


def test_integers_need_a_bound() -> None:
    with pytest.raises(ValueError, match="Must specify maxval for integer dtype tf.int32"):
        Generator.from_seed(1).uniform([2], dtype=tf.int32)


# StatefulRandomBinomial -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "probs", "expected", "blocks"),
    [
        (20.0, 0.25, [5, 7, 5, 2, 2, 3], 5150),
        (100.0, 0.5, [51, 54, 47, 58, 46, 64], 5150),
        (100.0, 0.75, [[75, 71, 77], [68, 78, 63]], 5150),
        (
            [10.0, 200.0, 0.0, 5.0],
            [0.25, 0.875, 0.5, 1.0],
            [[4, 4], [162, 177], [0, 0], [5, 5]],
            1000,
        ),
        ([10.0, 200.0], 0.25, [[4, 4, 3], [43, 41, 49]], 600),
    ],
)
def test_binomial_numbers(counts: Any, probs: Any, expected: Any, blocks: int) -> None:
    generator = Generator.from_seed(1234)
    drawn = generator.binomial(np.shape(expected), counts, probs)
    assert drawn.dtype is tf.int32 and drawn.op.type == "StatefulRandomBinomial"
    with _session(generator) as session:
        assert session.run(drawn).tolist() == expected
        assert session.run(generator.state)[0] == 1234 + blocks * 256


def test_binomial_parameters_of_other_sizes() -> None:
    generator = Generator.from_seed(1234)
    with (
        _session(generator) as session,
        pytest.raises(tf.errors.InvalidArgumentError, match=r"length 1 or shape\[0\], got"),
    ):
        session.run(generator.binomial([2, 3], [1.0, 2.0, 3.0], 0.5))


def test_a_function_makes_a_generator_in_its_first_call():
    made = []

    @tf.function
    def draw():
        if not made:
            made.append(tf.random.experimental.Generator(state=[1, 2, 3], alg=1))
        return made[0].normal([2])

    with eager_mode():
        expected = tf.random.experimental.Generator(state=[1, 2, 3], alg=1)
        for _ in range(2):
            np.testing.assert_array_equal(draw(), expected.normal([2]))
