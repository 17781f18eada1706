"""The nodes that functions for random numbers make, with their seeds."""

from __future__ import annotations

from typing import Any

from tests.ops.graphs.snapshot import error_of


def uniform(tf: Any) -> Any:
    return [
        tf.random_uniform([2, 3]),
        tf.random_uniform([2, 3], -1.0, 2.0, seed=5),
        tf.random_uniform([2], 0, 1),
        tf.random_uniform([2], 0.0, 1.0),
        tf.random_uniform([2], 0, 5.0),
        tf.random_uniform([2], -1),
        tf.random_uniform([2], tf.constant(0.0), tf.constant([1.0, 2.0])),
        tf.random_uniform([2, 3], 0, 10, tf.int32, seed=5),
        tf.random_uniform((), maxval=3, dtype=tf.int64),
        tf.random.uniform([2], dtype=tf.float64, name="named"),
        error_of(lambda: tf.random_uniform([2], dtype=tf.int32)),
        error_of(lambda: tf.random_uniform([2], 0, 5, dtype=tf.int8)),
        error_of(lambda: tf.random_uniform([2], None, 5, dtype=tf.int32)),
        error_of(lambda: tf.random_uniform([2], dtype=tf.string)),
    ]


def normal(tf: Any) -> Any:
    sizes = tf.placeholder(tf.float32, [None, 2])
    return [
        tf.random_normal([2, 3]),
        tf.random_normal([3], tf.constant([1.0, 2.0, 3.0]), 2, seed=1),
        tf.random_normal([], dtype=tf.float16),
        tf.random_normal(tf.shape(sizes)),
        tf.random_normal([tf.shape(sizes)[0], 3]),
        tf.random_normal([tf.constant(2, tf.int64), 3]),
        tf.random_normal([tf.Dimension(2), 3]),
        tf.random_normal(tf.TensorShape([2, 3])),
        tf.random_normal(tf.constant([2], tf.int64)),
        tf.truncated_normal([2, 3], 1.0, 0.5, seed=2),
        tf.random.truncated_normal([2], dtype=tf.float64, name="named"),
        error_of(lambda: tf.random_normal([2], dtype=tf.int32)),
        error_of(lambda: tf.random_normal(3)),
    ]


def seeds(tf: Any) -> Any:
    made = [tf.get_seed(None), tf.get_seed(4), tf.get_seed(0)]
    tf.random_normal([1])
    tf.set_random_seed(7)
    tf.random_uniform([2])
    tf.constant(1)
    tf.random_normal([2])
    tf.truncated_normal([2], seed=9)
    tf.random_shuffle([1, 2, 3])
    tf.multinomial([[1.0, 2.0]], 3)
    made += [tf.get_seed(3)]  # the number of a seedless op is another in each release
    tf.set_random_seed(8)
    tf.random_normal([2])
    tf.cond(
        tf.placeholder(tf.bool, []),
        lambda: tf.random_normal([1]),
        lambda: tf.random_normal([1]),
    )
    return made


def seeds_of_all_sizes(tf: Any) -> Any:
    tf.set_random_seed(0)
    for seed in (0, -3, 2**40 + 3, 1.5):
        tf.random_uniform([2], seed=seed)
    tf.set_random_seed(2**33)
    tf.random_uniform([2], seed=2**31 - 1)
    tf.set_random_seed(None)
    tf.random_uniform([2])
    return [tf.get_seed(2**31 - 1)]


def samples(tf: Any) -> Any:
    logits = tf.placeholder(tf.float32, [None, 3])
    return [
        tf.random_shuffle([3, 1, 2], seed=1, name="shuffled"),
        tf.multinomial([[1.0, 2.0]], 3, seed=1),
        tf.multinomial(logits, tf.placeholder(tf.int32, []), output_dtype=tf.int32),
        tf.random.categorical(logits, 5, seed=2),
        tf.random.categorical(logits, 5, tf.int32, name="chosen"),
        tf.random_gamma([3], [1.0, 2.0], seed=1),
        tf.random_gamma([3], [1.0, 2.0], [[2.0], [3.0]], dtype=tf.float64),
        tf.random_gamma([], tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32)),
        tf.random_poisson(tf.constant([1.0, 2.0]), [3], seed=1),
        tf.random_poisson(2.0, [], dtype=tf.int32),
        tf.random_poisson(lam=[1, 2], shape=[2]),
        error_of(lambda: tf.multinomial([1.0, 2.0], 3)),
    ]


def crop(tf: Any) -> Any:
    image = tf.placeholder(tf.float32, [None, None, 3])
    return [
        tf.random_crop(image, [24, 24, 3], seed=1),
        tf.random_crop([[1.0, 2.0], [3.0, 4.0]], tf.placeholder(tf.int32, [2]), name="part"),
    ]


def of_a_seed(tf: Any) -> Any:
    seed = [1, 2]
    return [
        tf.random.stateless_uniform([2], seed),
        tf.random.stateless_uniform([2], seed, -1, 3, tf.float64),
        tf.random.stateless_uniform([2], tf.constant(seed, tf.int64), -1, 3, tf.int32),
        tf.random.stateless_normal([2], seed, name="named"),
        tf.random.stateless_truncated_normal([2], seed, 1.0, 2.0),
        tf.random.stateless_multinomial([[1.0, 2.0]], 3, seed),
        tf.random.stateless_categorical([[1.0, 2.0]], 3, seed, dtype=tf.int32),
        error_of(lambda: tf.random.stateless_normal([2], [1, 2, 3])),
        error_of(lambda: tf.random.stateless_uniform([2], seed, 0, None, tf.int32)),
    ]


def gradient(tf: Any) -> Any:
    alpha = tf.constant([1.0, 2.0])
    return tf.gradients(tf.random_gamma([2], alpha, seed=1), [alpha])
