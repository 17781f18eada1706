"""`tf.app`: runs a program's `main` after parsing its flags."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from penstock.platform import flags

__all__ = ["flags", "run"]


def _parse_known_flags(argv: Sequence[str] | None) -> list[str]:
    return flags.FLAGS(sys.argv if argv is None else argv, known_only=True)


def _load_absl_app() -> None:
    """Imports absl's `app`, which brings the flags of absl's logging along: log_dir, v and others.

    TensorFlow had none of them before 1.5. Where the program has a flag of such a name, that one
    stays.
    """
    of_program = {name: flags.FLAGS[name] for name in flags.FLAGS}
    could_be_redefined = {name: flag.allow_override for name, flag in of_program.items()}
    for flag in of_program.values():
        flag.allow_override = True
    import absl.app  # noqa: F401

    for name, flag in of_program.items():
        if flags.FLAGS[name] is not flag:
            flags.FLAGS[name] = flag
        flag.allow_override = could_be_redefined[name]


def run(main: Callable[[list[str]], Any] | None = None, argv: list[str] | None = None) -> NoReturn:
    """Parses the flags, calls `main` with the arguments that are left, and exits with its result.

    `main` is the `main` of the program's own module unless given; flags that are not defined are
    left among the arguments.
    """
    _load_absl_app()
    from absl import app

    app.run(
        main=main or sys.modules["__main__"].main,
        argv=argv,
        flags_parser=_parse_known_flags,
    )
