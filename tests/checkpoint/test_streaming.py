"""Large checkpoints: no second copy in memory, and a bar on a terminal."""

from __future__ import annotations

import io
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from penstock import dtypes
from penstock.checkpoint import progress, tensor_bytes
from penstock.checkpoint.bundle_reader import BundleReader
from penstock.checkpoint.bundle_writer import BundleWriter

MEGABYTE = 1 << 20


@pytest.mark.parametrize("order", ["C", "F"], ids=["contiguous", "strided"])
def test_a_large_tensor_is_written_in_blocks(tmp_path: Path, order: str) -> None:
    array = np.asarray(np.ones((2048, 6144), np.float32), order=order)  # type: ignore[call-overload]
    writer = BundleWriter(str(tmp_path / "x"))
    tracemalloc.start()
    try:
        writer.add("a", array, dtypes.float32)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    writer.finish()
    assert array.nbytes == 48 * MEGABYTE
    assert peak < 12 * MEGABYTE


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1),
        np.arange(24)[::-2],
        np.arange(6, dtype=np.int16).reshape(2, 3)[:, ::2],
        np.broadcast_to(np.float32([1, 2]), (3, 2)),
        np.zeros((0, 3)),
        np.float64(5),
    ],
    ids=str,
)
@pytest.mark.parametrize("block_size", [1, 16, 64])
def test_blocks_are_the_bytes_in_order(
    array: np.ndarray, block_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensor_bytes, "BLOCK_SIZE", block_size)
    blocks = list(tensor_bytes.blocks(np.asarray(array)))
    assert b"".join(block.tobytes() for block in blocks) == np.asarray(array).tobytes()
    assert all(len(block) <= block_size for block in blocks)


_PROGRAM = """
import resource, sys
import penstock as tf

v = tf.Variable(tf.zeros([32 << 20]), name="v", use_resource=sys.argv[2] == "resource")
saver = tf.train.Saver()
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    saver.save(session, sys.argv[1])
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes on Linux")
@pytest.mark.parametrize("kind", ["reference", "resource"])
def test_saving_needs_no_second_copy_of_a_variable(tmp_path: Path, kind: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(tmp_path / "model"), kind],
        capture_output=True,
        text=True,
        check=True,
    )
    kilobytes = int(result.stdout)
    assert (tmp_path / "model.data-00000-of-00001").stat().st_size == 128 * MEGABYTE
    assert kilobytes < 32 * 1024, "128 megabytes were saved"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("smallest", "terminal", "shown"),
    [(100, True, True), (10**6, True, False), (100, False, False)],
    ids=["large", "small", "no terminal"],
)
def test_a_bar_for_large_checkpoints_on_a_terminal(
    tmp_path: Path, smallest: int, terminal: bool, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stderr = _Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(progress, "SMALLEST_SHOWN", smallest)
    monkeypatch.setattr(sys, "stderr", stderr)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.Variable(tf.zeros([1000]))
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver()
        saver.restore(session, saver.save(session, str(tmp_path / "model")))
    bars = {what: f"{what} model" in stderr.getvalue() for what in ("Saving", "Restoring")}
    assert bars == {"Saving": shown, "Restoring": shown}


def test_read_values_are_aligned(tmp_path: Path) -> None:
    writer = BundleWriter(str(tmp_path / "x"))
    for size in (1, 3, 100):
        writer.add(f"a{size}", np.ones(size, np.int8), dtypes.int8)
    writer.finish()
    reader = BundleReader(str(tmp_path / "x"))
    assert all(reader.read(name).ctypes.data % 64 == 0 for name in reader.names())
