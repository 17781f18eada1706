"""`tf.logging`: the logger named "tensorflow", and functions that write to it."""

from typing import Any

from penstock.platform.logging import (
    DEBUG,
    ERROR,
    FATAL,
    INFO,
    WARN,
    TaskLevelStatusMessage,
    debug,
    error,
    fatal,
    flush,
    get_logger,
    get_verbosity,
    info,
    log,
    log_every_n,
    log_first_n,
    log_if,
    set_verbosity,
    vlog,
    warn,
    warning,
)

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


def __getattr__(name: str) -> Any:
    """`_logger` and `_handler`, which were here until TensorFlow 1.5."""
    if name == "_logger":
        return get_logger()
    if name == "_handler" and get_logger().handlers:
        return get_logger().handlers[0]
    raise AttributeError(name)
