"""Profiles of programs: which runs are traced, how time is summed up, the page."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import penstock as tf
from penstock.tracing import step_report
from penstock.tracing.profile_page import page, summary
from penstock.tracing.profile_text import report
from penstock.tracing.profiled_program import ProgramProfile


def _event(name: str, op: str, begin: int, end: int, *, thread: int = 1, waited: int = 0) -> Any:
    node = SimpleNamespace(name=name, type=op, origin=None)
    return SimpleNamespace(
        node=node, begin=begin, end=end, thread=thread, waited=waited, outputs=(), in_use=0
    )


def test_the_time_of_a_loop_is_without_its_body() -> None:
    events = [
        _event("loop/body/a", "Add", 10, 30),
        _event("loop/body/b", "Mul", 30, 60),
        _event("loop/while", "_While", 5, 100),
        _event("other", "Add", 20, 50, thread=2),
    ]
    bars = step_report.bars_of(events)
    assert [(bar.event.node.name, bar.depth, bar.own) for bar in bars] == [
        ("loop/while", 0, 45),
        ("loop/body/a", 1, 20),
        ("other", 0, 30),
        ("loop/body/b", 1, 30),
    ]
    by_op = step_report.totals(bars, step_report.op_of)
    assert [(name, total.own, total.count) for name, total in by_op] == [
        ("Add", 50, 2),
        ("_While", 45, 1),
        ("Mul", 30, 1),
    ]
    scopes = step_report.scope_totals(bars)
    assert [(name, total.own) for name, total in scopes] == [
        ("loop", 95),
        ("  body", 50),
        ("(no scope)", 30),
    ]


def _program() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [8, 8], name="x")
        with tf.name_scope("layer"):
            y = tf.matmul(x, x, name="product")
        total = tf.reduce_sum(y, name="total")
        for _ in range(6):
            sess.run(total, {x: [[1.0] * 8] * 8})
        sess.run(y, {x: [[1.0] * 8] * 8})


def test_chosen_runs_are_traced() -> None:
    with ProgramProfile(lambda number, of_form: 1 < of_form <= 4) as profiled:
        _program()
    assert profiled.runs == 7
    (form,) = profiled.traced_forms()
    assert [run.number for run in form.traced] == [2, 3, 4] and form.runs == 6
    text = report(profiled)
    assert re.search(r"^MatMul +[\d.]+ .s", text, re.M)
    assert re.search(r"^layer +", text, re.M)
    assert re.search(r"^test_profiles\.py:\d+  y = tf\.matmul", text, re.M)
    (step,) = summary(profiled)["steps"]
    assert step["runs"] == 3 and {row["name"] for row in step["by_op"]} == {"MatMul", "Sum"}
    _program()  # after the block nobody listens
    assert profiled.runs == 7


def test_a_page_has_all_it_needs() -> None:
    with ProgramProfile(lambda number, of_form: True) as profiled:
        _program()
    text = page("<b>.py", profiled)
    assert "&lt;b&gt;.py" in text and "<b>.py" not in text
    assert not re.search(r"(src|href)\s*=|url\(|import\s*\(|fetch\(", text)
    (embedded,) = re.findall(
        r'<script type="application/json" id="data">(.*?)</script>', text, re.S
    )
    data = json.loads(embedded)
    assert [picture["label"] for picture in data["pictures"]]
    assert {len(bar) for picture in data["pictures"] for bar in picture["bars"]} == {11}


def test_nothing_traced_is_said() -> None:
    with ProgramProfile(lambda number, of_form: False) as profiled:
        _program()
    assert "--skip 0" in report(profiled)
    assert "ran no steps" in report(ProgramProfile(lambda number, of_form: True))


@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no Chromium")
def test_a_browser_draws_the_page(tmp_path: Path) -> None:
    with ProgramProfile(lambda number, of_form: True) as profiled:
        _program()
    path = tmp_path / "page.html"
    path.write_text(page("program.py", profiled), encoding="utf-8")
    shown = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", path.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "HOME": str(tmp_path)},
    ).stdout
    assert '<span id="head">' in shown and "a run, " in shown.partition('<span id="head">')[2]
    assert re.search(r"<td[^>]*>MatMul</td>", shown)
