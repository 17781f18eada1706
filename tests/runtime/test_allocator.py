"""Where the host's memory is kept."""

import subprocess
import sys

import numpy as np
import pytest

import penstock as tf
from penstock.runtime.fusion import regions, warming

_TAKES_MEMORY = """
import torch
from penstock.runtime.allocator import keep_freed_memory, use_huge_pages

def huge():
    with open("/proc/self/smaps_rollup") as facts:
        return next(int(line.split()[1]) for line in facts if line.startswith("AnonHugePages"))

kept = keep_freed_memory()
value = torch.arange(2**23, dtype=torch.int64)
before = huge()
moved = use_huge_pages()
assert int(value.sum()) == 2**22 * (2**23 - 1)
print(kept, moved >= 2**25, huge() - before >= 2**15)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel")
@pytest.mark.parametrize(
    ("malloc", "expected"), [("", "True True True"), ("default", "False False")]
)
def test_memory_is_kept_and_moved_to_huge_pages(malloc, expected, monkeypatch):
    monkeypatch.setenv("PENSTOCK_MALLOC", malloc)
    ran = subprocess.run(
        [sys.executable, "-c", _TAKES_MEMORY], capture_output=True, text=True, check=True
    )
    told = ran.stdout.strip()
    if told == "True False False":
        pytest.skip("this kernel moves nothing to huge pages when asked")
    assert told.startswith(expected)


@pytest.mark.parametrize(("rows", "is_moved"), [(2**12, True), (2**4, False)])
def test_only_large_steps_are_moved(rows, is_moved, monkeypatch):
    monkeypatch.delenv("PENSTOCK_FUSION", raising=False)
    moves = []
    monkeypatch.setattr(warming, "use_huge_pages", lambda: moves.append(1) or 0)
    monkeypatch.setattr(regions, "_compile_elsewhere", lambda sources, threads: False)
    monkeypatch.setitem(warming.HOT, "hot", (1, 0.0))
    x = tf.placeholder(tf.float32, [rows, 1024])
    y = tf.reduce_sum(tf.sqrt(tf.exp(x) + x) * x)
    feeds = {x: np.ones([rows, 1024], np.float32)}
    with tf.Session() as session:
        heat = session._prepare(None, y, feeds).step.warming
        for _ in range(3):
            session.run(y, feeds)
        heat.wait()
    assert bool(moves) is is_moved
