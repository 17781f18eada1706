"""Session managers: restoring, initializing, waiting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


def manager(**settings: Any) -> Any:
    settings.setdefault("ready_op", tf.report_uninitialized_variables())
    return tf.train.SessionManager(**settings)


def test_prepare_initializes() -> None:
    variable = tf.Variable([1.0, 2.0], name="v")
    sess = manager().prepare_session("", init_op=tf.global_variables_initializer())
    assert sess.run(variable).tolist() == [1.0, 2.0]


def test_prepare_with_feeds_and_a_function() -> None:
    start = tf.placeholder(tf.float32, [])
    variable, other = tf.Variable(start), tf.Variable(0.0)
    init = tf.variables_initializer([variable])
    sess = manager().prepare_session(
        "",
        init_op=init,
        init_feed_dict={start: 4.0},
        init_fn=lambda sess: sess.run(other.initializer),
    )
    assert sess.run([variable, other]) == [4.0, 0.0]


def test_prepare_says_what_is_not_ready() -> None:
    tf.Variable(1.0, name="v")
    tf.Variable(1.0, name="w")
    init = tf.variables_initializer([tf.global_variables()[0]])
    with pytest.raises(RuntimeError, match=r"did not make model ready\..*not initialized: w"):
        manager().prepare_session("", init_op=init)
    with pytest.raises(RuntimeError, match="no init_op or init_fn or local_init_op was given"):
        manager().prepare_session("")


def test_local_init_op_waits_for_what_it_needs() -> None:
    variable = tf.Variable(1.0, name="v")
    local = tf.Variable(
        variable, trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="l"
    )
    settings = {
        "ready_for_local_init_op": tf.report_uninitialized_variables(tf.global_variables()),
        "local_init_op": local.initializer,
    }
    with pytest.raises(RuntimeError, match="did not make model ready for local_init"):
        manager(**settings).prepare_session("", init_op=tf.no_op())
    sess = manager(**settings).prepare_session("", init_op=tf.global_variables_initializer())
    assert sess.run(local) == 1.0
    with pytest.raises(ValueError, match="you must also pass a local_init_op "):
        tf.train.SessionManager(ready_for_local_init_op=tf.no_op())


def _saved(directory: Path) -> Any:
    variable = tf.Variable(1.0, name="v")
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(variable.initializer)
        sess.run(variable.assign(7.0))
        saver.save(sess, str(directory / "model"))
    return variable, saver


def test_restoring(tmp_path: Path) -> None:
    variable, saver = _saved(tmp_path)
    sess = manager().prepare_session(
        "", init_op=tf.no_op(), saver=saver, checkpoint_dir=str(tmp_path)
    )
    assert sess.run(variable) == 7.0
    sess, restored = manager().recover_session("", saver=saver, checkpoint_dir=str(tmp_path))
    assert restored and sess.run(variable) == 7.0
    sess, restored = manager().recover_session(
        "", saver, checkpoint_filename_with_path=str(tmp_path / "model")
    )
    assert restored and sess.run(variable) == 7.0
    with pytest.raises(ValueError, match="Can not provide both"):
        manager().recover_session("", saver, checkpoint_dir="a", checkpoint_filename_with_path="b")


def test_recovery_without_a_checkpoint(tmp_path: Path) -> None:
    variable = tf.Variable(1.0, name="v")
    _, restored = manager().recover_session(
        "", saver=tf.train.Saver(), checkpoint_dir=str(tmp_path)
    )
    assert not restored
    sess = tf.Session()
    assert not sess.run(tf.is_variable_initialized(variable))


def test_restored_but_not_ready(tmp_path: Path) -> None:
    _, saver = _saved(tmp_path)
    tf.Variable(1.0, name="new")
    _, restored = manager().recover_session("", saver=saver, checkpoint_dir=str(tmp_path))
    assert not restored


def test_waiting_ends() -> None:
    tf.Variable(1, name="v")
    waiting = manager(recovery_wait_secs=0.05)
    with pytest.raises(tf.errors.DeadlineExceededError, match="not ready after waiting"):
        waiting.wait_for_session("", max_wait_secs=0.1)


def test_waiting_for_a_checkpoint_ends(tmp_path: Path) -> None:
    variable = tf.Variable(1.0)
    sess = manager(recovery_wait_secs=0.02).prepare_session(
        "",
        init_op=variable.initializer,
        saver=tf.train.Saver(),
        checkpoint_dir=str(tmp_path),
        wait_for_checkpoint=True,
        max_wait_secs=0.05,
    )
    assert sess.run(variable) == 1.0


def test_old_ready_ops() -> None:
    variable = tf.Variable(1.0)
    ready = tf.assert_variables_initialized()
    with pytest.raises(RuntimeError, match="did not make model ready"):
        manager(ready_op=ready).prepare_session("", init_op=tf.no_op())
    sess = manager(ready_op=ready).prepare_session("", init_op=variable.initializer)
    assert sess.run(variable) == 1.0


def test_looks_at_a_model_grow_rarer(monkeypatch: pytest.MonkeyPatch) -> None:
    tf.Variable(1, name="v")
    pauses: list[float] = []
    monkeypatch.setattr("penstock.train.session_manager.time.sleep", pauses.append)
    monkeypatch.setattr(
        "penstock.train.session_manager._CountDownTimer.secs_gone", lambda timer: sum(pauses)
    )
    levels: list[int] = []
    monkeypatch.setattr(
        "penstock.platform.logging.log", lambda level, *_: levels.append(int(level))
    )
    with pytest.raises(tf.errors.DeadlineExceededError):
        manager(recovery_wait_secs=30).wait_for_session("", max_wait_secs=100)
    assert pauses[:4] == [0.1, 0.2, 0.4, 0.8]
    assert max(pauses) <= 30
    assert levels[0] == tf.logging.INFO
    assert levels[-1] == tf.logging.WARN  # by then, somebody should look after the chief
