"""Supervisors: sessions, the threads that save, and how errors end them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from penstock.contrib.testing import latest_events


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


def wait_for(condition: Callable[[], Any], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def test_parts_come_from_collections(graph: Any) -> None:
    tf.add_to_collection(tf.GraphKeys.INIT_OP, tf.no_op(name="mine"))
    sv = tf.train.Supervisor(saver=None)
    assert sv.init_op.name == "mine" and sv.saver is None
    assert sv.is_chief and sv.global_step is None and sv.summary_op is None
    assert graph.finalized


def test_the_first_of_two_is_taken() -> None:
    for name in ("a", "b"):
        tf.add_to_collection(tf.GraphKeys.INIT_OP, tf.no_op(name=name))
    assert tf.train.Supervisor().init_op.name == "a"


def test_event_file(tmp_path: Path) -> None:
    logdir = str(tmp_path)
    tf.summary.scalar("c1", tf.constant(1.0))
    summary = tf.summary.merge_all()
    sv = tf.train.Supervisor(logdir=logdir, summary_op=None)
    sess = sv.prepare_or_wait_for_session("")
    sv.summary_computed(sess, sess.run(summary))
    sess.close()
    sv.stop()
    kinds = [event.WhichOneof("what") for event in latest_events(logdir)]
    assert kinds == ["file_version", "graph_def", "meta_graph_def", "summary", "session_log"]
    last = list(latest_events(logdir))[-1]
    assert last.session_log.status == tf.SessionLog.STOP


def test_services_save_and_count(tmp_path: Path) -> None:
    step = tf.train.get_or_create_global_step()
    tf.summary.scalar("step", step)
    train = step.assign_add(1)
    logdir = str(tmp_path)
    sv = tf.train.Supervisor(logdir=logdir, save_summaries_secs=0.05, save_model_secs=0.05)
    with sv.managed_session() as sess:
        for _ in range(10):
            sess.run(train)
        wait_for(lambda: tf.train.latest_checkpoint(logdir) == f"{logdir}/model.ckpt-10")
        wait_for(lambda: list(tmp_path.glob("events*")))
        time.sleep(0.2)
    tags = {value.tag for event in latest_events(logdir) for value in event.summary.value}
    assert tags == {"step", "global_step/sec"}
    states = {event.session_log.status for event in latest_events(logdir)}
    assert {tf.SessionLog.START, tf.SessionLog.CHECKPOINT, tf.SessionLog.STOP} <= states
    assert (tmp_path / "graph.pbtxt").exists()


def test_training_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    step = tf.train.get_or_create_global_step()
    train = step.assign_add(1)
    saver = tf.train.Saver()
    for expected in (1, 2):
        with tf.Graph().as_default():
            tf.train.get_or_create_global_step()
        # Without its own checkpoints: one of step 0 could end after that of step 1.
        sv = tf.train.Supervisor(logdir=str(tmp_path), saver=saver, save_model_secs=0)
        with sv.managed_session() as sess:
            assert sess.run(train) == expected
            saver.save(sess, sv.save_path, global_step=step)


@pytest.mark.parametrize(
    ("error", "raises"),
    [
        (RuntimeError("fail at step 3"), True),
        (tf.errors.OutOfRangeError(None, None, "end"), False),
    ],
)
def test_errors_of_the_main_loop(error: Exception, raises: bool) -> None:
    tf.constant(1.0)
    sv = tf.train.Supervisor(logdir=None)

    def loop() -> None:
        with sv.managed_session() as sess:
            assert sess.graph is tf.get_default_graph()
            raise error

    if raises:
        with pytest.raises(type(error), match="fail at step 3"):
            loop()
    else:
        loop()
    assert sv.should_stop()


def test_a_loop_in_a_thread() -> None:
    tf.constant(1.0)
    sv = tf.train.Supervisor(logdir=None)
    calls: list[int] = []
    with sv.managed_session():
        sv.loop(0.01, calls.append, args=(1,))
        wait_for(lambda: len(calls) >= 3)
    assert set(calls) == {1}


def test_others_than_the_chief(tmp_path: Path) -> None:
    tf.constant(1.0)
    sv = tf.train.Supervisor(logdir=str(tmp_path), is_chief=False)
    sess = sv.prepare_or_wait_for_session("")
    with pytest.raises(RuntimeError, match="requires a summary writer"):
        sv.summary_computed(sess, b"")
    with pytest.raises(RuntimeError, match="Only chief supervisor"):
        sv.start_standard_services(sess)
    sv.stop()


def test_replicas_need_devices() -> None:
    tf.Variable(1.0)
    with pytest.raises(ValueError, match="all Variables must have their device set"):
        tf.train.Supervisor(is_chief=False)


def test_a_worker_waits_for_the_chief(tmp_path: Path) -> None:
    server = tf.train.Server.create_local_server()
    supervisors = []
    for is_chief in (True, False):
        with tf.Graph().as_default(), tf.device("/job:local"):
            variable = tf.Variable(5.0, name="shared_by_supervisors")
            sv = tf.train.Supervisor(logdir=str(tmp_path), is_chief=is_chief)
            sess = sv.prepare_or_wait_for_session(server.target)
            assert sess.run(variable) == 5.0
            supervisors.append(sv)
    for sv in supervisors:
        sv.stop()


def test_queue_runners_are_started() -> None:
    value = tf.train.batch([tf.constant(3)], batch_size=2)
    with tf.train.Supervisor(logdir=None).managed_session() as sess:
        assert sess.run(value).tolist() == [3, 3]


def test_basic_train_loop_retries() -> None:
    tf.constant(1.0)
    sv = tf.train.Supervisor(logdir=None)
    calls = []

    def step(sess: Any, offset: int, limit: int = 0) -> None:
        calls.append(len(calls))
        if len(calls) == 2:
            raise tf.errors.AbortedError(None, None, "restarted")
        if len(calls) == limit + offset:
            sv.request_stop()

    tf.train.basic_train_loop(sv, step, args=(1,), kwargs={"limit": 4})
    assert len(calls) == 5


def test_basic_train_loop_raises() -> None:
    tf.constant(1.0)

    def fail(sess: Any) -> None:
        raise RuntimeError("Failed")

    with pytest.raises(RuntimeError, match="Failed"):
        tf.train.basic_train_loop(tf.train.Supervisor(logdir=None), fail)


def test_ctrl_c_closes_the_session_before_threads_are_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They may wait in steps for something that does not come."""
    sv = tf.train.Supervisor(is_chief=True)
    closed: list[bool] = []
    join = sv.coord.join

    def joined(*args: Any, **kwargs: Any) -> None:
        closed.append(sess._closed)
        join(*args, **kwargs)

    monkeypatch.setattr(sv.coord, "join", joined)
    with pytest.raises(KeyboardInterrupt), sv.managed_session() as sess:
        raise KeyboardInterrupt
    assert closed == [True]
