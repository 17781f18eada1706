"""What `tensorflow.python.eager.test` has besides `tf.test`: programs of tests in eager mode."""

from __future__ import annotations

from typing import Any

from penstock import test
from penstock.execution_modes import enable_eager_execution


def main(argv: Any = None) -> None:
    """Runs the tests of a program, in eager mode."""
    enable_eager_execution()
    test.main(argv)
