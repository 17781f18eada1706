"""The debugger that stops inside of runs."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.debugger import GraphDebugger


def _debugged(program: Any, *commands: str, **options: Any) -> str:
    """What a debugger prints while a program runs."""
    output = io.StringIO()
    with GraphDebugger(commands=commands, output=output, **options):
        program()
    return output.getvalue()


def _run(value: float, fetch: str = "loss:0") -> Any:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.Variable(np.ones([2, 1], np.float32), name="w")
        h = tf.matmul(x, w, name="h")
        tf.reduce_sum(tf.log(h, name="log"), name="loss")
        tf.while_loop(lambda i: i < 3, lambda i: tf.add(i, 1, name="next"), [0], name="loop")
        sess.run(w.initializer)
        feeds = {x: [[value, value]]} if fetch == "loss:0" else {}
        return sess.run(fetch, feeds)


def test_stop_at_a_node_and_look() -> None:
    printed = _debugged(
        lambda: _run(2.0),
        *("p x", "p h", "inputs", "where", "step 1", "p h[0, :]", "p hh", "nodes l*"),
        breakpoints=["h"],
    )
    lines = printed.splitlines()
    assert lines[0].startswith("stopped before h (MatMul), run 2 (made at test_stepper.py:")
    assert "x:0: float32[1,2] min=2 max=2 mean=2 std=0" in lines
    assert "error: h:0 has no value yet: the node has not run" in lines
    assert "  input 1 w/read:0 = float32[2,1] min=1 max=1 mean=1 std=0" in lines
    assert any(line.startswith("  ->") and "tf.matmul(x, w" in line for line in lines)
    assert any(line.startswith("stopped before log (Log)") for line in lines)
    assert "[4.]" in lines
    assert "error: no node of this run is called 'hh' (near it: h)" in lines
    assert "  loss (Sum)" in lines


def test_stop_on_nan_names_the_node_that_made_it() -> None:
    printed = _debugged(lambda: _run(-1.0), "p log", stop_on=["nan"])
    assert "float32[1,1] nan=1 in output 0 of log (Log), run 2" in printed
    assert "  input 0 h:0 = float32[1,1] min=-2 max=-2" in printed
    assert _debugged(lambda: _run(0.0), stop_on=["nan"]) == ""
    assert "inf=1 in output 0 of log" in _debugged(lambda: _run(0.0), stop_on=["inf"])


def test_watches_print_each_iteration() -> None:
    printed = _debugged(lambda: _run(1.0, "loop/Exit:0"), watches=["loop/next"])
    assert [line.rpartition(" ")[0].split("max")[1] for line in printed.splitlines()] == [
        "=1 mean=1",
        "=2 mean=2",
        "=3 mean=3",
    ]
    assert "iteration 2: loop/next:0 = int32[]" in printed


def test_breaks_and_watches_come_and_go() -> None:
    printed = _debugged(
        lambda: _run(1.0),
        *("break log", "watch type:Sum", "info", "c", "delete log", "delete log", "what", "step 0"),
        *("detach", "p never"),
        breakpoints=["type:MatMul"],
    )
    assert "break type:MatMul\nbreak log\nwatch type:Sum" in printed
    assert "stopped before log" in printed
    assert "error: there is no break or watch 'log'" in printed
    assert "error: unknown command 'what' (known: continue," in printed
    assert "error: step: at least one node" in printed
    assert "watch run 2: loss:0 = float32[]" in printed and "never" not in printed


def test_stop_on_an_error() -> None:
    def program() -> None:
        with tf.Graph().as_default(), tf.Session() as sess:
            sess.run(tf.check_numerics(tf.constant([np.inf]), "bad", name="check"))

    output = io.StringIO()
    debugger = GraphDebugger(stop_on=["error"], commands=["inputs"], output=output)
    with debugger, pytest.raises(tf.errors.InvalidArgumentError):
        program()
    assert "error: CheckNumerics 'check'" in output.getvalue()
    assert "input 0 Const:0 = float32[1] zeros" not in output.getvalue()
    assert "inf=1" in output.getvalue()


def test_quit_ends_the_program() -> None:
    with pytest.raises(SystemExit):
        _debugged(lambda: _run(1.0), "quit", breakpoints=["*"])


def test_a_session_that_ran_before_is_stopped_too() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        y = tf.add(tf.constant(1.0), 2.0, name="y")
        assert sess.run(y) == 3.0  # compiled, with the sum folded
        printed = _debugged(lambda: sess.run(y), breakpoints=["y"])
        assert printed.startswith("stopped before y (Add")
        assert sess.run(y) == 3.0


def test_unknown_stops() -> None:
    with pytest.raises(ValueError, match="known: nan, inf, error"):
        GraphDebugger(stop_on=["zero"], commands=())
