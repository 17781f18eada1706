"""Mixed precision as a rewrite: products in 16 bits, sums and variables in 32."""

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.passes.precision import ALWAYS, BETWEEN, NEUTRAL, NEVER, lower_precision
from penstock.passes.prune import prune
from penstock.passes.rewriter_config import pass_options


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        yield graph


def config(switch="auto_mixed_precision_onednn_bfloat16"):
    made = tf.ConfigProto()
    setattr(made.graph_options.rewrite_options, switch, 1)  # ON
    return made


FLOAT16 = "auto_mixed_precision_cpu"


def by_type(step):
    found = {}
    for node in step.nodes:
        found.setdefault(node.type, []).append(node)
    return found


def compiled(settings, feeds, fetches):
    with tf.Session(config=settings) as sess:
        return by_type(sess._runtime.compile(feeds, fetches, []).placed)


def classifier():
    x = tf.placeholder(tf.float32, [None, 8, 8, 3])
    labels = tf.placeholder(tf.int32, [None])
    y = tf.layers.conv2d(x, 8, 3, activation=tf.nn.relu)
    y = tf.layers.batch_normalization(y, training=True, fused=True)
    y = tf.layers.max_pooling2d(y, 2, 2)
    y = tf.layers.dense(tf.layers.flatten(y), 4)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, y)
    return x, labels, y, loss


def batch(n=16):
    random = np.random.RandomState(0)
    labels = random.randint(0, 4, size=n)
    images = random.normal(size=(n, 8, 8, 3)).astype(np.float32)
    return images + labels[:, None, None, None], labels


def test_lists_have_nothing_in_common():
    lists = (ALWAYS, BETWEEN, NEVER, NEUTRAL)
    assert sum(map(len, lists)) == len(frozenset().union(*lists))


def test_types_of_a_training_step():
    x, labels, _, loss = classifier()
    grads = tf.gradients(loss, tf.trainable_variables())
    found = compiled(config(), [x, labels], [loss, *grads])
    for kind in ("Conv2D", "MatMul", "Conv2DBackpropFilter"):
        assert [node.dtypes[0] for node in found[kind]] == [tf.bfloat16] * len(found[kind])
    (crossed,) = found["SparseSoftmaxCrossEntropyWithLogits"]
    assert crossed.dtypes[0] is tf.float32 and crossed.inputs[0].dtype is tf.float32
    assert all(node.dtypes[0].base_dtype is tf.float32 for node in found["VariableV2"])


@pytest.mark.parametrize(
    ("switch", "tolerance"), [("auto_mixed_precision_onednn_bfloat16", 0.1), (FLOAT16, 0.03)]
)
def test_values_are_near_and_fetches_keep_their_types(switch, tolerance):
    x, labels, y, loss = classifier()
    grads = tf.gradients(loss, tf.trainable_variables())
    images, classes = batch()
    found = []
    for settings in (None, config(switch)):
        with tf.Session(config=settings) as sess:
            sess.run(tf.global_variables_initializer())
            found.append(sess.run([loss, y, *grads], {x: images, labels: classes}))
    for exact, near in zip(*found, strict=True):
        assert near.dtype == np.float32
        np.testing.assert_allclose(near, exact, atol=tolerance * (1 + np.abs(exact).max()))
    assert any(
        (exact != near).any() for exact, near in zip(found[0][1:], found[1][1:], strict=True)
    )


def test_training_learns():
    x, labels, _, loss = classifier()
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    images, classes = batch()
    with tf.Session(config=config()) as sess:
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, train], {x: images, labels: classes})[0] for _ in range(40)]
    assert losses[-1] < 0.5 * losses[0]


def test_a_value_is_converted_once():
    x, w = tf.placeholder(tf.float32, [2, 2]), tf.get_variable("w", [2, 2])
    step = prune([x], [tf.matmul(x, w) + 0.0, tf.matmul(x, tf.transpose(x))], [])
    lower_precision(step, tf.float16)
    step.verify("test")
    of_feed = [n for n in by_type(step)["Cast"] if n.inputs[0].node.type == "_Feed"]
    assert len(of_feed) == 1
    assert all(edge.dtype is tf.float32 for edge in step.fetches)


def test_what_lies_between_products_and_what_follows_sums():
    x, w = tf.placeholder(tf.float32, [2, 2]), tf.placeholder(tf.float32, [2, 2])
    inner = tf.nn.elu(tf.matmul(x, w), name="inner")
    outer = tf.reduce_sum(tf.matmul(inner, w))
    after = tf.exp(tf.sqrt(outer, name="after"))
    step = prune([x, w], [after], [])
    lower_precision(step, tf.bfloat16)
    named = {node.name: node for node in step.nodes}
    assert named["inner"].dtypes[0] is tf.bfloat16
    assert named["after"].dtypes[0] is tf.float32


def test_integers_and_doubles_stay():
    a = tf.placeholder(tf.float64, [2, 2])
    b = tf.placeholder(tf.int32, [2, 2])
    step = prune([a, b], [tf.matmul(a, a), tf.matmul(b, b)], [])
    lower_precision(step, tf.float16)
    assert [node.dtypes[0] for node in by_type(step)["MatMul"]] == [tf.float64, tf.int32]


def test_products_in_loops_and_branches():
    x = tf.placeholder(tf.float32, [2, 2])
    n = tf.placeholder_with_default(3, [])
    _, y = tf.while_loop(
        lambda i, _: i < n, lambda i, v: (i + 1, tf.matmul(v, x) * 0.5), [0, tf.eye(2)]
    )
    y = tf.cond(n > 2, lambda: tf.matmul(y, y), lambda: y)
    value = np.array([[1.0, 0.5], [0.25, 1.0]], np.float32)
    found = []
    for settings in (None, config()):
        with tf.Session(config=settings) as sess:
            found.append(sess.run(y, {x: value}))
    np.testing.assert_allclose(found[1], found[0], rtol=0.03)
    assert (found[0] != found[1]).any()


def test_on_a_cpu_tensorflows_switch_changes_nothing():
    """`auto_mixed_precision` is for GPUs: CPUs are no faster in float16."""
    x = tf.placeholder(tf.float32, [2, 2])
    settings = config("auto_mixed_precision")
    settings.device_count["GPU"] = 0
    found = compiled(settings, [x], [tf.matmul(x, x)])
    assert found["MatMul"][0].dtypes[0] is tf.float32


def test_with_a_gpu_it_means_float16():
    settings = config("auto_mixed_precision")
    assert pass_options(settings, has_gpu=True).precision == "float16"
    assert pass_options(tf.ConfigProto(), has_gpu=True).precision is None


def test_explain_shows_it():
    x = tf.placeholder(tf.float32, [2, 2])
    with tf.Session(config=config()) as sess:
        text = str(tf.explain(tf.matmul(x, x), [x], sess))
    assert "lower_precision: 2 added, 1 changed" in text


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_on_a_gpu_tensorflows_switch_means_float16():
    x, labels, _, loss = classifier()
    grads = tf.gradients(loss, tf.trainable_variables())
    found = compiled(config("auto_mixed_precision"), [x, labels], grads)
    assert found["Conv2D"][0].dtypes[0] is tf.float16
    images, classes = batch()
    values = []
    for settings in (None, config("auto_mixed_precision")):
        with tf.Session(config=settings) as sess:
            sess.run(tf.global_variables_initializer())
            values.append(sess.run([loss, *grads], {x: images, labels: classes}))
    for exact, near in zip(*values, strict=True):
        np.testing.assert_allclose(near, exact, atol=0.03 * (1 + np.abs(exact).max()))
