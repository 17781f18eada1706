"""`tf.app`: runs a program's `main` after parsing its flags."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from penstock.platform import flags

__all__ = ["flags", "run"]


def _parse_known_flags(argv: Sequence[str] | None) -> list[str]:
    return flags.FLAGS(sys.argv if argv is None else argv, known_only=True)


def run(main: Callable[[list[str]], Any] | None = None, argv: list[str] | None = None) -> NoReturn:
    """Parses the flags, calls `main` with the arguments that are left, and exits with its result.

    `main` is the `main` of the program's own module unless given; flags that are not defined are
    left among the arguments.
    """
    from absl import app

    app.run(
        main=main or sys.modules["__main__"].main,
        argv=argv,
        flags_parser=_parse_known_flags,
    )
