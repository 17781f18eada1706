"""Hooks: when they act, what they log and write."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import penstock as tf
from penstock.contrib.testing import latest_events, latest_summaries
from penstock.platform import logging
from penstock.train import basic_session_run_hooks as hooks_lib
from penstock.train.global_step import _increment_global_step
from penstock.train.monitored_session import _HookedSession

START = 1_484_695_987.25


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "time", clock)
    return clock


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph
    tf.summary.FileWriterCache.clear()


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines that are logged."""
    found: list[str] = []
    monkeypatch.setattr(logging, "info", lambda msg, *args: found.append(msg % args))
    return found


def hooked(*hooks: Any) -> tuple[Any, Any]:
    """A session with hooks that have begun, and the bare session."""
    for hook in hooks:
        hook.begin()
    sess = tf.Session()
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    for hook in hooks:
        hook.after_create_session(sess, None)
    return _HookedSession(sess, hooks), sess


# Timers ---------------------------------------------------------------------------------------


def test_timer_wants_seconds_or_steps() -> None:
    with pytest.raises(ValueError, match="not provide both"):
        tf.train.SecondOrStepTimer(every_secs=2.0, every_steps=10)
    with pytest.raises(ValueError, match="Either every_secs or every_steps"):
        tf.train.SecondOrStepTimer()


def test_timer_of_seconds(clock: Clock) -> None:
    timer = tf.train.SecondOrStepTimer(every_secs=1.0)
    assert timer.should_trigger_for_step(1)
    assert timer.update_last_triggered_step(1) == (None, None)
    clock.now += 1.0
    assert not timer.should_trigger_for_step(1)
    assert timer.should_trigger_for_step(2)
    assert timer.update_last_triggered_step(3) == (1.0, 2)


def test_timer_of_steps() -> None:
    timer = tf.train.SecondOrStepTimer(every_steps=3)
    timer.update_last_triggered_step(1)
    assert [timer.should_trigger_for_step(step) for step in (1, 2, 3, 4)] == [False] * 3 + [True]
    timer.reset()
    assert timer.last_triggered_step() is None and timer.should_trigger_for_step(1)


# Logging --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"every_n_iter": 0}, "invalid every_n_iter"),
        ({"every_n_iter": 5, "every_n_secs": 5}, "exactly one of"),
        ({}, "exactly one of"),
    ],
)
def test_logging_hook_checks(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        tf.train.LoggingTensorHook(tensors=["t"], **settings)


def test_logging_every_n_steps(lines: list[str]) -> None:
    value = tf.constant(42.0, name="foo")
    session, sess = hooked(tf.train.LoggingTensorHook([value.name], every_n_iter=3, at_end=True))
    for _ in range(5):
        session.run(value)
    assert [line.partition(" (")[0] for line in lines] == ["foo:0 = 42.0"] * 2
    session._hooks[0].end(sess)
    assert len(lines) == 3 and "sec)" not in lines[0] and lines[1].endswith(" sec)")


def test_logging_shows_values_as_numpy_does(lines: list[str]) -> None:
    tensors = {"b": tf.constant([1e-7, 0.5]), "a": tf.constant(0.1)}
    session, _ = hooked(tf.train.LoggingTensorHook(tensors, every_n_iter=1))
    session.run(tensors["a"])
    with np.printoptions(suppress=True):
        assert lines == [f"a = 0.1, b = {np.float32([1e-7, 0.5])}"]


def test_logging_with_a_formatter(lines: list[str]) -> None:
    value = tf.constant(42.0, name="foo")
    hook = tf.train.LoggingTensorHook(
        ["foo"], every_n_iter=10, formatter=lambda items: f"qqq={items['foo']}"
    )
    session, _ = hooked(hook)
    session.run(value)
    assert lines == ["qqq=42.0"]


def test_logging_a_name_with_two_outputs_is_ambiguous() -> None:
    tf.split(tf.constant([1.0, 2.0]), 2, name="halves")
    hook = tf.train.LoggingTensorHook(["halves"], every_n_iter=1)
    with pytest.raises(ValueError, match="ambiguous"):
        hook.begin()


# Stopping -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "last"), [({"last_step": 10}, 10), ({"num_steps": 10}, 15)], ids=["last", "num"]
)
def test_stop_at_step(settings: dict[str, int], last: int) -> None:
    step = tf.train.get_or_create_global_step()
    sess = tf.Session()
    hook = tf.train.StopAtStepHook(**settings)
    hook.begin()
    sess.run(step.assign(5))
    hook.after_create_session(sess, None)
    session = _HookedSession(sess, [hook])
    nothing = tf.no_op()
    for value in (last - 2, last - 1, last):
        assert not session.should_stop()
        sess.run(step.assign(value))
        session.run(nothing)
    assert session.should_stop()
    with pytest.raises(RuntimeError, match="Run called even after should_stop requested"):
        session.run(nothing)


def test_stop_at_step_wants_one_limit() -> None:
    with pytest.raises(ValueError, match="Only one of num_steps or last_step"):
        tf.train.StopAtStepHook(num_steps=10, last_step=20)
    with pytest.raises(ValueError, match="One of num_steps or last_step must"):
        tf.train.StopAtStepHook()


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.train.StopAtStepHook(last_step=1),
        lambda: tf.train.StepCounterHook(),
        lambda: tf.train.SummarySaverHook(1, summary_op=tf.constant(b"")),
        lambda: tf.train.GlobalStepWaiterHook(1),
    ],
    ids=["stop", "counter", "summary", "waiter"],
)
def test_hooks_need_a_global_step(make: Callable[[], Any]) -> None:
    with pytest.raises(RuntimeError, match="Global step should be created to use"):
        make().begin()


def test_steps_per_run_are_cut_at_the_last_step() -> None:
    step = tf.train.get_or_create_global_step()
    hook = hooks_lib._MultiStepStopAtStepHook(num_steps=5, steps_per_run=3)
    count = hooks_lib.get_or_create_steps_per_run_variable()
    train = step.assign_add(tf.cast(count, tf.int64))
    session, sess = hooked(hook)
    session.run(train)
    assert sess.run([step, count]) == [3, 2]
    session.run(train)
    assert sess.run(step) == 5 and session.should_stop()


@pytest.mark.parametrize("fails", [True, False])
def test_nan_hook(fails: bool) -> None:
    loss = tf.placeholder(tf.float32, [])
    session, _ = hooked(tf.train.NanTensorHook(loss, fail_on_nan_loss=fails))
    session.run(loss, {loss: 1.0})
    assert not session.should_stop()
    if fails:
        with pytest.raises(tf.train.NanLossDuringTrainingError, match="NaN loss during training"):
            session.run(loss, {loss: float("nan")})
    else:
        session.run(loss, {loss: float("nan")})
        assert session.should_stop()


# Waiting, feeding, ending ---------------------------------------------------------------------


def test_waiter_waits_for_the_global_step(monkeypatch: pytest.MonkeyPatch) -> None:
    step = tf.train.get_or_create_global_step()
    increase = step.assign_add(500)
    session, sess = hooked(tf.train.GlobalStepWaiterHook(1000))
    monkeypatch.setattr(time, "sleep", lambda _: sess.run(increase))
    assert session.run(step) == 1000


def test_feed_hook() -> None:
    value = tf.placeholder(tf.float32, [])
    session, _ = hooked(tf.train.FeedFnHook(lambda: {value: 3.0}))
    assert session.run(value * 2) == 6.0
    with pytest.raises(RuntimeError, match="Same tensor is fed by a SessionRunHook and user"):
        session.run(value, {value: 1.0})


def test_final_ops() -> None:
    value = tf.placeholder(tf.float32, [])
    hook = tf.train.FinalOpsHook({"twice": value * 2}, {value: 4.0})
    with tf.Session() as sess:
        hook.end(sess)
    assert hook.final_ops_values == {"twice": 8.0}


# Checkpoints, summaries, steps per second -----------------------------------------------------


class Listener(tf.train.CheckpointSaverListener):  # type: ignore[misc]
    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.stops = False

    def begin(self) -> None:
        self.calls.append("begin")

    def before_save(self, session: Any, global_step_value: int) -> None:
        self.calls.append(("before", int(global_step_value)))

    def after_save(self, session: Any, global_step_value: int) -> bool:
        self.calls.append(("after", int(global_step_value)))
        return self.stops

    def end(self, session: Any, global_step_value: int) -> None:
        self.calls.append(("end", int(global_step_value)))


def test_checkpoints(tmp_path: Path, lines: list[str]) -> None:
    tf.train.get_or_create_global_step()
    train = _increment_global_step(1)
    listener = Listener()
    hook = tf.train.CheckpointSaverHook(str(tmp_path), save_steps=2, listeners=[listener])
    with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        for _ in range(3):
            session.run(train)
        assert tf.train.load_variable(str(tmp_path), "global_step") == 2
    assert listener.calls == [
        "begin",
        *(("before", 0), ("after", 0), ("before", 2), ("after", 2), ("before", 3), ("after", 3)),
        ("end", 3),
    ]
    assert f"Saving checkpoints for 2 into {tmp_path}/model.ckpt." in lines
    assert (tmp_path / "graph.pbtxt").exists()
    tf.summary.FileWriterCache.get(str(tmp_path)).flush()
    events = list(latest_events(str(tmp_path)))
    saved = [e.step for e in events if e.session_log.status == tf.SessionLog.CHECKPOINT]
    assert saved == [0, 2, 3]
    assert sum(bool(event.meta_graph_def) for event in events) >= 1


def test_a_listener_can_stop_the_training(tmp_path: Path) -> None:
    tf.train.get_or_create_global_step()
    train = _increment_global_step(1)
    listener = Listener()
    hook = tf.train.CheckpointSaverHook(str(tmp_path), save_steps=1, listeners=[listener])
    with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        session.run(train)
        assert not session.should_stop()
        listener.stops = True
        session.run(train)
        assert session.should_stop()


def test_checkpoints_by_time(tmp_path: Path, clock: Clock) -> None:
    tf.train.get_or_create_global_step()
    train = _increment_global_step(1)
    hook = tf.train.CheckpointSaverHook(str(tmp_path), save_secs=2)
    with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        session.run(train)
        assert tf.train.load_variable(str(tmp_path), "global_step") == 0
        clock.now += 2.5
        session.run(train)
        assert tf.train.load_variable(str(tmp_path), "global_step") == 2


def test_saver_and_scaffold_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot provide both saver and scaffold"):
        tf.train.CheckpointSaverHook(
            str(tmp_path), saver=tf.train.Saver(allow_empty=True), scaffold=tf.train.Scaffold()
        )


def test_summaries(tmp_path: Path) -> None:
    step = tf.train.get_or_create_global_step()
    tf.summary.scalar("step", step)
    train = _increment_global_step(1)
    scaffold = tf.train.Scaffold()
    hook = tf.train.SummarySaverHook(save_steps=8, output_dir=str(tmp_path), scaffold=scaffold)
    with tf.train.SingularMonitoredSession(hooks=[hook], scaffold=scaffold) as session:
        for _ in range(30):
            session.run(train)
    assert [event.step for event in latest_summaries(str(tmp_path))] == [1, 9, 17, 25]


def test_summary_hook_wants_one_source() -> None:
    with pytest.raises(ValueError, match="Exactly one of scaffold or summary_op"):
        tf.train.SummarySaverHook(1, scaffold=tf.train.Scaffold(), summary_op=tf.constant(b""))
    with pytest.raises(ValueError, match="Exactly one of scaffold or summary_op"):
        tf.train.SummarySaverHook(1)


def test_steps_per_second(tmp_path: Path, clock: Clock, lines: list[str]) -> None:
    tf.train.get_or_create_global_step()
    train = _increment_global_step(1)
    session, _ = hooked(tf.train.StepCounterHook(10, output_dir=str(tmp_path)))
    for _ in range(21):
        clock.now += 0.5
        session.run(train)
    assert lines == ["global_step/sec: 2", "global_step/sec: 2"]
    tf.summary.FileWriterCache.get(str(tmp_path)).flush()
    (first, second) = latest_summaries(str(tmp_path))
    assert (first.step, second.step) == (11, 21)
    assert first.summary.value[0].tag == "global_step/sec"


def test_a_step_that_does_not_move_is_told() -> None:
    tf.train.get_or_create_global_step()
    nothing = tf.no_op()
    session, _ = hooked(tf.train.StepCounterHook(1))
    with mock.patch.object(logging, "log_first_n") as log:
        session.run(nothing)
        assert log.call_count == 0
        session.run(nothing)
    assert "has not been increased" in str(log.call_args)


def test_profiles_are_written(tmp_path: Path) -> None:
    tf.train.get_or_create_global_step()
    train = _increment_global_step(1)
    hook = tf.train.ProfilerHook(save_steps=2, output_dir=str(tmp_path))
    with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        for _ in range(5):
            session.run(train)
    files = sorted(path.name for path in tmp_path.glob("timeline-*.json"))
    assert files == ["timeline-2.json", "timeline-4.json"]
    assert "traceEvents" in json.loads((tmp_path / files[0]).read_text())


# What a hook asks for -------------------------------------------------------------------------


class Asking(tf.train.SessionRunHook):  # type: ignore[misc]
    def __init__(self, request: Any):
        self.request = request
        self.values: Any = None

    def before_run(self, run_context: Any) -> Any:
        self.context = run_context
        return self.request

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.values = run_values


def test_hooks_get_what_they_fetch() -> None:
    a, b = tf.constant(1.0), tf.constant([2.0])
    first, second = Asking(tf.train.SessionRunArgs({"b": b})), Asking(None)
    session, _ = hooked(first, second)
    assert session.run(a) == 1.0
    assert first.values.results == {"b": [2.0]}
    assert second.values.results is None
    assert first.context.original_args == tf.train.SessionRunArgs(a)


def test_two_hooks_must_not_feed_one_tensor() -> None:
    value = tf.placeholder(tf.float32, [])
    request = tf.train.SessionRunArgs(None, {value: 1.0})
    session, _ = hooked(Asking(request), Asking(request))
    with pytest.raises(RuntimeError, match="Same tensor is fed by two hooks"):
        session.run(value)


def test_options_are_merged() -> None:
    options = [tf.RunOptions(timeout_in_ms=60_000), tf.RunOptions(trace_level=1)]
    requests = [tf.train.SessionRunArgs(None, options=each) for each in options]
    asking = [Asking(request) for request in requests]
    session, _ = hooked(*asking)
    session.run(tf.constant(1.0), options=tf.RunOptions(timeout_in_ms=30_000))
    merged = asking[0].values.options
    assert (merged.timeout_in_ms, merged.trace_level) == (60_000, 1)
    assert isinstance(asking[0].values.run_metadata, tf.RunMetadata)


def test_final_ops_that_read_input_are_told_why_they_fail(monkeypatch: Any) -> None:
    said: list[str] = []
    monkeypatch.setattr(logging, "warning", lambda text, *args: said.append(text))
    with tf.Graph().as_default(), tf.Session() as session:
        element = tf.data.make_one_shot_iterator(tf.data.Dataset.range(1)).get_next()
        hook = tf.train.FinalOpsHook(element)
        hook.begin()
        session.run(element)
        with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
            hook.end(session)
    assert "dependency back to some input source" in said[-1]
