"""The places of iterators in checkpoints of all kinds; what a pipeline leaves when it ends."""

from __future__ import annotations

import threading
import warnings

import pytest

import penstock as tf


def _numbers():
    return tf.data.Dataset.range(100).shuffle(10, seed=3).repeat()


def test_estimator_goes_on_in_its_input(tmp_path):
    seen = []

    def model(features, labels, mode):
        kept = tf.py_func(lambda n: seen.append(int(n)) or n, [features], tf.int64)
        with tf.control_dependencies([kept]):
            step = tf.assign_add(tf.train.get_global_step(), 1)
        return tf.estimator.EstimatorSpec(mode, loss=tf.constant(1.0), train_op=step)

    config = tf.estimator.RunConfig(save_checkpoints_steps=2)
    estimator = tf.estimator.Estimator(model, str(tmp_path), config)
    for _ in range(3):
        hook = tf.data.experimental.CheckpointInputPipelineHook(estimator)
        estimator.train(_numbers, hooks=[hook], steps=3)
    with tf.Graph().as_default(), tf.Session() as sess:
        element = _numbers().make_one_shot_iterator().get_next()
        assert seen == [int(sess.run(element)) for _ in range(9)]
    assert (tmp_path / "checkpoint_input").exists()
    assert "input.ckpt" not in (tmp_path / "checkpoint").read_text()


@pytest.mark.parametrize("one_shot", [False, True])
def test_object_based_checkpoints_hold_iterators(one_shot, tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        dataset = tf.data.Dataset.range(20).batch(2)
        if one_shot:
            iterator = dataset.make_one_shot_iterator()
        else:
            iterator = dataset.make_initializable_iterator()
            sess.run(iterator.initializer)
        element = iterator.get_next()
        checkpoint = tf.train.Checkpoint(iterator=iterator)
        assert sess.run(element).tolist() == [0, 1]
        path = checkpoint.save(str(tmp_path / "place"), session=sess)
        assert sess.run(element).tolist() == [2, 3]
        checkpoint.restore(path).run_restore_ops(sess)
        assert sess.run(element).tolist() == [2, 3]


def test_a_place_can_be_written_as_a_tensor():
    from penstock.ops.datasets.iterators import DeserializeIterator, SerializeIterator

    with tf.Graph().as_default(), tf.Session() as sess:
        iterator = tf.data.Dataset.range(5).make_initializable_iterator()
        element, text = iterator.get_next(), tf.placeholder(tf.string, [])
        written = tf.io.serialize_tensor(SerializeIterator(iterator._iterator_resource))
        state = tf.io.parse_tensor(text, tf.variant)
        restore = DeserializeIterator(iterator._iterator_resource, state)
        sess.run(iterator.initializer)
        assert sess.run(element) == 0
        place = sess.run(written)
        assert [sess.run(element) for _ in range(2)] == [1, 2]
        sess.run(restore, {text: place})
        assert sess.run(element) == 1


def test_take_lets_go_of_its_source():
    ended = threading.Event()

    class Endless:
        def __iter__(self):
            return self

        def __next__(self):
            return 42

        def __del__(self):
            ended.set()

    with tf.Graph().as_default(), tf.Session() as sess:
        dataset = tf.data.Dataset.from_generator(Endless, tf.int64).take(1)
        element = dataset.make_one_shot_iterator().get_next()
        assert sess.run(element) == 42
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(element)
        assert ended.is_set()


def _makes_a_table(number):
    initializer = tf.lookup.KeyValueTensorInitializer(["a"], [1])
    tf.lookup.StaticHashTable(initializer, 0)
    return number


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_makes_a_table, "Creating resources inside a function"),
        (lambda n: tf.random_uniform([]), "Explicitly set the seed in the function"),
    ],
)
def test_warned_of_what_a_function_should_not_do(function, message):
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        with pytest.warns(UserWarning, match=message):
            tf.data.Dataset.range(3).map(function)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tf.data.Dataset.range(3).map(lambda n: tf.random_uniform([], seed=1))
