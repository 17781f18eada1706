"""`tf.logging`: levels, what is printed, and which line a record names."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

import penstock as tf


@pytest.fixture
def records() -> list[logging.LogRecord]:
    """The records that the "tensorflow" logger gets during a test, from DEBUG on."""
    found: list[logging.LogRecord] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(record)

    logger = tf.get_logger()
    level, handler = logger.level, Collector()
    logger.addHandler(handler)
    tf.logging.set_verbosity(tf.logging.DEBUG)
    yield found
    logger.removeHandler(handler)
    logger.setLevel(level)


def test_levels(records: list[logging.LogRecord]) -> None:
    for name in "debug info warn warning error fatal".split():
        getattr(tf.logging, name)("%s!", name)
    tf.logging.log(tf.logging.INFO, "logged")
    tf.logging.vlog(tf.logging.WARN, "v")
    tf.logging.TaskLevelStatusMessage("status")
    assert [(record.levelno, record.getMessage()) for record in records] == [
        (10, "debug!"),
        (20, "info!"),
        (30, "warn!"),
        (30, "warning!"),
        (40, "error!"),
        (50, "fatal!"),
        (20, "logged"),
        (30, "v"),
        (40, "status"),
    ]
    assert {record.name for record in records} == {"tensorflow"}


def test_records_name_the_callers_line(records: list[logging.LogRecord]) -> None:
    tf.logging.info("here")
    tf.logging.log_if(tf.logging.INFO, "here", True)
    tf.logging.log_first_n(tf.logging.INFO, "here", 1)
    assert {(record.filename, record.funcName) for record in records} == {
        ("test_logging.py", "test_records_name_the_callers_line")
    }


def test_verbosity(records: list[logging.LogRecord]) -> None:
    tf.logging.set_verbosity(tf.logging.ERROR)
    assert tf.logging.get_verbosity() == tf.logging.ERROR
    tf.logging.warning("not this")
    tf.logging.error("this")
    assert [record.getMessage() for record in records] == ["this"]


def test_counting_functions_count_by_line(records: list[logging.LogRecord]) -> None:
    for step in range(7):
        tf.logging.log_every_n(tf.logging.INFO, "every %d", 3, step)
        tf.logging.log_first_n(tf.logging.INFO, "first %d", 2, step)
        tf.logging.log_if(tf.logging.INFO, "if %d", step > 5, step)
    assert sorted(record.getMessage() for record in records) == [
        "every 0",
        "every 3",
        "every 6",
        "first 0",
        "first 1",
        "if 6",
    ]


def test_what_a_program_prints() -> None:
    program = (
        "import penstock as tf; tf.logging.info('unseen'); tf.logging.warn('seen');"
        "tf.logging.set_verbosity(tf.logging.INFO); tf.logging.info('now %d', 1);"
        "tf.logging.flush()"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stderr == "WARNING:tensorflow:seen\nINFO:tensorflow:now 1\n"


def test_the_names_of_before_1_5(records: list[logging.LogRecord]) -> None:
    assert tf.logging._logger is tf.get_logger()
    assert tf.logging._handler is tf.get_logger().handlers[0]
    with pytest.raises(AttributeError, match="tf.logging.nothing"):
        _ = tf.logging.nothing
