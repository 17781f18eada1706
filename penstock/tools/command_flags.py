"""Command lines of the tools: flags with a value each, as `--name=value` or `--name value`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from penstock.platform import app

__all__ = ["FlagParser"]


def _is_true(text: str) -> bool:
    return text.lower() == "true"


class FlagParser(argparse.ArgumentParser):
    """A parser whose flags all have a default; what it doesn't know is left to `tf.app`."""

    def text(self, name: str, help: str, default: str = "") -> None:
        """A flag whose value is a text."""
        self.add_argument(f"--{name}", type=str, default=default, help=help)

    def number(self, name: str, default: int, help: str) -> None:
        """A flag whose value is an integer."""
        self.add_argument(f"--{name}", type=int, default=default, help=help)

    def switch(self, name: str, default: bool, help: str) -> None:
        """A flag that is true alone, or has the value true or false."""
        self.add_argument(
            f"--{name}", nargs="?", const=True, type=_is_true, default=default, help=help
        )

    def run(self, main: Callable[[Any, Any], Any]) -> None:
        """Runs `main` on the arguments that are left and the flags; does not return."""
        flags, others = self.parse_known_args()
        app.run(main=lambda arguments: main(arguments, flags), argv=[sys.argv[0], *others])
