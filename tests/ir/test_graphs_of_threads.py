"""Each thread has an outermost graph of its own, and stacks of its own."""

import threading

import penstock as tf


def in_a_thread(function):
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def test_a_thread_does_not_build_where_another_does():
    here = tf.get_default_graph()
    tf.constant(1, name="here")

    def build():
        tf.constant(2, name="there")
        return tf.get_default_graph()

    there = in_a_thread(build)
    assert there is not here
    assert [op.name for op in here.get_operations()] == ["here"]
    assert [op.name for op in there.get_operations()] == ["there"]


def test_a_graph_is_entered_in_one_thread_alone():
    with tf.Graph().as_default() as graph:
        assert in_a_thread(tf.get_default_graph) is not graph

        def entered():
            with graph.as_default():
                return tf.get_default_graph()

        assert in_a_thread(entered) is graph


def test_a_reset_is_of_one_thread():
    here = tf.get_default_graph()
    in_a_thread(lambda: (tf.constant(1), tf.reset_default_graph()))
    assert tf.get_default_graph() is here


def test_a_default_session_is_of_one_thread():
    with tf.Session():
        assert in_a_thread(tf.get_default_session) is None
