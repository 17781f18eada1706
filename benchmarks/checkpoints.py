"""How fast checkpoints are saved and restored, beside the disk itself.

    python -m benchmarks.checkpoints

Several times: the same bytes are written to a plain file in large pieces and synced, a saver saves
them, the plain file is read, and the saver restores, both with nothing in the system's cache. The
goal is 70 % of the disk's speed. It also measures for how long saving keeps training waiting when a
thread does the writing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

GOAL = 0.7
_PIECE = 8 << 20


def _write_plain(path: str, content: np.ndarray) -> None:
    with open(path, "wb", buffering=0) as file:
        for start in range(0, len(content), _PIECE):
            file.write(content[start : start + _PIECE])
        os.fsync(file.fileno())


def _read_plain(path: str, content: np.ndarray) -> None:
    with open(path, "rb", buffering=0) as file:
        for start in range(0, len(content), _PIECE):
            file.readinto(content[start : start + _PIECE])


def _forget(path: str) -> None:
    """Drops a file from the system's cache, so that reading it reads the disk."""
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _model(tf: Any, size: int) -> None:
    """Variables of both kinds: two large ones with most of the bytes, and a hundred small ones."""
    count = size // 4
    for number in range(2):
        tf.Variable(
            tf.random_uniform([count * 45 // 100]),
            name=f"large_{number}",
            use_resource=bool(number),
        )
    for number in range(100):
        tf.Variable(tf.random_uniform([count // 1000]), name=f"small_{number}", use_resource=False)


def measure(folder: str, size: int, rounds: int) -> dict[str, list[float]]:
    """Seconds of each kind of work, by round."""
    import penstock as tf

    content = np.random.default_rng(0).integers(0, 255, size, dtype=np.uint8)
    plain = os.path.join(folder, "plain")
    seconds: dict[str, list[float]] = {}
    options = {"write_meta_graph": False, "write_state": False}

    def note(name: str, work: Callable[[], Any]) -> None:
        seconds.setdefault(name, []).append(_seconds(work))

    def in_turn(number: int, *works: tuple[str, Callable[[], Any]]) -> None:
        """Does what is compared, the other way round every other time: the second finds memory
        that the system has just used."""
        for name, work in works if number % 2 else reversed(works):
            note(name, work)

    with tf.Graph().as_default(), tf.Session() as session:
        _model(tf, size)
        saver, background = tf.train.Saver(), tf.train.AsyncSaver()
        session.run(tf.global_variables_initializer())
        for number in range(rounds + 1):
            if number == 1:
                seconds.clear()  # the first round compiled the steps
            prefix = os.path.join(folder, f"model-{number}")
            data = f"{prefix}.data-00000-of-00001"
            in_turn(
                number,
                ("disk write", lambda: _write_plain(plain, content)),
                ("save", lambda p=prefix: saver.save(session, p, **options)),
            )
            _forget(plain)
            _forget(data)
            in_turn(
                number,
                ("disk read", lambda: _read_plain(plain, content)),
                ("restore", lambda p=prefix: saver.restore(session, p)),
            )
            note("snapshot", lambda p=prefix: background.save(session, f"{p}b", **options))
            background.wait()
            for name in os.listdir(folder):
                os.remove(os.path.join(folder, name))
    return seconds


def _row(name: str, size: int, seconds: list[float], disk: list[float] | None) -> str:
    typical = statistics.median(seconds)
    row = f"{name:<12} {typical * 1000:8.0f} ms {size / typical / 1e6:8.0f} MB/s"
    if disk is None:
        return row
    # The disk's speed changes from second to second: compared is what was measured side by side.
    ratio = statistics.median(plain / ours for plain, ours in zip(disk, seconds, strict=True))
    return f"{row}   {ratio:6.0%} of the disk (goal {GOAL:.0%})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--folder", help="on the disk to measure; a temporary one if not given")
    arguments = parser.parse_args()
    folder = tempfile.mkdtemp(dir=arguments.folder)
    try:
        size = arguments.megabytes << 20
        found = measure(folder, size, arguments.rounds)
    finally:
        shutil.rmtree(folder)
    for name, seconds in found.items():
        disk = {"save": "disk write", "restore": "disk read"}.get(name)
        print(_row(name, size, seconds, found[disk] if disk else None))


if __name__ == "__main__":
    main()
