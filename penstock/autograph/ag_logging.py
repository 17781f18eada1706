"""What the conversion of code tells about itself: `tf.autograph.set_verbosity` and `trace`."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

from penstock.platform import logging

VERBOSITY_VAR_NAME = "AUTOGRAPH_VERBOSITY"
DEFAULT_VERBOSITY = 0

LIVE_NAMES = ("verbosity_level", "echo_log_to_stdout")

verbosity_level: int | None = None  # if it is set, the environment is not asked
echo_log_to_stdout = hasattr(sys, "ps1") or hasattr(sys, "ps2")  # in an interactive Python


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Sets how much is told of conversions.

    Args:
      level: 0 for warnings alone, 10 for all.
      alsologtostdout: whether to print messages, besides logging them.
    """
    global verbosity_level, echo_log_to_stdout
    verbosity_level = level
    echo_log_to_stdout = alsologtostdout


def trace(*args: Any) -> None:
    """Prints its arguments while the graph is built."""
    sys.stdout.write(" ".join(str(each) for each in args) + "\n")


def get_verbosity() -> int:
    """How much is told of conversions."""
    if verbosity_level is not None:
        return verbosity_level
    return int(os.getenv(VERBOSITY_VAR_NAME, str(DEFAULT_VERBOSITY)))


def has_verbosity(level: int) -> bool:
    """Whether messages of a level are told."""
    return get_verbosity() >= level


def _echo(msg: str, args: tuple[Any, ...], exc_info: bool) -> None:
    if echo_log_to_stdout:
        sys.stdout.write((msg % args if args else msg) + "\n")
        if exc_info:
            traceback.print_exc()


def error(level: int, msg: str, *args: Any, exc_info: bool = False) -> None:
    """Tells of an error, at this level of verbosity and above."""
    if has_verbosity(level):
        logging.error(msg, *args, exc_info=exc_info)
        _echo("ERROR: " + msg, args, exc_info)


def log(level: int, msg: str, *args: Any, exc_info: bool = False) -> None:
    """Tells of a step of a conversion, at this level of verbosity and above."""
    if has_verbosity(level):
        logging.info(msg, *args, exc_info=exc_info)
        _echo(msg, args, exc_info)


def warn(msg: str, *args: Any, exc_info: bool = False) -> None:
    """Warns."""
    logging.warning(msg, *args, exc_info=exc_info)
    _echo("WARNING: " + msg, args, exc_info)
