"""Every test here gives back the threads that it started and the files that it opened."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator

import pytest

import penstock as tf


def _open_files() -> set[str]:
    """What the descriptors of this process lead to, where the system tells."""
    folder = "/proc/self/fd"
    if not os.path.isdir(folder):
        return set()
    found = set()
    for number in os.listdir(folder):
        try:
            found.add(os.readlink(f"{folder}/{number}"))
        except OSError:
            continue  # the descriptor of the listing itself
    return {path for path in found if path.startswith("/") and os.path.isfile(path)}


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
