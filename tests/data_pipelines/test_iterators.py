"""The four kinds of iterators, and what goes wrong with them."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import penstock as tf
from tests.data_pipelines.threads import threads_end


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def rest_of(sess, element):
    found = []
    while True:
        try:
            found.append(sess.run(element))
        except tf.errors.OutOfRangeError:
            return found


def test_one_shot_iterator():
    element = tf.data.Dataset.range(3).make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        assert rest_of(sess, element) == [0, 1, 2]
        with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
            sess.run(element)


def test_one_shot_iterators_are_separate_in_each_session():
    element = tf.data.Dataset.range(3).make_one_shot_iterator().get_next()
    for _ in range(2):
        with tf.Session() as sess:
            assert rest_of(sess, element) == [0, 1, 2]


def test_one_shot_iterator_copies_what_the_pipeline_uses():
    factor = tf.constant(2, tf.int64) * tf.constant(5, tf.int64)
    dataset = tf.data.Dataset.range(3).map(lambda n: n * factor)
    iterator = tf.compat.v1.data.make_one_shot_iterator(dataset)
    with tf.Session() as sess:
        assert rest_of(sess, iterator.get_next()) == [0, 10, 20]


def test_one_shot_iterator_leaves_out_what_only_control_edges_ask_for(tmp_path):
    (tmp_path / "a.txt").touch()
    files = tf.data.Dataset.list_files(str(tmp_path / "*.txt"))  # asserts that there are some
    element = files.make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        assert rest_of(sess, element) == [str(tmp_path / "a.txt").encode()]


def test_one_shot_iterator_refuses_state():
    variable = tf.Variable(1, name="count", use_resource=True)
    dataset = tf.data.Dataset.range(3).map(lambda n: tf.cast(n, tf.int32) + variable)
    with pytest.raises(ValueError, match="datasets that capture stateful objects"):
        dataset.make_one_shot_iterator()


def test_one_shot_iterator_refuses_placeholders():
    dataset = tf.data.Dataset.range(tf.placeholder(tf.int64, []))
    with pytest.raises(ValueError, match="Cannot capture a placeholder"):
        dataset.make_one_shot_iterator()


def test_one_shot_iterator_has_no_initializer():
    iterator = tf.data.Dataset.range(3).make_one_shot_iterator()
    with pytest.raises(ValueError, match="Iterator does not have an initializer"):
        _ = iterator.initializer


def test_initializable_iterator_begins_with_what_is_fed():
    count = tf.placeholder(tf.int64, [])
    iterator = tf.data.Dataset.range(count).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError, match="has not been initialized"):
            sess.run(element)
        for number in (2, 3):
            sess.run(iterator.initializer, {count: number})
            assert rest_of(sess, element) == list(range(number))


def test_initializable_iterator_uses_variables():
    variable = tf.get_variable("step", [], tf.int64, tf.constant_initializer(4), use_resource=True)
    iterator = tf.data.Dataset.range(2).map(lambda n: n * variable).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as sess:
        sess.run(variable.initializer)
        sess.run(iterator.initializer)
        assert sess.run(element) == 0
        sess.run(variable.assign(7))
        assert sess.run(element) == 7


def test_reinitializable_iterator():
    small, large = tf.data.Dataset.range(2), tf.data.Dataset.range(4).map(lambda n: n * 10)
    iterator = tf.data.Iterator.from_structure(small.output_types, small.output_shapes)
    begin_small, begin_large = iterator.make_initializer(small), iterator.make_initializer(large)
    element = iterator.get_next()
    with tf.Session() as sess:
        sess.run(begin_large)
        assert rest_of(sess, element) == [0, 10, 20, 30]
        sess.run(begin_small)
        assert rest_of(sess, element) == [0, 1]


def test_reinitializable_iterator_refuses_other_elements():
    iterator = tf.data.Iterator.from_structure((tf.int64, tf.float64), ([], []))
    with pytest.raises(TypeError, match="Expected output types"):
        iterator.make_initializer(
            tf.data.Dataset.from_tensors((tf.constant(1, tf.int64), tf.constant(1.0)))
        )
    with pytest.raises(TypeError, match="Expected output shapes"):
        iterator.make_initializer(
            tf.data.Dataset.from_tensors((tf.constant([1], tf.int64), tf.zeros([1], tf.float64)))
        )
    with pytest.raises(ValueError, match="don't have the same"):
        iterator.make_initializer(tf.data.Dataset.from_tensors(tf.constant(1, tf.int64)))


def test_feedable_iterator():
    train = tf.data.Dataset.range(3).repeat().make_one_shot_iterator()
    check = tf.data.Dataset.range(10, 12).make_initializable_iterator()
    handle = tf.placeholder(tf.string, [])
    iterator = tf.data.Iterator.from_string_handle(handle, tf.int64, [])
    element = iterator.get_next()
    with tf.Session() as sess:
        train_handle, check_handle = sess.run([train.string_handle(), check.string_handle()])
        sess.run(check.initializer)
        assert [sess.run(element, {handle: train_handle}) for _ in range(2)] == [0, 1]
        assert sess.run(element, {handle: check_handle}) == 10
        assert sess.run(element, {handle: train_handle}) == 2
        assert sess.run(element, {handle: check_handle}) == 11
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(element, {handle: check_handle})


def test_feedable_iterator_refuses_other_elements():
    handle = tf.placeholder(tf.string, [])
    other = tf.data.Dataset.range(3).make_one_shot_iterator()
    element = tf.data.Iterator.from_string_handle(handle, tf.string, []).get_next()
    with tf.Session() as sess:
        text = sess.run(other.string_handle())
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(element, {handle: text})
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(element, {handle: "no handle"})


def test_feedable_iterator_refuses_an_iterator_of_another_device():
    handle = tf.placeholder(tf.string, [])
    with tf.device("/cpu:1"):
        text = tf.data.Dataset.range(3).make_one_shot_iterator().string_handle()
    with tf.device("/cpu:0"):
        element = tf.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        for given in (sess.run(text), b""):
            with pytest.raises(tf.errors.InvalidArgumentError, match="from handle defined on dev"):
                sess.run(element, {handle: given})


def test_shared_iterator():
    first = tf.data.Dataset.range(4).make_initializable_iterator(shared_name="numbers")
    second = tf.data.Iterator.from_structure(tf.int64, [], shared_name="numbers")
    with tf.Session() as sess:
        sess.run(first.initializer)
        got = [sess.run(iterator.get_next()) for iterator in (first, second, first)]
    assert got == [0, 1, 2]


def test_two_elements_in_one_step():
    iterator = tf.data.Dataset.range(10).make_one_shot_iterator()
    pair = iterator.get_next(), iterator.get_next()
    with tf.Session() as sess:
        assert sorted(sess.run(pair)) == [0, 1]
        assert sorted(sess.run(pair)) == [2, 3]


def test_fetched_elements_own_their_memory():
    source = np.zeros([4, 3], np.float32)
    element = (
        tf.data.Dataset.from_tensor_slices(source).repeat().make_one_shot_iterator().get_next()
    )
    with tf.Session() as sess:
        for _ in range(4):
            sess.run(element)[:] = 1
        assert not sess.run(element).any()


def test_elements_are_not_overwritten_by_the_step():
    element = (
        tf.data.Dataset.from_tensors(tf.ones([3])).repeat().make_one_shot_iterator().get_next()
    )
    doubled = element + element + 1.0
    with tf.Session() as sess:
        for _ in range(3):
            np.testing.assert_array_equal(sess.run(doubled), [3, 3, 3])


def test_optional_elements():
    iterator = tf.data.Dataset.range(1).make_one_shot_iterator()
    optional = tf.data.experimental.get_next_as_optional(iterator)
    there, value = optional.has_value(), optional.get_value()
    with tf.Session() as sess:
        assert sess.run([there, value]) == [True, 0]
        assert not sess.run(there)
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(value)
        some = tf.data.experimental.Optional.from_value((tf.constant(3), {"a": tf.constant("x")}))
        assert sess.run(some.get_value()) == (3, {"a": b"x"})
        none = tf.data.experimental.Optional.none_from_structure(tf.TensorSpec([], tf.int32))
        assert not sess.run(none.has_value())


def test_names_of_an_iterator_are_in_the_graphs_collection():
    iterator = tf.data.Dataset.range(1).make_initializable_iterator()
    assert tf.get_collection("iterators") == [iterator._iterator_resource]


def test_threads_end_with_the_session():
    before = threading.active_count()
    dataset = tf.data.Dataset.range(10**9).map(lambda n: n, num_parallel_calls=3).prefetch(2)
    element = dataset.make_one_shot_iterator().get_next()
    sess = tf.Session()
    assert sess.run(element) == 0
    assert threading.active_count() > before
    sess.close()
    assert threads_end(before)


def test_threads_end_with_a_session_that_is_dropped():
    before = threading.active_count()
    element = tf.data.Dataset.range(10**9).prefetch(2).make_one_shot_iterator().get_next()
    sess = tf.Session()
    assert sess.run(element) == 0
    del sess
    gc.collect()
    assert threads_end(before)


def test_close_wakes_who_waits_for_an_element():
    began, ends = threading.Event(), threading.Event()

    def slow(number):
        began.set()
        ends.wait(10)
        return number

    dataset = tf.data.Dataset.range(5).map(lambda n: tf.py_func(slow, [n], tf.int64)).prefetch(1)
    element = dataset.make_one_shot_iterator().get_next()
    sess = tf.Session()
    errors = []

    def wait():
        try:
            sess.run(element)
        except tf.errors.OpError as error:
            errors.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    began.wait(10)
    sess.close()
    thread.join(10)
    ends.set()
    assert [type(error) for error in errors] == [tf.errors.CancelledError]


def test_parallel_calls_run_at_the_same_time():
    barrier = threading.Barrier(3)

    def meet(number):
        barrier.wait(10)
        return number

    dataset = tf.data.Dataset.range(6).map(lambda n: tf.py_func(meet, [n], tf.int64), 3)
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        assert rest_of(sess, element) == list(range(6))
