"""Sessions under a debugger: those that dump, and the one that takes commands."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from penstock.python import debug as tfdbg
from penstock.python.client import session as session_lib
from penstock.python.debug.cli.debugger_cli_common import CommandLineExit

import penstock as tf
from penstock.proto import CallableOptions


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
    assert 'Invalid command prefix "pt"' in printed  # there is nothing to print before a run
    assert '1 dumped tensor(s) passing filter "has_inf_or_nan":' in printed
    assert "Node y\n\n  Op: Log\n" in printed and "test_debug_sessions.py" in printed
    assert 'Inputs to node "y" (Depth limit = 1):\n|- (1) mul\n' in printed
    assert 'Recipients of node "mul" (Depth limit = 1):\n|- (1) y\n' in printed
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
    assert 'Tensor "train:0:DebugIdentity":\n  dtype: int64\n  shape: ()\n\narray(2)' in printed.out
    assert "Device 1 of 1: " in printed.out and "AssignAdd" in printed.out  # the profile
    assert "user exited" in printed.err


def test_dumps_have_an_allowance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFDBG_DISK_BYTES_LIMIT", "10")
    with tf.Graph().as_default(), tf.Session() as plain:
        delta = tf.constant(1.0, name="delta")  # 4 bytes

        def session(folder: str) -> tfdbg.DumpingDebugWrapperSession:
            return tfdbg.DumpingDebugWrapperSession(plain, str(tmp_path / folder))

        sess = session("first")
        sess.run(delta)
        sess.run(delta)
        with pytest.raises(ValueError, match=r"byte-size allowance \(10\).*tensor delta:0"):
            sess.run(delta)
        assert session("second").run(delta) == 1.0  # a new session begins anew


class Commanded(tfdbg.LocalCLIDebugWrapperSession):
    """A session whose `run` commands are a list, and that remembers where they were asked for."""

    def __init__(self, sess: tf.Session, *commands: str):
        super().__init__(sess, ui_type="readline")
        self._commands = iter(commands)
        self.asked: list[str] = []
        self.dumps: list[list[str]] = []

    def _prep_debug_cli_for_run_end(self, debug_dump: Any, *others: Any) -> None:
        self.dumps.append([datum.node_name for datum in debug_dump.dumped_tensor_data])

    def _launch_cli(self) -> Any:
        self.asked.append(f"{'before' if self._is_run_start else 'after'} {self._run_call_count}")
        try:
            self._run_handler(next(self._commands).split())
        except CommandLineExit as ended:
            return ended.exit_token
        raise AssertionError("the command did not end the command line")


@pytest.mark.parametrize(
    ("commands", "runs", "asked"),
    [
        (["", "", ""], 2, ["before 1", "after 1", "after 2"]),
        (["-n", "-n", "-n"], 3, ["before 1", "before 2", "before 3"]),
        (["-n", "", ""], 2, ["before 1", "before 2", "after 2"]),
        (["-t 3", ""], 3, ["before 1", "after 3"]),
        (["-t 3"], 2, ["before 1"]),
        (["-f large", ""], 4, ["before 1", "after 3", "after 4"]),
        (["-p", "-n", "-n"], 3, ["before 1", "after 1", "before 3"]),
    ],
)
def test_when_commands_are_asked_for(commands: list[str], runs: int, asked: list[str]) -> None:
    with tf.Graph().as_default(), tf.Session() as plain:
        v = tf.Variable(0.0, name="v")
        step = tf.assign_add(v, 1.0, name="step")
        plain.run(v.initializer)
        sess = Commanded(plain, *commands, "-n")
        sess.add_tensor_filter("large", lambda datum, value: bool((value >= 3).any()))
        for _ in range(runs):
            sess.run(step)
        sess.close()
    assert sess.asked == asked


def test_only_what_filters_name_is_watched() -> None:
    with tf.Graph().as_default(), tf.Session() as plain:
        y = tf.add(tf.constant(1, name="a"), 2, name="y")
        sess = Commanded(plain, "--node_name_filter a", "--op_type_filter Add", "")
        sess.run(y)
        sess.run(y)
        sess.close()
    assert sess.dumps == [["a"], ["y"]]


def test_an_exclusion_needs_a_filter() -> None:
    with tf.Graph().as_default(), tf.Session() as plain:
        sess = Commanded(plain, "-fenn x")
        with pytest.raises(ValueError, match="valid only if"):
            sess.run(tf.constant(1))
        sess.close()


def test_fed_values_are_shown() -> None:
    with tf.Graph().as_default(), tf.Session() as plain:
        x = tf.placeholder(tf.float32, [2], name="x")
        sess = Commanded(plain, "", "", "")
        sess.run(x * 2.0, {x: np.array([1.0, 2.0], np.float32)})
        assert sess._print_feed_handler(["x:0[1]"]).lines[0] == 'Tensor "x:0 (feed)[1]":'
        assert "does not contain the key y:0" in sess._print_feed_handler(["y:0"]).lines[0]
        sess.run(tf.constant(1))
        assert "is None or empty" in sess._print_feed_handler(["x:0"]).lines[0]
        sess.close()


def test_callables_are_watched() -> None:
    with tf.Graph().as_default(), tf.Session() as plain:
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.multiply(x, 2.0, name="y")
        sess = Commanded(plain, "", "", "")
        options = CallableOptions(feed=["x:0"], fetch=["y:0"])
        assert sess._make_callable_from_options(options)(3.0) == [6.0]
        assert not options.run_options.debug_options.debug_tensor_watch_opts
        assert sess.make_callable(y, feed_list=[x])(4.0) == 8.0
        with pytest.raises(ValueError, match="mutually exclusive"):
            sess.run(y, callable_options=options)
        sess.close()
    assert ["y" in names for names in sess.dumps] == [True, True]
