"""Variables, optimizers and checkpoints of eager mode."""

import gc
import weakref

import numpy as np
import pytest

import penstock as tf
from penstock.internal_paths.graph_mode import eager_mode

tfe = tf.contrib.eager


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield


def test_a_variable_has_its_value():
    v = tf.Variable([1.0, 2.0], name="v")
    assert (v.name, v.initializer, v.shape.as_list()) == ("v:0", None, [2])
    assert repr(v) == (
        "<tf.Variable 'v:0' shape=(2,) dtype=float32, numpy=array([1., 2.], dtype=float32)>"
    )
    np.testing.assert_array_equal((v.assign_add([1.0, 1.0]) + 1).numpy(), [3, 4])
    assert v.assign(v * 2, read_value=False) is None
    v[0].assign(0.0)
    np.testing.assert_array_equal(v.numpy(), [0, 6])
    assert v.is_initialized() and v.device.endswith("CPU:0")
    for attribute in ("op", "graph"):
        with pytest.raises(AttributeError, match="is meaningless"):
            getattr(v, attribute)
    with pytest.raises(RuntimeError, match="not supported in EAGER mode"):
        v.to_proto()
    with pytest.raises(ValueError, match="incompatible"):
        v.assign([1.0])


def test_what_was_read_stays():
    v = tf.Variable([1.0, 2.0])
    read = v.value()
    v.assign_add([1.0, 1.0])
    np.testing.assert_array_equal(read.numpy(), [1, 2])
    np.testing.assert_array_equal(v.numpy(), [2, 3])


def test_a_variable_dies_with_its_object():
    v = tf.Variable(tf.zeros([10]))
    state = weakref.ref(v.handle)
    del v
    gc.collect()
    assert state() is None


def test_get_variable_shares_in_a_store_alone():
    assert tf.get_variable("a", [1]) is not tf.get_variable("a", [1])
    store = tfe.EagerVariableStore()
    with store.as_default():
        a = tf.get_variable("a", [1])
        assert tf.get_variable("a", [1]) is a
        tf.layers.dense(tf.ones([1, 2]), 1, name="d")
    assert [v.name for v in store.trainable_variables()] == ["a:0", "d/bias:0", "d/kernel:0"]
    template = tf.make_template("t", lambda: tf.get_variable("v", [1]))
    assert template() is template() and template.trainable_variables == [template()]
    assert tf.global_variables() == []


OPTIMIZERS = {
    "sgd": lambda: tf.train.GradientDescentOptimizer(0.1),
    "rate as a function": lambda: tf.train.GradientDescentOptimizer(lambda: 0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "adam": lambda: tf.train.AdamOptimizer(0.1),
    "rmsprop": lambda: tf.train.RMSPropOptimizer(0.1),
    "keras": lambda: tf.keras.optimizers.Adam(0.1),
}


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_optimizers_take_the_steps_that_they_take_in_graphs(make):
    def train(step):
        for _ in range(3):
            step()

    v = tf.Variable([1.0, -2.0])
    optimizer = make()
    train(lambda: optimizer.minimize(lambda: tf.reduce_sum(v * v), var_list=[v]))
    found = v.numpy()
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.Variable([1.0, -2.0], use_resource=True)
        op = make().minimize(tf.reduce_sum(w * w), var_list=[w])
        sess.run(tf.global_variables_initializer())
        train(lambda: sess.run(op))
        np.testing.assert_allclose(found, sess.run(w), rtol=1e-6)


def test_a_loss_is_a_function():
    v, step = tf.Variable(1.0), tf.train.get_or_create_global_step()
    optimizer = tf.train.GradientDescentOptimizer(
        tf.train.exponential_decay(0.5, step, 1, 0.1, staircase=True)
    )
    for _ in range(2):
        optimizer.minimize(lambda: v * v, global_step=step)
    assert step.numpy() == 2 and v.numpy() == 0.0
    with pytest.raises(RuntimeError, match="should be a function when eager"):
        optimizer.minimize(v * v)


def test_checkpoints(tmp_path):
    def model():
        layer = tf.layers.Dense(1, kernel_initializer=tf.ones_initializer())
        optimizer = tf.train.AdamOptimizer(0.1)
        return layer, optimizer, tf.train.Checkpoint(layer=layer, optimizer=optimizer)

    def step(layer, optimizer):
        optimizer.minimize(lambda: tf.reduce_sum(layer(tf.ones([1, 2]))))

    layer, optimizer, checkpoint = model()
    step(layer, optimizer)
    path = checkpoint.save(str(tmp_path / "saved"))
    step(layer, optimizer)
    again, its_optimizer, its_checkpoint = model()
    status = its_checkpoint.restore(path)  # before there are variables
    step(again, its_optimizer)
    status.assert_consumed()
    np.testing.assert_array_equal(again.kernel.numpy(), layer.kernel.numpy())
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=1)
    assert manager.save() == tf.train.latest_checkpoint(str(tmp_path))


def test_savers(tmp_path):
    v = tf.Variable(3.0, name="v")
    for saver in (tfe.Saver([v]), tfe.Saver({"v": v})):
        path = saver.save(str(tmp_path / "saved"), global_step=7)
        assert path.endswith("saved-7")
        v.assign(0.0)
        saver.restore(path)
        assert v.numpy() == 3.0
    with pytest.raises(RuntimeError, match="`var_list` must specify"):
        tf.train.Saver()


def test_tables_and_queues():
    pairs = tf.contrib.lookup.KeyValueTensorInitializer(["a"], [1])
    table = tf.contrib.lookup.HashTable(pairs, -1)
    np.testing.assert_array_equal(table.lookup(tf.constant(["a", "b"])).numpy(), [1, -1])
    queue = tf.FIFOQueue(3, tf.int32, shapes=[[]])
    queue.enqueue(3)
    assert (queue.size().numpy(), queue.dequeue().numpy()) == (1, 3)


def test_scopes_use_resources():
    with tf.variable_scope("scope", use_resource=False) as scope:
        assert scope.use_resource
        with pytest.raises(ValueError, match="use_resource cannot be set to false"):
            scope.set_use_resource(False)
