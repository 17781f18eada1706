"""`tf.logging`: the logger named "tensorflow", and functions that write to it."""

from __future__ import annotations

import logging
import sys
import threading
from collections import Counter
from typing import Any

__all__ = [
    "DEBUG",
    "ERROR",
    "FATAL",
    "INFO",
    "WARN",
    "TaskLevelStatusMessage",
    "debug",
    "error",
    "fatal",
    "flush",
    "get_logger",
    "get_verbosity",
    "info",
    "log",
    "log_every_n",
    "log_first_n",
    "log_if",
    "set_verbosity",
    "vlog",
    "warn",
    "warning",
]

DEBUG = logging.DEBUG
INFO = logging.INFO
WARN = logging.WARNING
ERROR = logging.ERROR
FATAL = logging.CRITICAL

_logger: logging.Logger | None = None
_lock = threading.Lock()
_calls: Counter[tuple[str, int]] = Counter()  # of the functions that count, by their caller's line


def get_logger() -> logging.Logger:
    """The logger that TensorFlow's and Penstock's messages go through."""
    global _logger
    if _logger is None:
        with _lock:
            if _logger is None:
                _logger = _configured(logging.getLogger("tensorflow"))
    return _logger


def _configured(logger: logging.Logger) -> logging.Logger:
    # A program that has configured logging itself would see each message twice.
    if logging.getLogger().handlers:
        return logger
    interactive = hasattr(sys, "ps1") or bool(sys.flags.interactive)
    if interactive:
        logger.setLevel(INFO)
    handler = logging.StreamHandler(sys.stdout if interactive else sys.stderr)
    handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
    logger.addHandler(handler)
    return logger


def _write(level: int, msg: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    # The record names the line that called the public function: two frames up from here.
    get_logger().log(level, msg, *args, **{"stacklevel": 3, **kwargs})


def log(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs `msg % args` at a level."""
    _write(level, msg, args, kwargs)


def vlog(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs `msg % args` at a level."""
    _write(level, msg, args, kwargs)


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    _write(DEBUG, msg, args, kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    _write(INFO, msg, args, kwargs)


def warn(msg: Any, *args: Any, **kwargs: Any) -> None:
    _write(WARN, msg, args, kwargs)


def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    _write(WARN, msg, args, kwargs)


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    _write(ERROR, msg, args, kwargs)


def fatal(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs at the highest level; the program goes on."""
    _write(FATAL, msg, args, kwargs)


def TaskLevelStatusMessage(msg: Any) -> None:
    _write(ERROR, msg, (), {})


def log_if(level: int, msg: Any, condition: Any, *args: Any) -> None:
    """Logs `msg % args` if the condition holds."""
    if condition:
        _write(level, msg, args, {})


def log_every_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Logs the first, the n+1st, the 2n+1st … call from one line of a program."""
    if _earlier_calls() % n == 0:
        _write(level, msg, args, {})


def log_first_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Logs the first n calls from one line of a program."""
    if _earlier_calls() < n:
        _write(level, msg, args, {})


def _earlier_calls() -> int:
    """How often the line that calls the public function has called it before."""
    caller = sys._getframe(2)
    line = caller.f_code.co_filename, caller.f_lineno
    with _lock:
        _calls[line] += 1
        return _calls[line] - 1


def flush() -> None:
    """Writes out what handlers of the logger hold back."""
    for handler in get_logger().handlers:
        handler.flush()


def get_verbosity() -> int:
    """The lowest level that is logged."""
    return get_logger().getEffectiveLevel()


def set_verbosity(v: Any) -> None:
    """Sets the lowest level that is logged."""
    get_logger().setLevel(v)
