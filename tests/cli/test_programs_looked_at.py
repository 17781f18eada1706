"""`penstock profile` and `penstock debug`: programs as processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.cli import main

PROGRAM = """
import sys
import tensorflow as tf
x = tf.placeholder(tf.float32, [2], name="x")
with tf.name_scope("model"):
    y = tf.log(x, name="y")
loss = tf.reduce_sum(y, name="loss")
with tf.Session() as sess:
    for number in (3.0, 2.0, 1.0, -1.0):
        value = sess.run(loss, {x: [number, 1.0]})
print("done", sys.argv[1:])
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    (tmp_path / "program.py").write_text(PROGRAM)

    def run(*arguments: str, commands: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "penstock", *arguments, "program.py", "--flag"]
        return subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, input=commands, timeout=120
        )

    return run


def test_profile(run: Run, tmp_path: Path) -> None:
    result = run("profile", "--steps", "2-3", "--json", "numbers.json", "--trace", "trace.json")
    assert result.returncode == 0 and result.stdout == "done ['--flag']\n", result.stderr
    assert "loss: 2 traced" in result.stderr
    for row in ("Log ", "model ", "program.py:6  y = tf.log"):
        assert f"\n{row}" in result.stderr
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    assert numbers["runs"] == 4 and numbers["steps"][0]["runs"] == 2
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert "program.py" in (tmp_path / "penstock_profile.html").read_text()


def test_profile_of_a_program_that_fails(run: Run, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM + "\nraise SystemExit(3)\n")
    result = run("profile", "--output", "", "--skip", "0")
    assert result.returncode == 3 and "loss: 4 traced" in result.stderr
    assert not (tmp_path / "penstock_profile.html").exists()


def test_debug_from_standard_input(run: Run) -> None:
    result = run("debug", "--stop-on", "nan", "--watch", "loss", commands="p x\nwhere\n")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    (stop,) = [number for number, line in enumerate(lines) if "in output 0 of model/y" in line]
    assert lines[stop].endswith("model/y (Log), run 4 (made at program.py:6)")
    assert lines[stop + 2].startswith("x:0: float32[2] min=-1 max=1")
    assert any(line.startswith("  ->     6  ") for line in lines)
    assert sum(line.startswith("watch run") for line in lines) == 4
    assert lines[-1] == "done ['--flag']"


def test_debug_with_a_file_of_commands(run: Run, tmp_path: Path) -> None:
    (tmp_path / "commands").write_text("# comment\nnodes\nquit\n")
    result = run("debug", "--break", "loss", "--commands", "commands")
    assert result.returncode == 1
    assert "+ model/y (Log)" in result.stdout and "done" not in result.stdout
    assert main(["debug", "--commands", "nothing", "program.py"]) == 2
