"""Functions of tf.nn: values, data formats, argument orders, and samplers over several steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


def _run(fetches: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


def _numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.RandomState(seed).standard_normal(shape)


# Data formats: what holds channels last, which TensorFlow checks, holds channels first ------------


def _first(image: np.ndarray) -> np.ndarray:
    return np.moveaxis(image, -1, 1)


def _formats(rank: int) -> tuple[str, str]:
    return ("NHWC", "NCHW") if rank == 4 else ("NDHWC", "NCDHW")


def _both(make: Any, image: np.ndarray, *others: Any) -> None:
    """Compares values and gradients of an op on an image in both orders of its dimensions."""
    last, first = _formats(image.ndim)
    results = []
    for data_format, given in ((last, image), (first, _first(image))):
        inputs = [tf.constant(given), *(tf.constant(entry) for entry in others)]
        y = make(*inputs, data_format=data_format)
        results.append(_run([y, *tf.gradients(y * y, inputs)]))
    (y, by_image, *by_others), (y_first, by_first, *by_others_first) = results
    np.testing.assert_allclose(y_first, _first(y), rtol=1e-12)
    np.testing.assert_allclose(by_first, _first(by_image), rtol=1e-12)
    for ours, theirs in zip(by_others_first, by_others, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("stride", [1, 2])
def test_conv2d_channels_first(padding: str, stride: int) -> None:
    _both(
        lambda x, w, data_format: tf.nn.conv2d(x, w, stride, padding, data_format=data_format),
        _numbers(2, 6, 7, 3),
        _numbers(3, 2, 3, 4, seed=1),
    )


def test_conv3d_channels_first() -> None:
    _both(
        lambda x, w, data_format: tf.nn.conv3d(x, w, [1] * 5, "SAME", data_format=data_format),
        _numbers(1, 4, 5, 4, 2),
        _numbers(3, 2, 3, 2, 3, seed=1),
    )


def test_depthwise_conv2d_channels_first() -> None:
    def convolve(x: Any, w: Any, data_format: str) -> Any:
        return tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME", data_format=data_format)

    _both(convolve, _numbers(2, 6, 7, 3), _numbers(3, 3, 3, 2, seed=1))


@pytest.mark.parametrize("function", [tf.nn.max_pool, tf.nn.avg_pool])
@pytest.mark.parametrize(("size", "stride"), [(3, 2), (2, 1)])
def test_pooling_channels_first(function: Any, size: int, stride: int) -> None:
    def pool(x: Any, data_format: str) -> Any:
        return function(x, size, stride, "SAME", data_format=data_format)

    _both(pool, _numbers(2, 6, 7, 3))


def test_fused_batch_norm_channels_first() -> None:
    image, scale = _numbers(3, 4, 5, 2).astype("float32"), np.float32([1.5, 0.5])
    results = []
    for data_format, given in (("NHWC", image), ("NCHW", _first(image))):
        x = tf.constant(given)
        y, mean, variance = tf.nn.fused_batch_norm(x, scale, scale, data_format=data_format)
        results.append(_run([y, mean, variance, tf.gradients(y**3, x)[0]]))
    (y, *statistics, grad), (y_first, *statistics_first, grad_first) = results
    np.testing.assert_allclose(y_first, _first(y), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(grad_first, _first(grad), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(statistics_first, statistics, rtol=1e-5)


# Convolutions by other means ----------------------------------------------------------------------


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_dilation_by_space_to_batch_is_dilation_by_attr(padding: str) -> None:
    x, w = tf.constant(_numbers(2, 9, 8, 3)), tf.constant(_numbers(3, 3, 3, 4))
    moved = tf.nn.atrous_conv2d(x, w, 2, padding)
    direct = tf.nn.conv2d(x, w, 1, padding, dilations=[1, 2, 2, 1])
    np.testing.assert_allclose(*_run([moved, direct]), rtol=1e-12)


def test_group_convolution_is_convolution_of_groups() -> None:
    x, w = _numbers(1, 5, 5, 4), _numbers(3, 3, 2, 6)
    whole = tf.nn.conv2d(x, w, 1, "SAME")
    parts = [
        tf.nn.conv2d(x[..., 2 * i : 2 * i + 2], w[..., 3 * i : 3 * i + 3], 1, "SAME")
        for i in range(2)
    ]
    np.testing.assert_allclose(*_run([whole, tf.concat(parts, -1)]), rtol=1e-12)


def test_separable_convolution_is_a_full_one() -> None:
    x, depthwise, pointwise = _numbers(1, 5, 5, 2), _numbers(3, 3, 2, 2), _numbers(1, 1, 4, 3)
    y = tf.nn.separable_conv2d(x, depthwise, pointwise, [1, 1, 1, 1], "SAME")
    full = np.einsum("hwcm,cmo->hwco", depthwise, pointwise.reshape(2, 2, 3))
    np.testing.assert_allclose(*_run([y, tf.nn.conv2d(x, full, 1, "SAME")]), rtol=1e-10)


def test_images_of_changing_sizes_share_a_plan() -> None:
    x = tf.placeholder(tf.float32, [None, None, None, 1])
    y = tf.nn.max_pool(tf.nn.conv2d(x, np.ones((3, 3, 1, 1), "f"), 1, "SAME"), 2, 2, "SAME")
    with tf.Session() as session:
        for size in (1, 4, 7):
            result = session.run(y, {x: np.ones((2, size, size, 1))})
            assert result.shape == (2, -(-size // 2), -(-size // 2), 1)


# Cross entropies ----------------------------------------------------------------------------------

LOGITS, LABELS = np.float32([[1, 2, 3], [0, 0, 5]]), np.float32([[0, 1, 0], [0.5, 0.5, 0]])


@pytest.mark.parametrize(
    ("function", "labels"),
    [
        (tf.nn.softmax_cross_entropy_with_logits, LABELS),
        (tf.nn.sparse_softmax_cross_entropy_with_logits, np.int32([1, 0])),
        (tf.nn.sigmoid_cross_entropy_with_logits, LABELS),
    ],
)
def test_positional_arguments_are_logits_and_labels(function: Any, labels: np.ndarray) -> None:
    named = function(labels=labels, logits=LOGITS)
    np.testing.assert_array_equal(*_run([function(LOGITS, labels), named]))
    assert function(LOGITS, labels, "losses").op.name.startswith("losses")


@pytest.mark.parametrize(
    "function", [tf.nn.softmax_cross_entropy_with_logits, tf.nn.sigmoid_cross_entropy_with_logits]
)
def test_arguments_by_position_and_name_are_refused(function: Any) -> None:
    with pytest.raises(ValueError, match="named arguments"):
        function(LOGITS, LABELS, LOGITS)
    with pytest.raises(ValueError, match="must be provided"):
        function(labels=LABELS)


def test_labels_of_other_sizes_are_told_in_the_step() -> None:
    logits, labels = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    with pytest.raises(tf.errors.InvalidArgumentError):
        _run(loss, {logits: np.ones((2, 3, 4)), labels: np.zeros((2, 2))})


# Dropout ------------------------------------------------------------------------------------------


def test_dropout_keeps_a_share_and_scales_it() -> None:
    dropped = _run(tf.nn.dropout(tf.ones([100, 100]), keep_prob=0.8))
    assert set(np.unique(dropped)) == {0.0, np.float32(1.25)}
    assert abs(np.mean(dropped != 0) - 0.8) < 0.02


def test_dropout_of_whole_rows_by_a_fed_rate() -> None:
    keep_prob = tf.placeholder(tf.float32, [])
    y = tf.nn.dropout(tf.ones([50, 4]), keep_prob, noise_shape=[50, 1], seed=1)
    with tf.Session() as session:
        dropped = session.run(y, {keep_prob: 0.5})
        np.testing.assert_array_equal(session.run(y, {keep_prob: 1.0}), np.ones([50, 4]))
    assert (dropped == dropped[:, :1]).all()
    assert 0 < np.count_nonzero(dropped[:, 0]) < 50


def test_dropout_keeps_the_shape_whatever_the_rate_is() -> None:
    x = tf.placeholder(tf.float32, [None, 4])
    assert tf.nn.dropout(x, tf.placeholder(tf.float32)).shape.as_list() == [None, 4]
    rows = tf.nn.dropout(x, 0.5, noise_shape=[tf.shape(x)[0], 1])
    assert rows.shape.as_list() == [None, 4]


# Embeddings ---------------------------------------------------------------------------------------

TABLE = _numbers(10, 3)


@pytest.mark.parametrize("ids", [[3, 1, 9, 3], [[0, 5], [9, 9]], []])
@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_embeddings_in_parts_are_those_of_the_whole(strategy: str, ids: Any) -> None:
    ids = np.array(ids, np.int64)
    parts = [TABLE[i::3] for i in range(3)] if strategy == "mod" else np.array_split(TABLE, 3)
    looked_up = tf.nn.embedding_lookup(list(parts), ids, partition_strategy=strategy)
    np.testing.assert_array_equal(_run(looked_up), TABLE[ids])


def test_the_gradient_of_a_lookup_is_sparse() -> None:
    table = tf.Variable(TABLE)
    (slices,) = tf.gradients(tf.nn.embedding_lookup(table, [2, 7, 2]), table)
    assert isinstance(slices, tf.IndexedSlices)
    value = _run(slices)
    np.testing.assert_array_equal(value.indices, [2, 7, 2])
    np.testing.assert_array_equal(value.values, np.ones([3, 3]))


def test_long_embeddings_are_clipped() -> None:
    rows = _run(tf.nn.embedding_lookup(TABLE, [0, 1, 2], max_norm=0.5))
    lengths = np.linalg.norm(TABLE[:3], axis=1, keepdims=True)
    np.testing.assert_allclose(rows, TABLE[:3] * np.minimum(1, 0.5 / lengths), rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
def test_combined_embeddings(combiner: str, weighted: bool) -> None:
    indices = np.array([[0, 0], [0, 1], [2, 0]], np.int64)
    ids, weights = np.array([4, 1, 4], np.int64), np.array([2.0, 0.5, 3.0])
    shape = np.array([3, 2], np.int64)
    sp_weights = tf.SparseTensor(indices, weights, shape) if weighted else None
    combined = tf.nn.embedding_lookup_sparse(
        TABLE, tf.SparseTensor(indices, ids, shape), sp_weights, combiner=combiner
    )
    if not weighted:
        weights = np.ones(3)
    total = weights[0] * TABLE[4] + weights[1] * TABLE[1]
    divisor = {
        "sum": 1,
        "mean": weights[:2].sum(),
        "sqrtn": np.sqrt((weights[:2] ** 2).sum()),
    }[combiner]
    last = TABLE[4] * (weights[2] if combiner == "sum" else 1)
    without_ids = np.full(3, np.nan if weighted and combiner != "sum" else 0.0)
    expected = [total / divisor, without_ids, last]
    np.testing.assert_allclose(_run(combined), expected, rtol=1e-12)


# Sampled losses, against TensorFlow 2.21 with the same seeds --------------------------------------

_state = np.random.RandomState(0)
WEIGHTS, BIASES = _state.randn(20, 4).astype("f"), _state.randn(20).astype("f")
INPUTS, CLASSES = _state.randn(3, 4).astype("f"), np.array([[1], [5], [0]])


def _sampled() -> Any:
    return tf.nn.log_uniform_candidate_sampler(CLASSES, 1, 6, True, 20, seed=3)


@pytest.mark.parametrize(
    ("without_hits", "expected"),
    [(False, [26.3752956, 8.0253277, 20.6691017]), (True, [26.3752956, 8.0253277, 13.8549862])],
)
def test_nce_loss(without_hits: bool, expected: list[float]) -> None:
    loss = tf.nn.nce_loss(
        WEIGHTS,
        BIASES,
        tf.constant(CLASSES),
        tf.constant(INPUTS),
        6,
        20,
        sampled_values=_sampled(),
        remove_accidental_hits=without_hits,
    )
    np.testing.assert_allclose(_run(loss), expected, rtol=1e-5)


def test_sampled_softmax_loss() -> None:
    parts = [WEIGHTS[0::2], WEIGHTS[1::2]]
    labels, inputs = tf.constant(CLASSES), tf.constant(INPUTS)
    loss = tf.nn.sampled_softmax_loss(parts, BIASES, labels, inputs, 6, 20, seed=3)
    np.testing.assert_allclose(_run(loss), [3.7111745, 0.0356129, 0.3723202], rtol=1e-4)


def test_sampling_all_classes_gives_the_softmax_itself() -> None:
    labels, inputs = tf.constant(CLASSES), tf.constant(INPUTS)
    everything = tf.nn.all_candidate_sampler(labels, 1, 20, True)
    sampled = tf.nn.sampled_softmax_loss(
        WEIGHTS, BIASES, labels, inputs, 20, 20, sampled_values=everything
    )
    logits = tf.matmul(inputs, WEIGHTS, transpose_b=True) + BIASES
    full = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=CLASSES[:, 0], logits=logits)
    np.testing.assert_allclose(*_run([sampled, full]), rtol=1e-5)


def test_a_learned_distribution_follows_what_it_has_seen() -> None:
    labels = tf.constant([[3]] * 50, tf.int64)
    sampler = tf.nn.learned_unigram_candidate_sampler(labels, 1, 20, False, 10, seed=1)
    with tf.Session() as session:
        first = session.run(sampler)
        for _ in range(20):
            session.run(sampler.sampled_candidates)
        last = session.run(sampler)
    np.testing.assert_allclose(first[1][0], 20 / 10, rtol=1e-6)
    # 21 steps of 50 times class 3, which started with one of ten.
    np.testing.assert_allclose(last[1][0], 20 * 1051 / 1060, rtol=1e-6)
    assert np.mean(last[0] == 3) > 0.9


def test_seeded_samplers_go_on_in_a_session_and_start_anew_in_the_next() -> None:
    sampled = tf.nn.uniform_candidate_sampler(CLASSES, 1, 8, True, 1000, seed=5)[0]
    runs = []
    for _ in range(2):
        with tf.Session() as session:
            runs.append([session.run(sampled).tolist() for _ in range(3)])
    assert runs[0] == runs[1]
    assert runs[0][0] != runs[0][1]


def test_counts_are_read_from_a_file(tmp_path: Any) -> None:
    file = tmp_path / "vocabulary.csv"
    file.write_text("the,100\nof,0\nand,100\n")
    sampled, _, expected = tf.nn.fixed_unigram_candidate_sampler(
        [[0]], 1, 50, False, 3, vocab_file=str(file)
    )
    classes, counts = _run([sampled, expected])
    assert set(classes.tolist()) == {0, 2}
    np.testing.assert_allclose(counts, 25, rtol=1e-6)


# Others -------------------------------------------------------------------------------------------


def test_zero_fraction() -> None:
    assert _run(tf.nn.zero_fraction([[0.0, 1.0], [2.0, 0.0]])) == 0.5


def test_erosion_is_the_minimum() -> None:
    image = _numbers(1, 4, 4, 1)
    eroded = _run(tf.nn.erosion2d(image, np.zeros((2, 2, 1)), [1] * 4, [1] * 4, "VALID"))
    windows = np.lib.stride_tricks.sliding_window_view(image[0, ..., 0], (2, 2))
    np.testing.assert_array_equal(eroded[0, ..., 0], windows.min((2, 3)))


def test_swish_and_its_gradient() -> None:
    x = tf.constant(_numbers(5))
    y = tf.nn.swish(x)
    value, grad = _run([y, tf.gradients(y, x)[0]])
    gate = 1 / (1 + np.exp(-_numbers(5)))
    np.testing.assert_allclose(value, _numbers(5) * gate, rtol=1e-12)
    np.testing.assert_allclose(grad, gate * (1 + _numbers(5) * (1 - gate)), rtol=1e-12)


def test_moments_and_batch_normalization() -> None:
    x = _numbers(6, 3)
    mean, variance = tf.nn.moments(tf.constant(x), [0])
    y = tf.nn.batch_normalization(tf.constant(x), mean, variance, None, None, 0.0)
    results = _run([mean, variance, y])
    deviations = x - x.mean(0)
    for ours, theirs in zip(results, (x.mean(0), x.var(0), deviations / x.std(0)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)
