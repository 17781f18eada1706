"""Tasks that die, hang, come back or never come: who is told, and what goes on."""

import random
import signal
import threading
from functools import partial

import numpy as np
import pytest

import penstock as tf
from penstock.distributed import cluster_task
from tests.cluster.nursery import until

PS = "/job:ps/replica:0/task:0"


@pytest.fixture
def silence(monkeypatch):
    """Silent tasks are given up quickly."""
    monkeypatch.setenv("PENSTOCK_SILENCE_SECONDS", "1")


@pytest.fixture
def cluster(make_cluster):
    made = make_cluster(ps=1, worker=1)
    made.start("ps", 0)
    return made


def variable_on_ps():
    with tf.device("/job:ps/task:0"):
        return tf.get_variable("v", [], initializer=tf.zeros_initializer())


def waiting_step():
    """A step that waits on the parameter server for what never comes."""
    with tf.device("/job:ps/task:0"):
        taken = tf.FIFOQueue(1, tf.float32, shapes=[()]).dequeue()
    with tf.device("/job:worker/task:0"):
        return taken + 1.0


def failing(sess, fetch):
    """Runs a step in a thread; the thread, and where its error will be."""
    errors = []

    def run():
        try:
            sess.run(fetch)
        except tf.errors.OpError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, errors


def test_a_killed_task_ends_steps_and_comes_back_without_its_state(cluster, server_here):
    v = variable_on_ps()
    waiting, up, init = waiting_step(), v.assign_add(1.0), tf.global_variables_initializer()
    later = v * 2.0
    server = server_here(cluster.spec, "worker", 0)
    with tf.Session(server.target) as sess:
        sess.run(init)
        assert sess.run(up) == 1.0
        thread, found = failing(sess, waiting)
        cluster.tasks["ps", 0].kill()
        thread.join(30)
        assert isinstance(found[0], tf.errors.UnavailableError)
        assert PS in found[0].message
        with pytest.raises(tf.errors.UnavailableError, match=PS):
            sess.run(up)
        cluster.start("ps", 0)
        until(lambda: "serving" in cluster.tasks["ps", 0].text.rpartition("\n")[0], "start")
        for step in (up, later):  # one that it knew, and a new one
            with pytest.raises(tf.errors.AbortedError, match="may have been restarted"):
                until(lambda step=step: is_there(sess, step), "restart")
    with tf.Session(server.target) as sess:
        sess.run(init)
        assert sess.run(up) == 1.0


def is_there(sess, step):
    try:
        return sess.run(step)
    except tf.errors.UnavailableError:
        return None


def test_a_client_outside_of_the_cluster_is_told_too(cluster):
    v = variable_on_ps()
    cluster.start("worker", 0)
    with tf.Session(cluster.target("worker", 0)) as sess:
        sess.run(v.initializer)
        cluster.tasks["ps", 0].kill()
        with pytest.raises(tf.errors.UnavailableError, match=PS):
            sess.run(v)
        cluster.start("ps", 0)
        with pytest.raises(tf.errors.AbortedError, match="may have been restarted"):
            until(lambda: is_there(sess, v) is not None, "restart")
    with tf.Session(cluster.target("worker", 0)) as sess:
        sess.run(v.initializer)
        cluster.tasks["worker", 0].kill()
        cluster.start("worker", 0)
        with pytest.raises(tf.errors.AbortedError):  # its new master knows no such session
            until(lambda: is_there(sess, v) is not None, "restart")
    with tf.Session(cluster.target("worker", 0)) as sess:
        assert sess.run(v) == 0.0  # which the parameter server has kept


def test_a_silent_task_is_given_up(silence, cluster, server_here):
    v = variable_on_ps()
    up, init = v.assign_add(1.0), tf.global_variables_initializer()
    server = server_here(cluster.spec, "worker", 0)
    with tf.Session(server.target) as sess:
        sess.run(init)
        cluster.tasks["ps", 0].signal(signal.SIGSTOP)
        with pytest.raises(tf.errors.UnavailableError, match=f"{PS}.*silent"):
            sess.run(up)
        cluster.tasks["ps", 0].signal(signal.SIGCONT)
        # Its state is there, and the order to run may have been carried out.
        assert sess.run(up) in (1.0, 2.0)


def test_a_session_on_a_silent_server_can_be_closed(cluster):
    config = tf.ConfigProto(device_filters=["/job:ps"])  # the worker is not there
    sess = tf.Session(cluster.target("ps", 0), config=config)
    sess.list_devices()
    cluster.tasks["ps", 0].signal(signal.SIGSTOP)
    sess.close()


def test_tasks_that_never_come_are_named(make_cluster, server_here, monkeypatch):
    monkeypatch.setattr(cluster_task, "_PATIENCE_SECONDS", 1.0)
    cluster = make_cluster(ps=2, worker=1)
    server = server_here(cluster.spec, "worker", 0)
    with pytest.raises(tf.errors.UnavailableError) as found:
        tf.Session(server.target)
    for task in (0, 1):
        assert f"/job:ps/replica:0/task:{task} at {cluster.spec['ps'][task]}" in str(found.value)


def test_a_task_that_comes_late_is_waited_for(make_cluster, server_here):
    cluster = make_cluster(ps=1, worker=1)
    v = variable_on_ps()
    server = server_here(cluster.spec, "worker", 0)
    timer = threading.Timer(0.5, cluster.start, ["ps", 0])
    timer.start()
    with tf.Session(server.target) as sess:
        sess.run(v.initializer)
        assert sess.run(v) == 0.0
    timer.join()


def test_parameter_servers_go_when_the_chief_has_ended(make_cluster, server_here):
    cluster = make_cluster(ps=2, worker=2)
    servers = [cluster.start("ps", index) for index in range(2)]
    other = cluster.start("worker", 1)
    v = variable_on_ps()
    with tf.device("/job:worker/task:1"):  # which only lends its devices
        doubled = v * 2.0
    server = server_here(cluster.spec, "worker", 0)
    with tf.Session(server.target) as sess:
        sess.run(v.initializer)
        assert sess.run(doubled) == 0.0
    assert [task.status for task in servers] == [None, None]
    server.stop()
    assert [task.wait() for task in (*servers, other)] == [0, 0, 0]
    assert "come back" not in cluster.texts()


def test_parameter_servers_that_were_lost_are_told_of_the_end(make_cluster, server_here):
    """Their link broke after the last step, so the farewell finds no connection."""
    cluster = make_cluster(ps=1, worker=1)
    ps = cluster.start("ps", 0)
    v = variable_on_ps()
    server = server_here(cluster.spec, "worker", 0)
    with tf.Session(server.target) as sess:
        sess.run(v.initializer)
    for connection in server.cluster._peers.connections:
        connection.close()
    server.stop()
    assert ps.wait() == 0


def test_ctrl_c_ends_a_client_that_waits_and_not_the_job(cluster):
    client = cluster.start("worker", 0, "wait_for_nothing")
    until(lambda: "waiting" in client.text, "step")
    client.signal(signal.SIGINT)
    assert client.wait() == 1
    assert "KeyboardInterrupt" in client.text
    assert cluster.tasks["ps", 0].status is None
    again = cluster.start("worker", 0, "wait_for_nothing")
    until(lambda: again.text.count("waiting") == 2, "step of the new client")


def _is_interrupted(do, begin):
    """Whether Ctrl-C comes after `begin` has been called; it may be in the middle of that."""
    try:
        begin()
        do()
    except KeyboardInterrupt:
        return True
    return False


def test_ctrl_c_at_any_moment_of_a_step_leaves_a_session_that_works(cluster, server_here):
    """In the middle of a message, too, and of what is computed here."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with tf.device("/job:ps/task:0"):
        queue = tf.FIFOQueue(1, tf.float32, shapes=[()])
        there, size = queue.dequeue(), queue.size()
    with tf.device("/job:worker/task:0"):
        here = tf.FIFOQueue(1, tf.float32, shapes=[()]).dequeue() + tf.cast(size, tf.float32)
    server = server_here(cluster.spec, "worker", 0)
    main = threading.main_thread().ident
    pick = random.Random(0)
    try:
        with tf.Session(server.target) as sess:
            assert sess.run(size) == 0
            for number in range(200):
                later = pick.uniform(0, 0.003)
                timer = threading.Timer(later, signal.pthread_kill, [main, signal.SIGINT])
                assert _is_interrupted(partial(sess.run, [there, here][number % 2]), timer.start)
                timer.join()
                assert sess.run(size) == 0
    finally:
        signal.signal(signal.SIGINT, before)


def test_large_values_reach_a_slow_reader_without_being_taken_for_silence(
    silence, cluster, server_here
):
    with tf.device("/job:ps/task:0"):
        x = tf.placeholder(tf.float32, [None])
        total = tf.reduce_sum(x)
    server = server_here(cluster.spec, "worker", 0)
    with tf.Session(server.target) as sess:
        task = cluster.tasks["ps", 0]
        sess.run(total, {x: np.ones(3, np.float32)})
        for pause in (0.3, 0.3):
            task.signal(signal.SIGSTOP)
            threading.Timer(pause, task.signal, [signal.SIGCONT]).start()
            assert sess.run(total, {x: np.ones(1 << 22, np.float32)}) == 1 << 22


def test_a_parameter_server_does_not_wait_for_ever_for_a_chief_that_was_killed(make_cluster):
    cluster = make_cluster(ps=1, worker=1)
    cluster.environment["PENSTOCK_ABANDONED_SECONDS"] = "1"
    ps = cluster.start("ps", 0)
    chief = cluster.start("worker", 0, "wait_for_nothing")
    until(lambda: "waiting" in chief.text, "session of the chief")
    assert ps.status is None
    chief.kill()
    assert ps.wait() == 1
    assert "/job:worker/replica:0/task:0 ended without a farewell" in ps.text
