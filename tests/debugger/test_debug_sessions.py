"""Sessions under a debugger: those that dump, and the one that takes commands."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from penstock.python import debug as tfdbg
from penstock.python.client import session as session_lib

import penstock as tf


def _build() -> tuple[Any, Any, Any]:
    x = tf.placeholder(tf.float32, [], name="x")
    v = tf.Variable(1.0, name="v")
    return x, v, tf.log(x * v, name="y")


def test_each_run_leaves_a_dump(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as plain:
        x, v, y = _build()
        plain.run(v.initializer)
        sess = tfdbg.DumpingDebugWrapperSession(plain, str(tmp_path / "dumps"))
        assert isinstance(sess, session_lib.SessionInterface) and sess.graph is plain.graph
        for value in (1.0, -1.0):
            sess.run(y, {x: value})
        first, second = sorted((tmp_path / "dumps").glob("run_*"))
        assert tfdbg.DebugDumpDir(str(first)).find(tfdbg.has_inf_or_nan) == []
        dump = tfdbg.DebugDumpDir(str(second))
        assert [datum.tensor_name for datum in dump.find(tfdbg.has_inf_or_nan)] == ["y:0"]
        assert dump.run_fetches_info == repr(y)
        with pytest.raises(ValueError, match="points to a non-empty directory"):
            tfdbg.DumpingDebugWrapperSession(plain, str(tmp_path / "dumps"))
        with pytest.raises(TypeError, match="Expected type .*; got type"):
            tfdbg.DumpingDebugWrapperSession(sess, str(tmp_path / "other"))


def test_watch_functions_choose(tmp_path: Path) -> None:
    def watch(fetches: Any, feeds: Any) -> Any:
        return tfdbg.WatchOptions(node_name_regex_whitelist="^y$")

    with tf.Graph().as_default(), tf.Session() as plain:
        x, v, y = _build()
        plain.run(v.initializer)
        sess = tfdbg.DumpingDebugWrapperSession(plain, str(tmp_path), watch_fn=watch)
        call = sess.make_callable(y, [x])
        assert call(1.0) == 0.0
        (folder,) = tmp_path.glob("run_*")
        data = tfdbg.DebugDumpDir(str(folder)).dumped_tensor_data
        assert [datum.watch_key for datum in data] == ["y:0:DebugIdentity"]
        with pytest.raises(TypeError, match="watch_fn is not callable"):
            tfdbg.DumpingDebugWrapperSession(plain, str(tmp_path / "2"), watch_fn="all")


def test_an_error_is_returned_unless_it_is_to_pass(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as plain:
        _, v, _ = _build()
        sess = tfdbg.DumpingDebugWrapperSession(plain, str(tmp_path / "1"))
        assert isinstance(sess.run(v * 1.0), tf.errors.FailedPreconditionError)
        sess = tfdbg.DumpingDebugWrapperSession(
            plain, str(tmp_path / "2"), pass_through_operrors=True
        )
        with pytest.raises(tf.errors.FailedPreconditionError):
            sess.run(v * 1.0)


def test_a_hook_dumps_the_runs_of_a_monitored_session(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        train = tf.assign_add(step, 1, name="train")
        hook = tfdbg.DumpingDebugHook(str(tmp_path))
        with tf.train.MonitoredSession(hooks=[hook]) as sess:
            sess.run(train)
            sess.run(train)
    folders = sorted(tmp_path.glob("run_*"))
    values = [
        tfdbg.DebugDumpDir(str(folder)).get_tensors("train", 0, "DebugIdentity")
        for folder in folders
    ]
    assert values == [[1], [2]]


def _talk(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_commands_find_the_first_nan(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _talk(monkeypatch, "pt y", "run -f has_inf_or_nan", "ni -t y", "lt -n y", "li y", "lo mul")
    with tf.Graph().as_default(), tf.Session() as plain:
        x, v, y = _build()
        plain.run(v.initializer)
        sess = tfdbg.LocalCLIDebugWrapperSession(plain)
        for value in (2.0, 1.0, -1.0, 3.0):
            sess.run(y, {x: value})
        sess.close()
    printed = capsys.readouterr().out
    assert "ERROR: unknown command 'pt'" in printed  # there is nothing to print before a run
    assert "1 of them pass the filter 'has_inf_or_nan'" in printed
    assert "y:0: float32[] nan=1" in printed
    assert "node y: Log on" in printed and "test_debug_sessions.py" in printed
    assert printed.count("run-start") == 1  # after the last command the program runs on


def test_commands_of_a_hook(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _talk(monkeypatch, "run -t 2", "pt train", "run -p", "run -n", "exit")
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        train = tf.assign_add(step, 1, name="train")
        hook = tfdbg.LocalCLIDebugHook()
        hook.add_tensor_filter("ones", lambda datum, tensor: bool((tensor == 1).all()))
        with tf.train.MonitoredSession(hooks=[hook]) as sess:
            for _ in range(4):
                sess.run(train)
            with pytest.raises(SystemExit):
                sess.run(train)
    printed = capsys.readouterr()
    assert "train:0: int64[] min=2 max=2" in printed.out
    assert "train = AssignAdd(" in printed.out  # the profile
    assert "user exited" in printed.err
