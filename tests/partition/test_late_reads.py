"""Reads of a variable by nodes of other devices."""

import penstock as tf


def _session() -> tf.Session:
    return tf.Session(config=tf.ConfigProto(device_count={"CPU": 3}))


def test_a_read_comes_after_the_update_that_its_reader_waits_for() -> None:
    with tf.Graph().as_default():
        with tf.device("/cpu:1"):
            variable = tf.Variable(1.0)
        with tf.device("/cpu:2"):
            update = tf.assign_add(variable, tf.constant(2.0) * tf.ones([]))
            with tf.control_dependencies([update]):
                read = variable.read_value()
        with _session() as session:
            session.run(variable.initializer)
            assert session.run(read) == 3.0
            assert session.run([read, tf.negative(read)]) == [5.0, -5.0]


def test_a_reference_is_read_when_the_other_operand_is_there() -> None:
    with tf.Graph().as_default():
        with tf.device("/cpu:1"):
            variable = tf.Variable([1.0, 2.0])
            doubled = tf.assign(variable, variable * 2)
        with tf.device("/cpu:2"), tf.control_dependencies([doubled]):
            other = tf.constant([10.0, 10.0]) + 0.0
        with tf.device("/cpu:2"):
            total = tf.add(variable._ref(), other)
        with _session() as session:
            session.run(variable.initializer)
            assert session.run(total).tolist() == [12.0, 14.0]
            assert session.run(total).tolist() == [14.0, 18.0]


def test_reads_under_a_condition() -> None:
    with tf.Graph().as_default():
        with tf.device("/cpu:1"):
            variable = tf.Variable(1.0)
        wanted = tf.placeholder(tf.bool, [])

        def updated() -> tf.Tensor:
            with tf.device("/cpu:1"):
                update = tf.assign_add(variable, 1.0)
            with tf.device("/cpu:2"), tf.control_dependencies([update]):
                return variable.read_value()

        value = tf.cond(wanted, updated, lambda: tf.constant(-1.0))
        with _session() as session:
            session.run(variable.initializer)
            assert session.run(value, {wanted: False}) == -1.0
            assert session.run(value, {wanted: True}) == 2.0
            assert session.run(variable) == 2.0


def _update(variable: tf.Variable) -> tf.Operation:
    return tf.train.GradientDescentOptimizer(1.0).apply_gradients([(tf.constant(-1.0), variable)])


def test_a_value_that_was_passed_on_is_that_after_the_update() -> None:
    with tf.Graph().as_default():
        with tf.device("/cpu:1"):
            variable = tf.Variable(1.0)
            before = variable * 10.0
        with tf.device("/cpu:2"):
            early = variable * 10.0  # waits for nothing: the value before the update
            with tf.control_dependencies([_update(variable)]):
                late = variable * 10.0
                later = tf.identity(variable)
        with _session() as session:
            session.run(variable.initializer)
            assert session.run([before, early, late, later]) == [10.0, 10.0, 20.0, 2.0]
            assert session.run([late, later]) == [30.0, 3.0]


def test_a_value_that_was_passed_on_into_a_condition() -> None:
    with tf.Graph().as_default():
        with tf.device("/cpu:1"):
            variable = tf.Variable(1.0)
            count = tf.Variable(0)
            with tf.control_dependencies([_update(variable)]):
                counted = tf.assign_add(count, 1)

        def mean() -> tf.Tensor:
            with tf.device("/cpu:2"):
                return variable / 2.0

        with tf.control_dependencies([counted]), tf.device("/cpu:1"):
            found = tf.cond(tf.equal(count % 2, 0), mean, lambda: tf.constant(-1.0))
        with _session() as session:
            session.run([variable.initializer, count.initializer])
            assert [session.run(found) for _ in range(4)] == [-1.0, 1.5, -1.0, 2.5]
