"""TensorBoard as a user starts it, on a free port of this machine."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

_PATIENCE_S = 60


def wait_for(look: Callable[[], T | None], what: str) -> T:
    """What `look` gives, as soon as it gives something."""
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.1)
    raise AssertionError(f"no {what} within {_PATIENCE_S} s")


class Board:
    """A TensorBoard that answers at `url`."""

    def __init__(self, url: str):
        self.url = url

    def read(self, path: str, **query: Any) -> bytes:
        """The body of its answer."""
        address = f"{self.url}data/{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(address, timeout=_PATIENCE_S) as answer:
            return answer.read()

    def ask(self, path: str, **query: Any) -> Any:
        """Its answer, which is JSON."""
        return json.loads(self.read(path, **query))


@contextlib.contextmanager
def started(logdir: Path) -> Iterator[Board]:
    """`penstock tensorboard LOGDIR` until the end of the block."""
    command = [sys.executable, "-m", "penstock", "tensorboard", str(logdir), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            said = []
            for line in process.stderr:
                said.append(line)
                if found := re.search(r"TensorBoard \S+ at (http://\S+)", line):
                    yield Board(found[1])
                    break
            else:
                raise AssertionError("TensorBoard did not start: " + "".join(said))
        finally:
            process.terminate()
