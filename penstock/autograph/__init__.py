"""`tf.autograph`, of which there is what programs call that don't want their code converted."""

from __future__ import annotations

import sys
from typing import Any

from penstock.autograph import experimental

__all__ = ["experimental", "set_verbosity", "trace"]


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Accepted: there is no conversion that could report on itself."""


def trace(*args: Any) -> None:
    """Prints its arguments while the graph is built."""
    sys.stdout.write(" ".join(str(each) for each in args) + "\n")
