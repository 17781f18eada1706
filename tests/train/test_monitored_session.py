"""Monitored sessions: initialization, stopping, recovery, and the errors of threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from penstock.train import monitored_session as ms


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph
    tf.summary.FileWriterCache.clear()


class Creator:
    """Makes sessions, and counts them."""

    def __init__(self) -> None:
        self.sessions: list[Any] = []
        self.real = tf.train.ChiefSessionCreator()

    def create_session(self) -> Any:
        self.sessions.append(self.real.create_session())
        return self.sessions[-1]


class RaiseOnce(tf.train.SessionRunHook):  # type: ignore[misc]
    """Raises an error, or hands it to the coordinator, after so many steps."""

    def __init__(self, steps: int, error: Exception, *, in_thread: bool = False):
        self.steps = steps
        self.error = error
        self.in_thread = in_thread
        self.raised = False
        self.ended = False

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.coord = coord

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.steps -= 1
        if self.steps <= 0 and not self.raised:
            self.raised = True
            if self.in_thread:
                self.coord.request_stop(self.error)
            else:
                raise self.error

    def end(self, session: Any) -> None:
        self.ended = True


ABORTED = tf.errors.AbortedError(None, None, "Abort")


# Scaffold -------------------------------------------------------------------------------------


def test_scaffold_is_empty_until_finalized() -> None:
    scaffold = tf.train.Scaffold()
    parts = "init_op init_feed_dict init_fn ready_op ready_for_local_init_op local_init_op saver"
    assert all(getattr(scaffold, part) is None for part in parts.split())


def test_scaffold_takes_what_collections_have(graph: Any) -> None:
    tf.add_to_collection(tf.GraphKeys.SUMMARY_OP, "summary")
    tf.add_to_collection(tf.GraphKeys.READY_OP, "ready")
    scaffold = tf.train.Scaffold().finalize()
    assert (scaffold.summary_op, scaffold.ready_op) == ("summary", "ready")
    assert graph.finalized
    assert tf.train.Scaffold().finalize().saver is scaffold.saver


def test_scaffold_with_two_defaults_is_ambiguous() -> None:
    tf.add_to_collection(tf.GraphKeys.INIT_OP, tf.no_op())
    tf.add_to_collection(tf.GraphKeys.INIT_OP, tf.no_op())
    with pytest.raises(RuntimeError, match=r"tf\.Scaffold\(init_op=item to use\)"):
        tf.train.Scaffold().finalize()


def test_scaffold_copies_another() -> None:
    calls: list[Any] = []
    first = tf.train.Scaffold(init_fn=lambda scaffold, _: calls.append(scaffold), saver="saver")
    second = tf.train.Scaffold(copy_from_scaffold=first, init_feed_dict={1: 2})
    assert (second.saver, second.init_feed_dict) == ("saver", {1: 2})
    second.init_fn(None)
    assert calls == [second]
    with pytest.raises(TypeError, match="is not a Scaffold instance"):
        tf.train.Scaffold(copy_from_scaffold=1)


# Training -------------------------------------------------------------------------------------


def test_training_goes_on_from_the_last_checkpoint(tmp_path: Path) -> None:
    step = tf.train.get_or_create_global_step()
    train = step.assign_add(1)
    for last in (3, 7):
        hooks = [tf.train.StopAtStepHook(last_step=last)]
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=str(tmp_path), hooks=hooks
        ) as session:
            while not session.should_stop():
                session.run(train)
        assert tf.train.latest_checkpoint(str(tmp_path)).endswith(f"model.ckpt-{last}")


def test_init_fn_and_feeds(tmp_path: Path) -> None:
    start = tf.placeholder(tf.float32, [])
    variable = tf.Variable(start)
    seen: list[float] = []
    scaffold = tf.train.Scaffold(
        init_feed_dict={start: 3.0},
        init_fn=lambda scaffold, session: seen.append(session.run(variable)),
    )
    with tf.train.MonitoredTrainingSession(scaffold=scaffold) as session:
        assert session.run(variable) == 3.0
    assert seen == [3.0]


def test_local_variables_and_tables_are_initialized() -> None:
    local = tf.get_local_variable("l", initializer=2.0)
    table = tf.contrib.lookup.index_table_from_tensor(["a", "b"])
    looked_up = table.lookup(tf.constant(["b"]))
    with tf.train.SingularMonitoredSession() as session:
        assert session.run(local) == 2.0
        assert session.run(looked_up) == [1]
        assert session.raw_session().run(local) == 2.0


def test_defaults_of_saving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(ms, "MonitoredSession", lambda creator, hooks, grace: made.append(hooks))
    cases = [
        ({}, (100, None), (None, 600)),
        ({"save_checkpoint_steps": 5, "save_summaries_secs": 3}, (None, 3), (5, None)),
        ({"save_checkpoint_secs": None, "save_summaries_steps": None}, None, None),
    ]
    for settings, summaries, checkpoints in cases:
        tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), **settings)
        timers = {type(hook): hook._timer for hook in made.pop()}
        for kind, expected in (
            (tf.train.SummarySaverHook, summaries),
            (tf.train.CheckpointSaverHook, checkpoints),
        ):
            timer = timers.get(kind)
            found = timer and (timer._every_steps, timer._every_secs)
            assert found == expected
        assert tf.train.StepCounterHook in timers


def test_a_worker_waits_for_the_chief() -> None:
    server = tf.train.Server.create_local_server()
    variable = tf.Variable(3.0, name="waited_for")
    with tf.train.MonitoredTrainingSession(server.target) as chief:
        chief.run(variable)
        with tf.train.MonitoredTrainingSession(server.target, is_chief=False) as worker:
            assert worker.run(variable) == 3.0


# Stopping -------------------------------------------------------------------------------------


def _loop(hook: Any, value: Any) -> None:
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        while not session.should_stop():
            session.run(value)


def test_out_of_range_ends_the_loop_cleanly() -> None:
    hook = RaiseOnce(2, tf.errors.OutOfRangeError(None, None, "end of input"))
    value = tf.constant(1.0)
    _loop(hook, value)
    assert hook.ended and hook.steps == 0


def test_other_errors_end_it_without_end() -> None:
    hook = RaiseOnce(2, RuntimeError("a regular exception"))
    value = tf.constant(1.0)
    with pytest.raises(RuntimeError, match="a regular exception"):
        _loop(hook, value)
    assert not hook.ended


def test_errors_of_threads_are_raised_at_the_end() -> None:
    hook = RaiseOnce(2, RuntimeError("in a thread"), in_thread=True)
    value = tf.constant(1.0)
    with pytest.raises(RuntimeError, match="in a thread"):
        _loop(hook, value)
    assert hook.steps == 0


def test_the_graph_is_finalized_while_the_session_lives(graph: Any) -> None:
    with tf.train.MonitoredSession():
        assert graph.finalized
    assert not graph.finalized
    graph.finalize()
    with tf.train.MonitoredSession():
        pass
    assert graph.finalized  # it was before


def test_closing_twice_is_an_error() -> None:
    session = tf.train.MonitoredSession()
    assert session.graph is tf.get_default_graph()
    session.close()
    assert session.should_stop() and session._is_closed() and session.graph is None
    with pytest.raises(RuntimeError, match="Session is already closed"):
        session.close()


# Recovery -------------------------------------------------------------------------------------


@pytest.mark.parametrize("in_thread", [False, True])
@pytest.mark.parametrize("error", [ABORTED, tf.errors.UnavailableError(None, None, "gone")])
def test_recovery(error: Exception, in_thread: bool) -> None:
    hook = RaiseOnce(2, error, in_thread=in_thread)
    creator = Creator()
    value = tf.constant(1.0)
    with tf.train.MonitoredSession(creator, [hook]) as session:
        for _ in range(4):
            assert not session.should_stop()
            assert session.run(value) == 1.0
        assert len(creator.sessions) == 2
        assert creator.sessions[0]._closed and not creator.sessions[1]._closed


def test_recovery_while_creating(monkeypatch: pytest.MonkeyPatch) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(
        "penstock.platform.logging.warning", lambda msg, *args: warnings.append(msg % args)
    )
    creator = Creator()
    gone = tf.errors.UnavailableError(None, None, "/job:ps/task:0 does not answer")
    failures = [ABORTED, gone]
    plain = creator.create_session

    def unlucky() -> Any:
        if failures:
            raise failures.pop()
        return plain()

    creator.create_session = unlucky  # type: ignore[method-assign]
    with tf.train.MonitoredSession(creator) as session:
        assert session.run(tf.get_default_graph().get_operations()[0]) is None
    assert len(creator.sessions) == 1
    assert len(warnings) == 2  # what is waited for can be seen
    assert "/job:ps/task:0 does not answer" in warnings[0]


def test_singular_sessions_do_not_recover() -> None:
    value = tf.constant(1.0)
    session = tf.train.SingularMonitoredSession(hooks=[RaiseOnce(1, ABORTED)])
    with pytest.raises(tf.errors.AbortedError):
        session.run(value)


def test_recovery_restores_the_last_checkpoint(tmp_path: Path) -> None:
    step = tf.train.get_or_create_global_step()
    train = step.assign_add(1)
    hooks = [RaiseOnce(4, ABORTED)]
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=str(tmp_path), hooks=hooks, save_checkpoint_steps=2
    ) as session:
        values = [int(session.run(train)) for _ in range(5)]
    # The fourth step is saved, then fails, and is run again in a session restored from it.
    assert values == [1, 2, 3, 5, 6]


# Steps as functions ---------------------------------------------------------------------------


def test_step_functions() -> None:
    value = tf.placeholder(tf.float32, [])
    doubled = value * 2
    fed = tf.train.FeedFnHook(lambda: {value: 5.0})

    def step_fn(step_context: Any) -> list[float]:
        bare = step_context.session.run(doubled, {value: 1.0})
        return [float(bare), float(step_context.run_with_hooks(doubled))]

    with tf.train.MonitoredSession(hooks=[fed]) as session:
        assert session.run_step_fn(step_fn) == [2.0, 10.0]


def test_a_step_function_can_stop_the_loop() -> None:
    tf.constant(1.0)
    with tf.train.MonitoredSession() as session:
        while not session.should_stop():
            session.run_step_fn(lambda step_context: step_context.request_stop())


@pytest.mark.parametrize("function", [lambda: 1, lambda foo: 1, lambda a, step_context: 1])
def test_step_functions_have_one_argument(function: Callable[..., Any]) -> None:
    tf.constant(1.0)
    with (
        tf.train.MonitoredSession() as session,
        pytest.raises(ValueError, match="may either have one `step_context` argument"),
    ):
        session.run_step_fn(function)


def test_step_functions_recover() -> None:
    value = tf.constant(1.0)
    creator = Creator()
    with tf.train.MonitoredSession(creator, [RaiseOnce(1, ABORTED)]) as session:
        assert session.run_step_fn(lambda step_context: step_context.run_with_hooks(value)) == 1.0
    assert len(creator.sessions) == 2


# The layers by themselves ---------------------------------------------------------------------


def test_wrapped_sessions_pass_on() -> None:
    value = tf.constant(3.0)
    with tf.Session() as sess:
        wrapped = ms._WrappedSession(sess)
        assert wrapped.graph is sess.graph and wrapped.sess_str == sess.sess_str
        assert wrapped.run(value) == 3.0
        outer = ms._WrappedSession(wrapped)
        assert not outer.should_stop()
        wrapped.close()
        assert outer.should_stop()


def test_coordinated_sessions_stop_with_their_coordinator() -> None:
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        coordinated = ms._CoordinatedSession(sess, coord)
        stopped = threading.Event()
        thread = threading.Thread(target=lambda: (coord.wait_for_stop(), stopped.set()))
        coord.register_thread(thread)
        thread.start()
        assert not coordinated.should_stop()
        coordinated.close()
        assert coordinated.should_stop() and stopped.is_set() and not thread.is_alive()


def test_the_steps_own_error_comes_before_that_of_a_thread() -> None:
    failing = tf.Assert(tf.constant(False), ["the step itself"])
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        coord.request_stop(ValueError("of a thread"))
        with pytest.raises(tf.errors.InvalidArgumentError):
            ms._CoordinatedSession(sess, coord).run(failing)
        aborted = tf.train.Coordinator()
        aborted.request_stop(ABORTED)
        with pytest.raises(tf.errors.AbortedError):
            ms._CoordinatedSession(sess, aborted).run(failing)


def test_a_step_fn_gets_the_new_session_after_a_failure() -> None:
    value = tf.constant(1.0)
    sessions: list[Any] = []

    def step_fn(step_context: Any) -> Any:
        sessions.append(step_context.session)
        if len(sessions) == 1:
            raise ABORTED
        return step_context.session.run(value)

    with tf.train.MonitoredSession() as session:
        assert session.run_step_fn(step_fn) == 1.0
    assert sessions[0] is not sessions[1]
