"""The place of an iterator is saved and restored: what comes after it is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock as tf
from penstock.eager.context import eager_mode
from penstock.ops.datasets.iterators import DeserializeIterator, SerializeIterator
from tests.data_pipelines.pipelines import PIPELINES, write_files
from tests.data_pipelines.running import plain

# Their random order is of no seed: a dataset made anew has another one.
_NOT_SAVED = ("feature_batches",)
_FAILING = (
    *("no_files", "sharded_wrongly", "batch_of_nothing", "shuffled_without_a_buffer"),
    *("text_lines_of_a_missing_file", "fixed_length_records_that_do_not_fit"),
)
# Their functions use ops of which TensorFlow 1.15 says that they are stateful.
_STATEFUL = {
    "generator": "PyFunc",
    "generator_of_wrong_shapes": "PyFunc",
    "python_functions": "PyFunc",
    "python_function_that_stops": "PyFunc",
    "failing_elements": "CheckNumerics",
    "failing_elements_in_parallel": "CheckNumerics",
    "failing_elements_in_batches": "CheckNumerics",
    "without_failing_elements": "CheckNumerics",
}
SAVED = [name for name in PIPELINES if name not in (*_NOT_SAVED, *_FAILING, *_STATEFUL)]


def _some(sess, element, limit):
    found = []
    while len(found) < limit:
        try:
            found.append(plain(sess.run(element)))
        except tf.errors.OutOfRangeError:
            found.append("end")
            break
        except tf.errors.OpError as error:
            found.append(type(error).__name__)
    return found


@pytest.mark.parametrize("name", SAVED)
@pytest.mark.parametrize("taken", [0, 1, 2, 3, 5, 8])
def test_restored_pipeline_goes_on(name, taken, tmp_path):
    write_files(tf, tmp_path)
    with tf.Graph().as_default():
        iterator = PIPELINES[name](tf, tmp_path).make_initializable_iterator()
        element = iterator.get_next()
        state = SerializeIterator(iterator._iterator_resource)
        fed = tf.placeholder(tf.variant)
        restore = DeserializeIterator(iterator._iterator_resource, fed)
        with tf.Session() as sess:
            sess.run(iterator.initializer)
            _some(sess, element, taken)
            saved = sess.run(state)
            expected = _some(sess, element, 12)
        (tmp_path / "cache_0.lockfile").unlink(missing_ok=True)
        with tf.Session() as sess:
            sess.run(iterator.initializer)
            _some(sess, element, 1)
            sess.run(restore, {fed: saved})
            assert _some(sess, element, 12) == expected


def test_saver_saves_iterators(tmp_path: Path):
    with tf.Graph().as_default():
        dataset = (
            tf.data.Dataset.range(20).shuffle(7, seed=1).repeat().map(lambda n: n * 2).batch(3)
        )
        iterator = dataset.make_initializable_iterator()
        saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
        tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, saveable)
        step = tf.Variable(0)
        saver, element = tf.train.Saver(), iterator.get_next()
        with tf.Session() as sess:
            sess.run([iterator.initializer, step.initializer])
            _some(sess, element, 4)
            path = saver.save(sess, str(tmp_path / "model"))
            expected = _some(sess, element, 8)
        for begin_first in (True, False):
            with tf.Session() as sess:
                if begin_first:
                    sess.run(iterator.initializer)
                saver.restore(sess, path)
                assert _some(sess, element, 8) == expected


def test_only_an_initialized_iterator_has_a_place():
    with tf.Graph().as_default():
        iterator = tf.data.Dataset.range(3).make_initializable_iterator()
        state = SerializeIterator(iterator._iterator_resource)
        with tf.Session() as sess, pytest.raises(tf.errors.FailedPreconditionError):
            sess.run(state)


def _save(dataset):
    iterator = dataset.make_initializable_iterator()
    state = SerializeIterator(iterator._iterator_resource)
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        sess.run(iterator.initializer)
        sess.run(state)


@pytest.mark.parametrize("name", _STATEFUL)
def test_pipeline_with_a_stateful_function_is_not_saved(name, tmp_path):
    write_files(tf, tmp_path)
    with tf.Graph().as_default():
        dataset = PIPELINES[name](tf, tmp_path)
        with pytest.raises(tf.errors.FailedPreconditionError, match=f"{_STATEFUL[name]} is state"):
            _save(dataset)


def test_function_that_reads_a_variable_is_not_saved():
    with tf.Graph().as_default():
        start = tf.get_variable("start", initializer=tf.constant(1, tf.int64), use_resource=True)
        dataset = tf.data.Dataset.range(10).map(lambda number: number + start)
        with pytest.raises(tf.errors.FailedPreconditionError, match="ReadVariableOp is stateful"):
            _save(dataset)


def _checked(number):
    with tf.control_dependencies([tf.assert_less(number, tf.constant(100, tf.int64))]):
        return tf.identity(number)


@pytest.mark.parametrize(
    "function",
    [
        _checked,
        lambda number: tf.map_fn(lambda each: each * 2, tf.stack([number, number])),
        lambda number: tf.random.stateless_uniform([], [1, 2]),
        lambda number: tf.py_func(lambda value: value, [number], tf.int64, stateful=False),
    ],
)
def test_functions_that_repeat_are_saved(function):
    with tf.Graph().as_default():
        _save(tf.data.Dataset.range(10).map(function))


def test_function_that_looks_up_is_saved():
    with tf.Graph().as_default():
        words = tf.lookup.KeyValueTensorInitializer(["a"], [1])
        table = tf.lookup.StaticHashTable(words, -1)
        _save(tf.data.Dataset.from_tensor_slices(["a", "b"]).map(table.lookup))


def test_a_checkpoint_of_an_iterator_in_eager_mode(tmp_path: Path) -> None:
    def dataset() -> tf.data.Dataset:
        return tf.data.Dataset.range(6).map(lambda x: x * x).batch(2)

    with eager_mode():
        iterator = iter(dataset())
        next(iterator)
        path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "ckpt"))
        other = iter(dataset())
        tf.train.Checkpoint(iterator=other).restore(path).assert_consumed()
        for each in (iterator, other):
            assert next(each).numpy().tolist() == [4, 9]
