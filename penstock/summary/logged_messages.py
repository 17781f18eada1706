"""`tensorflow.python.training.tensorboard_logging`: log messages that event files keep, too.

Every message is logged as usual; those of at least a level become events of a summary writer.
"""

from __future__ import annotations

import time
from typing import Any

from penstock.platform import logging
from penstock.proto import Event, LogMessage

DEBUG = "DEBUG"
INFO = "INFO"
WARN = "WARN"
ERROR = "ERROR"
FATAL = "FATAL"

_LEVELS = {
    DEBUG: (LogMessage.DEBUGGING, logging.DEBUG),
    INFO: (LogMessage.INFO, logging.INFO),
    WARN: (LogMessage.WARN, logging.WARN),
    ERROR: (LogMessage.ERROR, logging.ERROR),
    FATAL: (LogMessage.FATAL, logging.FATAL),
}
_NOT_SET = object()

_verbosity = WARN
_summary_writer: Any = _NOT_SET


def get_verbosity() -> str:
    """The lowest level of the messages that become events."""
    return _verbosity


def set_verbosity(verbosity: str) -> None:
    """Says from which level on messages become events."""
    global _verbosity
    _check_verbosity(verbosity)
    _verbosity = verbosity


def _check_verbosity(verbosity: str) -> None:
    if verbosity not in _LEVELS:
        raise ValueError(f"{verbosity} is not a valid verbosity: {', '.join(_LEVELS)}")


def set_summary_writer(summary_writer: Any) -> None:
    """Says which writer gets the events; with None, messages are only logged."""
    global _summary_writer
    _summary_writer = summary_writer


def _clear_summary_writer() -> None:
    """Goes back to where no writer has been set: logging is an error then."""
    set_summary_writer(_NOT_SET)


def log(level: str, message: str, *args: Any) -> None:
    """Logs a message of a level, formatted with `args`."""
    if _summary_writer is _NOT_SET:
        raise RuntimeError(
            "Must call set_summary_writer before doing any logging from tensorboard_logging"
        )
    _check_verbosity(level)
    event_level, log_level = _LEVELS[level]
    if event_level >= _LEVELS[_verbosity][0] and _summary_writer:
        entry = LogMessage(level=event_level, message=message % args)
        _summary_writer.add_event(Event(wall_time=time.time(), log_message=entry))
    logging.log(log_level, message, *args)


def debug(message: str, *args: Any) -> None:
    log(DEBUG, message, *args)


def info(message: str, *args: Any) -> None:
    log(INFO, message, *args)


def warn(message: str, *args: Any) -> None:
    log(WARN, message, *args)


def error(message: str, *args: Any) -> None:
    log(ERROR, message, *args)


def fatal(message: str, *args: Any) -> None:
    log(FATAL, message, *args)
