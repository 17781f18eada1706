"""Steps with several nodes that may wait: they let each other go on."""

import threading

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        before = threading.active_count()
        yield
        assert threading.active_count() == before


def test_dequeue_that_was_built_first_waits_for_the_enqueue_of_its_step():
    queue = tf.FIFOQueue(1, tf.int32, shapes=[()])
    taken = queue.dequeue() + 1
    put = queue.enqueue(41)
    with tf.Session() as sess:
        for _ in range(3):
            assert sess.run([taken, put])[0] == 42
        assert sess.run(queue.size()) == 0


def test_two_waits_that_feed_each_other_through_two_queues():
    first, second = (tf.FIFOQueue(4, tf.int32, shapes=[()]) for _ in range(2))
    from_first = first.dequeue()
    from_second = second.dequeue()
    put_second = second.enqueue(from_first * 2)
    start = first.enqueue(5)
    with tf.Session() as sess:
        value, _, _ = sess.run([from_second, put_second, start])
        assert value == 10


def test_a_wait_that_another_thread_ends():
    queues = [tf.FIFOQueue(1, tf.float32, shapes=[()]) for _ in range(2)]
    total = tf.add_n([queue.dequeue() for queue in queues])
    value = tf.placeholder(tf.float32, ())
    puts = [queue.enqueue(value) for queue in queues]
    with tf.Session() as sess:
        found = []
        thread = threading.Thread(target=lambda: found.append(sess.run(total)))
        thread.start()
        for put, given in zip(puts, (1.0, 2.0), strict=True):
            sess.run(put, {value: given})
        thread.join(20)
        assert found == [3.0]


def test_variables_are_read_before_they_are_written_in_another_region():
    variable = tf.get_variable("v", initializer=np.arange(3.0, dtype=np.float32), use_resource=True)
    a, b = (tf.FIFOQueue(2, tf.float32, shapes=[()]) for _ in range(2))
    outputs = variable.read_value() * a.dequeue() * b.dequeue()
    put = tf.group(a.enqueue(2.0), b.enqueue(3.0))
    with tf.control_dependencies([outputs]):
        update = variable.assign_add([10.0, 10.0, 10.0])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        first, _, _ = sess.run([outputs, put, update])
        np.testing.assert_array_equal(first, [0.0, 6.0, 12.0])
        np.testing.assert_array_equal(sess.run(variable), [10.0, 11.0, 12.0])


def test_failure_of_one_node_ends_the_waits_of_the_others():
    queues = [tf.FIFOQueue(1, tf.float32, shapes=[()]) for _ in range(3)]
    values = [queue.dequeue() for queue in queues]
    puts = queues[0].enqueue(3.0)
    broken = tf.check_numerics(tf.log(values[0] - 4.0), "found")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="found"):
        sess.run([broken, *values, puts])


def test_time_limit_ends_all_waits():
    queues = [tf.FIFOQueue(1, tf.float32) for _ in range(2)]
    values = [queue.dequeue() for queue in queues]
    with tf.Session() as sess, pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(values, options=tf.RunOptions(timeout_in_ms=50))


def test_closing_the_session_ends_all_waits():
    queues = [tf.FIFOQueue(1, tf.float32) for _ in range(2)]
    values = [queue.dequeue() for queue in queues]
    sess = tf.Session()
    failures = []

    def wait():
        try:
            sess.run(values)
        except tf.errors.CancelledError as error:
            failures.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    while not any(t.name == "penstock-wait" for t in threading.enumerate()):
        pass
    sess.close()
    thread.join(20)
    assert len(failures) == 1


def test_waits_inside_a_conditional_run_in_the_executor():
    queue = tf.FIFOQueue(2, tf.int32, shapes=[()])
    choose = tf.placeholder(tf.bool, ())
    taken = tf.cond(choose, lambda: queue.dequeue() + 1, lambda: tf.constant(0))
    put = queue.enqueue(7)
    with tf.Session() as sess:
        assert sess.run([taken, put], {choose: True})[0] == 8
        assert sess.run([taken, put], {choose: False})[0] == 0


def test_a_gradient_taken_in_the_step_that_applies_it():
    accumulator = tf.ConditionalAccumulator(tf.float32, ())
    taken = accumulator.take_grad(1)
    applied = accumulator.apply_grad(4.0)
    with tf.Session() as sess:
        assert sess.run([taken, applied])[0] == 4.0


def test_explain_shows_the_parts():
    queue = tf.FIFOQueue(1, tf.int32, shapes=[()])
    text = str(tf.explain([queue.dequeue() + 1, queue.enqueue(1)]))
    assert "may wait" in text


def test_enqueuing_more_than_there_is_room_for_beside_the_dequeues_that_make_room():
    queue = tf.FIFOQueue(2, tf.int32, shapes=[()])
    taken = [queue.dequeue_many(2), queue.dequeue_many(3)]
    put = queue.enqueue_many([[1, 2, 3, 4, 5]])
    with tf.Session() as sess:
        first, second, _ = sess.run([*taken, put])
        assert sorted([*first, *second]) == [1, 2, 3, 4, 5]
        assert sess.run(queue.size()) == 0


def test_loops_that_wait_beside_each_other_run_each_iteration_once():
    x = tf.placeholder(tf.float32, [None])
    queues = [tf.FIFOQueue(9, tf.float32, [[]]) for _ in range(2)]
    counter = tf.Variable(0.0, use_resource=False)

    def waiting(queue):
        def body(i, total):
            with tf.control_dependencies([counter.assign_add(1.0)]):
                return i + 1, total + queue.dequeue()

        return tf.while_loop(lambda i, total: i < 2, body, [0, 0.0])[1]

    def calling(factor):
        return tf.map_fn(lambda e: tf.py_func(lambda v: v * np.float32(factor), [e], tf.float32), x)

    totals = [waiting(queue) for queue in queues]
    filled = [queue.enqueue(5.0) for queue in queues]
    with tf.Session() as session:
        session.run(counter.initializer)
        twice, thrice = session.run([calling(2), calling(3)], {x: [1.0, 2.0]})
        assert twice.tolist() == [2.0, 4.0] and thrice.tolist() == [3.0, 6.0]
        later = threading.Timer(0.2, lambda: [session.run(filled) for _ in range(2)])
        later.start()
        assert session.run(totals) == [10.0, 10.0]
        later.join()
        assert session.run(counter) == 4.0
