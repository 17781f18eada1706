"""Large products that are computed while a loop runs: which ones, and with the same results."""

import threading

import numpy as np
import pytest

import penstock as tf
from penstock.passes import beside
from penstock.runtime import beside as runtime_beside
from penstock.runtime.fusion import regions, trial
from penstock.runtime.fusion.forms import FormRecorder

TWO_THREADS = tf.ConfigProto(intra_op_parallelism_threads=2)
TWO_THREADS.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1


@pytest.fixture(autouse=True)
def graph(monkeypatch):
    monkeypatch.delenv("PENSTOCK_FUSION", raising=False)
    monkeypatch.setattr(regions, "_compile_elsewhere", lambda sources, threads: False)
    monkeypatch.setattr(FormRecorder, "seconds", lambda self, graph: seconds_of(graph))
    monkeypatch.setattr(trial, "TURNS", 2)
    with tf.Graph().as_default() as graph:
        yield graph


def seconds_of(graph):
    """Loops that take longer than products."""
    return {node.name: 2.0 if node.type == "_While" else 0.5 for node in graph.nodes}


def random(*shape, seed=0):
    """A value that is not known before the step runs."""
    return tf.random_uniform(shape, seed=seed, dtype=tf.float64)


def powers(start, weight, count=3):
    """A loop that multiplies by a weight again and again."""
    body = lambda i, x: (i + 1, tf.tanh(tf.matmul(x, weight)))  # noqa: E731
    return tf.while_loop(lambda i, _: i < count, body, [0, start])[1]


def joined(fetches, **times):
    """The step with loops and products joined, and how many products are beside a loop."""
    with tf.Session() as session:
        step = session._prepare(None, fetches, {}).step.graph.copy()
        beside.compute_products_beside(step, {**seconds_of(step), **times}, lambda loop: True)
    found = [node for node in step.nodes if node.type == "_WhileBeside"]
    return step, sum(len(node.attrs["products"]) for node in found)


def test_what_needs_the_product_moves_behind_the_loop():
    product = tf.matmul(random(4, 5), random(5, 6, seed=1))
    norm = tf.reduce_sum(tf.square(product), name="norm")
    result = powers(random(4, 4, seed=2), random(4, 4, seed=3))
    step, count = joined([norm, result])
    assert count == 1
    types = [node.type for node in step.nodes]
    assert types.index("_WhileBeside") < types.index("Square") and "MatMul" not in types


def test_what_the_loop_needs_or_gives_stays():
    before = tf.matmul(random(4, 5), random(5, 4, seed=1))
    after = tf.matmul(powers(before, random(4, 4, seed=3)), random(4, 4, seed=2))
    assert joined([before, after])[1] == 0


def test_of_products_that_need_each_other_one_is_beside_the_loop():
    first = tf.matmul(random(4, 5), random(5, 6, seed=1))
    second = tf.matmul(first, random(6, 4, seed=4))
    assert joined([second, powers(random(4, 4), random(4, 4, seed=3))])[1] == 1


def test_products_share_the_time_of_the_loop():
    result = powers(random(4, 4), random(4, 4, seed=3))
    products = [tf.matmul(random(4, 5), random(5, 6, seed=i), name=f"p{i}") for i in range(3)]
    assert joined([result, *products])[1] == 3
    assert joined([result, *products], p0=1.2)[1] == 2
    assert joined([result, *products], p0=3.0, p1=3.0, p2=3.0)[1] == 0
    assert joined([result, *products], p0=0.01, p1=0.01, p2=0.01)[1] == 0  # not worth a thread


def test_a_loop_that_writes_has_nothing_beside_it():
    counter = tf.Variable(0.0)

    def body(i):
        with tf.control_dependencies([counter.assign_add(1.0)]):
            return i + 1

    loop = tf.while_loop(lambda i: i < 3, body, [0])
    assert joined([loop, tf.matmul(random(4, 5), random(5, 6, seed=1))])[1] == 0


def test_an_effect_before_the_loop_stays_there():
    product = tf.matmul(random(4, 5), random(5, 6, seed=1))
    variable = tf.Variable(np.zeros((4, 6)))
    update = variable.assign(product)
    with tf.control_dependencies([update]):
        start = tf.identity(random(4, 4))
    assert joined([update, powers(start, random(4, 4, seed=3))])[1] == 0


def language_model():
    """A recurrent network with a large layer behind it, and the step that trains it."""
    tf.set_random_seed(3)
    x = tf.constant(np.random.default_rng(0).standard_normal([4, 5, 6]).astype(np.float32))
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(8), x, dtype=tf.float32)
    weights = tf.get_variable("weights", [8, 30])
    logits = tf.matmul(tf.reshape(outputs, [-1, 8]), weights)
    labels = tf.constant(np.arange(20) % 30)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 0.5)
    optimizer = tf.train.GradientDescentOptimizer(0.5)
    return loss, optimizer.apply_gradients(zip(gradients, variables, strict=True))


def losses(config):
    """The losses of ten steps, and the forms of the loops in the end."""
    with tf.Graph().as_default():
        loss, train = language_model()
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            step = session._prepare(None, [loss, train], {}).step
            found = []
            for _ in range(10):
                found.append(session.run([loss, train])[0])
                if (warming := step.warming) is not None:
                    warming.wait()
            (graph,) = step.fused or [step.graph]
            text = str(tf.explain([loss, train], [], session))
            assert ("products beside loops:" in text) is any(
                node.type == "_WhileBeside" for node in graph.nodes
            )
            return found, {node.type for node in graph.nodes if "loop" in node.attrs}


@pytest.mark.parametrize("is_faster", [True, False])
def test_training(is_faster, monkeypatch):
    monkeypatch.setattr(trial, "_WORTH_IT", 1e9 if is_faster else 0.0)
    found, loops = losses(TWO_THREADS)
    assert loops == ({"_While", "_WhileBeside"} if is_faster else {"_While"})
    expected, plain_loops = losses(None)
    assert plain_loops == {"_While"}
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_one_thread_for_nodes_computes_nothing_beside(monkeypatch):
    monkeypatch.setattr(trial, "_WORTH_IT", 1e9)
    config = tf.ConfigProto()
    config.CopyFrom(TWO_THREADS)
    config.inter_op_parallelism_threads = 1
    assert losses(config)[1] == {"_While"}


def run_joined(fetches, feeds):
    """The results of a step whose loops have products beside them."""
    with tf.Session(config=TWO_THREADS) as session:
        compiled = session._prepare(None, fetches, feeds).step
        step = compiled.graph.copy()
        assert beside.compute_products_beside(step, seconds_of(step), lambda loop: True)
        compiled.use_fused([step], session._runtime._by_name)
        return session.run(fetches, feeds)


def test_an_error_is_that_of_its_node():
    x = tf.placeholder(tf.float64, [None, 4])
    weight = tf.placeholder(tf.float64, [None, 4], name="weight")
    result = powers(x, weight)
    product = tf.matmul(random(4, 5), random(5, 6, seed=1))
    feeds = {x: np.ones((2, 4)), weight: np.eye(4)}
    value, _ = run_joined([result, product], feeds)
    np.testing.assert_allclose(value, np.tanh(np.tanh(np.tanh(np.ones((2, 4))))))
    with pytest.raises(tf.errors.InvalidArgumentError, match="iteration 0"):
        run_joined([result, product], {x: np.ones((2, 4)), weight: np.eye(4)[:3]})


def test_a_thread_of_its_own_computes_the_product(monkeypatch):
    names = []
    compute = runtime_beside._Pending.compute

    def noted(self, threads):
        names.append(threading.current_thread().name)
        compute(self, threads)

    monkeypatch.setattr(runtime_beside._Pending, "compute", noted)
    product = tf.matmul(random(4, 5), random(5, 6, seed=1))
    run_joined([powers(random(4, 4), random(4, 4, seed=3)), product], {})
    assert names == ["penstock-beside"]
