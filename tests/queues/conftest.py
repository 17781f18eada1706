"""Every test here gives back the threads that it started and the files that it opened."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator

import pytest

import penstock as tf


def _open_files() -> Counter[str]:
    """What the descriptors of this process lead to, if the system tells."""
    folder = "/proc/self/fd"
    found: Counter[str] = Counter()
    if os.path.isdir(folder):
        for number in os.listdir(folder):
            with contextlib.suppress(OSError):  # the descriptor of the listing itself
                found[os.readlink(f"{folder}/{number}")] += 1
    return found


@pytest.fixture(autouse=True)
def leaves_nothing_behind() -> Iterator[None]:
    threads, files = set(threading.enumerate()), _open_files()
    tf.reset_default_graph()
    yield
    end = time.monotonic() + 5
    while set(threading.enumerate()) - threads and time.monotonic() < end:
        time.sleep(0.01)
    assert set(threading.enumerate()) <= threads
    assert _open_files() <= files
